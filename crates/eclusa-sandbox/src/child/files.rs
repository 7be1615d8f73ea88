//! Landlock: a second opinion on files, which holds even where there are no mounts to hold.

use std::ffi::CStr;

use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::{Errno, Result};

use super::{Done, at, at_nth};
use crate::child_spec::Rules;
use crate::kernel;
use crate::step::Step;

const EXECUTE: u64 = 1;
const WRITE_FILE: u64 = 1 << 1;
const READ_FILE: u64 = 1 << 2;
const READ_DIR: u64 = 1 << 3;
/// Everything of the first version.
const FIRST: u64 = (1 << 13) - 1;
const REFER: u64 = 1 << 13;
const TRUNCATE: u64 = 1 << 14;
const IOCTL_DEVICE: u64 = 1 << 15;
/// Binding and connecting.
const TCP: u64 = 3;
/// Abstract sockets and signals stay inside.
const SCOPES: u64 = 3;

/// Holds this process to the rules from now on.
pub(super) fn restrict(rules: &Rules) -> Done {
    let failed = at(Step::Landlock);
    let since = |version, right| if rules.version >= version { right } else { 0 };
    let all = FIRST | since(2, REFER) | since(3, TRUNCATE) | since(5, IOCTL_DEVICE);
    let network = if rules.no_tcp { since(4, TCP) } else { 0 };
    let ruleset = kernel::landlock_ruleset(all, network, since(6, SCOPES)).map_err(&failed)?;
    let read = EXECUTE | READ_FILE | READ_DIR;
    for (n, path) in rules.read.iter().enumerate() {
        allow(&ruleset, path, read).map_err(at_nth(Step::Landlock, n))?;
    }
    for (n, path) in rules.list.iter().enumerate() {
        allow(&ruleset, path, READ_DIR).map_err(at_nth(Step::Landlock, n))?;
    }
    for (n, path) in rules.write.iter().enumerate() {
        allow(&ruleset, path, all).map_err(at_nth(Step::Landlock, n))?;
    }
    kernel::landlock_restrict(&ruleset).map_err(&failed)
}

/// Allows accesses beneath a path. What is not there needs no rule.
fn allow(ruleset: &std::os::fd::OwnedFd, path: &CStr, rights: u64) -> Result<()> {
    let place = match rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()) {
        Err(Errno::NOENT | Errno::ACCESS) => return Ok(()),
        place => place?,
    };
    let stat = rustix::fs::fstat(&place)?;
    let of_files = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEVICE;
    let directory = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
    kernel::landlock_allow(ruleset, &place, if directory { rights } else { rights & of_files })
}
