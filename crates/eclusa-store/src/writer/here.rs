//! What a caller does with the connection that writes, on its own thread: short reads, and what is
//! read and written at the same moment.

use std::sync::{MutexGuard, atomic::Ordering};

use rusqlite::Connection;

use super::{OVERHEAD, Shared, Transaction, Writer};
use crate::StoreError;

impl Shared {
    /// Does `work` right here, after whatever is being written.
    pub(crate) fn write_here<T>(
        &self,
        work: impl FnOnce(&mut Transaction<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let done = self.writer().transaction(work);
        self.written.fetch_add(OVERHEAD, Ordering::AcqRel);
        done
    }

    /// The connection that writes, if nobody writes with it now.
    pub(crate) fn free_connection(&self) -> Option<MutexGuard<'_, Writer>> {
        self.writer.try_lock().ok()
    }
}

impl Writer {
    /// Does `work` under the lock, and makes it durable, or leaves everything as it was.
    pub(super) fn transaction<T>(
        &self,
        work: impl FnOnce(&mut Transaction<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.transaction_within(self.busy, work)
    }

    pub(crate) fn connection(&self) -> &Connection {
        &self.connection
    }
}
