//! Whether somebody else is in a session while a command of it ends.
//!
//! Where sockets are open a command can hand a descriptor of its layer to a job, or to another command of its
//! session, and whoever has one writes what it names, also after that has been moved to the workspace. So where
//! anybody could have one, what is judged and applied is a copy.

use std::sync::Arc;

use super::session::SandboxSession;
use crate::owner::JobRecords;

/// The session is held once in the list of sessions, and once by the command itself.
const ALONE: usize = 2;

/// Where to look for others.
pub(super) struct Company {
    /// The jobs of all sessions.
    pub(super) records: JobRecords,
    /// The session, by its name.
    pub(super) name: String,
}

impl Company {
    /// Whether a job, or another command of this or another process, is in the session now.
    pub(super) fn is_there(&self, session: &Arc<SandboxSession>) -> bool {
        let runs = |it: &crate::owner::JobRecord| it.session == self.name && it.ended.is_none();
        Arc::strong_count(session) > ALONE
            || session.is_used_elsewhere()
            || self.records.all().iter().any(runs)
    }
}
