//! Which control group was handed to this program, so that its sandboxes can have groups of their own.

use std::path::{Path, PathBuf};

use rustix::fs::Access;

/// Where the second version of control groups is mounted: alone, or beside the first.
const MOUNTS: [&str; 2] = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"];

/// The control group beneath which sandboxes can be capped: this program's own, or the one above it,
/// provided that it counts memory and processes for its children and was delegated. For an
/// ordinary user the right to write there says that. Root may write everywhere, so the mark that
/// systemd leaves on what it delegates (`user.delegate`) is looked for.
#[must_use]
pub fn delegated_group() -> Option<PathBuf> {
    let own = std::fs::read_to_string("/proc/self/cgroup").ok()?;
    let own = own.lines().find_map(|line| line.strip_prefix("0::"))?;
    let mount = MOUNTS.iter().map(Path::new).find(|it| it.join("cgroup.controllers").exists())?;
    find(mount, own, rustix::process::geteuid().is_root())
}

fn find(mount: &Path, own: &str, root: bool) -> Option<PathBuf> {
    let own = mount.join(own.trim_start_matches('/'));
    let above = own.parent().filter(|it| it.starts_with(mount));
    let groups = [Some(own.as_path()), above];
    groups.into_iter().flatten().find(|it| counts(it) && is_ours(it, root)).map(Path::to_owned)
}

/// Whether the children of a group have their memory and processes counted.
fn counts(group: &Path) -> bool {
    let enabled = std::fs::read_to_string(group.join("cgroup.subtree_control"));
    let enabled = enabled.unwrap_or_default();
    ["memory", "pids"].iter().all(|it| enabled.split_whitespace().any(|word| word == *it))
}

fn is_ours(group: &Path, root: bool) -> bool {
    let writable = |path: &Path| rustix::fs::access(path, Access::WRITE_OK).is_ok();
    let marked = || {
        let mut mark = [0; 1];
        let read = rustix::fs::getxattr(group, "user.delegate", &mut mark[..]);
        read.is_ok() && mark == *b"1"
    };
    writable(group) && writable(&group.join("cgroup.procs")) && (!root || marked())
}

#[cfg(test)]
mod tests;
