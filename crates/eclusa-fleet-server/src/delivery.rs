//! Machines that wait at this instance, woken when something came for them: at once where it came here, and otherwise at
//! the next look. Nothing here counts: who is not woken asks again.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError, Weak},
    time::Duration,
};

use tokio::sync::Notify;

use crate::{Database, store::messages};

/// How often an instance looks for what came elsewhere.
pub(crate) const LOOK: Duration = Duration::from_millis(250);

/// Who waits here.
#[derive(Default)]
pub(crate) struct Delivery {
    waiting: Mutex<HashMap<u32, Weak<Notify>>>,
}

impl Delivery {
    /// Woken whenever something comes for this machine from now on.
    pub(crate) fn register(&self, machine: u32) -> Arc<Notify> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = waiting.get(&machine).and_then(Weak::upgrade) {
            return known;
        }
        let new = Arc::new(Notify::new());
        waiting.insert(machine, Arc::downgrade(&new));
        new
    }

    /// Wakes a machine, if it waits here.
    pub(crate) fn wake(&self, machine: u32) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        match waiting.get(&machine).map(Weak::upgrade) {
            // One that is just about to wait is woken, too.
            Some(Some(known)) => known.notify_one(),
            Some(None) => drop(waiting.remove(&machine)),
            None => {}
        }
    }

    /// Whether anybody waits.
    fn is_empty(&self) -> bool {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// Looks for what came at other instances.
    pub(crate) async fn look(&self, database: &Database) {
        if self.is_empty() {
            return;
        }
        // While the database is away there is nothing to hand over.
        for machine in messages::recent(database).await.unwrap_or_default() {
            self.wake(machine);
        }
    }
}
