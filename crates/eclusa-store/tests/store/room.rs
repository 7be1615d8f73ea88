//! A store in a directory of its own, and what a test does with one.

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use eclusa::{
    AuditSink,
    audit::{Appending, AuditError, Clock, Draft, Receipt},
};
use eclusa_store::{Durability, Options, SqliteStore};
use rusqlite::Connection;
use tempfile::TempDir;

/// A place for one store.
pub(crate) struct Room {
    pub(crate) directory: TempDir,
    pub(crate) clock: Arc<HandClock>,
}

impl Room {
    pub(crate) fn new() -> Room {
        Room { directory: TempDir::new().unwrap(), clock: Arc::default() }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.directory.path().join("state/store.db")
    }

    pub(crate) fn options(&self) -> Options {
        Options {
            durability: Durability::Crash,
            busy: Duration::from_secs(60),
            clock: self.clock.clone(),
            ..Options::default()
        }
    }

    pub(crate) fn open(&self) -> SqliteStore {
        SqliteStore::open(&self.path(), self.options()).unwrap()
    }

    /// A connection that is not Eclusa's, for whoever edits the file.
    pub(crate) fn stranger(&self) -> Connection {
        stranger(&self.path())
    }
}

pub(crate) fn stranger(path: &Path) -> Connection {
    let connection = Connection::open(path).unwrap();
    connection.busy_timeout(Duration::from_secs(60)).unwrap();
    connection
}

/// A clock that only moves when it is told to.
#[derive(Debug)]
pub(crate) struct HandClock(AtomicU64);

impl Default for HandClock {
    fn default() -> HandClock {
        HandClock(AtomicU64::new(1_000_000))
    }
}

impl HandClock {
    pub(crate) fn forward(&self, time: Duration) {
        self.0.fetch_add(u64::try_from(time.as_millis()).unwrap(), Ordering::SeqCst);
    }
}

impl Clock for HandClock {
    fn unix_ms(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }
}

/// A start, as the gate would write it.
pub(crate) fn started(call: &str) -> Draft {
    let body = format!(r#"{{"at":1,"call":"{call}","event":"started","tool":"echo","v":1}}"#);
    Draft::new(body).unwrap()
}

/// The end of a call that started there.
pub(crate) fn ended(call: &str, start: u64) -> Draft {
    let body = format!(
        r#"{{"at":2,"call":"{call}","event":"ended","start":{start},"tool":"echo","v":1}}"#
    );
    Draft::new(body).unwrap()
}

/// Appends without a runtime.
pub(crate) fn append(store: &SqliteStore, draft: Draft) -> Result<Receipt, AuditError> {
    match store.append(draft) {
        Appending::Done(result) => result,
        Appending::Waiting(told) => told.blocking_recv().unwrap(),
    }
}

/// So many calls, each with its start and its end.
pub(crate) fn fill(store: &SqliteStore, calls: u64) {
    for number in 0..calls {
        let call = format!("c{number}");
        let start = append(store, started(&call)).unwrap().seq;
        append(store, ended(&call, start)).unwrap();
    }
}
