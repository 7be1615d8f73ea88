//! One step on the workspace: a rename between it and a place aside, or a change of mode.

use std::{
    collections::HashMap,
    os::unix::fs::MetadataExt as _,
    path::{Component, Path, PathBuf},
};

use super::{
    CommitError,
    stat::{Expected, Kind, NodeContent},
};
use crate::{Change, Changes, Content, Node, places::Places};

/// One step. INVARIANT: it can be taken back by renames alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Op {
    pub(crate) path: PathBuf,
    pub(crate) act: StepKind,
    /// The finished transaction whose directory has the slot. `None`: the one that is going on.
    pub(crate) home: Option<String>,
    /// The name of the place aside: what is not in the workspace is there.
    pub(crate) slot: usize,
    /// Where a file that only moves goes to, or comes from: the step there has the same slot, so
    /// that it is renamed and nothing is copied.
    pub(crate) other: Option<PathBuf>,
    /// What is in the workspace before.
    pub(crate) old: Option<Expected>,
    /// What is in the workspace afterwards.
    pub(crate) new: Option<Expected>,
    /// True for a change of mode that lasts no longer than the transaction: a directory that other
    /// steps work in is writable meanwhile. It is taken back by a recovery, and is no part of what
    /// the call did.
    pub(crate) passing: bool,
}

/// How a step is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StepKind {
    /// From the slot to where nothing is.
    Put,
    /// Slot and workspace change places.
    Swap,
    /// From the workspace to the slot.
    Take,
    /// In place: only the mode changes.
    Mode,
}

/// A step, and where the content comes from that it needs in its slot.
pub(crate) struct Item<'a> {
    pub(crate) op: Op,
    pub(crate) source: Option<Source<'a>>,
}

/// Where a new content comes from.
pub(crate) enum Source<'a> {
    Bytes(&'a [u8]),
    /// A file outside the workspace.
    File(PathBuf),
    /// The same, to be moved and not copied where that can be done.
    Staged(PathBuf),
    /// A file of the workspace.
    Workspace(PathBuf),
    /// A compressed file of the store.
    Packed(PathBuf),
}

/// What shall become of a path.
pub(crate) struct PathGoal<'a> {
    pub(crate) path: PathBuf,
    pub(crate) old: Option<Expected>,
    pub(crate) new: Option<Expected>,
    pub(crate) source: Option<Source<'a>>,
}

/// The steps that make these changes.
pub(crate) fn plan(changes: &Changes) -> Result<Vec<Item<'_>>, CommitError> {
    changes.iter().try_for_each(|it| validate(&it.path))?;
    Ok(arrange(changes.iter().map(|change| PathGoal {
        path: change.path.clone(),
        old: change.before.as_ref().map(Expected::from),
        new: change.after.as_ref().map(Expected::from),
        source: source(change),
    })))
}

/// The steps that reach these goals, which are sorted by path, in an order in which each step
/// can be taken: what opens directories, what goes, deepest first, what comes, what closes them.
pub(crate) fn arrange<'a>(goals: impl Iterator<Item = PathGoal<'a>>) -> Vec<Item<'a>> {
    let mut phases: [Vec<Item<'a>>; 4] = Default::default();
    let [open, remove, place, close] = &mut phases;
    for PathGoal { path, mut old, mut new, source } in goals {
        let item = |act, old, new, source| {
            let op = Op { old, new, ..Op::bare(path.clone(), act) };
            Item { op, source }
        };
        if let (Some(old), Some(new)) = (&old, &new)
            && only_mode(old, new)
        {
            let opens = new.mode & !old.mode & 0o300 != 0;
            let item = item(StepKind::Mode, Some(old.clone()), Some(new.clone()), None);
            if opens {
                open.push(item)
            } else {
                close.push(item)
            }
            continue;
        }
        // A directory that lets its owner do nothing is emptied and filled while it does.
        if let Some(closed) = closed(&old) {
            old = Some(Expected { mode: closed.mode | 0o700, ..closed.clone() });
            open.push(item(StepKind::Mode, Some(closed), old.clone(), None));
        }
        if let Some(closed) = closed(&new) {
            new = Some(Expected { mode: closed.mode | 0o700, ..closed.clone() });
            close.push(item(StepKind::Mode, new.clone(), Some(closed), None));
        }
        let empties = old.as_ref().is_some_and(|old| old.what == NodeContent::Directory);
        match (old, new) {
            (None, None) => {}
            (old, None) => remove.push(item(StepKind::Take, old, None, None)),
            (None, new) => place.push(item(StepKind::Put, None, new, source)),
            (old, new) if empties => remove.push(item(StepKind::Swap, old, new, source)),
            (old, new) => place.push(item(StepKind::Swap, old, new, source)),
        }
    }
    remove.reverse();
    close.reverse();
    let mut items: Vec<Item<'a>> = phases.into_iter().flatten().collect();
    for (slot, item) in items.iter_mut().enumerate() {
        item.op.slot = slot;
    }
    join_moves(&mut items);
    items
}

