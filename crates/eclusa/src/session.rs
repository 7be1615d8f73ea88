//! What is kept of a session between its calls: whether text from outside came into it, what was
//! changed in it since a person was last asked, what people answered for all of it, and the mode that
//! a person chose for it.
//!
//! One trait, whoever the calls come from: [`SessionState`]. In memory it lasts as long as the gate;
//! a program whose calls are processes of their own keeps it in its store. Rules about modes are not
//! among it: they name the session, and are asked for every run.
//!
//! What cannot be read counts as tainted, spent and not granted, in the most careful mode.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::Arc,
};

use crate::{ChangeTotals, Hash, Mode};

mod memory;
mod wire;

pub use crate::errors::SessionError;
pub use memory::MemorySessions;

/// What is kept of one session. One of which nothing is kept is empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionRecord {
    /// What brought text from outside into it, if anything did.
    taint: Option<Arc<str>>,
    /// What was changed in it since a person was last asked about changes.
    spent: Option<Arc<ChangeTotals>>,
    /// What people have allowed for the whole of it, by the digest of what it covers.
    grants: Option<Arc<BTreeSet<String>>>,
    /// The mode that a person chose for it, if anybody did.
    mode: Option<Mode>,
    /// The files that calls of it have made, and the digest of what they wrote to each last.
    made: Option<Arc<Vec<(PathBuf, String)>>>,
}

/// The most files that it is known of that a session has made them; the oldest are forgotten.
const MAX_MADE: usize = 256;

/// Keeps what is known of sessions, by their names.
pub trait SessionState: Send + Sync {
    /// What is kept of a session.
    fn load(&self, session: &str) -> Result<SessionRecord, SessionError>;

    /// Changes what is kept of a session. `change` gets what is kept at this moment, and until it
    /// is written nobody else reads or changes it, in whichever process. What it leaves as it was
    /// need not be written.
    fn update(
        &self,
        session: &str,
        change: &mut dyn FnMut(&mut SessionRecord),
    ) -> Result<(), SessionError>;

    /// Forgets a session: its name will not be used again.
    fn forget(&self, session: &str) -> Result<(), SessionError>;
}

/// The mode that a person chose for a session, if anybody did. Where that cannot be read, it is the
/// most careful one.
pub fn chosen_mode(sessions: &(impl SessionState + ?Sized), session: &str) -> Option<Mode> {
    sessions.load(session).map_or(Some(Mode::ConfirmAll), |it| it.mode())
}

impl SessionRecord {
    /// What brought text from outside into it, if anything did.
    pub fn taint(&self) -> Option<&Arc<str>> {
        self.taint.as_ref()
    }

    /// Text from outside has come into it. What came first stands.
    pub fn mark_tainted(&mut self, how: &str) {
        self.taint.get_or_insert_with(|| how.into());
    }

    /// What was changed in it since a person was last asked about changes.
    pub(crate) fn spent(&self) -> Arc<ChangeTotals> {
        self.spent.clone().unwrap_or_else(ChangeTotals::nothing)
    }

    pub(crate) fn set_spent(&mut self, spent: Arc<ChangeTotals>) {
        self.spent = (*spent != ChangeTotals::default()).then_some(spent);
    }

    /// Whether people have allowed this for the whole of it.
    pub(crate) fn grants(&self, what: &Hash) -> bool {
        self.grants.as_ref().is_some_and(|it| it.contains(&what.to_string()))
    }

    pub(crate) fn grant(&mut self, what: Hash) {
        Arc::make_mut(self.grants.get_or_insert_default()).insert(what.to_string());
    }

    /// Forgets what people have allowed for the whole of it.
    pub fn clear_grants(&mut self) {
        self.grants = None;
    }

    /// The mode that a person chose for it, if anybody did.
    pub fn mode(&self) -> Option<Mode> {
        self.mode
    }

    /// A person chooses this mode for it.
    pub fn set_mode(&mut self, mode: Mode) {
        self.mode = Some(mode);
    }

    /// Whether a call of it has made this file, and written last what has this digest.
    pub(crate) fn has_made(&self, path: &Path, digest: &str) -> bool {
        let mut made = self.made.iter().flat_map(|it| it.iter());
        made.any(|(made, last)| made == path && last == digest)
    }

    /// A call of it has made this file, or written it again.
    pub(crate) fn note_made(&mut self, path: PathBuf, digest: String) {
        let made = Arc::make_mut(self.made.get_or_insert_default());
        made.retain(|(it, _)| *it != path);
        made.push((path, digest));
        let more = made.len().saturating_sub(MAX_MADE);
        made.drain(..more);
    }

    /// True when there is nothing to keep.
    pub fn is_empty(&self) -> bool {
        *self == SessionRecord::default()
    }
}

#[cfg(test)]
mod tests;
