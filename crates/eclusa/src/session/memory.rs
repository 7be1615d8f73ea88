//! Sessions that last as long as the program does.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use super::{SessionRecord, SessionState};
use crate::SessionError;

/// Keeps sessions in memory, for as long as it lives.
#[derive(Debug, Default)]
pub struct MemorySessions(Mutex<HashMap<Arc<str>, SessionRecord>>);

impl MemorySessions {
    fn all(&self) -> MutexGuard<'_, HashMap<Arc<str>, SessionRecord>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SessionState for MemorySessions {
    fn load(&self, session: &str) -> Result<SessionRecord, SessionError> {
        Ok(self.all().get(session).cloned().unwrap_or_default())
    }

    fn update(
        &self,
        session: &str,
        change: &mut dyn FnMut(&mut SessionRecord),
    ) -> Result<(), SessionError> {
        let mut all = self.all();
        match all.get_mut(session) {
            Some(record) => change(record),
            None => change(all.entry(session.into()).or_default()),
        }
        Ok(())
    }

    fn forget(&self, session: &str) -> Result<(), SessionError> {
        self.all().remove(session);
        Ok(())
    }
}
