//! Every name of a workspace with what tells its state, as it was when its snapshot was taken: what
//! is put back, and what need not be copied again.

use std::{
    ffi::OsString,
    fs::File,
    io::{self, Read as _, Write as _},
    os::{
        fd::OwnedFd,
        unix::ffi::{OsStrExt as _, OsStringExt as _},
    },
    path::PathBuf,
};

use rustix::{
    fs::{AtFlags, Mode, OFlags},
    io::Errno,
};

use super::walk::Meta;
use crate::{
    ContentDigest,
    commit::{attributes::Attribute, stat},
};

/// What the file begins with; another version begins otherwise.
const HEAD: &[u8] = b"eclusa snapshot 1\n";

/// All names, in the order of paths. The first is the workspace itself.
#[derive(Debug, Default)]
pub(super) struct Manifest {
    pub(super) entries: Vec<Saved>,
    /// How much of the pack it knows.
    pub(super) packed: u64,
    /// During which start of the machine it was made.
    pub(super) boot: Vec<u8>,
    /// The digest of all of this.
    pub(super) check: [u8; 32],
}

/// One name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Saved {
    /// From the workspace.
    pub(super) path: PathBuf,
    pub(super) meta: Meta,
    pub(super) what: What,
    pub(super) attributes: Vec<Attribute>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum What {
    File(SavedFile),
    Directory,
    /// A directory that is neither entered nor put back.
    Live,
    Link(PathBuf),
    /// A pipe, a socket, a device.
    Special,
    /// Nobody of this user could read it, or change it.
    Foreign,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SavedFile {
    pub(super) digest: ContentDigest,
    pub(super) size: u64,
    pub(super) at: Copied,
    /// Whether its times would tell of any change since.
    pub(super) is_settled: bool,
}

/// Where the content is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Copied {
    /// In the pack, from here on.
    Packed(u64),
    /// The same file has another name in `links`.
    Linked,
}

impl Saved {
    pub(super) fn file(&self) -> Option<&SavedFile> {
        match &self.what {
            What::File(file) => Some(file),
            _ => None,
        }
    }

    /// The name of a linked file in `links`.
    pub(super) fn link_name(meta: &Meta) -> String {
        format!("{:x}-{}", meta.device, meta.inode)
    }
}

impl Manifest {
    /// The manifest of the last snapshot. `None`: there is none that could be used.
    pub(super) fn load(dir: &OwnedFd) -> Option<Manifest> {
        let mut bytes = Vec::new();
        stat::open_file(dir, "manifest".as_ref()).ok()?.read_to_end(&mut bytes).ok()?;
        let (body, check) = bytes.split_at_checked(bytes.len().checked_sub(32)?)?;
        let check: [u8; 32] = check.try_into().ok()?;
        if *blake3::hash(body).as_bytes() != check {
            return None;
        }
        let mut reader = ManifestReader(body.strip_prefix(HEAD)?);
        let (boot, packed, count) = (reader.text()?, reader.number()?, reader.number()?);
        let entries = (0..count).map(|_| reader.entry()).collect::<Option<_>>()?;
        Some(Manifest { entries, packed, boot, check })
    }

    /// Writes it, complete or not at all.
    pub(super) fn save(&mut self, dir: &OwnedFd) -> io::Result<()> {
        let mut out = Vec::with_capacity(64 + 256 * self.entries.len());
        out.extend_from_slice(HEAD);
        text(&mut out, &self.boot);
        number(&mut out, self.packed);
        number(&mut out, self.entries.len() as u64);
        self.entries.iter().for_each(|it| entry(&mut out, it));
        self.check = *blake3::hash(&out).as_bytes();
        out.extend_from_slice(&self.check);
        replace(dir, "manifest", &out)
    }
}

/// Removes a file of the snapshot, if it is there.
pub(super) fn remove(dir: &OwnedFd, name: &str) -> io::Result<()> {
    match rustix::fs::unlinkat(dir, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(err) => Err(err.into()),
    }
}

