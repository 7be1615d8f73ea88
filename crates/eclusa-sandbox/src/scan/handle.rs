//! Looks at names beneath a directory handle, and never through a link.

use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io::{self, Read},
    os::{
        fd::{AsFd, AsRawFd, OwnedFd},
        unix::ffi::{OsStrExt, OsStringExt},
    },
    path::{Path, PathBuf},
};

use eclusa_workspace::{ContentDigest, Stamp};
use rustix::{
    fs::{AtFlags, Dir, FileType, Mode, OFlags, SeekFrom, Stat},
    io::{Errno, Result},
};

use super::{Moment, Special};

/// What is at a name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Look {
    pub(crate) sort: Sort,
    pub(crate) mode: u32,
    pub(crate) links: u64,
    pub(crate) owner: (u32, u32),
    pub(crate) stamp: Stamp,
    /// For a device: which.
    device: u64,
}

/// The sort of thing that is at a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sort {
    File,
    Directory,
    Link,
    Other(Special),
}

impl Look {
    /// What is at this name. `None`: nothing.
    pub(crate) fn at(dir: impl AsFd, name: &OsStr) -> Result<Option<Look>> {
        match rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(Look::from(stat))),
            Err(Errno::NOENT) => Ok(None),
            Err(err) => Err(err),
        }
    }

    /// The same for something that is open.
    pub(crate) fn of(handle: impl AsFd) -> Result<Look> {
        rustix::fs::fstat(handle).map(Look::from)
    }

    /// True for a character device 0/0, by which an overlay says that nothing is here.
    pub(crate) fn is_whiteout(&self) -> bool {
        self.sort == Sort::Other(Special::Device) && self.device == 0
    }
}

impl From<Stat> for Look {
    #[allow(
        clippy::unnecessary_cast,
        clippy::useless_conversion,
        reason = "the fields have other widths on other machines"
    )]
    fn from(stat: Stat) -> Look {
        let sort = match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Sort::File,
            FileType::Directory => Sort::Directory,
            FileType::Symlink => Sort::Link,
            FileType::Fifo => Sort::Other(Special::Pipe),
            FileType::Socket => Sort::Other(Special::Socket),
            _ => Sort::Other(Special::Device),
        };
        let block = FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice;
        let nanos =
            |seconds: i64, nanos: i64| i128::from(seconds) * 1_000_000_000 + i128::from(nanos);
        Look {
            sort,
            mode: stat.st_mode as u32 & 0o7777,
            links: stat.st_nlink as u64,
            owner: (stat.st_uid, stat.st_gid),
            stamp: Stamp {
                device: stat.st_dev as u64,
                inode: stat.st_ino as u64,
                size: stat.st_size as u64,
                modified: nanos(stat.st_mtime as i64, stat.st_mtime_nsec as i64),
                changed: nanos(stat.st_ctime as i64, stat.st_ctime_nsec as i64),
            },
            device: if block { u64::MAX } else { stat.st_rdev as u64 },
        }
    }
}

impl Moment {
    /// Now, by the clock of the filesystem that has this directory: the moment of a change to it.
    /// Called with a directory that was made for the run, just before the run.
    pub fn on(dir: impl AsFd) -> io::Result<Moment> {
        let now = rustix::fs::Timespec { tv_sec: 0, tv_nsec: rustix::fs::UTIME_NOW };
        let now = rustix::fs::Timestamps { last_access: now, last_modification: now };
        rustix::fs::futimens(&dir, &now)?;
        Ok(Moment(Look::of(dir)?.stamp.changed))
    }
}

/// A handle that is good for looking up names, and for nothing else.
#[cfg(target_os = "linux")]
pub(crate) const SEARCH: OFlags = OFlags::PATH;
/// A handle that is good for looking up names.
#[cfg(not(target_os = "linux"))]
pub(crate) const SEARCH: OFlags = OFlags::empty();

/// Permission bits as the system takes them: their width differs.
pub(crate) fn mode(bits: u32) -> Mode {
    Mode::from_raw_mode(bits as rustix::fs::RawMode)
}

