//! `/tmp` where a command has no mounts of its own: a call that names it is made again with the directory
//! of the session in its place. Nothing is protected by that: `/tmp` itself stays shut, and what the
//! command reaches in the other directory it may reach by that name as well.

use std::{
    ffi::{CStr, OsStr, OsString},
    fs::File,
    os::{
        fd::OwnedFd,
        unix::{ffi::OsStrExt as _, fs::FileExt as _},
    },
    path::{Component, Path, PathBuf},
};

use super::{
    again,
    kernel::{self, Call},
};
use crate::arch;

/// What the directory of a session stands in for where a command names it.
const PLACES: [&str; 3] = ["/tmp", "/var/tmp", OBJECTS];
/// Where the C library keeps semaphores and shared memory, which no command names.
const OBJECTS: &str = "/dev/shm";
/// The longest path that the kernel takes, with its end.
const PATH_MAX: usize = 4096;

/// Calls that take paths everywhere, and which arguments these are. Without `execveat`: with it the sandbox starts its
/// first process, when nobody answers yet.
const CALLS: [(libc::c_long, &[usize]); 32] = [
    (libc::SYS_execve, &[0]),
    (libc::SYS_chdir, &[0]),
    (libc::SYS_openat, &[1]),
    (libc::SYS_openat2, &[1]),
    (libc::SYS_newfstatat, &[1]),
    (libc::SYS_statx, &[1]),
    (libc::SYS_statfs, &[0]),
    (libc::SYS_faccessat, &[1]),
    (libc::SYS_faccessat2, &[1]),
    (libc::SYS_readlinkat, &[1]),
    (libc::SYS_mkdirat, &[1]),
    (libc::SYS_mknodat, &[1]),
    (libc::SYS_unlinkat, &[1]),
    (libc::SYS_renameat, &[1, 3]),
    (libc::SYS_renameat2, &[1, 3]),
    (libc::SYS_linkat, &[1, 3]),
    // What a link says is a text, and not looked up.
    (libc::SYS_symlinkat, &[2]),
    (libc::SYS_truncate, &[0]),
    (libc::SYS_fchmodat, &[1]),
    (arch::FCHMODAT2, &[1]),
    (libc::SYS_fchownat, &[1]),
    (libc::SYS_utimensat, &[1]),
    (libc::SYS_getxattr, &[0]),
    (libc::SYS_lgetxattr, &[0]),
    (libc::SYS_listxattr, &[0]),
    (libc::SYS_llistxattr, &[0]),
    (libc::SYS_setxattr, &[0]),
    (libc::SYS_lsetxattr, &[0]),
    (libc::SYS_removexattr, &[0]),
    (libc::SYS_lremovexattr, &[0]),
    (libc::SYS_inotify_add_watch, &[1]),
    (libc::SYS_name_to_handle_at, &[1]),
];

/// Every call of this machine that takes a path.
pub(crate) fn path_calls() -> impl Iterator<Item = libc::c_long> {
    CALLS.iter().chain(arch::PATHS).map(|(call, _)| *call)
}

/// Which arguments of a call are paths.
fn paths_of(number: i64) -> &'static [usize] {
    let all = CALLS.iter().chain(arch::PATHS);
    all.filter(|(call, _)| *call == number).map(|(_, it)| *it).next().unwrap_or(&[])
}

/// What a command has in the place of `/tmp`.
#[derive(Debug)]
pub(crate) struct OwnTmp {
    to: PathBuf,
    /// Whether all of [`PLACES`] are led there, or semaphores and shared memory alone.
    is_named: bool,
    /// Places in the machine's `/tmp` that the command sees where they are.
    shown: Vec<PathBuf>,
    /// The thread whose call could not be led elsewhere, and is made again as it was.
    failed: Option<u32>,
}

impl OwnTmp {
    /// A directory in the place of `/tmp`, for these words, in which the command sees these places as they are.
    pub(crate) fn new(
        to: &Path,
        words: &[OsString],
        shown: impl Iterator<Item = PathBuf>,
    ) -> OwnTmp {
        let names = |word: &OsString, place: &str| {
            word.as_bytes().windows(place.len()).any(|it| it == place.as_bytes())
        };
        let is_named = words.iter().any(|word| PLACES.iter().any(|it| names(word, it)));
        let shown = shown.filter(|it| beneath(it.as_os_str().as_bytes(), &PLACES).is_some());
        let shown = shown.chain([to.to_owned()]).collect();
        OwnTmp { to: to.to_owned(), is_named, shown, failed: None }
    }

    /// Whether the command names a place that it stands in for, so that every call with a path is looked at.
    pub(crate) fn is_named(&self) -> bool {
        self.is_named
    }

    /// Whether a call named `/tmp`, and is made again with other paths. It needs no answer then.
    pub(super) fn leads(&mut self, call: &Call, listener: &OwnedFd) -> bool {
        let paths = paths_of(call.number);
        if paths.is_empty() || self.failed.take_if(|it| *it == call.thread).is_some() {
            return false;
        }
        let memory = format!("/proc/{}/mem", call.thread);
        let Ok(memory) = File::options().read(true).write(true).open(memory) else { return false };
        let led = paths.iter().filter_map(|argument| {
            let said = text(&memory, *call.arguments.get(*argument)?)?;
            Some((*argument, self.instead_of(&said)?))
        });
        let led: Vec<(usize, Vec<u8>)> = led.collect();
        // The number of a thread that ended may have been given to another.
        if led.is_empty() || !kernel::is_valid(listener, call.id) {
            return false;
        }
        match again::with_paths(call, listener, &memory, &led) {
            Ok(true) => true,
            Ok(false) => {
                self.failed = Some(call.thread);
                true
            }
            Err(_) => false,
        }
    }

    /// The path that is taken instead, with its end.
    fn instead_of(&self, said: &[u8]) -> Option<Vec<u8>> {
        let places = if self.is_named { &PLACES[..] } else { &[OBJECTS] };
        let rest = beneath(said, places)?;
        let path = Path::new(OsStr::from_bytes(said));
        let is_beneath = rest.iter().any(|it| *it != b'/');
        let is_shown = |it: &PathBuf| path.starts_with(it) || (is_beneath && it.starts_with(path));
        let is_plain = path.components().all(|it| it != Component::ParentDir);
        let instead = [self.to.as_os_str().as_bytes(), rest, b"\0"].concat();
        let is_led = is_plain && !self.shown.iter().any(is_shown) && instead.len() <= PATH_MAX;
        is_led.then_some(instead)
    }
}

/// What follows the place in a path that the directory of a session stands in for.
fn beneath<'a>(path: &'a [u8], places: &[&str]) -> Option<&'a [u8]> {
    let rest = places.iter().find_map(|it| path.strip_prefix(it.as_bytes()))?;
    (rest.is_empty() || rest.starts_with(b"/")).then_some(rest)
}

/// A text at an address of somebody's memory.
fn text(memory: &File, address: u64) -> Option<Vec<u8>> {
    let mut bytes = [0; PATH_MAX];
    let read = memory.read_at(&mut bytes, address).ok()?;
    let bytes = bytes.get(..read)?;
    Some(CStr::from_bytes_until_nul(bytes).ok()?.to_bytes().to_owned())
}

#[cfg(test)]
mod tests;
