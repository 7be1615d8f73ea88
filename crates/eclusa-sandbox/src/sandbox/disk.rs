//! The disk beneath a running command. It is looked at, so it is a bound on damage.

use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, RawDir, fstat, openat, statat};

/// How often it is looked at.
pub(super) const INTERVAL: Duration = Duration::from_millis(200);
/// What nobody takes from the machine, and the share of what was free that this is at most.
const RESERVE: u64 = 256 << 20;
const SHARE: u64 = 16;
/// How deep what it wrote is counted.
const MAX_DEPTH: usize = 200;

/// Looks at how much a command fills a filesystem.
pub(super) struct DiskWatch {
    place: PathBuf,
    most: u64,
    /// Fewer free bytes than these are looked into.
    least: u64,
    reserve: u64,
    /// Where a job writes to. It goes on for long, and what others write meanwhile is not its doing.
    own: Vec<PathBuf>,
}

impl DiskWatch {
    /// Lets a command fill the filesystem of this place by so many bytes. `own`: what is counted as its own;
    /// with nothing, all that is missing is.
    pub(super) fn new(place: &Path, own: Vec<PathBuf>, most: u64) -> Option<DiskWatch> {
        let free = free(place)?;
        let reserve = RESERVE.min(free / SHARE);
        let least = free.saturating_sub(most).max(reserve);
        Some(DiskWatch { place: place.to_owned(), most, least, reserve, own })
    }

    /// Whether it has filled it too far, or nearly nothing is left.
    pub(super) fn is_full(&mut self) -> bool {
        let Some(free) = free(&self.place).filter(|it| *it < self.least) else { return false };
        if self.own.is_empty() || free < self.reserve {
            return true;
        }
        let used: u64 = self.own.iter().map(|it| allocated(it)).sum();
        match self.most.checked_sub(used) {
            None | Some(0) => true,
            Some(left) => {
                self.least = free.saturating_sub(left).max(self.reserve);
                false
            }
        }
    }
}

/// The free bytes of a filesystem.
fn free(place: &Path) -> Option<u64> {
    let stat = rustix::fs::statvfs(place).ok()?;
    Some(stat.f_bavail.saturating_mul(stat.f_frsize))
}

/// The bytes that a directory takes. No link is followed: whoever writes there may make one at any moment.
fn allocated(path: &Path) -> u64 {
    open(CWD, path).map_or(0, |dir| beneath(&dir, 0))
}

fn open(at: impl std::os::fd::AsFd, name: impl rustix::path::Arg) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(at, name, flags, Mode::empty())
}

fn beneath(dir: &OwnedFd, depth: usize) -> u64 {
    let bytes = |blocks: i64| u64::try_from(blocks).unwrap_or(0).saturating_mul(512);
    let mut sum = fstat(dir).map_or(0, |it| bytes(it.st_blocks));
    let mut space = [MaybeUninit::uninit(); 8192];
    let mut entries = RawDir::new(dir, &mut space);
    while let Some(Ok(entry)) = entries.next() {
        let name = entry.file_name();
        if name == c"." || name == c".." {
            continue;
        }
        let Ok(about) = statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
        let more = match FileType::from_raw_mode(about.st_mode) {
            FileType::Directory if depth < MAX_DEPTH => {
                open(dir, name).map_or(0, |it| beneath(&it, depth + 1))
            }
            _ => bytes(about.st_blocks),
        };
        sum = sum.saturating_add(more);
    }
    sum
}
