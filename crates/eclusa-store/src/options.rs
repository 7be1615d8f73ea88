//! How a store is used.

use std::{fmt, sync::Arc, time::Duration};

use eclusa::{
    Durability,
    audit::{Clock, SystemClock},
};

/// How a store is used.
#[derive(Clone)]
pub struct Options {
    /// What a record survives.
    pub durability: Durability,
    /// How long another process may hold the lock before an attempt to write is given up.
    pub busy: Duration,
    /// How many bytes the spool keeps; beyond, the oldest texts are dropped, and a record says so.
    pub spool_bytes: u64,
    /// For a process that writes little and ends: what is in the write-ahead log is left to the next
    /// one, as long as it is short. Moving it to its place takes more syncs than a record.
    pub one_call: bool,
    /// For a process that serves one client: where a record takes a sync, the caller waits for the
    /// disk on its own thread as long as the disk is quick and nobody else writes. With many clients
    /// callers wait for a thread that writes, and share its syncs.
    pub one_client: bool,
    /// The workspace whose calls are recorded here, noted for lists of all workspaces.
    pub workspace: Option<String>,
    /// Tells the time for questions in the approval queue and for the records that the store writes itself.
    pub clock: Arc<dyn Clock>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            durability: Durability::default(),
            busy: Duration::from_secs(30),
            spool_bytes: 256 << 20,
            one_call: false,
            one_client: false,
            workspace: None,
            clock: Arc::new(SystemClock),
        }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("durability", &self.durability)
            .field("busy", &self.busy)
            .field("spool_bytes", &self.spool_bytes)
            .finish_non_exhaustive()
    }
}
