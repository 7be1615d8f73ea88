//! One transaction from its first file aside to its place among the finished ones.

use std::io::Write as _;
use std::{fs::File, io, os::fd::OwnedFd, path::PathBuf};

use rustix::fs::{Mode, OFlags};

use super::{
    CommitError, Dirs, IoFailure, KeepStrategy, LockGuard, Workspace,
    apply::{self, Applier, StepError},
    check, journal,
    op::{Item, Op, StepKind},
    open_up,
    parents::Parents,
    prepare,
    recover::{call, names},
    rename, stat,
};
use crate::{Durability, GitRun};

/// More files than this are synced all at once.
const MANY: usize = 16;

/// A transaction that is going on.
pub(super) struct Transaction<'a> {
    pub(super) workspace: &'a Workspace,
    pub(super) dirs: &'a Dirs,
    /// The name of its directory.
    pub(super) name: String,
    pub(super) call: u64,
    /// Its directory in the state.
    pub(super) own: OwnedFd,
    /// Its directory in the workspace, where renames to the state are not possible.
    pub(super) stage: Option<OwnedFd>,
    /// The step that has opened the workspace itself for that directory.
    pub(super) root: Option<Op>,
}

/// What a transaction is for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Intent<'a> {
    pub(crate) call: u64,
    /// The calls that it undoes.
    pub(crate) undoes: &'a [u64],
    /// Why the call cannot be undone.
    pub(crate) irreversible: Option<&'a str>,
    /// What it does to repositories, for its undo.
    pub(crate) git: &'a [GitRun],
}

impl Workspace {
    /// Takes steps as one transaction.
    pub(crate) fn transact(
        &self,
        held: &mut LockGuard<'_>,
        intent: &Intent<'_>,
        mut items: Vec<Item<'_>>,
        durability: Durability,
    ) -> Result<(), CommitError> {
        let dirs = self.dirs()?;
        open_up::between(&mut items, &mut Parents::new(&dirs.root), self.aside())?;
        self.step("check");
        let ops = items.iter_mut().map(|it| &mut it.op);
        conflicts(check::contents(ops, &mut Parents::new(&dirs.root))?)?;

        let sync = durability == Durability::PowerLoss;
        let number = held.next(sync).map_err(IoFailure::at("number", self.state()))?;
        let head = journal::JournalHead::new(number, intent, self.aside());
        let list =
            || Ok(names(&dirs.done, self.state())?.iter().filter_map(|it| call(it)).collect());
        let ended = match held.has_made(intent.call, number, list) {
            Err(fault) => Err(CommitError::Failed(fault)),
            Ok(true) => Err(CommitError::Twice(intent.call)),
            Ok(false) => Transaction::begin(self, &dirs, &head)
                .and_then(|txn| txn.note_git(intent.git).map(|()| txn))
                .and_then(|txn| txn.run(&head, &mut items, sync)),
        };
        if matches!(ended, Ok(()) | Err(CommitError::Unsafe(_))) {
            held.made(intent.call);
            self.note_kept(held, items.iter().map(|it| &it.op));
        }
        // What is stuck stays marked, so that whoever comes next tries again.
        if !matches!(ended, Err(CommitError::Stuck { .. })) {
            held.rest(0).map_err(IoFailure::at("unlock", self.state()))?;
        }
        ended
    }
}

/// Where a transaction stopped.
enum Stop {
    /// Nothing is left of it in the workspace.
    Before(CommitError),
    /// It is done, but something after it failed.
    After(IoFailure),
    /// Something is left of it.
    Between(CommitError),
}

impl From<IoFailure> for Stop {
    fn from(fault: IoFailure) -> Stop {
        Stop::Before(CommitError::Failed(fault))
    }
}

