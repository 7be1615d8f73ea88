//! What a command without namespaces could do to others: signals, metadata of files outside, connections.
//!
//! Signals go on to processes of the command's own group; the number is in a register, which nobody changes
//! meanwhile. Metadata are never let go on: a path is in the caller's memory, which others may
//! change. They are changed here, by a handle that was found beneath one of the directories that the
//! command may write.

use std::{io, os::fd::OwnedFd, path::PathBuf};

use rustix::{
    fs::{AtFlags, CWD, Gid, Mode, OFlags, ResolveFlags, Timestamps, Uid, XattrFlags},
    io::Errno,
};

use crate::{arch, exit::DirRenames, filter::metadata_calls};

use super::{
    Observer, SyscallAnswer, Watching,
    caller::Caller,
    identity,
    kernel::{self, Call},
    network::{Reachable, SOCKETS},
    own_tmp::{OwnTmp, path_calls},
    watch,
};

/// Calls that send a signal to a process or thread whose number is in a register.
pub(crate) const SIGNALS: [libc::c_long; 5] = [
    libc::SYS_kill,
    libc::SYS_tkill,
    libc::SYS_tgkill,
    libc::SYS_rt_sigqueueinfo,
    libc::SYS_rt_tgsigqueueinfo,
];

/// The longest value of an attribute that the kernel takes.
const LONGEST_VALUE: usize = 65_536;

/// What a command may change and reach: a group of processes, directories, servers of its own.
#[derive(Debug)]
pub(crate) struct OwnSide {
    roots: Vec<(PathBuf, OwnedFd)>,
    network: Reachable,
    /// What stands in the place of `/tmp`, for a command that names it.
    tmp: Option<OwnTmp>,
    group: i32,
}

impl OwnSide {
    /// Takes hold of the directories, before the command runs.
    pub(crate) fn new(
        roots: &[PathBuf],
        network: Reachable,
        tmp: Option<OwnTmp>,
    ) -> rustix::io::Result<OwnSide> {
        let open = |path: &PathBuf| {
            let handle = rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
            Ok((path.clone(), handle))
        };
        let roots = roots.iter().map(open).collect::<rustix::io::Result<_>>()?;
        Ok(OwnSide { roots, network, tmp, group: 0 })
    }

    /// Answers the calls of a group that was started with a filter that holds them.
    pub(crate) fn hold(self, listener: OwnedFd, group: i32) -> io::Result<Watching<DirRenames>> {
        watch(listener, OwnSide { group, ..self })
    }
}

impl Observer for OwnSide {
    type Found = DirRenames;

    fn answer(&mut self, call: &Call, listener: &OwnedFd) -> SyscallAnswer {
        if SIGNALS.contains(&libc::c_long::from(call.number)) {
            return self.signal(call);
        }
        if self.tmp.as_mut().is_some_and(|it| it.leads(call, listener)) {
            return SyscallAnswer::Again;
        }
        if is_held_by_landlock(call.number) {
            return SyscallAnswer::GoOn;
        }
        let Some(caller) = Caller::new(call, listener) else {
            return SyscallAnswer::Fail(Errno::PERM);
        };
        if SOCKETS.contains(&libc::c_long::from(call.number)) {
            return self.network.answer(call, &caller, listener);
        }
        match self.change(call, &caller) {
            Ok(()) => SyscallAnswer::Done,
            Err(errno) => SyscallAnswer::Fail(errno),
        }
    }

    fn finish(self) -> DirRenames {
        DirRenames::default()
    }
}

/// Whether a call goes on wherever its path leads: Landlock knows it, and it came here for its path alone.
fn is_held_by_landlock(number: i64) -> bool {
    let is_it = |call| call == number;
    path_calls().any(is_it) && !metadata_calls().any(is_it)
}

/// Which file a call means.
enum Which {
    Handle(i32),
    Path { dir: i32, address: u64, flags: u32 },
}

/// What a call does to it.
enum MetadataEdit {
    Mode(u32),
    Owner(u32, u32),
    Times(Timestamps),
    Set { name: Vec<u8>, value: Vec<u8>, flags: u32 },
    Remove { name: Vec<u8> },
}

const NOFOLLOW: u32 = libc::AT_SYMLINK_NOFOLLOW as u32;
const EMPTY_PATH: u32 = libc::AT_EMPTY_PATH as u32;

