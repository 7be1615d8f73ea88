//! Which steps undo calls, and who stands in the way of them.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    path::{Path, PathBuf},
};

use super::{
    ChangedBy, UndoConflict, UndoError, Undone,
    history::{self, Past},
};
use crate::{
    Clash, CommitError, Conflict, ContentDigest, GitRun, KeepStrategy, Workspace,
    commit::{
        Dirs, IoFailure, contents,
        journal::Journal,
        op::{Item, Op, PathGoal, Source, StepKind, arrange},
        packed,
        parents::Parents,
        stat::{self, Expected, Kind, NodeContent, Stat},
    },
    git::joined,
};

/// What an undo will do.
pub(super) struct UndoPlan {
    /// What is undone, the latest first.
    targets: Vec<(Past, Journal)>,
    irreversible: Vec<(u64, String)>,
    /// The steps of the targets backwards.
    ops: Vec<Op>,
    history: History,
}

/// Everything that ever changed the workspace.
pub(super) struct History {
    past: Vec<Past>,
    undone: HashMap<u64, u64>,
    targets: HashSet<u64>,
    /// The earliest target.
    since: u64,
}

impl UndoPlan {
    /// Finds the calls, and the steps that take them back.
    pub(super) fn new(
        workspace: &Workspace,
        dirs: &Dirs,
        calls: &[u64],
    ) -> Result<UndoPlan, UndoError> {
        let past = history::all(dirs, workspace.state())?;
        // Whatever undoes a call comes after it.
        let calls: HashSet<u64> = calls.iter().copied().collect();
        let first = past.iter().position(|it| calls.contains(&it.call)).unwrap_or(past.len());
        let undone = history::undone(dirs, past.iter().skip(first));
        let (mut targets, mut irreversible) = (Vec::new(), Vec::new());
        for call in &calls {
            let found = past.iter().find(|it| it.call == *call);
            let found = found.ok_or(UndoError::Unknown(*call))?;
            if let Some(by) = undone.get(call) {
                return Err(UndoError::Already { call: *call, by: *by });
            }
            let journal = history::journal(dirs, found, workspace.state())?;
            let mut homes: HashSet<&str> = HashSet::from([found.name.as_str()]);
            homes.extend(journal.ops.iter().filter_map(|it| it.home.as_deref()));
            let evicted = homes.iter().any(|it| history::is_evicted(dirs, it));
            if let Some(why) = &journal.head.irreversible {
                irreversible.push((*call, why.clone()));
            } else if evicted {
                let why = "its undo data was dropped to save space".to_owned();
                irreversible.push((*call, why));
            } else {
                targets.push((found.clone(), journal));
            }
        }
        irreversible.sort_unstable();
        if targets.is_empty() {
            return Err(UndoError::Irreversible(irreversible));
        }
        targets.sort_unstable_by_key(|(past, _)| std::cmp::Reverse(past.sequence));
        let backwards = |(past, journal): &(Past, Journal)| {
            let ops = journal.ops.iter().rev();
            ops.map(|op| op.inverse(&past.name)).collect::<Vec<Op>>()
        };
        let ops = targets.iter().flat_map(backwards).collect();
        let since = targets.last().map_or(0, |(past, _)| past.sequence);
        let history = History { past, undone, targets: calls, since };
        Ok(UndoPlan { targets, irreversible, ops, history })
    }

    /// What will have been done.
    pub(super) fn outcome(&self) -> Undone {
        let paths: std::collections::BTreeSet<&PathBuf> =
            self.ops.iter().map(|it| &it.path).collect();
        Undone {
            calls: self.targets.iter().map(|(past, _)| past.call).collect(),
            paths: paths.into_iter().cloned().collect(),
            irreversible: self.irreversible.clone(),
            left: Vec::new(),
            git: Vec::new(),
        }
    }

    /// What taking the calls back does to repositories, where that was noted for all of them that
    /// changed any.
    pub(super) fn git(&self, dirs: &Dirs) -> Vec<GitRun> {
        let noted = |(past, _): &(Past, Journal)| -> Vec<GitRun> {
            let read = || -> std::io::Result<Vec<GitRun>> {
                let dir = stat::open_dir(&dirs.done, past.name.as_ref())?;
                let file = stat::open_file(dir, "git.json".as_ref())?;
                Ok(serde_json::from_reader(std::io::BufReader::new(file))?)
            };
            read().unwrap_or_default()
        };
        joined(self.targets.iter().flat_map(noted).map(|it| it.swapped()))
    }

