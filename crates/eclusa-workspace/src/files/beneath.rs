//! Opening a directory beneath another without following a link: by the kernel in one step, or by
//! hand name by name. Whatever else is wrong, nothing outside is opened, because this is the only
//! place where names of the workspace become handles.

use std::{
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    path::{Component, Path},
};

use rustix::{
    fs::{Mode, OFlags, openat},
    io::{Errno, Result},
};

/// How directories are opened beneath the workspace. Both ways refuse links; the kernel's is one
/// call, the other one call for each name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beneath {
    /// The kernel keeps to the workspace: `openat2` with `RESOLVE_BENEATH`.
    Kernel,
    /// There is no such call here, or it is forbidden: name by name, never through a link.
    Walked,
}

/// So often is a lookup tried again that the kernel broke off.
const AGAIN: usize = 64;

/// A handle that is good for looking up names, and for nothing else.
#[cfg(target_os = "linux")]
pub(crate) const SEARCH: OFlags = OFlags::PATH;
/// A handle that is good for looking up names.
#[cfg(not(target_os = "linux"))]
pub(crate) const SEARCH: OFlags = OFlags::empty();

impl Beneath {
    /// What this machine can do.
    pub(super) fn new(root: BorrowedFd<'_>) -> Beneath {
        match whole(root, Path::new("."), SEARCH | OFlags::DIRECTORY | OFlags::CLOEXEC) {
            Ok(_) => Beneath::Kernel,
            Err(_) => Beneath::Walked,
        }
    }

    /// Opens the directory `name`, a path of plain names; the empty path is the root itself.
    ///
    /// `ELOOP` or `ENOTDIR` where one of the names is a link, or anything but a directory.
    pub(super) fn directory(
        self,
        root: BorrowedFd<'_>,
        name: &Path,
        flags: OFlags,
    ) -> Result<OwnedFd> {
        let flags = flags | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let name = if name.as_os_str().is_empty() { Path::new(".") } else { name };
        match self {
            Beneath::Kernel => patient(|| whole(root, name, flags)),
            Beneath::Walked => by_hand(root, name, flags),
        }
    }
}

impl Beneath {
    /// Opens what was seen to be a file, for reading, in one call. `None`: that cannot be done
    /// here, or something is in the way; whoever wants to know what takes the long way.
    pub(super) fn file(self, root: BorrowedFd<'_>, name: &Path) -> Option<OwnedFd> {
        let wary = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        match self {
            Beneath::Kernel => whole(root, name, OFlags::RDONLY | wary).ok(),
            Beneath::Walked => None,
        }
    }
}

#[cfg(target_os = "linux")]
impl Beneath {
    /// Opens a name of the same filesystem in one call, if nobody has to be waited for to find it.
    pub(super) fn in_memory(
        self,
        root: BorrowedFd<'_>,
        name: &Path,
        flags: OFlags,
    ) -> Option<OwnedFd> {
        use rustix::fs::ResolveFlags;
        let wary = OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let beneath = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        let strict = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_XDEV | ResolveFlags::CACHED;
        match self {
            Beneath::Kernel => {
                rustix::fs::openat2(root, name, flags | wary, Mode::empty(), beneath | strict).ok()
            }
            Beneath::Walked => None,
        }
    }
}

/// Opens a directory, whichever way works here: the kernel may be old, or a filter may not know the
/// call.
pub(crate) fn open_directory(root: BorrowedFd<'_>, name: &Path, flags: OFlags) -> Result<OwnedFd> {
    let flags = flags | OFlags::NOFOLLOW;
    match Beneath::Kernel.directory(root, name, flags) {
        Err(Errno::NOSYS | Errno::PERM) => Beneath::Walked.directory(root, name, flags),
        opened => opened,
    }
}

/// The whole name in one call.
#[cfg(target_os = "linux")]
fn whole(root: BorrowedFd<'_>, name: &Path, flags: OFlags) -> Result<OwnedFd> {
    use rustix::fs::ResolveFlags;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS | ResolveFlags::NO_SYMLINKS;
    rustix::fs::openat2(root, name, flags, Mode::empty(), resolve)
}

/// The whole name in one call: not here.
#[cfg(not(target_os = "linux"))]
fn whole(_: BorrowedFd<'_>, _: &Path, _: OFlags) -> Result<OwnedFd> {
    Err(Errno::NOSYS)
}

/// Name by name. Each is opened in the handle of the one before, so that nobody can exchange what
/// has been passed already.
fn by_hand(root: BorrowedFd<'_>, name: &Path, flags: OFlags) -> Result<OwnedFd> {
    let mut names = name.components().peekable();
    let mut here: Option<OwnedFd> = None;
    while let Some(name) = names.next() {
        if !matches!(name, Component::Normal(_) | Component::CurDir) {
            return Err(Errno::XDEV);
        }
        let above = here.as_ref().map_or(root, |it| it.as_fd());
        // The handles on the way are for looking up names only.
        let last = names.peek().is_none();
        let flags = if last { flags } else { SEARCH | OFlags::DIRECTORY | OFlags::CLOEXEC };
        let flags = flags | OFlags::NOFOLLOW;
        here = Some(patient(|| openat(above, name.as_os_str(), flags, Mode::empty()))?);
    }
    here.ok_or(Errno::NOENT)
}

/// Tries again where the kernel says that it was disturbed.
fn patient<T>(mut call: impl FnMut() -> Result<T>) -> Result<T> {
    for _ in 1..AGAIN {
        match call() {
            Err(Errno::INTR | Errno::AGAIN) => {}
            done => return done,
        }
    }
    call()
}
