//! What a root of overlays is made of: every directory of the machine, shown so that no socket of the machine can be
//! reached, and nothing left out that the machine's own root shows.
//!
//! An overlay over a directory does not show what is mounted in it, and an ordinary user may not even make one. So a
//! directory with mounts in it is made anew, and what is in it shown one by one.

use std::ffi::{CString, OsStr};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::c_path;
use super::mount_table::MountTable;
use crate::capabilities::Namespaces;
use crate::step::SandboxError;

/// Filesystems in which no socket can be bound, by name and by the kernel's number: they are shown as they are.
pub(crate) const NO_SOCKETS: [(&str, u64); 16] = [
    ("sysfs", 0x6265_6572),
    ("cgroup", 0x0027_e0eb),
    ("cgroup2", 0x6367_7270),
    ("securityfs", 0x7363_6673),
    ("debugfs", 0x6462_6720),
    ("tracefs", 0x7472_6163),
    ("pstore", 0x6165_676c),
    ("efivarfs", 0xde5e_81e4),
    ("configfs", 0x6265_6570),
    ("fusectl", 0x6573_5543),
    ("bpf", 0xcafe_4a11),
    ("squashfs", 0x7371_7368),
    ("erofs", 0xe0f5_e1e2),
    ("iso9660", 0x9660),
    ("vfat", 0x4d44),
    ("exfat", 0x2011_bab0),
];

/// The most parts beneath `/sys`, because the child keeps their descriptors on its stack.
pub(crate) const MAX_EARLY: usize = 48;
/// The most mounts: each takes some hundredths of a millisecond.
const MAX_MOUNTS: usize = 128;
/// The most parts of any kind.
const MAX_PARTS: usize = 1024;
/// How deep mounts may lie in a directory that is made anew.
const MAX_DEPTH: usize = 12;

/// What a sandbox has of its own.
const OWN: [&str; 5] = ["proc", "sys", "dev", "run", "tmp"];

/// The parts of a root, parents first.
#[derive(Debug)]
pub(crate) struct RootLayout {
    pub(crate) parts: Vec<RootPart>,
    /// So many, the first, lie beneath `/sys`.
    pub(crate) early: usize,
}

/// Something that the root shows, at its own place.
#[derive(Debug)]
pub(crate) struct RootPart {
    pub(crate) path: CString,
    pub(crate) kind: PartKind,
    /// Of an overlay: directories to make in the new root, parents first. What is in the first is shown where the
    /// machine has none.
    pub(crate) beside: Vec<CString>,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum PartKind {
    /// A directory of the new root with this mode.
    Directory(u32),
    /// The same where the new root has something mounted.
    Tmpfs(u32),
    /// A link to this.
    Link(CString),
    /// One regular file.
    File,
    /// A directory through a read-only overlay.
    Overlay,
    /// A directory as it is, with what is mounted in it.
    Bind,
}

impl RootLayout {
    /// The layout of this machine's root. The error says, in words, why there can be none.
    pub(crate) fn new(namespaces: Namespaces) -> Result<RootLayout, String> {
        let mounts = MountTable::read().map_err(|err| format!("/proc/self/mountinfo: {err}"))?;
        RootLayout::of(Path::new("/"), &mounts, namespaces == Namespaces::Root)
    }

    fn of(root: &Path, mounts: &MountTable, is_root: bool) -> Result<RootLayout, String> {
        for own in OWN {
            if !root.join(own).symlink_metadata().is_ok_and(|it| it.is_dir()) {
                return Err(format!("there is no directory /{own}"));
            }
        }
        let mut making = Making { mounts, is_root, parts: Vec::new(), mounted: 0 };
        making.kernel(&root.join("sys"))?;
        let early = making.parts.len();
        if early > MAX_EARLY {
            return Err(format!("/sys has {early} mounts in it, more than {MAX_EARLY}"));
        }
        making.entries(root, 0)?;
        Ok(RootLayout { parts: making.parts, early })
    }
}

impl RootLayout {
    /// The same, with these directories where the machine has none.
    pub(crate) fn with(mut self, made: &[PathBuf]) -> Result<RootLayout, SandboxError> {
        let overlays = self.parts.iter_mut().filter(|it| it.kind == PartKind::Overlay);
        for (n, part) in overlays.enumerate() {
            let path = Path::new(OsStr::from_bytes(part.path.as_bytes())).to_owned();
            for rest in made.iter().filter_map(|it| it.strip_prefix(&path).ok()) {
                // Beneath what is covered later, and outside of what is shown: layers may not overlap.
                let mut at = PathBuf::from(format!("run/made-{n}"));
                let mut all = vec![c_path(&at)?];
                for name in rest.components() {
                    at.push(name);
                    all.push(c_path(&at)?);
                }
                all.retain(|it| !part.beside.contains(it));
                part.beside.extend(all);
            }
        }
        Ok(self)
    }
}

struct Making<'a> {
    mounts: &'a MountTable,
    is_root: bool,
    parts: Vec<RootPart>,
    mounted: usize,
}

