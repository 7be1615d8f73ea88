//! Makes changes real, as one transaction, git's own files by their meaning.

use std::borrow::Cow;

use super::{CommitError, Committed, Intent, IoFailure, Workspace, op};
use crate::{
    Changes, Durability, GitRun,
    git::{
        self,
        locks::{GitLocks, LockError},
    },
};

impl Workspace {
    /// Makes changes real, all or none.
    ///
    /// Everything that the changes rest on is compared first: anything that is not as `before`
    /// says is a conflict (A16), and then nothing is written. The call can be undone afterwards.
    pub fn commit(
        &self,
        call: u64,
        changes: &Changes,
        durability: Durability,
    ) -> Result<Committed, CommitError> {
        let committed = self.commit_held(call, changes, None, durability)?;
        self.keep_after(call, changes);
        self.after_change();
        Ok(committed)
    }

    /// The same for a run that was kept: what it did to repositories is known from then, so that
    /// git's own files are compared by their meaning.
    pub fn commit_kept(
        &self,
        call: u64,
        changes: &Changes,
        git: &[GitRun],
        durability: Durability,
    ) -> Result<Committed, CommitError> {
        let committed = self.commit_held(call, changes, Some(git), durability)?;
        self.keep_after(call, changes);
        self.after_change();
        Ok(committed)
    }

    fn commit_held(
        &self,
        call: u64,
        changes: &Changes,
        git: Option<&[GitRun]>,
        durability: Durability,
    ) -> Result<Committed, CommitError> {
        op::plan(changes)?;
        self.ready()?;
        self.keep_out(changes)?;
        let mut held = self.hold()?;
        let (paths, aside) = (changes.len(), self.aside());
        let places = self.places();
        let runs = match git {
            Some(runs) => runs.to_vec(),
            None => git::runs(&places, changes, self),
        };
        let _locks = GitLocks::take(&places, self.state(), changes, &runs)?;
        let changes = match runs.is_empty() {
            true => Cow::Borrowed(changes),
            false => Cow::Owned(git::rebase(&places, changes, &runs, self)),
        };
        let mut items = op::plan(&changes)?;
        op::leave_other_names(&mut items, &places);
        self.note_hooks(call, &changes)?;
        if !items.is_empty() {
            let intent = Intent { call, undoes: &[], irreversible: None, git: &runs };
            self.transact(&mut held, &intent, items, durability)?;
        }
        Ok(Committed { call, paths, aside })
    }
}

impl From<LockError> for CommitError {
    fn from(err: LockError) -> CommitError {
        match err {
            LockError::Held(path) => {
                let why = "another git is at work there; try again when it has ended, or remove this file \
                           if none runs";
                CommitError::Unfit { path, why: why.to_owned() }
            }
            LockError::Io(path, err) => CommitError::Failed(IoFailure::at("lock", &path)(err)),
        }
    }
}