impl OwnSide {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the kernel takes only the lower half, too"
    )]
    fn signal(&self, call: &Call) -> SyscallAnswer {
        let [first, second, ..] = call.arguments.map(|it| it as u32 as i32);
        let target = match libc::c_long::from(call.number) {
            libc::SYS_tgkill | libc::SYS_rt_tgsigqueueinfo => second,
            _ => first,
        };
        let to_group = libc::c_long::from(call.number) == libc::SYS_kill;
        if to_group && (target == 0 || target == -self.group) {
            return SyscallAnswer::GoOn;
        }
        if target <= 0 {
            return SyscallAnswer::Fail(Errno::PERM);
        }
        match kernel::group_of(target) {
            Ok(group) if group == self.group => SyscallAnswer::GoOn,
            Ok(_) => SyscallAnswer::Fail(Errno::PERM),
            Err(errno) => SyscallAnswer::Fail(errno),
        }
    }

    fn change(&self, call: &Call, caller: &Caller) -> rustix::io::Result<()> {
        let (which, change) = understood(call, caller)?;
        let handle = match which {
            Which::Handle(number) => caller.handle(number)?,
            Which::Path { dir, address, flags } => {
                caller.file(dir, address, flags & NOFOLLOW == 0, flags & EMPTY_PATH != 0)?
            }
        };
        apply(&self.beneath(&handle)?, change)
    }

    /// The same file, found again without any link beneath a directory that may be written.
    fn beneath(&self, handle: &OwnedFd) -> rustix::io::Result<OwnedFd> {
        let path = super::caller::path_of(handle)?;
        let wanted = identity(handle)?;
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let resolve =
            ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        for (root, directory) in &self.roots {
            let Ok(rest) = path.strip_prefix(root) else { continue };
            let rest = if rest.as_os_str().is_empty() { ".".as_ref() } else { rest };
            let found = rustix::fs::openat2(directory, rest, flags, Mode::empty(), resolve);
            if let Ok(found) = found
                && identity(&found)? == wanted
            {
                return Ok(found);
            }
        }
        Err(Errno::PERM)
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the kernel takes only the lower half, too")]
fn understood(call: &Call, caller: &Caller) -> rustix::io::Result<(Which, MetadataEdit)> {
    let [a, b, c, d, e, _] = call.arguments;
    let (fd, number) = (a as u32 as i32, libc::c_long::from(call.number));
    let at = |dir, address, flags: u64| Which::Path { dir, address, flags: flags as u32 };
    // Where the kernel takes a descriptor in place of a path that is missing.
    let or_handle = |address, flags| match address {
        0 => Which::Handle(fd),
        address => at(fd, address, flags),
    };
    let here = |address, flags: u32| at(libc::AT_FDCWD, address, flags.into());
    let name = |address| caller.text(address, 256).ok_or(Errno::FAULT);
    let set = |name: Vec<u8>| {
        let length = usize::try_from(d).unwrap_or(usize::MAX);
        if length > LONGEST_VALUE {
            return Err(Errno::TOOBIG);
        }
        let value = caller.bytes(c, length).ok_or(Errno::FAULT)?;
        Ok(MetadataEdit::Set { name, value, flags: e as u32 })
    };
    let owner = |user: u64, group: u64| MetadataEdit::Owner(user as u32, group as u32);
    Ok(match number {
        libc::SYS_fchmod => (Which::Handle(fd), MetadataEdit::Mode(b as u32)),
        libc::SYS_fchmodat => (at(fd, b, 0), MetadataEdit::Mode(c as u32)),
        arch::FCHMODAT2 => (at(fd, b, d), MetadataEdit::Mode(c as u32)),
        libc::SYS_fchown => (Which::Handle(fd), owner(b, c)),
        libc::SYS_fchownat => (at(fd, b, e), owner(c, d)),
        libc::SYS_utimensat => (or_handle(b, d), MetadataEdit::Times(caller.times(c, 1)?)),
        libc::SYS_setxattr => (here(a, 0), set(name(b)?)?),
        libc::SYS_lsetxattr => (here(a, NOFOLLOW), set(name(b)?)?),
        libc::SYS_fsetxattr => (Which::Handle(fd), set(name(b)?)?),
        libc::SYS_removexattr => (here(a, 0), MetadataEdit::Remove { name: name(b)? }),
        libc::SYS_lremovexattr => (here(a, NOFOLLOW), MetadataEdit::Remove { name: name(b)? }),
        libc::SYS_fremovexattr => (Which::Handle(fd), MetadataEdit::Remove { name: name(b)? }),
        number => match arch::by_path(number) {
            Some(arch::ByPath::Mode) => (here(a, 0), MetadataEdit::Mode(b as u32)),
            Some(arch::ByPath::Owner) => (here(a, 0), owner(b, c)),
            Some(arch::ByPath::LinkOwner) => (here(a, NOFOLLOW), owner(b, c)),
            Some(arch::ByPath::Seconds) => (here(a, 0), MetadataEdit::Times(caller.seconds(b)?)),
            Some(arch::ByPath::Times) => (here(a, 0), MetadataEdit::Times(caller.times(b, 1000)?)),
            Some(arch::ByPath::TimesAt) => {
                (or_handle(b, 0), MetadataEdit::Times(caller.times(c, 1000)?))
            }
            None => return Err(Errno::PERM),
        },
    })
}

fn apply(file: &OwnedFd, change: MetadataEdit) -> rustix::io::Result<()> {
    use std::os::fd::AsRawFd as _;
    let link = format!("/proc/self/fd/{}", file.as_raw_fd());
    match change {
        // The bit that lends a file's owner to whoever runs it.
        MetadataEdit::Mode(mode) if mode & libc::S_ISUID != 0 => Err(Errno::PERM),
        MetadataEdit::Mode(mode) => {
            rustix::fs::chmodat(CWD, link, Mode::from_raw_mode(mode & 0o3777), AtFlags::empty())
        }
        MetadataEdit::Owner(user, group) => {
            let kept = |it: u32| (it != u32::MAX).then_some(it);
            let user = kept(user).map(Uid::from_raw);
            let group = kept(group).map(Gid::from_raw);
            rustix::fs::chownat(file, c"", user, group, AtFlags::EMPTY_PATH)
        }
        MetadataEdit::Times(times) => rustix::fs::utimensat(file, c"", &times, AtFlags::EMPTY_PATH),
        MetadataEdit::Set { name, value, flags } => {
            let flags = XattrFlags::from_bits(flags).ok_or(Errno::INVAL)?;
            rustix::fs::setxattr(link, name, &value, flags)
        }
        MetadataEdit::Remove { name } => rustix::fs::removexattr(link, name),
    }
}
