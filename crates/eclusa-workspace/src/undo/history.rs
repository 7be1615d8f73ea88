//! The transactions of a workspace: which there are, and which of them stand.

use std::{
    collections::{HashMap, HashSet},
    fmt,
    io::{self, Read},
    path::Path,
};

use super::UndoError;
use crate::{
    Workspace,
    commit::{
        Dirs, IoFailure, call,
        journal::{self, Journal, JournalHead},
        names, sequence, stat, transaction_name,
    },
};

/// A call that changed the workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UndoEntry {
    /// The call.
    pub call: u64,
    /// Its place among all that changed the workspace.
    pub sequence: u64,
    /// The calls that it undid.
    pub undoes: Vec<u64>,
    /// Whether it stands.
    pub status: UndoStatus,
}

/// Whether the changes of a call stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UndoStatus {
    /// They stand, and can be undone.
    Committed,
    /// They were undone by this call.
    Undone {
        /// The call of the undo.
        by: u64,
    },
    /// They stand, and what was there before is no longer kept.
    Evicted,
    /// They stand, and could never be undone.
    Irreversible(String),
}

impl UndoEntry {
    /// Its transaction. Those that undo something have another name.
    pub(super) fn past(&self) -> Past {
        let is_undo = !self.undoes.is_empty();
        let name = transaction_name(self.sequence, self.call, is_undo);
        Past { name, sequence: self.sequence, call: self.call, is_undo }
    }
}

/// A finished transaction, by the name of its directory.
#[derive(Debug, Clone)]
pub(super) struct Past {
    pub(super) name: String,
    pub(super) sequence: u64,
    pub(super) call: u64,
    pub(super) is_undo: bool,
}

/// All finished transactions, the earliest first.
pub(super) fn all(dirs: &Dirs, state: &Path) -> Result<Vec<Past>, IoFailure> {
    let names = names(&dirs.done, state)?;
    let past = names.into_iter().filter_map(|name| {
        let sequence = sequence(&name)?;
        let call = call(&name)?;
        let is_undo = name.ends_with("-undo");
        Some(Past { name, sequence, call, is_undo })
    });
    let mut past: Vec<Past> = past.collect();
    past.sort_unstable_by_key(|it| it.sequence);
    Ok(past)
}

/// Which calls are undone, and by which, as far as these say.
pub(super) fn undone<'a>(
    dirs: &Dirs,
    past: impl DoubleEndedIterator<Item = &'a Past>,
) -> HashMap<u64, u64> {
    let mut undone = HashMap::new();
    // The latest first: what is itself undone has undone nothing.
    for undo in past.rev().filter(|it| it.is_undo) {
        if undone.contains_key(&undo.call) {
            continue;
        }
        let Some(head) = head(dirs, undo) else { continue };
        undone.extend(head.undoes.iter().map(|it| (*it, undo.call)));
    }
    undone
}

pub(super) fn head(dirs: &Dirs, past: &Past) -> Option<JournalHead> {
    let dir = stat::open_dir(&dirs.done, past.name.as_ref()).ok()?;
    let file = stat::open_file(dir, "journal".as_ref()).ok()?;
    let mut line = Vec::new();
    io::BufRead::read_until(&mut io::BufReader::new(file), b'\n', &mut line).ok()?;
    journal::head(&line)
}

/// The journal of a finished transaction: what the call did, without what lasted no longer than
/// the transaction.
pub(super) fn journal(dirs: &Dirs, past: &Past, state: &Path) -> Result<Journal, UndoError> {
    let at = state.join("done").join(&past.name);
    let read = || {
        let dir = stat::open_dir(&dirs.done, past.name.as_ref())?;
        let mut bytes = Vec::new();
        stat::open_file(dir, "journal".as_ref())?.read_to_end(&mut bytes)?;
        let journal = journal::read(&bytes).map_err(io::Error::other)?;
        let mut journal = journal.ok_or_else(|| io::Error::other("it is damaged"))?;
        journal.ops.retain(|it| !it.passing);
        Ok(journal)
    };
    Ok(read().map_err(IoFailure::at("read the journal in", &at))?)
}

/// True when what a transaction replaced is no longer kept.
pub(super) fn is_evicted(dirs: &Dirs, name: &str) -> bool {
    let marker = Path::new(name).join("evicted");
    matches!(stat::Stat::at(&dirs.done, marker.as_os_str()), Ok(Some(_)))
}

/// The calls that changed the workspace, the latest first. Each is read when it is asked for, so that the
/// latest cost the same however many there are.
pub struct LatestEntries {
    dirs: Dirs,
    /// Those that were not told yet.
    past: Vec<Past>,
    /// What the undos among those that were told have undone.
    undone: HashMap<u64, u64>,
}

impl fmt::Debug for LatestEntries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LatestEntries").field("left", &self.past.len()).finish_non_exhaustive()
    }
}

impl Iterator for LatestEntries {
    type Item = UndoEntry;

    fn next(&mut self) -> Option<UndoEntry> {
        loop {
            let past = self.past.pop()?;
            if let Some(head) = head(&self.dirs, &past) {
                return Some(self.entry(&past, head));
            }
        }
    }
}

impl LatestEntries {
    /// All calls of which no entry was asked for yet.
    pub fn calls(&self) -> HashSet<u64> {
        self.past.iter().map(|it| it.call).collect()
    }

    /// The calls that are undos.
    pub(super) fn undos(&self) -> HashSet<u64> {
        self.past.iter().filter(|it| it.is_undo).map(|it| it.call).collect()
    }

    fn entry(&mut self, past: &Past, head: JournalHead) -> UndoEntry {
        let (call, sequence) = (past.call, past.sequence);
        let status = match (self.undone.get(&call), head.irreversible) {
            (Some(by), _) => UndoStatus::Undone { by: *by },
            (None, Some(why)) => UndoStatus::Irreversible(why),
            (None, None) if is_evicted(&self.dirs, &past.name) => UndoStatus::Evicted,
            (None, None) => UndoStatus::Committed,
        };
        // What is itself undone has undone nothing.
        if past.is_undo && !matches!(status, UndoStatus::Undone { .. }) {
            self.undone.extend(head.undoes.iter().map(|it| (*it, call)));
        }
        UndoEntry { call, sequence, undoes: head.undoes, status }
    }
}

impl Workspace {
    /// The calls that changed the workspace, the latest first.
    pub fn latest_entries(&self) -> Result<LatestEntries, IoFailure> {
        let dirs = self.dirs()?;
        let past = all(&dirs, self.state())?;
        Ok(LatestEntries { dirs, past, undone: HashMap::new() })
    }

    /// Every call that changed the workspace, the earliest first.
    pub fn entries(&self) -> Result<Vec<UndoEntry>, IoFailure> {
        let mut entries: Vec<UndoEntry> = self.latest_entries()?.collect();
        entries.reverse();
        Ok(entries)
    }

    /// This call, if it changed the workspace.
    pub fn entry(&self, call: u64) -> Result<Option<UndoEntry>, IoFailure> {
        let mut latest = self.latest_entries()?;
        let Some(at) = latest.past.iter().position(|it| it.call == call) else { return Ok(None) };
        latest.undone = undone(&latest.dirs, latest.past.iter().skip(at + 1));
        latest.past.truncate(at + 1);
        Ok(latest.next().filter(|it| it.call == call))
    }
}
