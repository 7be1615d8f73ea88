//! The transactions of a workspace: which there are, and which of them stand.

use std::{
    collections::HashMap,
    io::{self, Read},
    path::Path,
};

use super::UndoError;
use crate::{
    Workspace,
    commit::{
        Dirs, IoFailure, call,
        journal::{self, Journal, JournalHead},
        names, sequence, stat,
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

/// Which calls are undone, and by which.
pub(super) fn undone(dirs: &Dirs, past: &[Past]) -> HashMap<u64, u64> {
    let mut undone = HashMap::new();
    // The latest first: what is itself undone has undone nothing.
    for undo in past.iter().rev().filter(|it| it.is_undo) {
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

impl Workspace {
    /// Every call that changed the workspace, the earliest first.
    pub fn entries(&self) -> Result<Vec<UndoEntry>, IoFailure> {
        let dirs = self.dirs()?;
        let past = all(&dirs, self.state())?;
        let undone = undone(&dirs, &past);
        let entries = past.iter().filter_map(|past| {
            let head = head(&dirs, past)?;
            let status = match (undone.get(&past.call), head.irreversible) {
                (Some(by), _) => UndoStatus::Undone { by: *by },
                (None, Some(why)) => UndoStatus::Irreversible(why),
                (None, None) if is_evicted(&dirs, &past.name) => UndoStatus::Evicted,
                (None, None) => UndoStatus::Committed,
            };
            let (call, sequence) = (past.call, past.sequence);
            Some(UndoEntry { call, sequence, undoes: head.undoes, status })
        });
        Ok(entries.collect())
    }
}
