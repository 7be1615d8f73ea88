//! The attempts that are going on: how many, how to end them, and that each is reported once.

use std::{
    collections::HashMap,
    net::{Shutdown, SocketAddr, TcpStream},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use super::{Attempt, AttemptReport, Refusal, Way};

/// All attempts that are going on.
pub(super) struct Live {
    report: AttemptReport,
    most: usize,
    table: Mutex<ConnectionTable>,
}

#[derive(Default)]
struct ConnectionTable {
    next: u64,
    ended: bool,
    going: HashMap<u64, Going>,
}

/// What is known of an attempt so far.
struct Going {
    host: String,
    port: u16,
    way: Way,
    reached: Option<SocketAddr>,
    sockets: Vec<TcpStream>,
    bytes: Arc<Bytes>,
}

/// Counted while they pass.
#[derive(Debug, Default)]
pub(super) struct Bytes {
    pub(super) sent: AtomicU64,
    pub(super) received: AtomicU64,
}

/// One attempt. What is not finished is reported as ended when this is dropped.
pub(super) struct Ticket {
    live: Arc<Live>,
    id: u64,
    pub(super) bytes: Arc<Bytes>,
}

impl Live {
    pub(super) fn new(report: AttemptReport, most: usize) -> Live {
        Live { report, most, table: Mutex::default() }
    }

    /// A place for one more. An error when there is none.
    pub(super) fn enter(self: &Arc<Live>, client: &TcpStream) -> Result<Ticket, Refusal> {
        let mut table = self.table();
        if table.ended {
            return Err(Refusal::Ended);
        }
        if table.going.len() >= self.most {
            return Err(Refusal::Busy(self.most));
        }
        let id = table.next;
        table.next += 1;
        let bytes = Arc::<Bytes>::default();
        let going = Going {
            host: String::new(),
            port: 0,
            way: Way::Tunnel,
            reached: None,
            sockets: client.try_clone().into_iter().collect(),
            bytes: bytes.clone(),
        };
        table.going.insert(id, going);
        Ok(Ticket { live: self.clone(), id, bytes })
    }

    /// Reports something that never got a place.
    pub(super) fn turned_away(&self, refusal: Refusal) {
        let (host, outcome) = (String::new(), Err(refusal));
        (self.report)(Attempt { host, port: 0, way: Way::Tunnel, outcome, sent: 0, received: 0 });
    }

    /// Ends everything that is going on, and reports it.
    pub(super) fn end(&self) {
        let going = {
            let mut table = self.table();
            table.ended = true;
            std::mem::take(&mut table.going)
        };
        for going in going.into_values() {
            going.sockets.iter().for_each(|it| drop(it.shutdown(Shutdown::Both)));
            // A caller that never asked for anything attempted nothing.
            if !going.host.is_empty() {
                let outcome = going.reached.ok_or(Refusal::Ended);
                (self.report)(going.attempt(outcome));
            }
        }
    }

    fn table(&self) -> MutexGuard<'_, ConnectionTable> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Going {
    fn attempt(self, outcome: Result<SocketAddr, Refusal>) -> Attempt {
        Attempt {
            host: self.host,
            port: self.port,
            way: self.way,
            outcome,
            sent: self.bytes.sent.load(Ordering::Relaxed),
            received: self.bytes.received.load(Ordering::Relaxed),
        }
    }
}

impl Ticket {
    /// Says where the attempt goes.
    pub(super) fn asks(&self, host: &str, port: u16, way: Way) {
        self.note(|it| (it.host, it.port, it.way) = (host.to_owned(), port, way));
    }

    /// Says what was connected to.
    pub(super) fn reached(&self, place: SocketAddr, upstream: &TcpStream) {
        let known = self.note(|it| {
            it.reached = Some(place);
            it.sockets.extend(upstream.try_clone());
        });
        if !known {
            let _ = upstream.shutdown(Shutdown::Both);
        }
    }

    /// The attempt came to its end.
    pub(super) fn finish(self, outcome: Result<(), Refusal>) {
        // Reported before the table is free again, so that whoever ends it has heard everything.
        let mut table = self.live.table();
        let Some(going) = table.going.remove(&self.id) else { return };
        // Connected and closed without a word: nothing was attempted. What a stranger attempts is not ours to tell.
        if outcome == Err(Refusal::Stranger) || going.host.is_empty() && outcome.is_ok() {
            return;
        }
        let reached = going.reached.ok_or(Refusal::Ended);
        (self.live.report)(going.attempt(outcome.and(reached)));
    }

    /// False when the attempt was ended by somebody else.
    fn note(&self, note: impl FnOnce(&mut Going)) -> bool {
        self.live.table().going.get_mut(&self.id).map(note).is_some()
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut table = self.live.table();
        let going = table.going.remove(&self.id);
        if let Some(going) = going.filter(|it| !it.host.is_empty()) {
            let outcome = going.reached.ok_or(Refusal::Ended);
            (self.live.report)(going.attempt(outcome));
        }
    }
}
