//! Takes back what calls changed: one call or several, the latest or one in the middle, as long as
//! nothing that came later stands on it.
//!
//! An undo is a transaction like a commit, with a call of its own, so that undoing the undo is a
//! redo. Where the old contents were renamed aside they change places again with those in the
//! workspace; where they were copied or compacted they are written anew.

use std::{fmt, path::PathBuf};

use crate::{
    Change, Changes, Clash, CommitError, Conflict, Durability, Workspace,
    commit::{Intent, IoFailure, conflict, contents, op, parents::Parents},
    git::{self, locks::GitLocks},
};

mod after_images;
mod compact;
mod due;
mod history;
mod plan;
mod show;

pub use compact::{Compacted, DroppedUndo, Retention};
pub use history::{LatestEntries, UndoEntry, UndoStatus};

/// What was undone, or would be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undone {
    /// The calls, the latest first.
    pub calls: Vec<u64>,
    /// The paths that are as they were before, sorted.
    pub paths: Vec<PathBuf>,
    /// Calls among those asked for that cannot be undone, and why.
    pub irreversible: Vec<(u64, String)>,
    /// Paths that somebody changed since, and that were left as they are.
    pub left: Vec<PathBuf>,
    /// What became of branches, tags and the stash, in words.
    pub git: Vec<String>,
}

/// Why nothing was undone.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UndoError {
    /// No transaction belongs to this call.
    #[error("call {0} has changed nothing, so there is nothing to undo")]
    Unknown(u64),
    /// It has been undone before.
    #[error("call {call} is undone already, by call {by}; redo call {by} to have it back")]
    Already {
        /// The call.
        call: u64,
        /// The call that undid it.
        by: u64,
    },
    /// None of the calls can be undone.
    #[error("{}", irreversible(.0))]
    Irreversible(Vec<(u64, String)>),
    /// The workspace is no longer as the calls left it. Nothing was changed.
    #[error("nothing was undone, because {}", conflict::list(.0))]
    Conflicts(Vec<UndoConflict>),
    /// There is no undo to take back.
    #[error("call {0} is not an undo, so there is nothing to redo")]
    NoUndo(u64),
    /// The disk or the kernel refused.
    #[error(transparent)]
    Failed(#[from] CommitError),
}

/// A path that is not as an undo expects it, and by whom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UndoConflict {
    /// The path, and what has become of it.
    pub conflict: Conflict,
    /// Who did it.
    pub by: ChangedBy,
}

/// Who changed a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangedBy {
    /// A later call: undo that one first, or both together.
    Call(u64),
    /// Somebody else.
    Outside,
}

impl fmt::Display for UndoConflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.by {
            ChangedBy::Call(call) => {
                write!(f, "{} (by call {call}: undo that first)", self.conflict)
            }
            ChangedBy::Outside => write!(f, "{} (by an edit outside Eclusa)", self.conflict),
        }
    }
}

fn irreversible(calls: &[(u64, String)]) -> String {
    let told: Vec<String> =
        calls.iter().map(|(call, why)| format!("call {call} cannot be undone: {why}")).collect();
    told.join("; ")
}

impl From<IoFailure> for UndoError {
    fn from(fault: IoFailure) -> UndoError {
        UndoError::Failed(CommitError::Failed(fault))
    }
}

impl Workspace {
    /// Undoes these calls together, all or none, the latest first. `call` is the call that the
    /// undo belongs to; undoing that one is the redo.
    ///
    /// Calls among them that cannot be undone are left out and listed, unless none is left.
    pub fn undo(
        &self,
        call: u64,
        targets: &[u64],
        durability: Durability,
    ) -> Result<Undone, UndoError> {
        let undone = self.undo_held(call, (targets, false), durability)?;
        self.after_change();
        Ok(undone)
    }

    fn undo_held(
        &self,
        call: u64,
        (targets, redone): (&[u64], bool),
        durability: Durability,
    ) -> Result<Undone, UndoError> {
        let mut held = self.hold()?;
        let dirs = self.dirs()?;
        let plan = plan::UndoPlan::new(self, &dirs, targets)?;
        let (mut undone, git) = (plan.outcome(), plan.git(&dirs));
        undone.git = git.iter().flat_map(|it| it.told(redone)).collect();
        let (changes, _locks);
        let (items, past) = match git.is_empty() {
            true => plan.items(self, &dirs)?,
            false => {
                let inverse = self.inverse(&undone.calls)?;
                _locks = GitLocks::take(&self.places(), self.state(), &inverse, &git)
                    .map_err(CommitError::from)?;
                changes = git::rebase(&self.places(), &inverse, &git, self);
                (op::plan(&changes)?, plan.into_history())
            }
        };
        let intent = Intent { call, undoes: &undone.calls, irreversible: None, git: &git };
        match self.transact(&mut held, &intent, items, durability) {
            Ok(()) => Ok(undone),
            Err(CommitError::Conflicts(found)) => {
                Err(UndoError::Conflicts(past.blame(self, &dirs, found)?))
            }
            Err(err) => Err(err.into()),
        }
    }

    /// The same, but what somebody changed since is left as it is and listed, and the rest is undone.
    pub fn undo_keeping(
        &self,
        call: u64,
        targets: &[u64],
        durability: Durability,
    ) -> Result<Undone, UndoError> {
        let undone = self.undo_rest(call, targets, durability)?;
        self.after_change();
        Ok(undone)
    }