    /// What else there is to know.
    pub(super) fn into_history(self) -> History {
        self.history
    }

    /// Compares the workspace with what the calls left.
    pub(super) fn check(&self, workspace: &Workspace, dirs: &Dirs) -> Result<(), UndoError> {
        let mut ops = self.ops.clone();
        let found = contents(ops.iter_mut(), &mut Parents::new(&dirs.root))?;
        if found.is_empty() {
            return Ok(());
        }
        Err(UndoError::Conflicts(self.history.blame(workspace, dirs, found)?))
    }

    /// The steps to take.
    pub(super) fn items(
        mut self,
        workspace: &Workspace,
        dirs: &Dirs,
    ) -> Result<(Vec<Item<'static>>, History), UndoError> {
        let renamed =
            |(_, journal): &(Past, Journal)| journal.head.aside() == KeepStrategy::Renamed;
        let renamed =
            workspace.aside() == KeepStrategy::Renamed && self.targets.iter().all(renamed);
        if renamed && slots_are_in_place(dirs, &mut self.ops) {
            let item = |op| Item { op, source: None };
            return Ok((self.ops.into_iter().map(item).collect(), self.history));
        }
        // The steps between are not taken, so they are checked here.
        self.check(workspace, dirs)?;
        let mut goals = BTreeMap::<PathBuf, (Op, Op, Option<Op>)>::new();
        for op in self.ops {
            let holds = matches!(op.act, StepKind::Put | StepKind::Swap).then(|| op.clone());
            goals
                .entry(op.path.clone())
                .and_modify(|(_, last, slot)| {
                    *last = op.clone();
                    if holds.is_some() {
                        slot.clone_from(&holds);
                    }
                })
                .or_insert_with(|| (op.clone(), op, holds));
        }
        // What is in the workspace now need not be kept anywhere else.
        let mut present: HashMap<ContentDigest, PathBuf> = HashMap::new();
        for (path, (first, ..)) in &goals {
            if let Some(Expected { what: NodeContent::File(digest), .. }) = &first.old {
                present.insert(*digest, path.clone());
            }
        }
        let mut granted = Vec::new();
        for (path, (first, last, holds)) in goals {
            let source = match (&last.new, holds) {
                (Some(new), Some(op)) => match &new.what {
                    NodeContent::File(digest) => Some(match present.get(digest) {
                        Some(path) if op.other.is_some() => Source::Workspace(path.clone()),
                        _ => self.history.source(workspace, dirs, &op, *digest)?,
                    }),
                    _ => None,
                },
                _ => None,
            };
            let (old, new) = (first.old, last.new);
            let same = match (&old, &new) {
                (Some(old), Some(new)) => old.same(new),
                (old, new) => old.is_none() && new.is_none(),
            };
            if !same {
                granted.push(PathGoal { path, old, new, source });
            }
        }
        Ok((arrange(granted.into_iter()), self.history))
    }
}

/// True when every slot holds what is to go back, untouched. Notes how to recognise it.
fn slots_are_in_place(dirs: &Dirs, ops: &mut [Op]) -> bool {
    let mut homes = HashMap::new();
    let mut filled: HashMap<PathBuf, Option<Expected>> = HashMap::new();
    ops.iter_mut().all(|op| {
        if op.act == StepKind::Take && op.other.is_some() {
            filled.insert(op.path.clone(), op.old.clone());
        }
        // What only moved comes back from where it went, by the step before.
        if let (StepKind::Put, Some(other), Some(new)) = (op.act, &op.other, &op.new)
            && let Some(Some(old)) = filled.get(other)
        {
            return old.same(new);
        }
        let (Some(home), Some(new)) = (&op.home, &mut op.new) else { return true };
        if op.act == StepKind::Mode {
            return true;
        }
        let handle = homes
            .entry(home.clone())
            .or_insert_with(|| stat::open_dir(&dirs.done, home.as_ref()).ok());
        let stat = handle
            .as_ref()
            .and_then(|it| Stat::at(it, op.slot.to_string().as_ref()).ok().flatten());
        let good = stat.filter(|it| it.is_still(new) && it.mode == new.mode);
        if let Some(stat) = good {
            new.id = Some(stat.id);
        }
        good.is_some()
    })
}

