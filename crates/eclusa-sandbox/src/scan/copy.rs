//! A copy of a layer that somebody still writes to: what is taken into the workspace is never a file that a command
//! has open.

use std::{
    collections::BTreeSet,
    ffi::{CStr, CString},
    fs::File,
    io::{self, Read as _},
    os::{fd::OwnedFd, unix::ffi::OsStrExt as _},
    path::{Path, PathBuf},
    time::Instant,
};

use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat, Timespec, Timestamps, fchmod, fgetxattr,
    flistxattr, fsetxattr, fstat, futimens, mkdirat, mknodat, openat, readlinkat, statat,
    symlinkat,
};
use rustix::io::Errno;

/// The longest list of names, and the longest value, of extended attributes; and how long most are at most.
const MAX_ATTRIBUTES: usize = 64 << 10;
const FEW_ATTRIBUTES: usize = 512;

/// The most directories that are held open while a layer is listed.
const MAX_OPEN: usize = 500;

const SHUT: OFlags = OFlags::NOFOLLOW.union(OFlags::CLOEXEC).union(OFlags::NONBLOCK);

/// So much is copied between two looks at the clock.
const CHUNK: u64 = 4 << 20;

/// Some paths of a layer, to be copied by a moment.
struct Parts<'a> {
    wanted: &'a BTreeSet<PathBuf>,
    /// The directories that they lie in.
    around: BTreeSet<&'a Path>,
    until: Instant,
}

/// Copies what is in one upper directory into another, which is empty, and says which paths there are. Nothing is
/// followed: each step is taken from a handle to the last.
pub fn copy_layer(from: &Path, to: &Path) -> io::Result<Vec<PathBuf>> {
    copy(from, to, None)
}

/// The same of some paths alone, with the directories around them, by a moment: later it is an error. What these
/// directories hide is not copied, so that nothing seems to be deleted because it was not wanted.
pub fn copy_layer_parts(
    from: &Path,
    to: &Path,
    wanted: &BTreeSet<PathBuf>,
    until: Instant,
) -> io::Result<Vec<PathBuf>> {
    let around = wanted.iter().flat_map(|it| it.ancestors().skip(1)).collect();
    copy(from, to, Some(&Parts { wanted, around, until }))
}

impl Parts<'_> {
    fn in_time(&self) -> io::Result<()> {
        match Instant::now() < self.until {
            true => Ok(()),
            false => Err(io::ErrorKind::TimedOut.into()),
        }
    }
}

fn copy(from: &Path, to: &Path, parts: Option<&Parts<'_>>) -> io::Result<Vec<PathBuf>> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | SHUT;
    let from = openat(CWD, from, flags, Mode::empty())?;
    let to = openat(CWD, to, flags, Mode::empty())?;
    let mut paths = Vec::new();
    copy_directory(&from, &to, (Path::new(""), parts), &mut paths)?;
    Ok(paths)
}