/// A file that has other names, which may be anywhere, keeps its mode there: a copy takes its place here.
pub(crate) fn leave_other_names(items: &mut [Item<'_>], places: &Places) {
    for Item { op, source } in items.iter_mut().filter(|it| it.op.act == StepKind::Mode) {
        let known = places.at(&op.path).symlink_metadata();
        if known.is_ok_and(|it| it.is_file() && it.nlink() > 1) {
            (op.act, *source) = (StepKind::Swap, Some(Source::Workspace(op.path.clone())));
        }
    }
}

/// Of what leaves one path and comes to another that was free, as it is, arrival and departure
/// share a slot. What goes stands before what comes.
fn join_moves(items: &mut [Item<'_>]) {
    let leaving = items.iter().enumerate().filter(|(_, it)| it.op.act == StepKind::Take);
    let mut leaving: HashMap<PathBuf, usize> =
        leaving.map(|(at, it)| (it.op.path.clone(), at)).collect();
    for at in 0..items.len() {
        let (before, rest) = items.split_at_mut(at);
        let Some(Item { op: arrival, source }) = rest.first_mut() else { return };
        let (StepKind::Put, Some(Source::Workspace(from))) = (arrival.act, &*source) else {
            continue;
        };
        let departure = leaving.get(from).and_then(|it| before.get_mut(*it));
        let Some(Item { op: departure, .. }) = departure else { continue };
        let same =
            matches!((&departure.old, &arrival.new), (Some(old), Some(new)) if old.same(new));
        if same && leaving.remove(from).is_some() {
            departure.other = Some(arrival.path.clone());
            (arrival.other, arrival.slot) = (Some(departure.path.clone()), departure.slot);
            *source = None;
        }
    }
}

/// A directory in which its owner cannot work.
fn closed(node: &Option<Expected>) -> Option<Expected> {
    let is = |it: &&Expected| it.what == NodeContent::Directory && it.mode & 0o700 != 0o700;
    node.as_ref().filter(is).cloned()
}

/// True when nothing but the mode differs, so that nothing need be moved.
fn only_mode(old: &Expected, new: &Expected) -> bool {
    old.what == new.what && old.what.kind() != Kind::Link
}

fn source(change: &Change) -> Option<Source<'_>> {
    let Some(Node::File(file)) = &change.after else { return None };
    Some(match &file.content {
        Content::Bytes(bytes) => Source::Bytes(bytes),
        Content::At(path) => Source::File(path.clone()),
        Content::Staged(path) => Source::Staged(path.clone()),
        Content::InPlace => {
            Source::Workspace(change.from.clone().unwrap_or_else(|| change.path.clone()))
        }
    })
}

/// A path that is not made of names alone could lead anywhere.
fn validate(path: &Path) -> Result<(), CommitError> {
    let names = path.components().all(|it| matches!(it, Component::Normal(_)));
    if path.as_os_str().is_empty() || !names {
        let why = "it is not a path below the workspace".to_owned();
        return Err(CommitError::Unfit { path: path.to_owned(), why });
    }
    Ok(())
}

impl Op {
    /// A step that nothing is known of but what it is, and where.
    pub(crate) fn bare(path: PathBuf, act: StepKind) -> Op {
        Op { path, act, home: None, slot: 0, other: None, old: None, new: None, passing: false }
    }

    /// The step that takes this one back, with what is aside where this one left it.
    pub(crate) fn inverse(&self, home: &str) -> Op {
        let act = match self.act {
            StepKind::Put => StepKind::Take,
            StepKind::Take => StepKind::Put,
            act @ (StepKind::Swap | StepKind::Mode) => act,
        };
        Op {
            path: self.path.clone(),
            act,
            home: Some(self.home.clone().unwrap_or_else(|| home.to_owned())),
            slot: self.slot,
            other: self.other.clone(),
            old: self.new.clone(),
            new: self.old.clone(),
            passing: self.passing,
        }
    }

    /// True when a directory leaves the workspace: it must be empty then.
    pub(crate) fn removes_directory(&self) -> bool {
        let was = self.old.as_ref().is_some_and(|it| it.what == NodeContent::Directory);
        was && matches!(self.act, StepKind::Take | StepKind::Swap)
    }

    /// True when handles of directories may lead elsewhere afterwards.
    pub(crate) fn moves_directory(&self) -> bool {
        let is =
            |it: &Option<Expected>| it.as_ref().is_some_and(|it| it.what == NodeContent::Directory);
        self.act != StepKind::Mode && (is(&self.old) || is(&self.new))
    }
}

/// What earlier steps have made of a path, for the steps that come after.
pub(crate) type MadePaths = HashMap<PathBuf, Option<Expected>>;
