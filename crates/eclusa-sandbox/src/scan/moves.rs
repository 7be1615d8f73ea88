//! Finds what was moved: what left one path and arrived at another.
//!
//! An overlay says where a copied file came from only by a handle that few may open, so that a move
//! is told by its traces: what arrived was copied up and has the size and time of something that
//! left, or it has the same content.

use std::{
    collections::HashMap,
    ffi::OsStr,
    path::{Path, PathBuf},
};

use eclusa_workspace::{ContentDigest, Stamp};

use super::{
    Effect, Kind, ScannedNode,
    handle::{Look, Marks, Sort},
};

/// What the walk has seen leave and arrive.
#[derive(Default)]
pub(crate) struct Moves {
    left: HashMap<PathBuf, Stamp>,
    /// What was copied from below, with its stamp.
    copied: HashMap<PathBuf, Stamp>,
}

impl Moves {
    /// Something that was below is gone.
    pub(crate) fn left(&mut self, path: &Path, look: &Look) {
        if matches!(look.sort, Sort::File | Sort::Link) {
            self.left.insert(path.to_owned(), look.stamp);
        }
    }

    /// Something is where nothing was.
    pub(crate) fn arrived(&mut self, path: &Path, look: &Look, marks: &Marks) {
        let marked = match look.sort {
            Sort::File => marks.has("origin"),
            // Links have no attributes.
            Sort::Link => true,
            Sort::Directory | Sort::Other(_) => false,
        };
        if marked {
            self.copied.insert(path.to_owned(), look.stamp);
        }
    }
}

/// Fills in where things were moved from. Each source has at most one destination.
pub(crate) fn find(entries: &mut [Effect], moves: &Moves) {
    if moves.left.is_empty() {
        return;
    }
    let mut taken = vec![false; entries.len()];
    for evidence in [copied, content] {
        let mut sources: HashMap<Trace, Vec<usize>> = HashMap::new();
        for (at, entry) in entries.iter().enumerate().rev() {
            let free = taken.get(at) == Some(&false) && entry.after.is_none();
            let stamp = moves.left.get(&entry.path);
            let (Some(node), Some(stamp), true) = (&entry.before, stamp, free) else { continue };
            if let Some(trace) = evidence(node, Some(stamp)) {
                sources.entry(trace).or_default().push(at);
            }
        }
        for at in 0..entries.len() {
            let Some(entry) = entries.get(at) else { continue };
            let (Some(node), None) = (&entry.after, &entry.from) else { continue };
            // What only changed its mode or owner has not moved.
            if entry.kind() == Kind::Metadata {
                continue;
            }
            let trace = evidence(node, moves.copied.get(&entry.path));
            let Some(found) = trace.and_then(|it| sources.get_mut(&it)) else { continue };
            // Of several, the one that kept its name; otherwise the first.
            let same = |it: &usize| entries.get(*it).map(name) == Some(name(entry));
            let nth = found.iter().rposition(same).or(found.len().checked_sub(1));
            let Some(source) = nth.map(|nth| found.remove(nth)) else { continue };
            let from = entries.get(source).map(|it| it.path.clone());
            taken.get_mut(source).into_iter().for_each(|it| *it = true);
            entries.get_mut(at).into_iter().for_each(|it| it.from.clone_from(&from));
        }
    }
}

fn name(entry: &Effect) -> Option<&OsStr> {
    entry.path.file_name()
}

/// What a thing has at both ends of a move.
#[derive(PartialEq, Eq, Hash)]
enum Trace {
    File { size: u64, modified: i128 },
    Link { target: PathBuf, modified: i128 },
    Content(ContentDigest),
}

/// Copied from below, with the same size and time.
fn copied(node: &ScannedNode, stamp: Option<&Stamp>) -> Option<Trace> {
    let modified = stamp?.modified;
    match node {
        ScannedNode::File(file) => Some(Trace::File { size: file.size, modified }),
        ScannedNode::Link { target } => Some(Trace::Link { target: target.clone(), modified }),
        ScannedNode::Directory { .. } | ScannedNode::Other(_) => None,
    }
}

/// The same content. That of an empty file says nothing.
fn content(node: &ScannedNode, _: Option<&Stamp>) -> Option<Trace> {
    let file = node.file().filter(|it| it.size > 0)?;
    file.digest.map(Trace::Content)
}
