//! Directories that their owner may not write to, opened while steps work in them: a step more
//! before, and a step more after, both in the journal, so that the mode is as it was afterwards,
//! whatever happens in between.

use std::{
    collections::{BTreeMap, HashMap},
    io,
    path::{Path, PathBuf},
};

use rustix::{
    fs::{Access, AtFlags},
    io::Errno,
};

use super::{
    Dirs, IoFailure, KeepStrategy,
    apply::{Applier, StepError},
    journal,
    op::{Item, Op, StepKind},
    parents::{self, Parents},
    stat::{self, Expected, NodeContent, Stat},
    transaction::Transaction,
};

/// What somebody needs who makes, replaces and removes names in a directory of theirs.
const WORK: u32 = 0o300;

/// The modes of directories while steps are taken.
#[derive(Default)]
struct Modes {
    /// Of those that steps have made or altered. `None`: it is no directory, or nothing is there.
    made: HashMap<PathBuf, Option<u32>>,
    /// Of those that are there, as far as they were looked at and must be opened.
    found: HashMap<PathBuf, Option<u32>>,
    /// Of those that are open now, before they were.
    open: BTreeMap<PathBuf, u32>,
}

/// Adds steps that open the directories in which others work, where they are ours and shut, and
/// steps that shut them again.
///
/// Where nothing can be renamed, the transaction has a directory of its own in the workspace, which
/// [`Transaction::open_root`] opens for as long as it is there.
pub(super) fn between(
    items: &mut Vec<Item<'_>>,
    parents: &mut Parents<'_>,
    aside: KeepStrategy,
) -> Result<(), IoFailure> {
    let mut modes = Modes::default();
    if aside == KeepStrategy::Copied {
        modes.made.insert(PathBuf::new(), Some(0o700));
    }
    // Before which step each is taken.
    let mut added: Vec<(usize, Op)> = Vec::new();
    for (at, Item { op, .. }) in items.iter().enumerate() {
        // What a step does to a directory itself, it does to it as it was.
        if let Some(mode) = modes.open.remove(&op.path) {
            added.push((at, step(&op.path, mode | 0o700, mode)));
        }
        if op.act != StepKind::Mode {
            let dir = op.path.parent().unwrap_or(Path::new(""));
            let shut = modes.shut(dir, parents).map_err(IoFailure::at("look at", dir))?;
            if let Some(mode) = shut {
                modes.open.insert(dir.to_owned(), mode);
                added.push((at, step(dir, mode, mode | 0o700)));
            }
        }
        let is = |it: &&Expected| it.what == NodeContent::Directory;
        let mode = op.new.as_ref().filter(is).map(|it| it.mode);
        modes.made.insert(op.path.clone(), mode);
    }
    let end = items.len();
    // The deepest first: it is reached through the others.
    added.extend(modes.open.iter().rev().map(|(dir, mode)| (end, step(dir, mode | 0o700, *mode))));
    insert(items, added);
    Ok(())
}

/// Puts steps where they belong. They have slots of their own, which stay empty.
fn insert(items: &mut Vec<Item<'_>>, added: Vec<(usize, Op)>) {
    if added.is_empty() {
        return;
    }
    let mut free = items.iter().map(|it| it.op.slot + 1).max().unwrap_or(0);
    let mut added = added.into_iter().peekable();
    let old = std::mem::take(items);
    let end = old.len();
    for (at, item) in old.into_iter().map(Some).chain([None]).enumerate() {
        while let Some((_, mut op)) = added.next_if(|(it, _)| *it == at.min(end)) {
            op.slot = free;
            free += 1;
            items.push(Item { op, source: None });
        }
        items.extend(item);
    }
}

fn step(path: &Path, old: u32, new: u32) -> Op {
    let directory = |mode| Some(Expected { what: NodeContent::Directory, mode, id: None });
    let bare = Op::bare(path.to_owned(), StepKind::Mode);
    Op { old: directory(old), new: directory(new), passing: true, ..bare }
}

