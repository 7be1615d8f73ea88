//! Output that is too long to be held in memory: where a tool has put all of it, until it is in the
//! output store or let go.

use std::{
    fmt,
    io::{self, Read},
    sync::Arc,
};

/// Where all of an output can be read, as often as somebody wants to.
pub trait OutputSource: Send + Sync {
    /// Begins to read it.
    fn open(&self) -> io::Result<Box<dyn Read + Send>>;
}

/// All of an output of which [`Output::text`](crate::Output::text) has the beginning and the end.
/// Nobody has read it over: it leaves the gate redacted, and only into the output store.
#[derive(Clone)]
pub struct WholeOutput {
    source: Arc<dyn OutputSource>,
    lost: u64,
}

impl WholeOutput {
    /// An output that can be read there, and how many bytes of what was written even this lacks.
    pub fn new(source: impl OutputSource + 'static, lost: u64) -> WholeOutput {
        WholeOutput { source: Arc::new(source), lost }
    }

    /// How many bytes were written and are nowhere.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// Begins to read it.
    pub fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        self.source.open()
    }
}

impl PartialEq for WholeOutput {
    fn eq(&self, other: &WholeOutput) -> bool {
        Arc::ptr_eq(&self.source, &other.source)
    }
}

impl fmt::Debug for WholeOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WholeOutput").field("lost", &self.lost).finish_non_exhaustive()
    }
}
