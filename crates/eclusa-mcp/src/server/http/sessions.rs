//! Bounded sessions of the older era: where there are too many, those make room that nobody used, and
//! then the one that was used longest ago. Its client begins a new one.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use rmcp::transport::streamable_http_server::session::{
    SessionManager as _, local::LocalSessionManager,
};
use tokio::time::Instant;

/// How many sessions there are at most.
const MAX_SESSIONS: usize = 256;

/// The sessions, and when each was used last.
pub(super) struct Sessions {
    pub(super) manager: Arc<LocalSessionManager>,
    used: Mutex<HashMap<Arc<str>, Use>>,
}

#[derive(Clone, Copy)]
struct Use {
    /// True once a request came after the one that made the session.
    again: bool,
    last: Instant,
}

impl Sessions {
    pub(super) fn new(manager: LocalSessionManager) -> Sessions {
        Sessions { manager: Arc::new(manager), used: Mutex::default() }
    }

    /// A request of this session came in.
    pub(super) fn touch(&self, id: &str) {
        if let Some(it) = self.used().get_mut(id) {
            *it = Use { again: true, last: Instant::now() };
        }
    }

    /// A session was made. Others make room for it.
    pub(super) async fn opened(&self, id: &str) {
        let alive: Vec<Arc<str>> = self.manager.sessions.read().await.keys().cloned().collect();
        let mut excess = Vec::new();
        {
            let mut used = self.used();
            used.retain(|id, _| alive.contains(id));
            used.insert(id.into(), Use { again: false, last: Instant::now() });
            while used.len() > MAX_SESSIONS {
                let others = used.iter().filter(|(it, _)| &***it != id);
                let oldest = others.min_by_key(|(_, it)| (it.again, it.last));
                let Some(oldest) = oldest.map(|(id, _)| id.clone()) else { break };
                used.remove(&oldest);
                excess.push(oldest);
            }
        }
        for id in excess {
            // An error means that it is gone already.
            let _ = self.manager.close_session(&id).await;
        }
    }

    fn used(&self) -> MutexGuard<'_, HashMap<Arc<str>, Use>> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
