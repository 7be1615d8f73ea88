//! One call on its way through the gate, and what its client hears meanwhile.

use std::{
    collections::HashMap,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, ready},
    time::Duration,
};

use eclusa::{Event, Gate, Reply, ToolCall};
use futures::{FutureExt as _, future::BoxFuture};
use rmcp::{
    RoleServer,
    model::{ProgressNotificationParam, ProgressToken},
    service::{Peer, RequestContext},
};
use tokio::{
    runtime::Handle,
    sync::{mpsc, oneshot, watch},
    time::{Instant, sleep_until},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    client::{CLIENT, Client, ClientMessage, ClientProfile, ClientQuestion, SideResults},
    era::Era,
};

/// How many messages wait for a client that does not read; progress beyond is dropped.
const BACKLOG: usize = 64;

/// How often a client that asked for progress hears that its call still runs. Some clients give up
/// on a request that is silent for a minute.
const HEARTBEAT: Duration = Duration::from_secs(5);

/// A call that is on its way. It goes on whether anybody waits for it or not.
pub(crate) struct Call {
    /// Its id in the gate.
    pub(crate) id: String,
    passing: GateFuture,
    told: mpsc::Receiver<ClientMessage>,
    /// Whether it stands before the run: waiting for a person, or for its turn to ask one.
    waits: watch::Receiver<bool>,
    cancel: CancellationToken,
    side_results: Arc<SideResults>,
}

/// A call in the gate. Whoever waits for it carries it on, because to hand it to another task and
/// back costs more than most calls; left alone, it goes on by itself.
struct GateFuture {
    on: Driver,
    tracker: TaskTracker,
}

/// Who carries a call on.
enum Driver {
    /// Whoever waits for it.
    Here(BoxFuture<'static, Reply>),
    /// A task of its own.
    Alone(oneshot::Receiver<Reply>),
    /// Nobody: it has given its reply, or everything ends.
    Nobody,
}

impl GateFuture {
    /// From here on it goes on by itself.
    fn leave(&mut self) {
        self.on = match std::mem::replace(&mut self.on, Driver::Nobody) {
            Driver::Here(passing) => match Handle::try_current() {
                Ok(runtime) => {
                    let (done, reply) = oneshot::channel();
                    // An error means that nobody waits for it: it is on record.
                    let alone = async move { drop(done.send(passing.await)) };
                    drop(self.tracker.spawn_on(alone, &runtime));
                    Driver::Alone(reply)
                }
                // Without a runtime everything ends, and the record says where it was dropped.
                Err(_) => Driver::Nobody,
            },
            other => other,
        }
    }
}

impl Future for GateFuture {
    type Output = Reply;

    fn poll(mut self: Pin<&mut GateFuture>, context: &mut Context<'_>) -> Poll<Reply> {
        let reply = match &mut self.on {
            Driver::Here(passing) => ready!(passing.poll_unpin(context)),
            Driver::Alone(told) => match ready!(told.poll_unpin(context)) {
                Ok(reply) => reply,
                // The gate answers every call; without an answer the process is ending.
                Err(_) => return Poll::Pending,
            },
            Driver::Nobody => return Poll::Pending,
        };
        self.on = Driver::Nobody;
        Poll::Ready(reply)
    }
}

impl Drop for GateFuture {
    fn drop(&mut self) {
        self.leave();
    }
}

/// A call on its way, for those who have something to tell it.
struct ActiveCall {
    messages: mpsc::Sender<ClientMessage>,
    /// Whether it waits for a person.
    waits: watch::Sender<bool>,
    session: Arc<str>,
    cancel: CancellationToken,
}

/// The calls that are on their way, by id.
#[derive(Default)]
pub(crate) struct Calls {
    all: Mutex<HashMap<String, ActiveCall>>,
    pub(crate) tracker: TaskTracker,
}

/// Why somebody stopped waiting for a call.
pub(crate) enum CallOutcome {
    /// It is done. With it comes what it left beside the reply.
    Done(Box<Reply>, Arc<SideResults>),
    /// The client must ask before it goes on.
    Asks(ClientQuestion, Call),
    /// A person takes longer than the client can be expected to wait.
    Waits(Call),
}

/// What a call comes to next that no request waits for.
pub(crate) enum CallStep {
    /// The client must be asked.
    Asks(ClientQuestion),
    /// It says how far it is.
    Says(String),
    /// It is done. With it comes what it left beside the reply.
    Done(Box<Reply>, Arc<SideResults>),
}

/// How the client is asked and told.
pub(crate) struct ClientLink<'a> {
    pub(crate) context: &'a RequestContext<RoleServer>,
    /// Whether the client is asked by answering its request, or with a request of our own.
    pub(crate) era: Era,
    pub(crate) wait_limits: WaitLimits,
    /// Held while a question of ours is open: a client shows one at a time.
    pub(crate) asking: &'a Arc<tokio::sync::Mutex<()>>,
}

