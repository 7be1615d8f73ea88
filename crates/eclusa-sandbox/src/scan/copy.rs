//! A copy of a layer that somebody still writes to: what is taken into the workspace is never a file that a command
//! has open.

use std::{
    ffi::{CStr, CString},
    fs::File,
    io,
    mem::MaybeUninit,
    os::{fd::OwnedFd, unix::ffi::OsStrExt as _},
    path::{Path, PathBuf},
};

use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat, Timespec, Timestamps, fchmod, fgetxattr,
    flistxattr, fsetxattr, fstat, futimens, mkdirat, mknodat, openat, readlinkat, statat,
    symlinkat,
};

/// The longest list of names, and the longest value, of extended attributes.
const MAX_ATTRIBUTES: usize = 64 << 10;

const SHUT: OFlags = OFlags::NOFOLLOW.union(OFlags::CLOEXEC).union(OFlags::NONBLOCK);

/// Copies what is in one upper directory into another, which is empty, and says which paths there are. Nothing is
/// followed: each step is taken from a handle to the last.
pub fn copy_layer(from: &Path, to: &Path) -> io::Result<Vec<PathBuf>> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | SHUT;
    let from = openat(CWD, from, flags, Mode::empty())?;
    let to = openat(CWD, to, flags, Mode::empty())?;
    let mut paths = Vec::new();
    copy_directory(&from, &to, Path::new(""), &mut paths)?;
    Ok(paths)
}

fn copy_directory(
    from: &OwnedFd,
    to: &OwnedFd,
    beneath: &Path,
    paths: &mut Vec<PathBuf>,
) -> io::Result<()> {
    let mut entries = Dir::read_from(from)?;
    while let Some(entry) = entries.read() {
        let entry = entry?;
        let name = entry.file_name();
        if name == c"." || name == c".." {
            continue;
        }
        let about = statat(from, name, AtFlags::SYMLINK_NOFOLLOW)?;
        let path = beneath.join(std::ffi::OsStr::from_bytes(name.to_bytes()));
        match FileType::from_raw_mode(about.st_mode) {
            FileType::Directory => {
                let flags = OFlags::RDONLY | OFlags::DIRECTORY | SHUT;
                let source = openat(from, name, flags, Mode::empty())?;
                mkdirat(to, name, Mode::RWXU)?;
                let target = openat(to, name, flags, Mode::empty())?;
                copy_directory(&source, &target, &path, paths)?;
            }
            FileType::RegularFile => copy_file(from, to, name)?,
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
    finish(from, to, &fstat(from)?)
}

fn copy_file(from: &OwnedFd, to: &OwnedFd, name: &CStr) -> io::Result<()> {
    let source = openat(from, name, OFlags::RDONLY | SHUT, Mode::empty())?;
    let about = fstat(&source)?;
    if FileType::from_raw_mode(about.st_mode) != FileType::RegularFile {
        return Err(io::Error::other("a file was replaced while it was copied"));
    }
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | SHUT;
    let target = openat(to, name, flags, Mode::RUSR | Mode::WUSR)?;
    let (source, target) = (File::from(source), File::from(target));
    io::copy(&mut &source, &mut &target)?;
    finish(&OwnedFd::from(source), &OwnedFd::from(target), &about)
}

/// Gives the copy the attributes, the times and the mode of the original.
fn finish(from: &OwnedFd, to: &OwnedFd, about: &Stat) -> io::Result<()> {
    let mut names = vec![0_u8; MAX_ATTRIBUTES];
    // A filesystem without attributes has none to copy.
    let listed = flistxattr(from, &mut names[..]).unwrap_or(0);
    names.truncate(listed);
    let mut value = Vec::new();
    for name in names.split_inclusive(|it| *it == 0) {
        let Ok(name) = CStr::from_bytes_with_nul(name) else { continue };
        value.resize(MAX_ATTRIBUTES, MaybeUninit::new(0));
        let got = fgetxattr(from, name, &mut value[..]).map(|(it, _)| it.to_vec());
        if let Ok(got) = got {
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