impl Modes {
    /// The mode of a directory in which nobody could work now, though it is ours. `None`: it need
    /// not be opened, or cannot.
    fn shut(&mut self, dir: &Path, parents: &mut Parents<'_>) -> io::Result<Option<u32>> {
        if self.open.contains_key(dir) {
            return Ok(None);
        }
        if let Some(made) = self.made.get(dir) {
            return Ok(made.filter(|it| it & WORK != WORK));
        }
        if let Some(found) = self.found.get(dir) {
            return Ok(*found);
        }
        let found = look(dir, parents)?;
        self.found.insert(dir.to_owned(), found);
        Ok(found)
    }
}

/// The same of a directory that is there. The kernel is asked first: it knows of superusers and of
/// access lists.
fn look(dir: &Path, parents: &mut Parents<'_>) -> io::Result<Option<u32>> {
    let handle = match parents.of(&dir.join("_")) {
        Ok(handle) => handle,
        // Whoever looks at what is in it will say so.
        Err(_) => return Ok(None),
    };
    let may = Access::WRITE_OK | Access::EXEC_OK;
    if rustix::fs::accessat(&*handle, ".", may, AtFlags::empty()) != Err(Errno::ACCESS) {
        return Ok(None);
    }
    let Some(stat) = Stat::at(&*handle, parents::name(Path::new("")))? else { return Ok(None) };
    let ours = stat.owner.0 == rustix::process::geteuid().as_raw();
    Ok((ours && stat.mode & WORK != WORK).then_some(stat.mode))
}

impl Transaction<'_> {
    /// Opens the workspace itself, where it is ours and shut, so that this transaction can have a
    /// directory in it. The journal says so first; what it will say later says so too.
    pub(super) fn open_root(&mut self, head: &journal::JournalHead) -> io::Result<()> {
        let mut parents = Parents::new(&self.dirs.root);
        let Some(mode) = look(Path::new(""), &mut parents)? else { return Ok(()) };
        let id = Stat::at(&self.dirs.root, ".".as_ref())?.map(|it| it.id);
        let mut op = step(Path::new(""), mode, mode | 0o700);
        op.old.iter_mut().chain(&mut op.new).for_each(|it| it.id = id);
        self.root = Some(op.clone());
        self.workspace.step("journal");
        self.write_journal(head, &[], true)?;
        self.workspace.step("open the workspace");
        self.applier().apply(&op).map_err(|err| match err {
            StepError::Clash(conflict) => io::Error::other(conflict.to_string()),
            StepError::IoFailure(fault) => io::Error::new(fault.kind(), fault),
        })
    }

    /// Shuts it again, when nothing of this transaction is in it any more.
    pub(super) fn shut_root(&self) {
        if let Some(root) = &self.root {
            self.workspace.step("shut the workspace");
            // What somebody has made of it meanwhile stays.
            let _ = self.applier().revert(root);
        }
    }
}

/// The step that opened the workspace itself, taken out of the others.
pub(super) fn take_root(ops: &mut Vec<Op>, head: &journal::JournalHead) -> Option<Op> {
    let is = |it: &Op| it.passing && it.path.as_os_str().is_empty();
    let copied = head.aside() == KeepStrategy::Copied;
    let at = ops.iter().position(is).filter(|_| copied)?;
    Some(ops.remove(at))
}

/// Shuts the workspace that the last of the finished transactions has left open, because it died
/// right after it was done.
pub(super) fn shut_after(dirs: &Dirs, last: &str) -> io::Result<()> {
    let own = stat::open_dir(&dirs.done, last.as_ref())?;
    let mut bytes = Vec::new();
    io::Read::read_to_end(&mut stat::open_file(&own, "journal".as_ref())?, &mut bytes)?;
    let Ok(Some(mut journal)) = journal::read(&bytes) else { return Ok(()) };
    if let Some(root) = take_root(&mut journal.ops, &journal.head) {
        Applier::new(&dirs.root, &own, &dirs.done).revert(&root)?;
    }
    Ok(())
}
