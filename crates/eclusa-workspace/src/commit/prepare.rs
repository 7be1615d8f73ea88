//! Writes new contents aside, where nobody sees them yet.

use std::{
    fs::File,
    io::{self, Read, Write},
    os::fd::{AsFd, OwnedFd},
    path::Path,
};

use rustix::{
    fs::{CWD, Gid, Mode, OFlags, Uid},
    io::Errno,
};

use super::{
    IoFailure, attributes,
    op::{Item, Source, StepKind},
    packed,
    parents::{self, Parents},
    rename,
    stat::{self, Expected, NodeContent, Stat},
};
use crate::ContentDigest;

/// Puts what a step needs into its slot, and notes how to recognise it.
pub(crate) fn slot(
    item: &mut Item<'_>,
    slots: &OwnedFd,
    parents: &mut Parents<'_>,
    sync: bool,
) -> Result<(), IoFailure> {
    let op = &mut item.op;
    // What an earlier transaction or an earlier step leaves there is there when it is needed.
    if op.home.is_some() || op.other.is_some() || !matches!(op.act, StepKind::Put | StepKind::Swap)
    {
        return Ok(());
    }
    let Some(new) = &mut op.new else { return Ok(()) };
    let name = op.slot.to_string();
    let made = match &new.what {
        NodeContent::Directory => directory(slots, &name, new.mode),
        NodeContent::Link(target) => rustix::fs::symlinkat(target, slots, &name)
            .map_err(io::Error::from)
            .and_then(|()| present(Stat::at(slots, name.as_ref())?)),
        NodeContent::File(digest) => {
            let owner = match op.act {
                StepKind::Swap => {
                    owner(&op.path, parents).map_err(IoFailure::at("look at", &op.path))?
                }
                _ => None,
            };
            // A file that a program wrote has the attributes that the program gave it.
            let written = matches!(item.source, Some(Source::Bytes(_)));
            let kept = match op.act {
                StepKind::Swap if written => attributes::of_file(&op.path, parents),
                _ => Vec::new(),
            };
            match &item.source {
                Some(source) => {
                    let slot = Slot { slots, name: &name, owner, kept, sync };
                    fill(&slot, new, *digest, source, parents)
                }
                None => Err(io::Error::other("nobody said where its content is")),
            }
        }
    };
    new.id = Some(made.map_err(IoFailure::at("prepare", &op.path))?.id);
    Ok(())
}

/// Whose a file is that will be replaced, so that the new one is theirs too. If it is no longer
/// there, the look that follows will say so; what is in a shut directory of ours is ours.
fn owner(path: &Path, parents: &mut Parents<'_>) -> io::Result<Option<(u32, u32)>> {
    match parents.of(path).and_then(|dir| Stat::at(&*dir, parents::name(path))) {
        Ok(stat) => Ok(stat.map(|it| it.owner)),
        Err(err) if parents::is_absent(&err) || parents::is_shut(&err) => Ok(None),
        Err(err) => Err(err),
    }
}

/// A slot that will hold a file.
struct Slot<'a> {
    slots: &'a OwnedFd,
    name: &'a str,
    /// Whose the file shall be.
    owner: Option<(u32, u32)>,
    /// The attributes that it shall have.
    kept: Vec<attributes::Attribute>,
    sync: bool,
}

fn open<'a>(source: &'a Source<'_>, parents: &mut Parents<'_>) -> io::Result<Box<dyn Read + 'a>> {
    Ok(match source {
        Source::Bytes(bytes) => Box::new(*bytes),
        Source::File(path) | Source::Staged(path) => Box::new(stat::open_at(path)?),
        Source::Packed(path) => Box::new(packed::unpack(File::open(path)?)),
        Source::Workspace(path) => {
            Box::new(stat::open_file(&*parents.of(path)?, parents::name(path))?)
        }
    })
}

/// A file in a slot: content first, then owner and mode, then a look at what came of it.
fn fill(
    slot: &Slot<'_>,
    new: &Expected,
    digest: ContentDigest,
    source: &Source<'_>,
    parents: &mut Parents<'_>,
) -> io::Result<Stat> {
    if let Source::Staged(path) = source
        && let Some(taken) = move_staged(slot, new, digest, path)?
    {
        return Ok(taken);
    }
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let mode = stat::mode(new.mode & 0o777 | 0o200);
    let mut to = File::from(rustix::fs::openat(slot.slots, slot.name, flags, mode)?);
    let written = match source {
        Source::Bytes(bytes) => {
            to.write_all(bytes)?;
            ContentDigest::of(bytes)
        }
        source => copy(&mut *open(source, parents)?, &mut to)?,
    };
    if written != digest {
        return Err(io::Error::other("its content is not the one that was judged"));
    }
    finish(slot, new, &to)
}

/// Owner and mode of a file in a slot, and a look at what came of it.
fn finish(slot: &Slot<'_>, new: &Expected, file: &File) -> io::Result<Stat> {
    let mut stat = Stat::from(rustix::fs::fstat(file)?);
    if let Some(owner) = slot.owner.filter(|it| *it != stat.owner) {
        keep_owner(file, stat.owner, owner)?;
        stat = Stat::from(rustix::fs::fstat(file)?);
    }
    attributes::set(file, &slot.kept)?;
    if stat.mode != new.mode || !slot.kept.is_empty() {
        rustix::fs::fchmod(file, stat::mode(new.mode))?;
    }
    if slot.sync {
        rustix::fs::fsync(file)?;
    }
    Ok(stat)
}