/// Opens a directory beneath another: there are no layers here.
#[cfg(not(target_os = "linux"))]
pub(crate) fn beneath(_: impl AsFd, _: &Path, _: OFlags) -> Result<OwnedFd> {
    Err(Errno::NOSYS)
}

/// Opens a directory beneath another: not through a link, and not on another mount.
#[cfg(target_os = "linux")]
pub(crate) fn beneath(root: impl AsFd, path: &Path, flags: OFlags) -> Result<OwnedFd> {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    let flags = flags | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    use rustix::fs::ResolveFlags;
    let resolve = ResolveFlags::BENEATH
        | ResolveFlags::NO_SYMLINKS
        | ResolveFlags::NO_MAGICLINKS
        | ResolveFlags::NO_XDEV;
    loop {
        // The kernel says `again` when something was renamed while it looked.
        match rustix::fs::openat2(&root, path, flags, Mode::empty(), resolve) {
            Err(Errno::AGAIN | Errno::INTR) => {}
            opened => return opened,
        }
    }
}

/// Opens a file for reading: never through a link, and never waiting for a pipe.
pub(crate) fn open_file(dir: impl AsFd, name: &OsStr) -> Result<File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    rustix::fs::openat(dir, name, flags, Mode::empty()).map(File::from)
}

/// The names in a directory, at most this many and one more.
pub(crate) fn names(dir: impl AsFd, most: usize) -> Result<Vec<OsString>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(dir)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name != b"." && name != b".." {
            names.push(OsString::from_vec(name.to_vec()));
            if names.len() > most {
                break;
            }
        }
    }
    names.sort();
    Ok(names)
}

/// What a link says.
pub(crate) fn target(dir: impl AsFd, name: &OsStr) -> Result<PathBuf> {
    let target = rustix::fs::readlinkat(dir, name, Vec::new())?;
    Ok(PathBuf::from(OsString::from_vec(target.into_bytes())))
}

/// So much of a file is read at once: the hash takes many blocks side by side.
const PIECE: usize = 1 << 16;

/// The digest of this much of a file, read through a buffer of fixed size. Where more has been
/// added since, its stamp tells. Holes are not read: their zeros are known.
pub(crate) fn digest(mut file: &File, size: u64) -> io::Result<ContentDigest> {
    if size <= PIECE as u64 {
        // What holes it has are read as fast as they are looked for.
        let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(PIECE));
        file.take(size).read_to_end(&mut bytes)?;
        return Ok(ContentDigest::of(&bytes));
    }
    let mut hasher = blake3::Hasher::new();
    let mut at = 0;
    while at < size {
        let data = match rustix::fs::seek(file, SeekFrom::Data(at)) {
            Ok(data) => data.min(size),
            // Nothing but a hole is left.
            Err(Errno::NXIO) => size,
            // A filesystem that knows no holes.
            Err(_) => at,
        };
        zeros(&mut hasher, data - at);
        let hole = match rustix::fs::seek(file, SeekFrom::Hole(data)) {
            Ok(hole) if hole > data => hole.min(size),
            _ => size,
        };
        rustix::fs::seek(file, SeekFrom::Start(data))?;
        let mut pieces = io::BufReader::with_capacity(PIECE, (&mut file).take(hole - data));
        let read = io::copy(&mut pieces, &mut hasher)?;
        at = data + read;
        if read < hole - data {
            // It has become shorter.
            break;
        }
    }
    Ok(ContentDigest(*hasher.finalize().as_bytes()))
}

fn zeros(hasher: &mut blake3::Hasher, mut count: u64) {
    static ZEROS: [u8; 1 << 16] = [0; 1 << 16];
    while count > 0 {
        let now = count.min(ZEROS.len() as u64);
        hasher.update(ZEROS.get(..usize::try_from(now).unwrap_or(0)).unwrap_or_default());
        count -= now;
    }
}

/// A path by which calls that take no directory handle reach a name in one.
pub(crate) fn through(dir: impl AsFd, name: &OsStr) -> PathBuf {
    let mut path = PathBuf::from(format!("/proc/self/fd/{}", dir.as_fd().as_raw_fd()));
    path.push(name);
    path
}

