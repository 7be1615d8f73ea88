//! Takes abilities away from the calling thread and what it starts, so that tests can see a
//! machine that lacks them. It can't be undone, and it can't loosen anything. And a look at what the
//! crate keeps ready.

mod trace;

use std::io;

use crate::{filter, kernel};

pub use trace::{Traced, system_calls};

fn install(calls: &[libc::c_long], namespaces: bool) -> io::Result<()> {
    rustix::thread::set_no_new_privs(true)?;
    kernel::seccomp(&filter::refusing(calls, namespaces), false)?;
    Ok(())
}

/// No namespaces and no mounts, as in a container with Docker's defaults.
pub fn namespaces() -> io::Result<()> {
    let mounts = [
        libc::SYS_mount,
        libc::SYS_umount2,
        libc::SYS_fsopen,
        libc::SYS_fsmount,
        libc::SYS_open_tree,
        libc::SYS_move_mount,
        libc::SYS_mount_setattr,
        libc::SYS_setns,
    ];
    install(&mounts, true)
}

/// No filesystems by the new interface, which is how overlays are made.
pub fn overlays() -> io::Result<()> {
    install(&[libc::SYS_fsopen], false)
}

/// No Landlock.
pub fn landlock() -> io::Result<()> {
    install(&[libc::SYS_landlock_create_ruleset], false)
}

/// No further filters of system calls.
pub fn filters() -> io::Result<()> {
    install(&[libc::SYS_seccomp], false)
}

/// The networks that wait for a sandbox, by the number that `/proc/self/ns/net` has in them.
pub fn ready_networks() -> Vec<u64> {
    crate::network_pool::ready()
}