/// Writes a file of the snapshot: the old one or the new one is there, and never a part.
pub(super) fn replace(dir: &OwnedFd, name: &str, content: &[u8]) -> io::Result<()> {
    let new = format!("{name}.new");
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::CLOEXEC;
    let file = rustix::fs::openat(dir, &*new, flags, Mode::from_raw_mode(0o600))?;
    File::from(file).write_all(content)?;
    Ok(rustix::fs::renameat(dir, &*new, dir, name)?)
}

fn number(out: &mut Vec<u8>, number: u64) {
    out.extend_from_slice(&number.to_le_bytes());
}

fn text(out: &mut Vec<u8>, text: &[u8]) {
    number(out, text.len() as u64);
    out.extend_from_slice(text);
}

fn entry(out: &mut Vec<u8>, saved: &Saved) {
    let Saved { path, meta, what, attributes } = saved;
    text(out, path.as_os_str().as_bytes());
    let Meta { mode, device, inode, size, modified, changed, links, owner, special } = *meta;
    let (modified, changed) = (modified.cast_unsigned(), changed.cast_unsigned());
    let owner = u64::from(owner.0) << 32 | u64::from(owner.1);
    let mode = u64::from(mode);
    for one in [mode, device, inode, size, modified, changed, links, owner, special] {
        number(out, one);
    }
    match what {
        What::File(SavedFile { digest, size, at, is_settled }) => {
            out.push(if *is_settled { 1 } else { 0 });
            out.extend_from_slice(&digest.0);
            number(out, *size);
            number(out, if let Copied::Packed(at) = at { *at } else { u64::MAX });
        }
        What::Directory => out.push(2),
        What::Live => out.push(3),
        What::Link(target) => {
            out.push(4);
            text(out, target.as_os_str().as_bytes());
        }
        What::Special => out.push(5),
        What::Foreign => out.push(6),
    }
    number(out, attributes.len() as u64);
    for (name, value) in attributes {
        text(out, name);
        text(out, value);
    }
}

struct ManifestReader<'a>(&'a [u8]);

impl<'a> ManifestReader<'a> {
    fn take(&mut self, size: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(size)?;
        self.0 = rest;
        Some(taken)
    }

    fn number(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }

    fn text(&mut self) -> Option<Vec<u8>> {
        let size = usize::try_from(self.number()?).ok()?;
        self.take(size).map(<[u8]>::to_vec)
    }

    fn path(&mut self) -> Option<PathBuf> {
        Some(PathBuf::from(OsString::from_vec(self.text()?)))
    }

    fn entry(&mut self) -> Option<Saved> {
        let path = self.path()?;
        let mode = u32::try_from(self.number()?).ok()?;
        let (device, inode, size) = (self.number()?, self.number()?, self.number()?);
        let (modified, changed) = (self.number()?.cast_signed(), self.number()?.cast_signed());
        let (links, owner) = (self.number()?, self.number()?);
        let owner = (u32::try_from(owner >> 32).ok()?, u32::try_from(owner & 0xffff_ffff).ok()?);
        let special = self.number()?;
        let meta = Meta { mode, device, inode, size, modified, changed, links, owner, special };
        let what = match self.take(1)? {
            [settled @ (0 | 1)] => {
                let digest = ContentDigest(self.take(32)?.try_into().ok()?);
                let (size, at) = (self.number()?, self.number()?);
                let at = if at == u64::MAX { Copied::Linked } else { Copied::Packed(at) };
                What::File(SavedFile { digest, size, at, is_settled: *settled == 1 })
            }
            [2] => What::Directory,
            [3] => What::Live,
            [4] => What::Link(self.path()?),
            [5] => What::Special,
            [6] => What::Foreign,
            _ => return None,
        };
        let count = self.number()?;
        let attributes = (0..count).map(|_| Some((self.text()?, self.text()?)));
        let attributes = attributes.collect::<Option<_>>()?;
        Some(Saved { path, meta, what, attributes })
    }
}
