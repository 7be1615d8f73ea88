//! What pending runs there are, and which have to go.

use std::{
    fs::{self, File},
    io,
    path::Path,
    time::{SystemTime, UNIX_EPOCH},
};

use super::{
    PendingError, read, remove,
    wire::{FORM, Head},
};
use crate::Workspace;

/// How many runs are kept.
pub(super) const MAX_RUNS: usize = 100;
/// How many bytes of new contents are kept of all runs together.
pub(super) const MAX_BYTES: u64 = 1 << 30;

impl Workspace {
    /// What is kept and not too old, in order.
    pub(super) fn kept_heads(&self) -> Vec<(u64, Head)> {
        let Ok(entries) = fs::read_dir(self.pending_directory()) else { return Vec::new() };
        let calls = entries.flatten().filter_map(|it| it.file_name().to_str()?.parse().ok());
        let mut heads: Vec<(u64, Head)> =
            calls.filter_map(|call: u64| Some((call, self.kept_head(call)?))).collect();
        heads.sort_unstable_by_key(|it| it.0);
        heads
    }

    /// What is known of one run; `None` where nothing is kept of it, or no longer.
    pub(super) fn kept_head(&self, call: u64) -> Option<Head> {
        let file = self.pending_directory().join(call.to_string()).join("head.json");
        let head: Head = serde_json::from_slice(&read(&file)?).ok()?;
        (head.v == FORM && head.until > unix_now()).then_some(head)
    }

    /// Drops what is too old, and of what nobody is asked about the oldest, until there is room. Gives the calls of
    /// the latter.
    pub(super) fn make_room(&self, bytes: u64) -> Result<Vec<u64>, PendingError> {
        // Earlier versions kept discarded changes there.
        remove(&self.state().join("discarded"));
        let heads = self.kept_heads();
        for entry in fs::read_dir(self.pending_directory())?.flatten() {
            let call = entry.file_name().to_str().and_then(|it| it.parse::<u64>().ok());
            if !call.is_some_and(|call| heads.iter().any(|it| it.0 == call)) {
                remove(&entry.path());
            }
        }
        let (mut count, mut used) = (heads.len(), heads.iter().map(|it| it.1.bytes).sum::<u64>());
        let mut dropped = Vec::new();
        let unasked = |it: &&(u64, Head)| !it.1.asked || self.pending_outcome(it.0).is_some();
        for (call, head) in heads.iter().filter(unasked) {
            if count < MAX_RUNS && used.saturating_add(bytes) <= MAX_BYTES {
                break;
            }
            tracing::info!(call, "pending changes were dropped to make room for others");
            self.forget_pending(*call);
            dropped.push(*call);
            (count, used) = (count - 1, used.saturating_sub(head.bytes));
        }
        match count < MAX_RUNS && used.saturating_add(bytes) <= MAX_BYTES {
            true => Ok(dropped),
            false => Err(PendingError::Full(bytes)),
        }
    }
}

/// Whoever keeps a run is alone with all that is kept while this is held.
pub(super) fn lock(all: &Path) -> io::Result<File> {
    let directory = File::open(all)?;
    directory.lock()?;
    Ok(directory)
}

pub(super) fn unix_now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |it| it.as_secs())
}