fn copy_directory(
    from: &OwnedFd,
    to: &OwnedFd,
    (beneath, parts): (&Path, Option<&Parts<'_>>),
    paths: &mut Vec<PathBuf>,
) -> io::Result<()> {
    let mut entries = Dir::read_from(from)?;
    while let Some(entry) = entries.read() {
        let entry = entry?;
        let name = entry.file_name();
        if name == c"." || name == c".." {
            continue;
        }
        let path = beneath.join(std::ffi::OsStr::from_bytes(name.to_bytes()));
        if let Some(parts) = parts {
            parts.in_time()?;
            if !parts.wanted.contains(&path) && !parts.around.contains(path.as_path()) {
                continue;
            }
        }
        let about = statat(from, name, AtFlags::SYMLINK_NOFOLLOW)?;
        match FileType::from_raw_mode(about.st_mode) {
            FileType::Directory => {
                let flags = OFlags::RDONLY | OFlags::DIRECTORY | SHUT;
                let source = openat(from, name, flags, Mode::empty())?;
                mkdirat(to, name, Mode::RWXU)?;
                let target = openat(to, name, flags, Mode::empty())?;
                copy_directory(&source, &target, (&path, parts), paths)?;
            }
            FileType::RegularFile => copy_file(from, to, name, parts)?,
            FileType::Symlink => {
                let target: CString = readlinkat(from, name, Vec::new())?;
                symlinkat(&target, to, name)?;
            }
            FileType::CharacterDevice if about.st_rdev == 0 => {
                mknodat(to, name, FileType::CharacterDevice, Mode::empty(), 0)?;
            }
            // No change is made of a socket or a pipe.
            _ => continue,
        }
        paths.push(path);
    }
    finish(from, to, &fstat(from)?, parts.is_some())
}

fn copy_file(
    from: &OwnedFd,
    to: &OwnedFd,
    name: &CStr,
    parts: Option<&Parts<'_>>,
) -> io::Result<()> {
    let source = openat(from, name, OFlags::RDONLY | SHUT, Mode::empty())?;
    let about = fstat(&source)?;
    if FileType::from_raw_mode(about.st_mode) != FileType::RegularFile {
        return Err(io::Error::other("a file was replaced while it was copied"));
    }
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | SHUT;
    let target = openat(to, name, flags, Mode::RUSR | Mode::WUSR)?;
    let (source, target) = (File::from(source), File::from(target));
    while io::copy(&mut (&source).take(CHUNK), &mut &target)? > 0 {
        parts.map_or(Ok(()), Parts::in_time)?;
    }
    finish(&OwnedFd::from(source), &OwnedFd::from(target), &about, false)
}

/// What a call writes into a buffer, of which most need little.
fn read_attribute(
    call: impl Fn(&mut [u8]) -> rustix::io::Result<usize>,
) -> rustix::io::Result<Vec<u8>> {
    let mut few = [0_u8; FEW_ATTRIBUTES];
    match call(&mut few) {
        Ok(length) => Ok(few.get(..length).unwrap_or_default().to_vec()),
        Err(Errno::RANGE) => {
            let mut all = vec![0_u8; MAX_ATTRIBUTES];
            let length = call(&mut all)?;
            all.truncate(length);
            Ok(all)
        }
        Err(err) => Err(err),
    }
}

/// Gives the copy the attributes, the times and the mode of the original; not that it hides what lies below.
fn finish(from: &OwnedFd, to: &OwnedFd, about: &Stat, hides_nothing: bool) -> io::Result<()> {
    // A filesystem without attributes has none to copy.
    let names = read_attribute(|into| flistxattr(from, into)).unwrap_or_default();
    for name in names.split_inclusive(|it| *it == 0) {
        let Ok(name) = CStr::from_bytes_with_nul(name) else { continue };
        if hides_nothing && name.to_bytes().ends_with(b"overlay.opaque") {
            continue;
        }
        if let Ok(got) = read_attribute(|into| fgetxattr(from, name, into)) {
            fsetxattr(to, name, &got, rustix::fs::XattrFlags::empty())?;
        }
    }
    let time = |sec, nsec: u64| Timespec { tv_sec: sec, tv_nsec: i64::try_from(nsec).unwrap_or(0) };
    let times = Timestamps {
        last_access: time(about.st_atime, about.st_atime_nsec),
        last_modification: time(about.st_mtime, about.st_mtime_nsec),
    };
    futimens(to, &times)?;
    Ok(fchmod(to, Mode::from_raw_mode(about.st_mode))?)
}

/// What lies in an upper directory but for directories, each with what the kernel says of it. `None`: more than
/// `most`. The job may change it meanwhile; nothing is followed.
pub fn list_layer(upper: &Path, most: usize) -> io::Result<Option<Vec<(PathBuf, Stat)>>> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | SHUT;
    let mut pending = vec![(openat(CWD, upper, flags, Mode::empty())?, PathBuf::new())];
    let (mut listed, mut names) = (Vec::new(), 0_usize);
    while let Some((directory, beneath)) = pending.pop() {
        let mut entries = Dir::read_from(&directory)?;
        while let Some(entry) = entries.read() {
            let entry = entry?;
            let name = entry.file_name();
            if name == c"." || name == c".." {
                continue;
            }
            names += 1;
            if names > most || pending.len() > MAX_OPEN {
                return Ok(None);
            }
            // What is gone by now is not there.
            let Ok(about) = statat(&directory, name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
            let path = beneath.join(std::ffi::OsStr::from_bytes(name.to_bytes()));
            if FileType::from_raw_mode(about.st_mode) == FileType::Directory {
                if let Ok(inner) = openat(&directory, name, flags, Mode::empty()) {
                    pending.push((inner, path));
                }
                continue;
            }
            listed.push((path, about));
        }
    }
    Ok(Some(listed))
}
