//! Changes that are told in a line each, as the record of their call has them: what git did, and
//! what can be made again.

use std::path::{Path, PathBuf};

use eclusa::{
    Change, Changes,
    audit::{
        Log,
        calls::{self, CallRecord, LoggedChanges},
    },
    workspace::UndoEntry,
};

use crate::failure::Failure;

/// What is told in lines, and which paths those lines stand for.
#[derive(Debug, Default)]
pub(super) struct FoldedLines {
    pub(super) lines: Vec<String>,
    paths: Vec<PathBuf>,
    git: bool,
}

impl FoldedLines {
    /// What the records of a call say; those of the calls that it undoes, if it is an undo.
    pub(super) fn read(log: &dyn Log, entry: &UndoEntry) -> Result<FoldedLines, Failure> {
        let mut folded = FoldedLines::default();
        let own = [entry.call];
        let calls = if entry.undoes.is_empty() { &own[..] } else { &entry.undoes };
        for call in calls {
            let call = calls::call_with(log, *call).map_err(Failure::failed)?;
            let lines = call.as_ref().and_then(CallRecord::changes).map(LoggedChanges::folded);
            for (line, path) in lines.unwrap_or_default() {
                folded.lines.push(line.to_owned());
                match path {
                    Some(path) => folded.paths.push(path.into()),
                    None => folded.git = true,
                }
            }
        }
        Ok(folded)
    }

    /// The changes that no line stands for.
    pub(super) fn without(&self, changes: &Changes) -> Changes {
        let is_folded = |it: &Change| {
            self.paths.iter().any(|path| it.path.starts_with(path))
                || self.git && is_of_git(&it.path)
        };
        Changes::of(changes.iter().filter(|it| !is_folded(it)).cloned())
    }
}

/// What git notes for itself: objects, branches and tags, logs, the index, and where it stands.
fn is_of_git(path: &Path) -> bool {
    let names: Vec<&str> = path.iter().filter_map(|it| it.to_str()).collect();
    let Some(at) = names.iter().position(|it| *it == ".git") else { return false };
    match names.get(at + 1..).unwrap_or_default() {
        [] => true,
        ["objects" | "refs" | "logs", ..] => true,
        [name] => {
            matches!(*name, "index" | "HEAD" | "packed-refs" | "COMMIT_EDITMSG")
                || name.ends_with("_HEAD")
        }
        _ => false,
    }
}