impl History {
    /// Where a content is: in the slot of a step, in the store, or in the slot of another step,
    /// because it has been to and fro.
    fn source(
        &self,
        workspace: &Workspace,
        dirs: &Dirs,
        op: &Op,
        digest: ContentDigest,
    ) -> Result<Source<'static>, UndoError> {
        find(workspace, dirs, &self.past, Some(op), digest).ok_or_else(|| {
            let why = "the content that it had before is neither aside nor in the store";
            let why = why.to_owned();
            CommitError::Unfit { path: op.path.clone(), why }.into()
        })
    }

    /// Who made the paths what they are.
    pub(super) fn blame(
        &self,
        workspace: &Workspace,
        dirs: &Dirs,
        found: Vec<Conflict>,
    ) -> Result<Vec<UndoConflict>, UndoError> {
        let later = self.past.iter().rev().take_while(|it| it.sequence > self.since);
        let later = later
            .filter(|it| !self.undone.contains_key(&it.call) && !self.targets.contains(&it.call));
        let mut journals = Vec::new();
        for past in later {
            let journal = history::journal(dirs, past, workspace.state())?;
            // A redo is as if the call that it brought back had never been undone.
            let is_undo = |call: &u64| self.past.iter().any(|it| it.call == *call && it.is_undo);
            if !journal.head.undoes.iter().any(is_undo) {
                journals.push(journal);
            }
        }
        let by = |path: &Path| {
            let touches = |it: &&Journal| {
                let near = |op: &Op| op.path.starts_with(path) || path.starts_with(&op.path);
                it.ops.iter().any(near)
            };
            journals
                .iter()
                .find(touches)
                .map_or(ChangedBy::Outside, |it| ChangedBy::Call(it.head.call))
        };
        Ok(found
            .into_iter()
            .map(|conflict| {
                let path = match &conflict.clash {
                    Clash::NotEmpty { holds } => holds,
                    _ => &conflict.path,
                };
                UndoConflict { by: by(path), conflict }
            })
            .collect())
    }
}

/// Finds a content by its digest, first where a step would have it.
pub(super) fn find(
    workspace: &Workspace,
    dirs: &Dirs,
    past: &[Past],
    op: Option<&Op>,
    digest: ContentDigest,
) -> Option<Source<'static>> {
    find_kept(workspace, dirs, op, digest).or_else(|| find_moved(workspace, dirs, past, digest))
}

/// Finds a content where a step would have it: in its slot, or in the store.
pub(super) fn find_kept(
    workspace: &Workspace,
    dirs: &Dirs,
    op: Option<&Op>,
    digest: ContentDigest,
) -> Option<Source<'static>> {
    if let Some(op) = op
        && let Some(home) = op.home.as_deref()
        && let Some(found) = in_slot(workspace, dirs, (home, op.slot), digest)
    {
        return Some(found);
    }
    let packed = packed::path(workspace.state(), digest);
    packed.exists().then_some(Source::Packed(packed))
}

/// Finds a content that has been to and fro: every journal is read, the latest first.
pub(super) fn find_moved(
    workspace: &Workspace,
    dirs: &Dirs,
    past: &[Past],
    digest: ContentDigest,
) -> Option<Source<'static>> {
    past.iter().rev().find_map(|past| {
        let journal = history::journal(dirs, past, workspace.state()).ok()?;
        let wanted = NodeContent::File(digest);
        let mut holds = journal.ops.iter().filter(|op| {
            let is = |it: &Option<Expected>| it.as_ref().is_some_and(|it| it.what == wanted);
            op.act != StepKind::Mode && (is(&op.old) || is(&op.new))
        });
        let slot = |op: &Op| op.home.clone().unwrap_or_else(|| past.name.clone());
        holds.find_map(|op| in_slot(workspace, dirs, (&slot(op), op.slot), digest))
    })
}

fn in_slot(
    workspace: &Workspace,
    dirs: &Dirs,
    (home, slot): (&str, usize),
    digest: ContentDigest,
) -> Option<Source<'static>> {
    let dir = stat::open_dir(&dirs.done, home.as_ref()).ok()?;
    let name = slot.to_string();
    let stat = Stat::at(&dir, name.as_ref()).ok()??;
    let kept = || stat::open_kept(&dir, name.as_ref()).and_then(stat::digest_of);
    let right = stat.kind == Kind::File && kept().is_ok_and(|it| it == digest);
    right.then(|| Source::File(workspace.state().join("done").join(home).join(name)))
}

/// An error about what is kept, as one of an undo.
pub(super) fn damaged(state: &Path, why: &'static str) -> IoFailure {
    IoFailure::at("use", state)(std::io::Error::other(why))
}
