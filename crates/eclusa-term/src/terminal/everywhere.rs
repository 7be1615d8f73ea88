//! The rules that a person wants in every workspace, and not in this one alone.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError},
};

use eclusa::Grant;
use eclusa_config::rule_text;

/// The rules that a person wants in every workspace, until they are written.
#[derive(Debug, Clone, Default)]
pub struct Everywhere(Arc<Mutex<BTreeSet<String>>>);

impl Everywhere {
    /// The person wants this one in every workspace.
    pub fn insert(&self, grant: &Grant) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(rule_text(grant));
    }

    /// Takes it out again; true where it was there.
    pub fn remove(&self, grant: &Grant) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&rule_text(grant))
    }
}