/// How long a client is kept waiting for a person before it is told to come back.
#[derive(Debug, Clone, Copy)]
pub struct WaitLimits {
    /// Where the person is asked somewhere else.
    pub elsewhere: Duration,
    /// Where the client itself shows the question. Some stop their clock for it.
    pub asking: Duration,
}

impl Default for WaitLimits {
    /// Below the minute that many clients give a request, and below the five that Codex does.
    fn default() -> WaitLimits {
        WaitLimits { elsewhere: Duration::from_secs(50), asking: Duration::from_secs(270) }
    }
}

impl Calls {
    /// Sends a call on its way.
    pub(crate) fn begin(
        self: &Arc<Calls>,
        gate: Gate,
        call: ToolCall,
        profile: ClientProfile,
    ) -> Call {
        let (tell, told) = mpsc::channel(BACKLOG);
        let (waiting, waits) = watch::channel(true);
        let (id, cancel) = (call.id.clone(), gate.run().cancel.clone());
        let name = id.clone();
        let active = ActiveCall {
            messages: tell.clone(),
            waits: waiting,
            session: gate.run().session.clone(),
            cancel: cancel.clone(),
        };
        self.all().insert(id.clone(), active);
        let calls = self.clone();
        let side_results = Arc::new(SideResults::default());
        let client = Client {
            tell,
            profile: Arc::new(profile),
            redactor: gate.redactor().clone(),
            side_results: side_results.clone(),
        };
        let counted = self.tracker.token();
        let passing = CLIENT.scope(client, async move {
            let reply = gate.pass(call).await;
            calls.all().remove(&id);
            drop(counted);
            reply
        });
        let passing =
            GateFuture { on: Driver::Here(passing.boxed()), tracker: self.tracker.clone() };
        Call { id: name, passing, told, waits, cancel, side_results }
    }

    /// True when a call with this id is on its way.
    pub(crate) fn has(&self, id: &str) -> bool {
        self.all().contains_key(id)
    }

    /// Cancels every call of a session: a person has ended the turn.
    pub(crate) fn cancel_session(&self, session: &str) {
        for call in self.all().values().filter(|it| &*it.session == session) {
            call.cancel.cancel();
        }
    }

    /// Passes on what the gate tells about a call.
    pub(crate) fn hear(&self, event: &Event) {
        let waits = |call: &str, now: bool| {
            if let Some(ActiveCall { waits, .. }) = self.all().get(call) {
                // Nobody needs to be woken to learn that there is nothing to wait for.
                waits.send_if_modified(|it| !std::mem::replace(it, now) && now);
            }
        };
        match event {
            Event::Queued { call, .. } | Event::Asked { call, .. } => waits(call, true),
            Event::Started { call, .. } | Event::ToolApproval { call, .. } => waits(call, false),
            Event::Progress { call, fraction, detail, .. } => {
                if let Some(ActiveCall { messages, .. }) = self.all().get(call) {
                    let (progress, total, detail) = (*fraction, Some(1.0), detail.clone());
                    // Full: the client is behind, and the next one tells more.
                    let _ = messages.try_send(ClientMessage::Progress { progress, total, detail });
                }
            }
            _ => {}
        }
    }

    fn all(&self) -> MutexGuard<'_, HashMap<String, ActiveCall>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Call {
    /// Takes the call back.
    pub(crate) fn cancellation(&self) -> CancellationToken {
        self.cancel.clone()
    }

