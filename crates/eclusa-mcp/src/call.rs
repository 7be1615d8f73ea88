//! One call on its way through the gate, and what its client hears meanwhile.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use eclusa::{Event, Gate, Reply, ToolCall};
use rmcp::{
    RoleServer,
    model::{ProgressNotificationParam, ProgressToken},
    service::{Peer, RequestContext},
};
use tokio::{
    sync::{
        broadcast::{self, error::RecvError},
        mpsc, oneshot, watch,
    },
    time::{Instant, sleep_until},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    approver::{Beside, CLIENT, Client, Told, Wishes},
    asked::Asked,
};

/// How many tellings wait for a client that does not listen; progress beyond is not told.
const BACKLOG: usize = 64;

/// A call that is on its way. It goes on whether anybody waits for it or not.
pub(crate) struct Call {
    reply: oneshot::Receiver<Reply>,
    told: mpsc::Receiver<Told>,
    /// Whether it stands before the run: waiting for a person, or for its turn to ask one.
    waits: watch::Receiver<bool>,
    cancel: CancellationToken,
    beside: Arc<Beside>,
}

/// How a call on its way is told something: its client, and whether it waits.
type Ears = (mpsc::Sender<Told>, watch::Sender<bool>);

/// The calls that are on their way, by id.
#[derive(Default)]
pub(crate) struct Calls {
    all: Mutex<HashMap<String, Ears>>,
    pub(crate) tracker: TaskTracker,
}

/// Why somebody stopped waiting for a call.
pub(crate) enum Driven {
    /// It is done. With it comes what it left beside the reply.
    Done(Box<Reply>, Arc<Beside>),
    /// The client must ask before it goes on.
    Asks(Asked, Call),
    /// A person takes longer than the client can be expected to wait.
    Waits(Call),
}

/// How the client is asked and told.
pub(crate) struct Line<'a> {
    pub(crate) context: &'a RequestContext<RoleServer>,
    /// Ask by answering the request (2026-07-28), or with a request of our own.
    pub(crate) by_answer: bool,
    pub(crate) patience: Patience,
}

/// How long a client is kept waiting for a person before it is told to come back.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// Where the person is asked somewhere else.
    pub elsewhere: Duration,
    /// Where the client itself shows the question. Some stop their clock for it.
    pub asking: Duration,
}

impl Default for Patience {
    /// Below the minute that many clients give a request, and below the five that Codex does.
    fn default() -> Patience {
        Patience { elsewhere: Duration::from_secs(50), asking: Duration::from_secs(270) }
    }
}

impl Calls {
    /// Sends a call on its way.
    pub(crate) fn begin(self: &Arc<Calls>, gate: Gate, call: ToolCall, wishes: Wishes) -> Call {
        let (tell, told) = mpsc::channel(BACKLOG);
        let (waiting, waits) = watch::channel(true);
        let (done, reply) = oneshot::channel();
        let (id, cancel) = (call.id.clone(), gate.run().cancel.clone());
        self.all().insert(id.clone(), (tell.clone(), waiting));
        let calls = self.clone();
        let beside = Arc::new(Beside::default());
        let client = Client {
            tell,
            wishes: Arc::new(wishes),
            redactor: gate.house().redactor.clone(),
            beside: beside.clone(),
        };
        self.tracker.spawn(CLIENT.scope(client, async move {
            let reply = gate.pass(call).await;
            calls.all().remove(&id);
            // An error means that nobody waits for it: it is on record.
            let _ = done.send(reply);
        }));
        Call { reply, told, waits, cancel, beside }
    }

    /// True when a call with this id is on its way.
    pub(crate) fn has(&self, id: &str) -> bool {
        self.all().contains_key(id)
    }

    /// Passes on what the gate tells about calls, for as long as there is a gate.
    pub(crate) async fn listen(&self, mut events: broadcast::Receiver<Arc<Event>>) {
        loop {
            match events.recv().await {
                Ok(event) => self.hear(&event),
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return,
            }
        }
    }

    fn hear(&self, event: &Event) {
        let waits = |call: &str, now: bool| {
            if let Some((_, waits)) = self.all().get(call) {
                waits.send_if_modified(|it| std::mem::replace(it, now) != now);
            }
        };
        match event {
            Event::Asked { call, .. } => waits(call, true),
            Event::Started { call, .. } | Event::ToolApproval { call, .. } => waits(call, false),
            Event::Progress { call, fraction, detail, .. } => {
                if let Some((tell, _)) = self.all().get(call) {
                    let (progress, total, detail) = (*fraction, Some(1.0), detail.clone());
                    // Full: the client is behind, and the next one tells more.
                    let _ = tell.try_send(Told::Progress { progress, total, detail });
                }
            }
            _ => {}
        }
    }

    fn all(&self) -> MutexGuard<'_, HashMap<String, Ears>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Call {
    /// Waits until the call is done, or until the client has to do something.
    pub(crate) async fn drive(mut self, line: Line<'_>) -> Driven {
        let token = line.context.meta.get_progress_token();
        let mut until = Instant::now() + line.patience.elsewhere;
        let mut furthest = None;
        let Line { context, .. } = line;
        loop {
            let waits = *self.waits.borrow_and_update();
            tokio::select! {
                // What there is to tell is told before the reply that ends it.
                biased;
                Some(told) = self.told.recv() => match told {
                    Told::Progress { progress: so_far, total, detail } => {
                        let further = furthest.is_none_or(|furthest| so_far > furthest);
                        if let Some(token) = token.clone().filter(|_| further) {
                            furthest = Some(so_far);
                            progress(&context.peer, token, (so_far, total), detail).await;
                        }
                    }
                    // An error means that the client is gone, which is noticed elsewhere.
                    Told::Message(said) => drop(context.peer.notify_logging_message(said).await),
                    Told::Asked(asked) if line.by_answer => return Driven::Asks(asked, self),
                    Told::Asked(asked) => {
                        until = Instant::now() + line.patience.asking;
                        tokio::spawn(asked.put(context.peer.clone(), context.id.clone()));
                    }
                },
                reply = &mut self.reply => match reply {
                    Ok(reply) => {
                        return Driven::Done(Box::new(reply), self.beside);
                    }
                    // The gate answers every call; without an answer the process is ending.
                    Err(_) => std::future::pending().await,
                },
                () = context.ct.cancelled(), if !self.cancel.is_cancelled() => {
                    self.cancel.cancel();
                }
                _ = self.waits.changed() => {}
                () = sleep_until(until), if waits => return Driven::Waits(self),
            }
        }
    }
}

/// Tells a client how far its call has come.
async fn progress(
    peer: &Peer<RoleServer>,
    token: ProgressToken,
    (progress, total): (f64, Option<f64>),
    detail: String,
) {
    let mut told = ProgressNotificationParam::new(token, progress);
    told.total = total;
    if !detail.is_empty() {
        told = told.with_message(detail);
    }
    // An error means that the client is gone, which is noticed elsewhere.
    let _ = peer.notify_progress(told).await;
}
