//! What is kept of a session between its calls: whether text from outside came into it, what was
//! changed in it since a person was last asked, and what people answered for all of it.
//!
//! One trait, whoever the calls come from: [`SessionState`]. In memory it lasts as long as the gate;
//! a program whose calls are processes of their own keeps it in its store. Modes are not among it:
//! rules about modes name the session, and are asked for every run.
//!
//! What cannot be read counts as tainted, spent and not granted.

use std::{collections::BTreeSet, sync::Arc};

use crate::{ChangeTotals, Hash};

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
}

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

    /// True when there is nothing to keep.
    pub fn is_empty(&self) -> bool {
        *self == SessionRecord::default()
    }
}

#[cfg(test)]
mod tests;