    /// Waits for what it comes to next, where no request waits for it.
    pub(crate) async fn step(&mut self) -> CallStep {
        loop {
            tokio::select! {
                biased;
                Some(told) = self.told.recv() => match told {
                    ClientMessage::Question(asked) => return CallStep::Asks(asked),
                    ClientMessage::Progress { detail, .. } if !detail.is_empty() => {
                        return CallStep::Says(detail);
                    }
                    ClientMessage::Progress { .. } | ClientMessage::Message(_) => {}
                },
                reply = &mut self.passing => {
                    return CallStep::Done(Box::new(reply), self.side_results.clone());
                }
            }
        }
    }

    /// Waits until the call is done, or until the client has to do something. A call that its
    /// client is sent away from goes on by itself.
    pub(crate) async fn drive(mut self, link: ClientLink<'_>) -> CallOutcome {
        let ClientLink { context, era, wait_limits, asking } = link;
        // From the end of this on the request has its answer.
        let answered = CancellationToken::new();
        let _over = answered.clone().drop_guard();
        let mut notifier = Notifier::new(context);
        let mut beat = Instant::now() + HEARTBEAT;
        let mut until = Instant::now() + wait_limits.elsewhere;
        let mut late = false;
        loop {
            if late && *self.waits.borrow_and_update() {
                self.passing.leave();
                return CallOutcome::Waits(self);
            }
            tokio::select! {
                biased;
                Some(told) = self.told.recv() => match notifier.send(told).await {
                    Some(asked) if era == Era::Stateless => {
                        self.passing.leave();
                        return CallOutcome::Asks(asked, self);
                    }
                    Some(asked) => {
                        until = Instant::now() + wait_limits.asking;
                        late = false;
                        let (peer, request) = (context.peer.clone(), context.id.clone());
                        let (asking, over) = (asking.clone(), answered.clone());
                        tokio::spawn(asked.ask(peer, request, asking, over));
                    }
                    None => {}
                },
                reply = &mut self.passing => {
                    // What there is to tell is told before the reply that ends it.
                    while let Ok(told) = self.told.try_recv() {
                        notifier.send(told).await;
                    }
                    return CallOutcome::Done(Box::new(reply), self.side_results);
                }
                () = context.ct.cancelled(), if !self.cancel.is_cancelled() => {
                    self.cancel.cancel();
                }
                _ = self.waits.changed(), if late => {}
                () = sleep_until(until), if !late => late = true,
                () = sleep_until(beat), if notifier.token.is_some() => {
                    notifier.heartbeat().await;
                    beat = Instant::now() + HEARTBEAT;
                }
            }
        }
    }
}

/// How a client hears of its call.
struct Notifier<'a> {
    peer: &'a Peer<RoleServer>,
    token: Option<ProgressToken>,
    furthest: Option<f64>,
}

impl Notifier<'_> {
    fn new(context: &RequestContext<RoleServer>) -> Notifier<'_> {
        let token = context.meta.get_progress_token();
        Notifier { peer: &context.peer, token, furthest: None }
    }

    /// Says that the call still runs. Progress must grow, so it grows by next to nothing.
    async fn heartbeat(&mut self) {
        let progress = self.furthest.map_or(0.0, |it| it + 1e-6);
        let detail = "still running".to_owned();
        self.send(ClientMessage::Progress { progress, total: None, detail }).await;
    }

    /// Tells the client, and gives back what has to be asked. That the client is gone is noticed
    /// elsewhere.
    async fn send(&mut self, told: ClientMessage) -> Option<ClientQuestion> {
        match told {
            ClientMessage::Progress { progress, total, detail } => {
                let further = self.furthest.is_none_or(|furthest| progress > furthest);
                if let Some(token) = self.token.clone().filter(|_| further) {
                    self.furthest = Some(progress);
                    let mut told = ProgressNotificationParam::new(token, progress);
                    told.total = total;
                    if !detail.is_empty() {
                        told = told.with_message(detail);
                    }
                    let _ = self.peer.notify_progress(told).await;
                }
                None
            }
            ClientMessage::Message(said) => {
                let _ = self.peer.notify_logging_message(said).await;
                None
            }
            ClientMessage::Question(asked) => Some(asked),
        }
    }
}
