//! Puts right what died in the middle: a transaction is taken back, unless all of it was done.

use std::path::PathBuf;

use super::{
    IoFailure, LockGuard, Workspace, journal, lock, open_up, stat, transaction::Transaction,
};

/// What was found unfinished, and what became of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recovered {
    /// Calls whose changes were taken back.
    pub reverted: Vec<u64>,
    /// Calls whose changes were all made, and which are now finished.
    pub finished: Vec<u64>,
    /// Paths that somebody changed after the crash: what they did stays.
    pub left: Vec<Unrestored>,
    /// What a command had done that ran on the real files: it was put back.
    pub rescued: Option<Rescued>,
}

/// A path that was not put back, because somebody has changed it meanwhile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unrestored {
    /// The call that was to be taken back.
    pub call: u64,
    /// Which, relative to the workspace.
    pub path: PathBuf,
    /// Where the content is kept that it had before the call, if it had any.
    pub kept: PathBuf,
}

/// What a command that died with its program had done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rescued {
    /// How many paths were put back.
    pub paths: usize,
    /// Where what it had changed is kept, if it had written anything.
    pub kept: Option<PathBuf>,
}

impl Recovered {
    /// True when nothing was unfinished.
    pub fn is_nothing(&self) -> bool {
        let Recovered { reverted, finished, left, rescued } = self;
        reverted.is_empty() && finished.is_empty() && left.is_empty() && rescued.is_none()
    }
}

impl Workspace {
    /// True when a transaction or a command died in the middle, or before it had cleared up after
    /// itself. Nothing is made by asking, and nobody who is at work is waited for.
    pub fn is_unfinished(&self) -> bool {
        let open = std::fs::read_dir(self.state().join("open"));
        let open = open.is_ok_and(|mut it| it.next().is_some());
        match lock::try_hold(&self.state().join("lock")) {
            Ok(Some((_, marked))) => open || marked,
            Ok(None) => false,
            Err(_) => open,
        }
    }

    /// Finishes or takes back what died in the middle. Doing it twice does no harm.
    pub fn recover(&self) -> Result<Recovered, IoFailure> {
        let held = self.ready()?.lock.hold(&self.places().repository());
        let held = held.map_err(IoFailure::at("lock", self.state()))?;
        self.recover_held(&held)
    }

    pub(super) fn recover_held(&self, held: &LockGuard<'_>) -> Result<Recovered, IoFailure> {
        let dirs = self.dirs()?;
        let mut recovered = Recovered { rescued: self.recover_snapshot()?, ..Recovered::default() };
        let state = self.state();
        let mut open = names(&dirs.open, state)?;
        // The last first, should there ever be two.
        open.sort_unstable_by(|a, b| b.cmp(a));
        for name in &open {
            let at = state.join("open").join(name);
            let mut txn =
                Transaction::found(self, &dirs, name).map_err(IoFailure::at("open", &at))?;
            self.put_right(&mut txn, &at, &mut recovered)?;
        }
        let done = names(&dirs.done, state)?;
        self.sweep(&dirs, &done);
        let busy = held.is_busy().map_err(IoFailure::at("read the lock of", state))?;
        if let Some(last) = done.iter().max().filter(|_| busy) {
            open_up::shut_after(&dirs, last).map_err(IoFailure::at("shut", self.root()))?;
        }
        let last = done.iter().chain(&open).filter_map(|it| sequence(it)).max();
        held.rest(last.unwrap_or(0)).map_err(IoFailure::at("unlock", state))?;
        Ok(recovered)
    }

    fn put_right(
        &self,
        txn: &mut Transaction<'_>,
        at: &std::path::Path,
        recovered: &mut Recovered,
    ) -> Result<(), IoFailure> {
        let bytes = txn.journal().map_err(IoFailure::at("read the journal in", at))?;
        let read = journal::read(&bytes).map_err(std::io::Error::other);
        let Some(mut journal) = read.map_err(IoFailure::at("recover", at))? else {
            // It was cut short before the first step.
            txn.discard(false);
            return Ok(());
        };
        let call = journal.head.call;
        txn.root = open_up::take_root(&mut journal.ops, &journal.head);
        if journal.finished {
            self.step("done");
            txn.file_away().map_err(IoFailure::at("finish", at))?;
            txn.discard(true);
            recovered.finished.push(call);
            return Ok(());
        }
        let left = txn.roll_back(&mut txn.applier(), journal.ops.iter())?;
        recovered.reverted.push(call);
        if left.is_empty() {
            txn.discard(false);
        } else {
            let rescued = txn.rescue()?;
            let left = left.into_iter().map(|(path, slot)| {
                let kept = rescued.join(slot.to_string());
                Unrestored { call, path, kept }
            });
            recovered.left.extend(left);
        }
        Ok(())
    }

    /// Removes what a transaction that was finished just before a crash left in the workspace.
    fn sweep(&self, dirs: &super::Dirs, done: &[String]) {
        if self.aside() == super::KeepStrategy::Renamed {
            return;
        }
        for name in done.iter().filter(|it| it.starts_with(|c: char| c.is_ascii_digit())) {
            Transaction::sweep(dirs, name);
        }
    }
}

/// The place of a transaction among all, from the name of its directory.
pub(crate) fn sequence(name: &str) -> Option<u64> {
    name.split('-').next()?.parse().ok()
}

/// The call of a transaction, from the name of its directory.
pub(crate) fn call(name: &str) -> Option<u64> {
    name.split('-').nth(1)?.parse().ok()
}

/// The names of the transactions in a directory.
pub(crate) fn names(
    dir: &std::os::fd::OwnedFd,
    state: &std::path::Path,
) -> Result<Vec<String>, IoFailure> {
    let names = stat::names(dir).map_err(IoFailure::at("list", state))?;
    let names = names.into_iter().filter_map(|it| it.into_string().ok());
    Ok(names.filter(|it| sequence(it).is_some()).collect())
}
