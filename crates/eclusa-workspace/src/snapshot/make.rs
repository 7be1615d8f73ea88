//! Makes again what was there, with its content, mode, owner, time, attributes and other names.

use std::{
    ffi::OsStr,
    fs::File,
    io::{self, Seek as _},
    os::fd::{AsFd, OwnedFd},
};

use rustix::fs::{AtFlags, Gid, Mode, OFlags, Timespec, Timestamps, UTIME_OMIT, Uid};

use super::{
    What,
    manifest::{Copied, Saved, SavedFile},
    pack,
    restore::{Restorer, remove},
    walk::{Meta, Seen, set_mode},
};
use crate::commit::{
    attributes, parents,
    stat::{self, Kind},
};

impl Restorer<'_> {
    /// Makes what was there again.
    pub(super) fn make(&mut self, old: &Saved) -> io::Result<()> {
        self.workspace.step("make");
        let (dir, name) = (self.parent(&old.path)?, parents::name(&old.path));
        match &old.what {
            What::Directory => {
                self.disturbed.insert(old.path.clone());
                self.retrying(|_| Ok(rustix::fs::mkdirat(&*dir, name, stat::mode(0o700))?))?;
            }
            What::Link(target) => {
                self.retrying(|_| Ok(rustix::fs::symlinkat(target, &*dir, name)?))?;
                set_owner(&dir, name, &old.meta);
                set_time(&dir, name, &old.meta)?;
            }
            What::Special => {
                self.retrying(|_| make_special(&dir, name, &old.meta))?;
                set_owner(&dir, name, &old.meta);
                set_mode(&dir, name, old.meta.permissions())?;
                set_time(&dir, name, &old.meta)?;
            }
            What::File(file) => self.make_file(&dir, name, old, file)?,
            What::Live | What::Foreign => {}
        }
        Ok(())
    }

    fn make_file(
        &mut self,
        dir: &OwnedFd,
        name: &OsStr,
        old: &Saved,
        file: &SavedFile,
    ) -> io::Result<()> {
        let key = (old.meta.device, old.meta.inode);
        let none = AtFlags::empty();
        if let Some(other) = self.linked.get(&key)
            && let Ok(from) = self.parents.of(other)
            && rustix::fs::linkat(&*from, parents::name(other), dir, name, none).is_ok()
        {
            return Ok(());
        }
        if file.at == Copied::Linked {
            let link = Saved::link_name(&old.meta);
            return Ok(rustix::fs::linkat(self.place.links()?, &*link, dir, name, none)?);
        }
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let made = self.retrying(|this| {
            let made = rustix::fs::openat(dir, name, flags, Mode::from_raw_mode(0o600))?;
            this.workspace.step("fill");
            let filled = this.fill(&mut File::from(made), old, file);
            if filled.is_err() {
                remove(dir, name, none)?;
            }
            filled
        });
        self.unless_damaged(made, old)?;
        if old.meta.links > 1 {
            self.linked.insert(key, old.path.clone());
        }
        Ok(())
    }

    /// Gives an empty file its content, and everything else that it had.
    fn fill(&self, made: &mut File, old: &Saved, file: &SavedFile) -> io::Result<()> {
        if let Copied::Packed(from) = file.at {
            pack::unpack(&pack::open(&self.place.dir)?, from, file, made)?;
        }
        finish(made, old)
    }

    /// Writes the old content into a file that has other names too.
    pub(super) fn rewrite(&mut self, old: &Saved) -> io::Result<()> {
        self.workspace.step("rewrite");
        let Some(file) = old.file() else { return Ok(()) };
        let (dir, name) = (self.parent(&old.path)?, parents::name(&old.path));
        let flags = OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let open = || rustix::fs::openat(&*dir, name, flags, Mode::empty());
        let written = self.retrying(|this| {
            let opened = open().or_else(|_| {
                set_mode(&dir, name, old.meta.permissions() | 0o600)?;
                open().map_err(io::Error::from)
            });
            let mut opened = File::from(opened?);
            opened.rewind()?;
            opened.set_len(file.size)?;
            this.fill(&mut opened, old, file)
        });
        self.unless_damaged(written, old)
    }

    /// A copy that is not what was copied is told: nobody could put it back.
    fn unless_damaged(&mut self, done: io::Result<()>, old: &Saved) -> io::Result<()> {
        match done {
            Err(err) if err.kind() == io::ErrorKind::InvalidData => {
                let path = old.path.to_string_lossy();
                let path = crate::one_line(&path);
                self.notes.push(format!("`{path}` cannot be put back: its copy is damaged"));
                Ok(())
            }
            done => done,
        }
    }

    /// Gives what holds the same its mode, owner, time and attributes.
    pub(super) fn touch(&mut self, old: &Saved, new: &Seen) -> io::Result<()> {
        if new.meta.kind() == Kind::Directory {
            self.disturbed.insert(old.path.clone());
            return Ok(());
        }
        self.workspace.step("touch");
        let (dir, name) = (self.parents.of(&old.path)?, parents::name(&old.path));
        if old.file().is_some() {
            let file = stat::open_kept(&*dir, name)?;
            if attributes::read(&file) != old.attributes {
                self.note_attributes(&file, old);
            }
            return finish(&file, old);
        }
        if old.meta.kind() == Kind::Other {
            set_mode(&dir, name, old.meta.permissions())?;
        }
        set_owner(&dir, name, &old.meta);
        set_time(&dir, name, &old.meta)
    }

    fn note_attributes(&mut self, now: impl AsFd, old: &Saved) {
        let (now, was) = (attributes::read(now), &old.attributes);
        let mut names: Vec<&[u8]> =
            now.iter().filter(|it| !was.contains(it)).map(name_of).collect();
        names.extend(was.iter().filter(|it| !now.contains(it)).map(name_of));
        names.sort_unstable();
        names.dedup();
        let names: Vec<_> = names.into_iter().map(String::from_utf8_lossy).collect();
        let path = old.path.to_string_lossy();
        self.notes.push(format!(
            "`{}` has other extended attributes ({}), which are not kept",
            crate::one_line(&path),
            crate::one_line(&names.join(", "))
        ));
    }

    /// Gives a directory what it had, once nothing more is done in it.
    pub(super) fn settle(&mut self, old: &Saved) -> io::Result<()> {
        let (dir, name) = (self.parents.of(&old.path)?, parents::name(&old.path));
        let opened = stat::open_dir(&*dir, name)?;
        if attributes::read(&opened) != old.attributes {
            self.note_attributes(&opened, old);
        }
        finish(&opened, old)
    }
}

