//! Which sessions are kept in the store, and which last as long as this process.

use std::sync::Arc;

use eclusa::{
    session::{MemorySessions, SessionError, SessionRecord, SessionState},
    store::Store,
};

/// What commands that a person types are recorded under. Each is a process of its own and a session
/// of its own: what one of them read or changed says nothing of the next.
pub const COMMAND_LINE: &str = "command-line";

/// What the calls of `eclusa feed` are recorded under where nobody names a session: one answer of a
/// model, which says nothing of the next.
pub const UNNAMED_FEED: &str = "feed";

/// The sessions of a program: those of agents and models in its store, where the next process of
/// the same session finds them; those that nobody named in memory.
pub struct KeptSessions {
    store: Arc<dyn Store>,
    here: MemorySessions,
}

impl KeptSessions {
    /// The sessions that this store keeps.
    pub fn new(store: Arc<dyn Store>) -> KeptSessions {
        KeptSessions { store, here: MemorySessions::default() }
    }

    fn keeper(&self, session: &str) -> &dyn SessionState {
        match session {
            COMMAND_LINE | UNNAMED_FEED => &self.here,
            _ => &*self.store,
        }
    }
}

impl SessionState for KeptSessions {
    fn load(&self, session: &str) -> Result<SessionRecord, SessionError> {
        self.keeper(session).load(session)
    }

    fn update(
        &self,
        session: &str,
        change: &mut dyn FnMut(&mut SessionRecord),
    ) -> Result<(), SessionError> {
        self.keeper(session).update(session, change)
    }

    fn forget(&self, session: &str) -> Result<(), SessionError> {
        self.keeper(session).forget(session)
    }
}
