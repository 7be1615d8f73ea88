//! What all connections share: the gate, the calls on their way, and those that wait.

use std::{
    collections::HashMap,
    io,
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use eclusa::Gate;
use rmcp::ErrorData;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::{
    gateway::Gateway,
    server::{
        call::{Calls, WaitLimits},
        pending::{PendingCalls, token},
        startup::{StartedGate, Startup},
        tasks::Tasks,
    },
};

/// What all connections to one gate share.
pub(crate) struct ServerState {
    opening: Startup,
    pub(crate) calls: Arc<Calls>,
    pub(crate) pending: Arc<PendingCalls>,
    pub(crate) tasks: Tasks,
    pub(crate) wait_limits: WaitLimits,
    /// Cancelled when the server ends: every call with it.
    pub(crate) gone: CancellationToken,
    numbers: AtomicU64,
    /// What no other process that serves is called: sessions are kept under it.
    name: String,
    heard: OnceLock<()>,
    /// The sessions of clients that do not stay connected, by what they call themselves.
    sessions: Mutex<HashMap<String, Arc<str>>>,
    /// When a person ended the turn of a session.
    ended_turns: Mutex<HashMap<Arc<str>, Instant>>,
}

/// How long nothing more of a session runs after a person has ended its turn. The protocol
/// does not say when the next one begins, and a model that goes on does so within seconds.
const TURN_PAUSE: Duration = Duration::from_secs(20);

/// How many clients by other names have a session of their own.
const MAX_CLIENTS: usize = 256;

impl ServerState {
    pub(crate) fn new(opening: Startup, wait_limits: WaitLimits) -> io::Result<Arc<ServerState>> {
        Ok(Arc::new(ServerState {
            opening,
            calls: Arc::default(),
            pending: Arc::new(PendingCalls::new()?),
            tasks: Tasks::default(),
            wait_limits,
            gone: CancellationToken::new(),
            numbers: AtomicU64::new(0),
            name: token()?,
            heard: OnceLock::new(),
            sessions: Mutex::default(),
            ended_turns: Mutex::default(),
        }))
    }

    /// A number that no other call of this process has.
    pub(crate) fn number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }

    /// The session of a client that does not stay connected (2026-07-28 over HTTP). All
    /// requests of clients by that name are part of it: one for each would forget what was read
    /// from outside, and which commands run.
    pub(crate) fn session(&self, client: &str) -> Arc<str> {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let known = sessions.contains_key(client) || sessions.len() < MAX_CLIENTS;
        let client = if known { client } else { "" };
        let new = || format!("mcp-http-{}-{}", self.name, self.number()).into();
        sessions.entry(client.to_owned()).or_insert_with(new).clone()
    }

    /// A person has ended the turn: calls on their way are cancelled, and those that follow at once
    /// are not run.
    pub(crate) fn end_turn(&self, session: &Arc<str>) {
        let mut ended = self.ended_turns.lock().unwrap_or_else(PoisonError::into_inner);
        ended.retain(|_, at| at.elapsed() < TURN_PAUSE);
        ended.insert(session.clone(), Instant::now());
        drop(ended);
        self.calls.cancel_session(session);
    }

    /// True right after a person has ended the turn of this session.
    pub(crate) fn turn_ended(&self, session: &str) -> bool {
        let ended = self.ended_turns.lock().unwrap_or_else(PoisonError::into_inner);
        ended.get(session).is_some_and(|at| at.elapsed() < TURN_PAUSE)
    }

    /// The gate, once it is open. From then on its events are heard.
    pub(crate) async fn gate(&self) -> Result<Gate, ErrorData> {
        Ok(self.opened().await?.gate)
    }

    /// The gate and what is behind it, if it is open already.
    pub(crate) fn opened_now(&self) -> Option<StartedGate> {
        self.opening.now()
    }

    /// The server that is wrapped alone, if that is so, once it has started or failed to.
    pub(crate) async fn wrapped(&self) -> Option<Arc<Gateway>> {
        if !self.opening.is_of_one_server() {
            return None;
        }
        let gateway = self.opened().await.ok()?.gateway?;
        gateway.ready().await;
        Some(gateway)
    }

    /// The gate and what is behind it.
    pub(crate) async fn opened(&self) -> Result<StartedGate, ErrorData> {
        let opened = self.opening.wait().await.map_err(|why| {
            ErrorData::internal_error(format!("eclusa cannot work here: {why}"), None)
        })?;
        self.heard.get_or_init(|| {
            let calls = Arc::downgrade(&self.calls);
            opened.gate.events().overhear(move |event| {
                if let Some(calls) = calls.upgrade() {
                    calls.hear(event);
                }
            });
        });
        Ok(opened)
    }
}