impl Making<'_> {
    fn push(&mut self, path: &Path, kind: PartKind) -> Result<(), String> {
        if !matches!(kind, PartKind::Directory(_) | PartKind::Link(_)) {
            self.mounted += 1;
        }
        if self.mounted > MAX_MOUNTS || self.parts.len() >= MAX_PARTS {
            return Err(format!(
                "mounts in directories with many entries, such as `{}`, would take more than {MAX_MOUNTS} overlays",
                path.parent().unwrap_or(path).display()
            ));
        }
        let path = c_path(path).map_err(|err| err.to_string())?;
        self.parts.push(RootPart { path, kind, beside: Vec::new() });
        Ok(())
    }

    /// What is in a directory, one by one. Sockets, pipes and devices are left out.
    fn entries(&mut self, directory: &Path, depth: usize) -> Result<(), String> {
        let failed = |err: std::io::Error| {
            let path = directory.display();
            format!("`{path}` has mounts in it and cannot be listed: {err}")
        };
        let mut entries: Vec<fs::DirEntry> =
            fs::read_dir(directory).and_then(|it| it.collect::<Result<_, _>>()).map_err(failed)?;
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let path = entry.path();
            if depth == 0 && OWN.iter().any(|own| entry.file_name() == *own) {
                continue;
            }
            let kind = entry.file_type().map_err(failed)?;
            if kind.is_dir() {
                self.directory(&path, depth + 1)?;
            } else if kind.is_symlink() {
                let to = fs::read_link(&path).map_err(failed)?;
                let to = c_path(&to).map_err(|err| err.to_string())?;
                self.push(&path, PartKind::Link(to))?;
            } else if kind.is_file() {
                self.push(&path, PartKind::File)?;
            }
        }
        Ok(())
    }

    fn directory(&mut self, path: &Path, depth: usize) -> Result<(), String> {
        if has_no_sockets(self.mounts.kind(path)) {
            return self.kernel(path);
        }
        let inside = self.mounts.inside(path);
        let can_enter = rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok();
        // What cannot be entered shows nothing, whatever is in it.
        if !can_enter {
            return self.push(path, PartKind::Directory(0));
        }
        if inside.is_empty() {
            let kind = match is_empty(path) {
                true => PartKind::Directory(mode(path)?),
                false => PartKind::Overlay,
            };
            return self.push(path, kind);
        }
        if depth > MAX_DEPTH {
            return Err(format!("`{}` is too deep for mounts in it", path.display()));
        }
        if !self.is_root {
            self.push(path, PartKind::Directory(mode(path)?))?;
            return self.entries(path, depth);
        }
        // Root may look beneath its mounts, and puts them back.
        self.with_mounts(path)
    }

    /// An overlay, and over it what is mounted there: nothing can be made anew in it.
    fn with_mounts(&mut self, path: &Path) -> Result<(), String> {
        self.push(path, PartKind::Overlay)?;
        for mount in self.mounts.inside(path) {
            match mount.symlink_metadata() {
                Ok(about) if about.is_file() => self.push(&mount, PartKind::File)?,
                Ok(about) if !about.is_dir() => {}
                Ok(_) if has_no_sockets(self.mounts.kind(&mount)) => self.kernel(&mount)?,
                Ok(_) => self.with_mounts(&mount)?,
                // Another mount lies over it.
                Err(_) => {}
            }
        }
        Ok(())
    }

    /// A filesystem in which no socket can be bound, with those mounted in it that are like it. Others are covered.
    fn kernel(&mut self, path: &Path) -> Result<(), String> {
        if !has_no_sockets(self.mounts.kind(path)) {
            return Err(format!("`{}` is not a filesystem of the kernel's", path.display()));
        }
        self.push(path, PartKind::Bind)?;
        self.covered(path)
    }

    fn covered(&mut self, path: &Path) -> Result<(), String> {
        for mount in self.mounts.inside(path) {
            if has_no_sockets(self.mounts.kind(&mount)) {
                self.covered(&mount)?;
                continue;
            }
            self.push(&mount, PartKind::Tmpfs(mode(&mount)?))?;
            let within = self.mounts.inside(&mount);
            for entry in fs::read_dir(&mount).into_iter().flatten().flatten() {
                let path = entry.path();
                let is_link = entry.file_type().is_ok_and(|it| it.is_symlink());
                if let (true, Ok(to)) = (is_link, fs::read_link(&path)) {
                    let to = c_path(&to).map_err(|err| err.to_string())?;
                    self.push(&path, PartKind::Link(to))?;
                } else if within.contains(&path) && has_no_sockets(self.mounts.kind(&path)) {
                    self.kernel(&path)?;
                } else {
                    let path = path.display();
                    return Err(format!("`{path}` lies in a mount beneath one of the kernel's"));
                }
            }
        }
        Ok(())
    }
}

fn has_no_sockets(kind: &str) -> bool {
    NO_SOCKETS.iter().any(|(name, _)| *name == kind)
}

/// Whether there is nothing in a directory. One that cannot be listed may have something.
fn is_empty(path: &Path) -> bool {
    fs::read_dir(path).is_ok_and(|mut it| it.next().is_none())
}

fn mode(path: &Path) -> Result<u32, String> {
    let failed = |err| format!("`{}`: {err}", path.display());
    Ok(path.symlink_metadata().map_err(failed)?.permissions().mode() & 0o1777)
}

/// Whether something is mounted in one of these directories, which an overlay would not show.
pub(super) fn has_mounts_inside<'a>(paths: impl Iterator<Item = &'a PathBuf>) -> bool {
    let mut paths = paths.peekable();
    if paths.peek().is_none() {
        return false;
    }
    let Ok(mounts) = MountTable::read() else { return true };
    paths.any(|it| !mounts.inside(it).is_empty())
}

#[cfg(test)]
mod tests;
