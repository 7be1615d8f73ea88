//! The hall that all doors lead to: the gate, the calls on their way, and those that wait.

use std::{
    collections::HashMap,
    io,
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use eclusa::Gate;
use rmcp::ErrorData;
use tokio_util::sync::CancellationToken;

use crate::{
    call::{Calls, Patience},
    opening::{Opened, Opening},
    parked::Parking,
};

/// What all connections to one gate share.
pub(crate) struct Hall {
    opening: Opening,
    pub(crate) calls: Arc<Calls>,
    pub(crate) parking: Arc<Parking>,
    pub(crate) patience: Patience,
    /// Cancelled when the server ends: every call with it.
    pub(crate) gone: CancellationToken,
    numbers: AtomicU64,
    heard: OnceLock<()>,
    /// The conversations of clients that do not stay connected, by what they call themselves.
    shared: Mutex<HashMap<String, Arc<str>>>,
}

/// How many clients by other names have a conversation of their own.
const CLIENTS: usize = 256;

impl Hall {
    pub(crate) fn new(opening: Opening, patience: Patience) -> io::Result<Arc<Hall>> {
        Ok(Arc::new(Hall {
            opening,
            calls: Arc::default(),
            parking: Arc::new(Parking::new()?),
            patience,
            gone: CancellationToken::new(),
            numbers: AtomicU64::new(0),
            heard: OnceLock::new(),
            shared: Mutex::default(),
        }))
    }

    /// A number that no other call of this process has.
    pub(crate) fn number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }

    /// The conversation of a client that does not stay connected (2026-07-28 over HTTP). All
    /// requests of clients by that name are part of it: one for each would forget what was read
    /// from outside, and which commands run.
    pub(crate) fn conversation(&self, client: &str) -> Arc<str> {
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        let known = shared.contains_key(client) || shared.len() < CLIENTS;
        let client = if known { client } else { "" };
        let new = || format!("mcp-http-{}", self.number()).into();
        shared.entry(client.to_owned()).or_insert_with(new).clone()
    }

    /// The gate, once it is open. From then on its events are heard.
    pub(crate) async fn gate(&self) -> Result<Gate, ErrorData> {
        Ok(self.opened().await?.gate)
    }

    /// The gate and what is behind it, if it is open already.
    pub(crate) fn opened_now(&self) -> Option<Opened> {
        self.opening.now()
    }

    /// The gate and what is behind it.
    pub(crate) async fn opened(&self) -> Result<Opened, ErrorData> {
        let opened = self.opening.wait().await.map_err(|why| {
            ErrorData::internal_error(format!("eclusa cannot work here: {why}"), None)
        })?;
        self.heard.get_or_init(|| {
            let calls = Arc::downgrade(&self.calls);
            opened.gate.setup().events.overhear(move |event| {
                if let Some(calls) = calls.upgrade() {
                    calls.hear(event);
                }
            });
        });
        Ok(opened)
    }
}
