//! Takes over changes that somebody else has made: what was there before is kept, so that they can
//! be undone like our own.

use std::{
    collections::HashMap,
    fs::File,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use rustix::fs::{Mode, OFlags};

use super::{
    Clash, CommitError, Committed, Intent, IoFailure, Workspace, check,
    op::{self, Item, Op, Source, StepKind},
    parents::Parents,
    prepare,
    recover::{call as call_of, names},
    stat::Expected,
    transaction::{Transaction, conflicts},
};
use crate::{Changes, Durability, commit::journal};

impl Workspace {
    /// Keeps what was there before these changes, which somebody else has made: the call can be
    /// undone afterwards. `before` of each change holds its content.
    ///
    /// What is there now is compared with what the changes say first: anything else is a conflict,
    /// and then nothing is kept.
    pub fn adopt(
        &self,
        call: u64,
        changes: &Changes,
        durability: Durability,
    ) -> Result<Committed, CommitError> {
        let adopted = self.adopt_held(call, changes, durability)?;
        self.keep_after(call, changes);
        self.after_change();
        Ok(adopted)
    }

    fn adopt_held(
        &self,
        call: u64,
        changes: &Changes,
        durability: Durability,
    ) -> Result<Committed, CommitError> {
        let items = op::plan(changes)?;
        self.ready()?;
        self.keep_out(changes)?;
        let (paths, aside) = (changes.len(), self.aside());
        if items.is_empty() {
            return Ok(Committed { call, paths, aside });
        }
        let mut held = self.hold()?;
        let dirs = self.dirs()?;
        let sync = durability == Durability::PowerLoss;
        let number = held.next(sync).map_err(IoFailure::at("number", self.state()))?;
        let intent = Intent { call, undoes: &[], irreversible: None, git: &[] };
        let head = journal::JournalHead::new(number, &intent, aside);
        let list =
            || Ok(names(&dirs.done, self.state())?.iter().filter_map(|it| call_of(it)).collect());
        let ended = match held.has_made(call, number, list) {
            Err(fault) => Err(CommitError::Failed(fault)),
            Ok(true) => Err(CommitError::Twice(call)),
            Ok(false) => {
                let steps: Vec<Op> = items.into_iter().map(|it| it.op).collect();
                let begun = Transaction::begin(self, &dirs, &head);
                begun.and_then(|txn| keep(&txn, &head, steps, changes, sync))
            }
        };
        let ended = ended.map(|steps| {
            held.made(call);
            self.note_kept(&held, steps.iter());
            self.show_as_is(call, &dirs, steps.iter());
        });
        held.rest(0).map_err(IoFailure::at("unlock", self.state()))?;
        ended.map(|()| Committed { call, paths, aside })
    }
}

impl Transaction<'_> {
    /// Journals steps that somebody else has taken, as taken, and files the transaction away. The
    /// journal is whole or not there: nothing that is in it is ever taken back by a recovery.
    fn write_taken(&self, head: &journal::JournalHead, ops: &[Op], sync: bool) -> io::Result<()> {
        let mut text = journal::begin(head, self.root.iter().chain(ops))?;
        text.extend(journal::finish(self.root.iter().chain(ops))?);
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&self.own, "journal.new", flags, Mode::from_raw_mode(0o600))?;
        let mut file = File::from(file);
        file.write_all(&text)?;
        if sync {
            file.sync_data()?;
        }
        rustix::fs::renameat(&self.own, "journal.new", &self.own, "journal")?;
        if sync {
            rustix::fs::fsync(&self.own)?;
        }
        self.workspace.step("done");
        self.file_away()?;
        if sync {
            rustix::fs::fsync(&self.dirs.open)?;
            rustix::fs::fsync(&self.dirs.done)?;
        }
        Ok(())
    }
}

/// Fills the slots with what was there, writes the journal of steps that are taken already, and
/// files the transaction away.
fn keep(
    txn: &Transaction<'_>,
    head: &journal::JournalHead,
    mut steps: Vec<Op>,
    changes: &Changes,
    sync: bool,
) -> Result<Vec<Op>, CommitError> {
    let kept = fill(txn, &mut steps, changes, sync).and_then(|()| {
        txn.workspace.step("journal");
        let filed = txn.write_taken(head, &steps, sync);
        filed.map_err(|err| IoFailure::at("keep", txn.workspace.state())(err).into())
    });
    if kept.is_err() {
        txn.discard(false);
    }
    txn.remove_stage();
    kept.map(|()| steps)
}

fn fill(
    txn: &Transaction<'_>,
    steps: &mut [Op],
    changes: &Changes,
    sync: bool,
) -> Result<(), CommitError> {
    let root = &txn.dirs.root;
    let there = compare(steps, &mut Parents::new(root))?;
    let mut parents = Parents::new(root);
    for op in steps.iter_mut() {
        if let (Some(new), Some(Some(now))) = (&mut op.new, there.get(&op.path))
            && new.what == now.what
        {
            new.id = now.id;
        }
        if op.other.is_some() || !matches!(op.act, StepKind::Swap | StepKind::Take) {
            continue;
        }
        txn.workspace.step("prepare");
        let put = Op { act: StepKind::Put, old: None, new: op.old.clone(), ..op.clone() };
        let mut item = Item { source: old_content(changes, &op.path), op: put };
        prepare::slot(&mut item, &txn.own, &mut parents, sync)?;
        op.old = item.op.new;
    }
    Ok(())
}

/// What is there now, if it is what the last step on each path would have made.
fn compare(
    steps: &[Op],
    parents: &mut Parents<'_>,
) -> Result<HashMap<PathBuf, Option<Expected>>, CommitError> {
    let mut last = HashMap::new();
    for op in steps {
        let there = Op { act: StepKind::Mode, old: op.new.clone(), ..op.clone() };
        last.insert(op.path.clone(), there);
    }
    let mut found = check::contents(last.values_mut(), parents)?;
    // Where no directory is, nothing is that should be gone.
    found.retain(|it| {
        let gone = last.get(&it.path).is_some_and(|it| it.old.is_none());
        !(gone && it.clash == Clash::NoDirectory)
    });
    found.sort_by(|a, b| a.path.cmp(&b.path));
    conflicts(found)?;
    Ok(last.into_iter().map(|(path, op)| (path, op.old)).collect())
}

fn old_content<'a>(changes: &'a Changes, path: &Path) -> Option<Source<'a>> {
    changes.get(path)?.before.as_ref()?.file()?.bytes().map(Source::Bytes)
}
