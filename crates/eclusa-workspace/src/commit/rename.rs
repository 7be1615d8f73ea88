//! Renames that overwrite nothing, and exchanges, also where a filesystem has neither: NFS, 9p and most of FUSE.
//! There it is looked first, so that what another program makes in that very moment is overwritten.

use std::{ffi::OsStr, os::fd::AsFd};

use rustix::{
    fs::{AtFlags, RenameFlags},
    io::{Errno, Result},
};

/// Gives something another name, unless there is something of that name.
pub(super) fn only_new(
    from: impl AsFd,
    name: impl AsRef<OsStr>,
    to: impl AsFd,
    new: impl AsRef<OsStr>,
) -> Result<()> {
    let (name, new) = (name.as_ref(), new.as_ref());
    match rustix::fs::renameat_with(&from, name, &to, new, RenameFlags::NOREPLACE) {
        Err(err) if is_unknown(err) => looked(from, name, to, new),
        renamed => renamed,
    }
}

/// Exchanges what is in a slot with what has a name in the workspace.
pub(super) fn exchange(slots: impl AsFd, slot: &str, dir: impl AsFd, name: &OsStr) -> Result<()> {
    match rustix::fs::renameat_with(&slots, slot, &dir, name, RenameFlags::EXCHANGE) {
        Err(err) if is_unknown(err) => in_three(slots, slot, dir, name),
        renamed => renamed,
    }
}

/// What a filesystem says that knows no flags.
fn is_unknown(err: Errno) -> bool {
    matches!(err, Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP)
}

fn looked(from: impl AsFd, name: &OsStr, to: impl AsFd, new: &OsStr) -> Result<()> {
    match is_there(&to, new)? {
        true => Err(Errno::EXIST),
        false => rustix::fs::renameat(from, name, to, new),
    }
}

fn is_there(dir: impl AsFd, name: &OsStr) -> Result<bool> {
    match rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(_) => Ok(true),
        Err(Errno::NOENT) => Ok(false),
        Err(err) => Err(err),
    }
}

/// Where the old content is in the middle of an exchange: beside the slot, so that [`make_whole`] finds it.
fn between(slot: &str) -> String {
    format!("{slot}.between")
}

fn in_three(slots: impl AsFd, slot: &str, dir: impl AsFd, name: &OsStr) -> Result<()> {
    let (between, slot) = (between(slot), OsStr::new(slot));
    let between = OsStr::new(&between);
    looked(&dir, name, &slots, between)?;
    if let Err(err) = looked(&slots, slot, &dir, name) {
        // If this fails too, whoever takes the step back finds it.
        let _ = looked(&slots, between, &dir, name);
        return Err(err);
    }
    looked(&slots, between, &slots, slot)
}

/// Brings an exchange that was cut short to its beginning or its end. Where somebody has put something of
/// their own into the gap, that stays, and the slot has what was there before.
pub(super) fn make_whole(slots: impl AsFd, slot: &str, dir: impl AsFd, name: &OsStr) -> Result<()> {
    let (between, dropped) = (between(slot), format!("{slot}.dropped"));
    let (between, slot) = (OsStr::new(&between), OsStr::new(slot));
    if !is_there(&slots, between)? {
        return Ok(());
    }
    if is_there(&slots, slot)? {
        match looked(&slots, between, &dir, name) {
            Err(Errno::EXIST) => {}
            renamed => return renamed,
        }
        rustix::fs::renameat(&slots, slot, &slots, OsStr::new(&dropped))?;
    }
    looked(&slots, between, &slots, slot)
}

#[cfg(test)]
mod tests;
