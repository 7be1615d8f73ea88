//! Takes abilities away from the calling thread and what it starts, so that tests can see a
//! machine that lacks them. It can't be undone, and it can't loosen anything. And a look at what the
//! crate keeps ready.

mod namespaces;
mod trace;

use std::io;

use crate::{arch, filter, kernel};

pub use namespaces::made as make_namespaces;
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

/// What Docker's default profile answers with "not permitted" to a container without further
/// capabilities.
const NOT_IN_A_CONTAINER: [libc::c_long; 49] = [
    // Namespaces. `clone` is looked at, and `clone3` does not exist.
    libc::SYS_unshare,
    libc::SYS_setns,
    // Mounts and roots.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_mount_setattr,
    // Keyrings.
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    // Programs and modules in the kernel, and what looks into it.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    arch::KEXEC_FILE_LOAD,
    libc::SYS_lookup_dcookie,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_userfaultfd,
    // Files by handle, and other processes by theirs.
    libc::SYS_open_by_handle_at,
    libc::SYS_fanotify_init,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_process_madvise,
    libc::SYS_move_pages,
    libc::SYS_migrate_pages,
    libc::SYS_mbind,
    libc::SYS_set_mempolicy,
    // The machine.
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_syslog,
    libc::SYS_vhangup,
    libc::SYS_nfsservctl,
];

/// A container with Docker's default profile, so that a whole program can be seen in one.
pub fn container() -> io::Result<()> {
    let refused: Vec<_> = NOT_IN_A_CONTAINER.into_iter().chain(arch::REFUSED).collect();
    install(&refused, true)
}

/// No filesystems by the new interface, which is how overlays are made.
pub fn overlays() -> io::Result<()> {
    install(&[libc::SYS_fsopen], false)
}

/// No root of overlays: refused before it stands, or when it does.
pub fn roots_of_overlays(begun: bool) -> io::Result<()> {
    install(&[if begun { libc::SYS_fchmodat } else { libc::SYS_fstatfs }], false)
}

/// No way into a namespace that is there already.
pub fn joins() -> io::Result<()> {
    install(&[libc::SYS_setns], false)
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
