//! Renames of directories that an overlay refuses, and links that it makes otherwise than git wants them.

use std::{
    io,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
};

use rustix::{
    fs::{FileType, RenameFlags},
    io::Errno,
};

use crate::{arch, exit::DirRenames};

use super::{
    Observer, SyscallAnswer, Watching,
    caller::{Caller, Place},
    identity,
    kernel::Call,
    moving, watch,
};

/// Answers the renames of a command that was started with the filter of [`renames`](super::renames)
/// over overlays that appear to it at these paths. Calls that are not about a directory in one of
/// them go on as they are.
pub fn help_renames(
    listener: OwnedFd,
    staged: impl IntoIterator<Item = PathBuf>,
) -> io::Result<Watching<DirRenames>> {
    let staged = staged.into_iter().collect();
    watch(listener, RenameHelper { staged, devices: None, dir_renames: DirRenames::default() })
}

struct RenameHelper {
    staged: Vec<PathBuf>,
    /// The devices of the overlays, as soon as a caller has shown its root.
    devices: Option<Vec<u64>>,
    dir_renames: DirRenames,
}

/// What a rename says.
struct Words {
    from: (i32, u64),
    to: (i32, u64),
    flags: RenameFlags,
}

impl Observer for RenameHelper {
    type Found = DirRenames;

    fn answer(&mut self, call: &Call, listener: &OwnedFd) -> SyscallAnswer {
        if let Some(from) = linked(call) {
            return match self.breaks_a_clone(call, listener, from) {
                true => SyscallAnswer::Fail(Errno::XDEV),
                false => SyscallAnswer::GoOn,
            };
        }
        // Whatever cannot be understood is left to the kernel, which says what is wrong with it.
        let Some((from, to, flags)) = self.understood(call, listener) else {
            return SyscallAnswer::GoOn;
        };
        match moving::rename(&from, &to, flags) {
            Ok(true) => {
                self.dir_renames.moved += 1;
                SyscallAnswer::Done
            }
            // The kernel could do it after all.
            Ok(false) => SyscallAnswer::Done,
            Err(err) => {
                self.dir_renames.failed += u64::from(err == Errno::XDEV);
                SyscallAnswer::Fail(err)
            }
        }
    }

    fn finish(self) -> DirRenames {
        self.dir_renames
    }
}

impl RenameHelper {
    /// Whether git links a file of a repository that it clones. Without an index of links a file has another number
    /// in the overlay as soon as it is linked, and git, which compares, gives up; where a link cannot be made it copies.
    /// What it has just made itself it links as anywhere.
    fn breaks_a_clone(&mut self, call: &Call, listener: &OwnedFd, from: (i32, u64)) -> bool {
        let Some(caller) = Caller::new(call, listener).filter(|it| it.is_named("git")) else {
            return false;
        };
        let path = caller.path(from.1);
        let made =
            |it: &Path| it.file_name().is_some_and(|it| it.as_encoded_bytes().starts_with(b"tmp_"));
        let Some(path) = path.filter(|it| !made(it)) else { return false };
        let stat = caller.place(from.0, &path).ok().and_then(|it| it.look().ok().flatten());
        let devices = self.devices(&caller);
        stat.is_some_and(|it| devices.contains(&it.st_dev))
    }

    /// The rename, if it is one of a directory within an overlay.
    fn understood(
        &mut self,
        call: &Call,
        listener: &OwnedFd,
    ) -> Option<(Place, Place, RenameFlags)> {
        let words = words(call)?;
        if !(words.flags - RenameFlags::NOREPLACE).is_empty() {
            return None;
        }
        let caller = Caller::new(call, listener)?;
        let place = |(dir, address)| caller.place(dir, &caller.path(address)?).ok();
        let from: Place = place(words.from)?;
        let stat = from.look().ok()??;
        if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
            return None;
        }
        let to: Place = place(words.to)?;
        let devices = self.devices(&caller);
        let device = |place: &Place| Some(identity(&place.dir).ok()?.0);
        let inside = stat.st_dev == device(&from)? && device(&from) == device(&to);
        (inside && devices.contains(&stat.st_dev)).then_some((from, to, words.flags))
    }

    fn devices(&mut self, caller: &Caller) -> &[u64] {
        let staged = &self.staged;
        self.devices.get_or_insert_with(|| {
            let device = |path: &PathBuf| Some(identity(caller.directory(path).ok()?).ok()?.0);
            staged.iter().filter_map(device).collect()
        })
    }
}

/// What is linked, if the call makes a link.
#[expect(clippy::cast_possible_truncation, reason = "the kernel takes only the lower half, too")]
fn linked(call: &Call) -> Option<(i32, u64)> {
    let [first, second, ..] = call.arguments;
    match call.number {
        number if Some(number) == arch::LINK => Some((libc::AT_FDCWD, first)),
        libc::SYS_linkat => Some((first as u32 as i32, second)),
        _ => None,
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the kernel takes only the lower half, too")]
fn words(call: &Call) -> Option<Words> {
    let [a, b, c, d, e, _] = call.arguments;
    let dir = |it: u64| it as u32 as i32;
    let flags = RenameFlags::empty();
    match call.number {
        number if Some(number) == arch::RENAME => {
            Some(Words { from: (libc::AT_FDCWD, a), to: (libc::AT_FDCWD, b), flags })
        }
        libc::SYS_renameat => Some(Words { from: (dir(a), b), to: (dir(c), d), flags }),
        libc::SYS_renameat2 => {
            let flags = RenameFlags::from_bits(e as u32)?;
            Some(Words { from: (dir(a), b), to: (dir(c), d), flags })
        }
        _ => None,
    }
}