    fn undo_rest(
        &self,
        call: u64,
        targets: &[u64],
        durability: Durability,
    ) -> Result<Undone, UndoError> {
        let mut held = self.hold()?;
        let dirs = self.dirs()?;
        let plan = plan::UndoPlan::new(self, &dirs, targets)?;
        let (mut undone, mut git) = (plan.outcome(), plan.git(&dirs));
        let inverse = self.inverse(&undone.calls)?;
        let _locks = GitLocks::take(&self.places(), self.state(), &inverse, &git)
            .map_err(CommitError::from)?;
        let mut changes = git::rebase(&self.places(), &inverse, &git, self);
        loop {
            let mut items = op::plan(&changes)?;
            let ops = items.iter_mut().map(|it| &mut it.op);
            let found = contents(ops, &mut Parents::new(&dirs.root))?;
            if found.is_empty() {
                break;
            }
            let past = found.iter().map(|it| it.path.clone());
            let taken: Vec<PathBuf> = past.collect();
            // What git did hangs together: a repository is taken back whole or not at all.
            let repositories: Vec<PathBuf> = git
                .iter()
                .map(|it| it.directory().to_owned())
                .filter(|dir| taken.iter().any(|it| it.starts_with(dir)))
                .collect();
            let apart = |it: &crate::GitRun| {
                let dir = it.directory();
                !repositories.iter().any(|it| it.starts_with(dir) || dir.starts_with(it))
            };
            git.retain(apart);
            // What stands beneath a path that stays stays too, and the directories that it is in.
            let stays = |it: &Change| {
                let emptied = it.after.is_none();
                let beneath = repositories.iter().any(|dir| it.path.starts_with(dir));
                let path =
                    |p: &PathBuf| it.path.starts_with(p) || (emptied && p.starts_with(&it.path));
                beneath || taken.iter().any(path)
            };
            undone.left.extend(taken.iter().cloned());
            changes = Changes::of(changes.iter().filter(|it| !stays(it)).cloned());
        }
        if changes.is_empty() {
            let history = plan.into_history();
            let altered = |path: &PathBuf| Conflict { path: path.clone(), clash: Clash::Altered };
            let found = undone.left.iter().map(altered).collect();
            return Err(UndoError::Conflicts(history.blame(self, &dirs, found)?));
        }
        undone.paths = changes.iter().map(|it| it.path.clone()).collect();
        undone.left.sort();
        undone.left.dedup();
        undone.git = git.iter().flat_map(|it| it.told(false)).collect();
        let intent = Intent { call, undoes: &undone.calls, irreversible: None, git: &git };
        let items = op::plan(&changes)?;
        self.transact(&mut held, &intent, items, durability)?;
        Ok(undone)
    }

    /// What [`Workspace::undo`] would do. Nothing is changed.
    pub fn would_undo(&self, targets: &[u64]) -> Result<Undone, UndoError> {
        let _held = self.hold()?;
        let dirs = self.dirs()?;
        let plan = plan::UndoPlan::new(self, &dirs, targets)?;
        let (mut undone, git) = (plan.outcome(), plan.git(&dirs));
        undone.git = git.iter().flat_map(|it| it.told(false)).collect();
        if git.is_empty() {
            plan.check(self, &dirs)?;
        } else {
            let changes = git::rebase(&self.places(), &self.inverse(&undone.calls)?, &git, self);
            let mut items = op::plan(&changes)?;
            let ops = items.iter_mut().map(|it| &mut it.op);
            let found = contents(ops, &mut Parents::new(&dirs.root))?;
            if !found.is_empty() {
                let past = plan.into_history();
                return Err(UndoError::Conflicts(past.blame(self, &dirs, found)?));
            }
        }
        Ok(undone)
    }

    /// What takes these calls back, the latest first, as changes.
    fn inverse(&self, calls: &[u64]) -> Result<Changes, UndoError> {
        let mut all = Vec::new();
        for call in calls {
            let back = |it: &Change| Change {
                path: it.path.clone(),
                from: None,
                before: it.after.clone(),
                after: it.before.clone(),
            };
            all.extend(self.changes(*call)?.iter().map(back));
        }
        Ok(Changes::of(all))
    }

    /// Takes back an undo. `None`: the latest that stands.
    pub fn redo(
        &self,
        call: u64,
        undo: Option<u64>,
        durability: Durability,
    ) -> Result<Undone, UndoError> {
        let undoes = |it: &UndoEntry| !it.undoes.is_empty();
        let found = match undo {
            Some(undo) => self.entry(undo)?.filter(undoes),
            None => self.latest_undo()?,
        };
        match found {
            Some(entry) => {
                let redone = self.undo_held(call, (&[entry.call], true), durability)?;
                self.after_change();
                Ok(redone)
            }
            None => Err(UndoError::NoUndo(undo.unwrap_or(call))),
        }
    }

    /// The latest undo that stands. An undo of an undo is a redo, and not meant.
    pub fn latest_undo(&self) -> Result<Option<UndoEntry>, IoFailure> {
        let mut latest = self.latest_entries()?;
        let undos = latest.undos();
        let stands = |it: &UndoEntry| it.status == UndoStatus::Committed && !it.undoes.is_empty();
        let plain = |it: &UndoEntry| !it.undoes.iter().any(|of| undos.contains(of));
        Ok(latest.find(|it| stands(it) && plain(it)))
    }

    /// Puts a call on the list whose effects cannot be undone, so that nobody believes they can.
    pub fn note_irreversible(
        &self,
        call: u64,
        why: &str,
        durability: Durability,
    ) -> Result<(), CommitError> {
        let mut held = self.hold()?;
        let intent = Intent { call, undoes: &[], irreversible: Some(why), git: &[] };
        self.transact(&mut held, &intent, Vec::new(), durability)
    }
}