/// The value of an extended attribute, cut to a few bytes. `None`: it has no such attribute.
pub(crate) fn attribute(dir: impl AsFd, name: &OsStr, key: &str) -> Result<Option<Vec<u8>>> {
    let mut value = [0_u8; 8];
    match rustix::fs::lgetxattr(through(dir, name), key, &mut value) {
        Ok(length) => Ok(Some(value.get(..length).unwrap_or_default().to_vec())),
        Err(Errno::RANGE) => Ok(Some(value.to_vec())),
        Err(Errno::NODATA | Errno::NOTSUP | Errno::PERM) => Ok(None),
        Err(err) => Err(err),
    }
}

/// The names of the extended attributes.
fn attributes(dir: impl AsFd, name: &OsStr) -> Result<Vec<OsString>> {
    let path = through(dir, name);
    let list = match grown(|buffer| rustix::fs::llistxattr(&path, buffer)) {
        Err(Errno::NOTSUP) => return Ok(Vec::new()),
        list => list?,
    };
    let names = list.split(|byte| *byte == 0).filter(|it| !it.is_empty());
    Ok(names.map(|it| OsStr::from_bytes(it).to_owned()).collect())
}

/// What a call writes into a buffer that is as large as it need be. The kernel gives no more than
/// 64 KiB.
fn grown(call: impl Fn(&mut [u8]) -> Result<usize>) -> Result<Vec<u8>> {
    let mut buffer = vec![0; 256];
    loop {
        match call(&mut buffer) {
            Ok(length) => {
                buffer.truncate(length);
                return Ok(buffer);
            }
            Err(Errno::RANGE) if buffer.len() < 1 << 17 => buffer.resize(buffer.len() * 8, 0),
            Err(err) => return Err(err),
        }
    }
}

/// The value of an extended attribute, whole.
pub(crate) fn value(dir: impl AsFd, name: &OsStr, key: &OsStr) -> Result<Vec<u8>> {
    let path = through(dir, name);
    grown(|buffer| rustix::fs::lgetxattr(&path, key, buffer))
}

/// How an attribute begins that a command gave a name of the overlay's.
const ESCAPED: &[u8] = b"user.overlay.overlay.";

/// The extended attributes of something in a layer, by name.
pub(crate) struct Marks(Vec<OsString>);

impl Marks {
    /// Those of this name.
    pub(crate) fn read(dir: impl AsFd, name: &OsStr) -> Result<Marks> {
        attributes(dir, name).map(Marks)
    }

    /// True when the overlay has left this mark. What a command itself calls so is kept under
    /// another name.
    pub(crate) fn has(&self, mark: &str) -> bool {
        let is = |it: &&str| {
            let rest = it.strip_prefix("user.overlay.").or(it.strip_prefix("trusted.overlay."));
            rest == Some(mark)
        };
        self.overlays().filter_map(|it| it.to_str()).any(|it| is(&it))
    }

    /// True when only the overlay that wrote this can read it: a directory that stands for another,
    /// or a file without its content.
    pub(crate) fn is_foreign(&self) -> bool {
        self.has("redirect") || self.has("metacopy")
    }

    /// The attributes by which the overlay keeps its books.
    pub(crate) fn overlays(&self) -> impl Iterator<Item = &OsString> {
        self.0.iter().filter(|it| is_overlays(it))
    }

    /// The others, except for a label that the system gives anyway.
    pub(crate) fn others(&self) -> Vec<OsString> {
        let told = |it: &&OsString| !is_overlays(it) || it.as_bytes().starts_with(ESCAPED);
        let own = |it: &&OsString| told(it) && *it != "security.selinux";
        self.0.iter().filter(own).cloned().collect()
    }
}

/// Attributes by which an overlay keeps its books.
fn is_overlays(name: &OsStr) -> bool {
    let name = name.as_bytes();
    name.starts_with(b"user.overlay.") || name.starts_with(b"trusted.overlay.")
}
