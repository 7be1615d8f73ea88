//! Calls that wait for their client to come back: with an answer, or to ask how far things are.
//!
//! A parked call is not a stored one. It stands in the middle of the gate, in this process, with
//! its question open; what the client holds is a sealed ticket for it. When the process ends,
//! parked calls are cancelled and recorded as such, nothing of them has run, and their tickets
//! open nothing: the key is made anew by every process. A question in the approval queue stays
//! there, and the id that `wait` takes leads to it also after a restart.

use std::{
    collections::HashMap,
    io,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::Duration,
};

use eclusa::{
    random::{random_bytes, random_name},
    workspace::digest,
};
use rmcp::model::{RequestStateCodec, SealOptions};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{client::ClientQuestion, server::call::Call};

/// How long a call that is done is kept for a client that was told to come back.
const DONE_RETENTION: Duration = Duration::from_secs(15 * 60);

/// So many calls wait for their clients, by each of the two ways.
const MAX_PARKED: usize = 4096;

/// The calls that wait for their client.
pub(crate) struct PendingCalls {
    codec: RequestStateCodec,
    asking: Mutex<HashMap<String, (Call, ClientQuestion)>>,
    waiting: Mutex<HashMap<String, WaitingCall>>,
}

/// What a ticket is good for: this request, with these parameters, for this principal.
pub(crate) struct TicketBinding(Vec<u8>);

impl TicketBinding {
    pub(crate) fn new(principal: &str, method: &str, name: &str, args: &Value) -> TicketBinding {
        let hash = digest(&json!([method, principal, name, args]));
        TicketBinding(hash.to_string().into_bytes())
    }
}

/// What a ticket says.
#[derive(Serialize, Deserialize)]
struct Ticket {
    /// Which parked call.
    call: String,
    /// What its question was bound to.
    binding: String,
}

/// A ticket that opens nothing. Whatever is wrong with it, the client is told the same.
#[derive(Debug)]
pub(crate) struct InvalidTicket;

impl PendingCalls {
    pub(crate) fn new() -> io::Result<PendingCalls> {
        let key = random_bytes::<32>()?;
        let codec = RequestStateCodec::try_new(key).map_err(io::Error::other)?;
        Ok(PendingCalls { codec, asking: Mutex::default(), waiting: Mutex::default() })
    }

    /// Parks a call until its client brings the answer, and writes the ticket for it.
    pub(crate) fn suspend(
        self: &Arc<PendingCalls>,
        bound: &TicketBinding,
        call: Call,
        asked: ClientQuestion,
    ) -> io::Result<String> {
        let time = asked.time();
        let ticket = Ticket { call: token()?, binding: asked.binding() };
        let options = SealOptions::new().associated_data(&bound.0).ttl(time);
        let sealed = self.codec.seal_json_with(&ticket, &options).map_err(io::Error::other)?;
        let mut asking = lock(&self.asking);
        // The call that is dropped is denied: nobody can answer it.
        room(asking.len())?;
        asking.insert(ticket.call.clone(), (call, asked));
        drop(asking);
        forget_after(self, time.saturating_add(DONE_RETENTION), move |it| {
            lock(&it.asking).remove(&ticket.call);
        });
        Ok(sealed)
    }

    /// The call that a ticket is for. A ticket opens once.
    pub(crate) fn resume(
        &self,
        bound: &TicketBinding,
        sealed: &str,
    ) -> Result<(Call, ClientQuestion), InvalidTicket> {
        let opened = self.codec.open_json_with::<Ticket>(sealed, &bound.0);
        let ticket = opened.map_err(|err| {
            tracing::info!("a ticket was refused: {err}");
            InvalidTicket
        })?;
        let parked = lock(&self.asking).remove(&ticket.call).ok_or(InvalidTicket)?;
        match parked.1.binding() == ticket.binding {
            true => Ok(parked),
            false => Err(InvalidTicket),
        }
    }

    /// Keeps a call that a person takes long over, and gives the id to ask for it with: the one
    /// that it had before, if it was asked for already.
    pub(crate) fn keep_waiting(
        self: &Arc<PendingCalls>,
        principal: &Arc<str>,
        call: Call,
        id: Option<String>,
    ) -> io::Result<String> {
        let id = id.map_or_else(token, Ok)?;
        let mut waiting = lock(&self.waiting);
        let known = waiting.contains_key(&id);
        if !known && let Err(full) = room(waiting.len()) {
            call.cancellation().cancel();
            return Err(full);
        }
        let state = WaitingState::Waits(Box::new(call));
        waiting.insert(id.clone(), WaitingCall { principal: principal.clone(), state });
        drop(waiting);
        if !known {
            let key = id.clone();
            forget_after(self, DONE_RETENTION.saturating_mul(2), move |it| {
                lock(&it.waiting).remove(&key);
            });
        }
        Ok(id)
    }

    /// The call that was kept under this id, for whoever it was kept. The error says what to do.
    pub(crate) fn take_waiting(&self, principal: &str, id: &str) -> Result<Call, &'static str> {
        let mut waiting = lock(&self.waiting);
        let found = waiting.get_mut(id).filter(|it| &*it.principal == principal);
        let found = found.ok_or("no call waits under this id, or its time is over")?;
        match std::mem::replace(&mut found.state, WaitingState::Taken) {
            WaitingState::Waits(call) => Ok(*call),
            WaitingState::Taken => Err("another `wait` for this id is waiting already"),
            WaitingState::Answered => {
                found.state = WaitingState::Answered;
                Err("this call was answered already, and its answer given out; do not make the \
                     call again because of that")
            }
        }
    }

    /// Whether a call was kept under this id by this process.
    pub(crate) fn knows(&self, id: &str) -> bool {
        lock(&self.waiting).contains_key(id)
    }

    /// Notes that the answer of a waiting call was given out.
    pub(crate) fn answered(&self, id: &str) {
        if let Some(found) = lock(&self.waiting).get_mut(id) {
            found.state = WaitingState::Answered;
        }
    }
}

/// A call that a client was told to come back for.
struct WaitingCall {
    principal: Arc<str>,
    state: WaitingState,
}

enum WaitingState {
    Waits(Box<Call>),
    /// A client waits for it right now.
    Taken,
    /// Its answer was given out.
    Answered,
}

fn room(parked: usize) -> io::Result<()> {
    let full = || io::Error::other(format!("{parked} calls wait for their clients already"));
    if parked < MAX_PARKED { Ok(()) } else { Err(full()) }
}

/// What nobody came back for is dropped. The call itself goes on to its end, and to its record.
fn forget_after(
    pending: &Arc<PendingCalls>,
    time: Duration,
    forget: impl FnOnce(&PendingCalls) + Send + 'static,
) {
    let pending: Weak<PendingCalls> = Arc::downgrade(pending);
    tokio::spawn(async move {
        tokio::time::sleep(time).await;
        if let Some(pending) = pending.upgrade() {
            forget(&pending);
        }
    });
}

fn lock<T>(it: &Mutex<T>) -> MutexGuard<'_, T> {
    it.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A name that nobody can guess.
pub(crate) fn token() -> io::Result<String> {
    Ok(random_name::<12>()?)
}

#[cfg(test)]
mod tests;
