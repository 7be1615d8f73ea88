//! Moves what is in the write-ahead log to its place, beside those who write: in a thread of its own
//! and through a connection of its own, so that neither callers nor what is queued wait for it.

use std::{
    path::PathBuf,
    sync::{Arc, PoisonError, atomic::Ordering},
    thread::JoinHandle,
};

use rusqlite::Connection;

use super::Shared;
use crate::{StoreError, error::InStore, schema};

/// The thread that moves the log, while it does.
#[derive(Default)]
pub(super) struct WalCheckpointer(Option<JoinHandle<()>>);

impl WalCheckpointer {
    /// Moves the log, unless that is being done.
    pub(super) fn start(&mut self, shared: &Arc<Shared>) {
        if self.0.as_ref().is_some_and(|it| !it.is_finished()) {
            return;
        }
        // Counted first: what is written meanwhile is moved the next time.
        shared.written.store(0, Ordering::Release);
        let shared = shared.clone();
        let thread = std::thread::Builder::new().name("eclusa-move".to_owned());
        self.0 = thread.spawn(move || shared.checkpoint()).ok();
    }

    /// Waits for it: it has the store open, and whoever waits for the writer expects it closed.
    pub(super) fn end(self) {
        drop(self.0.map(JoinHandle::join));
    }
}

impl Shared {
    /// Moves most of it while others write, and then, while nobody does, the little that was added
    /// meanwhile: only a log that is moved whole begins anew. What readers still need stays.
    fn checkpoint(&self) {
        let mut beside = self.beside.lock().unwrap_or_else(PoisonError::into_inner);
        let moved = match beside.take().map_or_else(|| self.open_beside(), Ok) {
            Ok(connection) => self.move_with(beside.insert(connection)),
            Err(err) => Err(err),
        };
        if let Err(err) = moved {
            tracing::warn!("the write-ahead log could not be moved to its place: {err}");
        }
    }

    fn move_with(&self, connection: &Connection) -> Result<(), StoreError> {
        let path = connection.path().map(PathBuf::from).unwrap_or_default();
        let pass = || {
            connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(())).in_store(&path)
        };
        pass()?;
        let _nobody_writes = self.writer();
        pass()
    }

    fn open_beside(&self) -> Result<Connection, StoreError> {
        let writer = self.writer();
        writer.still_there()?;
        let path = writer.path.clone();
        drop(writer);
        schema::open_to_move(&path, self.options.durability)
    }
}