fn name_of((name, _): &attributes::Attribute) -> &[u8] {
    name
}

/// Owner, mode, attributes and time of what is open.
fn finish(opened: impl AsFd, old: &Saved) -> io::Result<()> {
    let now = Meta::from(rustix::fs::fstat(&opened)?);
    if now.owner != old.meta.owner {
        let (user, group) = owner(&old.meta);
        // Only the superuser may give a file away.
        let given = rustix::fs::fchown(&opened, user, group);
        given.or_else(|_| rustix::fs::fchown(&opened, None, group)).ok();
    }
    attributes::reset(&opened, &old.attributes)?;
    let now = Meta::from(rustix::fs::fstat(&opened)?);
    if now.mode != old.meta.mode {
        rustix::fs::fchmod(&opened, stat::mode(old.meta.permissions()))?;
    }
    if now.modified != old.meta.modified {
        rustix::fs::futimens(&opened, &times(&old.meta))?;
        let raw = rustix::fs::fstat(&opened)?;
        if Meta::from(raw).modified != old.meta.modified {
            rustix::fs::futimens(&opened, &both_times(&old.meta, &raw))?;
        }
    }
    Ok(())
}

fn owner(meta: &Meta) -> (Option<Uid>, Option<Gid>) {
    (Some(Uid::from_raw(meta.owner.0)), Some(Gid::from_raw(meta.owner.1)))
}

/// Gives it to whom it belonged, as far as the kernel lets us.
fn set_owner(dir: &OwnedFd, name: &OsStr, meta: &Meta) {
    let (user, group) = owner(meta);
    let _ = rustix::fs::chownat(dir, name, user, group, AtFlags::SYMLINK_NOFOLLOW);
}

fn set_time(dir: &OwnedFd, name: &OsStr, meta: &Meta) -> io::Result<()> {
    let itself = AtFlags::SYMLINK_NOFOLLOW;
    rustix::fs::utimensat(dir, name, &times(meta), itself)?;
    let raw = rustix::fs::statat(dir, name, itself)?;
    if Meta::from(raw).modified != meta.modified {
        rustix::fs::utimensat(dir, name, &both_times(meta, &raw), itself)?;
    }
    Ok(())
}

/// The same with the time when it was last read: some filesystems in programs (FUSE) set both times or none.
#[allow(
    clippy::unnecessary_cast,
    clippy::useless_conversion,
    reason = "the fields have other widths on other machines"
)]
fn both_times(meta: &Meta, now: &rustix::fs::Stat) -> Timestamps {
    let read = Timespec { tv_sec: now.st_atime as i64, tv_nsec: now.st_atime_nsec as _ };
    Timestamps { last_access: read, ..times(meta) }
}

/// When it was last changed; when it was last read stays.
fn times(meta: &Meta) -> Timestamps {
    let modified = Timespec {
        tv_sec: meta.modified.div_euclid(1_000_000_000),
        tv_nsec: meta.modified.rem_euclid(1_000_000_000),
    };
    let last_access = Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT };
    Timestamps { last_access, last_modification: modified }
}

#[cfg(target_os = "linux")]
fn make_special(dir: &OwnedFd, name: &OsStr, meta: &Meta) -> io::Result<()> {
    let mode = stat::mode(meta.permissions());
    Ok(rustix::fs::mknodat(dir, name, meta.file_type(), mode, meta.special)?)
}

#[cfg(not(target_os = "linux"))]
fn make_special(_: &OwnedFd, _: &OsStr, _: &Meta) -> io::Result<()> {
    Err(io::Error::other("pipes, sockets and devices cannot be made again here"))
}