impl<'a> Transaction<'a> {
    /// Makes the directories.
    pub(super) fn begin(
        workspace: &'a Workspace,
        dirs: &'a Dirs,
        head: &journal::JournalHead,
    ) -> Result<Transaction<'a>, CommitError> {
        let name = transaction_name(head.sequence, head.call, !head.undoes.is_empty());
        let private = Mode::from_raw_mode(0o700);
        let at = workspace.state().join("open").join(&name);
        workspace.step("begin");
        rustix::fs::mkdirat(&dirs.open, &name, private)
            .map_err(|err| IoFailure::at("make", &at)(err.into()))?;
        let own = stat::open_dir(&dirs.open, name.as_ref()).map_err(IoFailure::at("open", &at))?;
        let call = head.call;
        let mut txn = Transaction { workspace, dirs, name, call, own, stage: None, root: None };
        if workspace.aside() == KeepStrategy::Copied {
            workspace.step("begin");
            let stage = txn.stage_name();
            let made = txn.open_root(head).and_then(|()| {
                rustix::fs::mkdirat(&dirs.root, &stage, private)?;
                stat::open_dir(&dirs.root, stage.as_ref())
            });
            match made {
                Ok(handle) => txn.stage = Some(handle),
                Err(err) => {
                    txn.discard(false);
                    return Err(IoFailure::at("make", &workspace.root().join(stage))(err).into());
                }
            }
        }
        Ok(txn)
    }

    /// A transaction that somebody left behind.
    pub(super) fn found(
        workspace: &'a Workspace,
        dirs: &'a Dirs,
        name: &str,
    ) -> io::Result<Transaction<'a>> {
        let own = stat::open_dir(&dirs.open, name.as_ref())?;
        let call = call(name).unwrap_or_default();
        let name = name.to_owned();
        let mut txn = Transaction { workspace, dirs, name, call, own, stage: None, root: None };
        match stat::open_dir(&dirs.root, txn.stage_name().as_ref()) {
            Ok(stage) => txn.stage = Some(stage),
            Err(err) if err.kind() == io::ErrorKind::NotFound => {}
            Err(err) => return Err(err),
        }
        Ok(txn)
    }

    pub(super) fn stage_name(&self) -> String {
        format!(".eclusa-{}", self.name)
    }

    /// Where its slots are.
    pub(super) fn slots(&self) -> &OwnedFd {
        self.stage.as_ref().unwrap_or(&self.own)
    }

    fn run(
        &self,
        head: &journal::JournalHead,
        items: &mut [Item<'_>],
        sync: bool,
    ) -> Result<(), CommitError> {
        match self.perform(head, items, sync) {
            Ok(()) => Ok(()),
            Err(Stop::Before(err)) => {
                self.discard(false);
                Err(err)
            }
            Err(Stop::Between(err)) => Err(err),
            Err(Stop::After(fault)) => Err(CommitError::Unsafe(fault)),
        }
    }

    fn perform(
        &self,
        head: &journal::JournalHead,
        items: &mut [Item<'_>],
        sync: bool,
    ) -> Result<(), Stop> {
        let workspace = self.workspace;
        let root = &self.dirs.root;
        let mut parents = Parents::new(root);
        let each = sync && items.len() <= MANY;
        for item in items.iter_mut() {
            workspace.step("prepare");
            prepare::slot(item, self.slots(), &mut parents, each)?;
        }
        let mut ops: Vec<&mut Op> = items.iter_mut().map(|it| &mut it.op).collect();
        self.sync_slots(sync, each).map_err(IoFailure::at("sync", workspace.state()))?;

        workspace.step("check again");
        let again = ops.iter_mut().map(|it| &mut **it);
        let found = check::stamps(again, &mut Parents::new(root))?;
        conflicts(found).map_err(Stop::Before)?;

        self.show_coming(&ops);
        workspace.step("journal");
        let mut journal = self
            .write_journal(head, &ops, sync)
            .map_err(IoFailure::at("journal", workspace.state()))?;
        let mut applier = Applier::new(root, self.slots(), &self.dirs.done);
        if let Err(error) = self.apply_steps(&mut applier, &mut ops, sync) {
            return Err(self.revert(&mut applier, &ops, error));
        }

        workspace.step("finish");
        let name = &self.name;
        let finish = journal::finish(self.root.iter().chain(ops.iter().map(|it| &**it)));
        let finish = finish.map_err(io::Error::from);
        let finished = finish.and_then(|it| journal.write_all(&it)).and_then(|()| {
            if sync {
                journal.sync_data()?;
                rustix::fs::fsync(&self.own)?;
            }
            workspace.step("done");
            self.file_away()
        });
        if let Err(err) = finished {
            let error =
                StepError::IoFailure(IoFailure::at("finish", &workspace.state().join(name))(err));
            return Err(self.revert(&mut applier, &ops, error));
        }
        let after = |err| Stop::After(IoFailure::at("sync", workspace.state())(err));
        if sync {
            for dir in [&self.dirs.open, &self.dirs.done] {
                rustix::fs::fsync(dir).map_err(|err| after(err.into()))?;
            }
        }
        workspace.step("clean");
        self.remove_stage();
        Ok(())
    }

    fn sync_slots(&self, sync: bool, each: bool) -> io::Result<()> {
        if sync && !each {
            stat::sync_filesystem(self.slots())?;
        }
        if sync {
            rustix::fs::fsync(self.slots())?;
        }
        Ok(())
    }

    pub(super) fn write_journal(
        &self,
        head: &journal::JournalHead,
        ops: &[&mut Op],
        sync: bool,
    ) -> io::Result<File> {
        let text = journal::begin(head, self.root.iter().chain(ops.iter().map(|it| &**it)))?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        // One that says that the workspace was opened is replaced by one that says more.
        let name = if self.root.is_some() { "journal.new" } else { "journal" };
        let file = rustix::fs::openat(&self.own, name, flags, Mode::from_raw_mode(0o600))?;
        let mut file = File::from(file);
        file.write_all(&text)?;
        if sync {
            file.sync_data()?;
        }
        if self.root.is_some() {
            rustix::fs::renameat(&self.own, name, &self.own, "journal")?;
        }
        if sync {
            rustix::fs::fsync(&self.own)?;
            rustix::fs::fsync(&self.dirs.open)?;
        }
        Ok(file)
    }

    fn apply_steps(
        &self,
        applier: &mut Applier<'_>,
        ops: &mut [&mut Op],
        sync: bool,
    ) -> Result<(), StepError> {
        for op in ops.iter() {
            self.workspace.step("apply");
            applier.apply(op)?;
        }
        self.workspace.step("settle");
        apply::settle(ops, &mut Parents::new(&self.dirs.root))?;
        if self.stage.is_some() {
            self.carry(applier, ops, sync)?;
        }
        if sync {
            let ops: Vec<&Op> = ops.iter().map(|it| &**it).collect();
            let synced = applier.sync(&ops, &self.dirs.root);
            synced.map_err(IoFailure::at("sync", self.workspace.root()))?;
        }
        Ok(())
    }

    /// Copies what was replaced from the workspace to the state.
    fn carry(
        &self,
        applier: &mut Applier<'_>,
        ops: &[&mut Op],
        sync: bool,
    ) -> Result<(), IoFailure> {
        // What only moves is in the workspace still.
        let kept =
            |it: &&&mut Op| it.other.is_none() && matches!(it.act, StepKind::Swap | StepKind::Take);
        for op in ops.iter().filter(kept) {
            self.workspace.step("carry");
            let name = op.slot.to_string();
            let carried = applier.aside(op).and_then(|stat| match stat {
                Some(stat) => prepare::carry(self.slots(), &name, &stat, &self.own, sync),
                None => Err(io::ErrorKind::NotFound.into()),
            });
            carried.map_err(IoFailure::at("keep a copy of", &op.path))?;
        }
        Ok(())
    }

    /// From the open transactions to the finished ones: from here on it is done.
    pub(super) fn file_away(&self) -> io::Result<()> {
        let (open, done) = (&self.dirs.open, &self.dirs.done);
        Ok(rename::only_new(open, &self.name, done, &self.name)?)
    }

    fn revert(&self, applier: &mut Applier<'_>, ops: &[&mut Op], error: StepError) -> Stop {
        let because = match error {
            StepError::Clash(conflict) => CommitError::Conflicts(vec![conflict]),
            StepError::IoFailure(fault) => CommitError::Failed(fault),
        };
        let because_text = because.to_string();
        let left = self.roll_back(applier, ops.iter().map(|it| &**it));
        self.workspace.show_as_is(self.call, self.dirs, ops.iter().map(|it| &**it));
        let left = match left {
            Ok(left) if left.is_empty() => return Stop::Before(because),
            Ok(left) => left.into_iter().map(|(path, _)| path).collect(),
            Err(fault) => return self.stuck(because_text, fault),
        };
        match self.rescue() {
            Ok(kept) => Stop::Between(CommitError::Disturbed { because: because_text, left, kept }),
            Err(fault) => self.stuck(because_text, fault),
        }
    }

    fn stuck(&self, because: String, fault: IoFailure) -> Stop {
        Stop::Between(CommitError::Stuck { call: self.call, because, fault })
    }

    /// Takes back every step that was taken, the last first. Returns the paths that somebody has
    /// changed meanwhile.
    pub(super) fn roll_back<'b>(
        &self,
        applier: &mut Applier<'_>,
        ops: impl DoubleEndedIterator<Item = &'b Op> + Clone,
    ) -> Result<Vec<(PathBuf, usize)>, IoFailure> {
        let mut left = Vec::new();
        applier.know(ops.clone());
        for op in ops.rev() {
            self.workspace.step("take back");
            if !applier.revert(op).map_err(IoFailure::at("restore", &op.path))? {
                left.push((op.path.clone(), op.slot));
            }
        }
        Ok(left)
    }

    /// The field of a transaction that somebody left behind.
    pub(super) fn applier(&self) -> Applier<'_> {
        Applier::new(&self.dirs.root, self.slots(), &self.dirs.done)
    }

    /// The bytes of its journal; none if it has none.
    pub(super) fn journal(&self) -> io::Result<Vec<u8>> {
        match stat::open_file(&self.own, "journal".as_ref()) {
            Ok(mut file) => {
                let mut bytes = Vec::new();
                io::Read::read_to_end(&mut file, &mut bytes)?;
                Ok(bytes)
            }
            Err(err) if err.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(err) => Err(err),
        }
    }
}

/// The name of the directory of a transaction.
pub(crate) fn transaction_name(sequence: u64, call: u64, is_undo: bool) -> String {
    let kind = if is_undo { "-undo" } else { "" };
    format!("{sequence:012}-{call}{kind}")
}

pub(super) fn conflicts(found: Vec<super::Conflict>) -> Result<(), CommitError> {
    if found.is_empty() { Ok(()) } else { Err(CommitError::Conflicts(found)) }
}