/// Moves a staged file into a slot, so that nothing is copied. `None`: it lies on another
/// filesystem. What is not as it was when it was judged is read again, and refused if it differs.
fn move_staged(
    slot: &Slot<'_>,
    new: &Expected,
    digest: ContentDigest,
    path: &Path,
) -> io::Result<Option<Stat>> {
    let changed = || io::Error::other("its content is not the one that was judged");
    let moved = rename::only_new(CWD, path, slot.slots, slot.name);
    match moved {
        Ok(()) => {}
        Err(Errno::XDEV) => return Ok(None),
        Err(err) => return Err(err.into()),
    }
    // Looked at where nobody else reaches it any more.
    let stat = present(Stat::at(slot.slots, slot.name.as_ref())?)?;
    if stat.kind != stat::Kind::File {
        return Err(changed());
    }
    let owner = slot.owner.is_none_or(|it| it == stat.owner);
    if owner && slot.kept.is_empty() && !slot.sync && stat.mode == new.mode && stat.is_still(new) {
        // It is as it should be, so that nothing has to be opened for it.
        return Ok(Some(stat));
    }
    if stat.mode & 0o600 != 0o600 {
        let mode = stat::mode(stat.mode | 0o600);
        rustix::fs::chmodat(slot.slots, slot.name, mode, rustix::fs::AtFlags::empty())?;
    }
    let file = stat::open_file(slot.slots, slot.name.as_ref())?;
    if !stat.is_still(new) && stat::digest(slot.slots, slot.name.as_ref())? != digest {
        return Err(changed());
    }
    finish(slot, new, &file).map(Some)
}

/// Gives a file to whom the old one belonged, as far as the kernel lets us: only the superuser may
/// give a file away. What cannot be given stays with whoever runs the commit, as in any editor.
fn keep_owner(file: &File, has: (u32, u32), wants: (u32, u32)) -> io::Result<()> {
    let user = (has.0 != wants.0).then(|| Uid::from_raw(wants.0));
    let group = (has.1 != wants.1).then(|| Gid::from_raw(wants.1));
    for (user, group) in [(user, group), (None, group)] {
        match rustix::fs::fchown(file, user, group) {
            Ok(()) => return Ok(()),
            Err(Errno::PERM) => {}
            Err(err) => return Err(err.into()),
        }
    }
    Ok(())
}

/// Copies, and returns the digest of what was copied.
pub(crate) fn copy(from: &mut dyn Read, to: &mut dyn Write) -> io::Result<ContentDigest> {
    let mut hasher = blake3::Hasher::new();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let read = match from.read(&mut buffer) {
            Ok(0) => return Ok(ContentDigest(*hasher.finalize().as_bytes())),
            Ok(read) => read,
            Err(err) if err.kind() == io::ErrorKind::Interrupted => continue,
            Err(err) => return Err(err),
        };
        let part = buffer.get(..read).unwrap_or_default();
        hasher.update(part);
        to.write_all(part)?;
    }
}

fn directory(slots: &OwnedFd, name: &str, mode: u32) -> io::Result<Stat> {
    rustix::fs::mkdirat(slots, name, stat::mode(mode | 0o700))?;
    let made = present(Stat::at(slots, name.as_ref())?)?;
    if made.mode != mode {
        rustix::fs::chmodat(slots, name, stat::mode(mode), rustix::fs::AtFlags::empty())?;
    }
    Ok(made)
}

fn present(stat: Option<Stat>) -> io::Result<Stat> {
    stat.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
}

/// Copies what lies in a slot to another directory, mode and time included: pre-images of a
/// workspace on another filesystem cannot be renamed.
pub(crate) fn carry(
    from: impl AsFd,
    name: &str,
    stat: &Stat,
    to: impl AsFd,
    sync: bool,
) -> io::Result<()> {
    match stat.kind {
        stat::Kind::Directory => Ok(directory_like(to, name, stat.mode)?),
        stat::Kind::Link => {
            let target = stat::target(from, name.as_ref())?;
            Ok(rustix::fs::symlinkat(target, to, name)?)
        }
        stat::Kind::File => {
            let mut old = stat::open_kept(&from, name.as_ref())?;
            if stat.mode & 0o400 == 0 {
                let mode = stat::mode(stat.mode);
                rustix::fs::chmodat(&from, name, mode, rustix::fs::AtFlags::empty())?;
            }
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
            let made = rustix::fs::openat(to, name, flags, Mode::from_raw_mode(0o600))?;
            let mut made = File::from(made);
            io::copy(&mut old, &mut made)?;
            rustix::fs::fchmod(&made, stat::mode(stat.mode))?;
            if sync {
                rustix::fs::fsync(&made)?;
            }
            Ok(())
        }
        stat::Kind::Other => Err(io::Error::other("it is neither file nor directory")),
    }
}

fn directory_like(to: impl AsFd, name: &str, mode: u32) -> io::Result<()> {
    Ok(rustix::fs::mkdirat(to, name, stat::mode(mode | 0o700))?)
}
