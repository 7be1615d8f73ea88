//! Files of the system that every program may read: reading them tells nothing about anybody and asks nobody.
//!
//! A list of what is free, never of what is not. Besides being on it, a file must be readable by everybody, whoever
//! asks: root and members of groups read more than others do.

use std::{
    fs,
    os::unix::fs::MetadataExt as _,
    path::{Component, Path},
};

use eclusa_shell::{
    Command, Word,
    programs::{CommandProfile, How},
};
use eclusa_workspace::files::SYSTEM_SECRETS;

/// Trees whose files are the same for everybody who may read them.
const TREES: [&str; 14] = [
    "/usr",
    "/etc",
    "/opt",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/bin",
    "/sbin",
    "/var/log",
    "/var/lib/dpkg",
    "/var/lib/apt",
    "/var/lib/rpm",
    "/run/systemd/resolve",
];

/// Trees that hold programs and what comes with them: everything beneath may be read at once.
const PROGRAMS: [&str; 7] = ["/usr", "/lib", "/lib32", "/lib64", "/libx32", "/bin", "/sbin"];

/// What looks at a directory by itself.
const LOOK_AT_ONE: [&str; 3] = ["ls", "du", "stat"];

/// What takes a program for bytes. Others read its form, and forms have been made to be misread.
const READ_BYTES: [&str; 14] = [
    "cat",
    "cmp",
    "diff",
    "file",
    "grep",
    "head",
    "ls",
    "md5sum",
    "readlink",
    "realpath",
    "sha256sum",
    "stat",
    "tail",
    "wc",
];

/// Single files elsewhere: of the machine, and of the process that reads them.
const FILES: [&str; 55] = [
    "/dev/full",
    "/dev/null",
    "/dev/random",
    "/dev/urandom",
    "/dev/zero",
    "/proc/cpuinfo",
    "/proc/devices",
    "/proc/diskstats",
    "/proc/filesystems",
    "/proc/interrupts",
    "/proc/loadavg",
    "/proc/meminfo",
    "/proc/mounts",
    "/proc/net/dev",
    "/proc/partitions",
    "/proc/pressure/cpu",
    "/proc/pressure/io",
    "/proc/pressure/memory",
    "/proc/self/cgroup",
    "/proc/self/comm",
    "/proc/self/exe",
    "/proc/self/limits",
    "/proc/self/mounts",
    "/proc/self/stat",
    "/proc/self/statm",
    "/proc/self/status",
    "/proc/stat",
    "/proc/swaps",
    "/proc/sys/fs/file-max",
    "/proc/sys/fs/inotify/max_user_watches",
    "/proc/sys/kernel/hostname",
    "/proc/sys/kernel/osrelease",
    "/proc/sys/kernel/ostype",
    "/proc/sys/kernel/pid_max",
    "/proc/sys/kernel/threads-max",
    "/proc/sys/net/core/somaxconn",
    "/proc/sys/vm/max_map_count",
    "/proc/sys/vm/overcommit_memory",
    "/proc/sys/vm/swappiness",
    "/proc/uptime",
    "/proc/version",
    "/proc/vmstat",
    "/sys/devices/system/cpu/online",
    "/sys/devices/system/cpu/possible",
    "/sys/devices/system/cpu/present",
    "/sys/fs/cgroup/cgroup.controllers",
    "/sys/fs/cgroup/cpu.max",
    "/sys/fs/cgroup/cpu.stat",
    "/sys/fs/cgroup/cpuset.cpus.effective",
    "/sys/fs/cgroup/memory.current",
    "/sys/fs/cgroup/memory.max",
    "/sys/fs/cgroup/memory.stat",
    "/sys/fs/cgroup/pids.max",
    "/sys/kernel/mm/transparent_hugepage/enabled",
    "/sys/power/state",
];

/// Files that say who the people of this machine are, and when they were there.
const ABOUT_PEOPLE: [&str; 9] = [
    "/etc/passwd",
    "/etc/passwd-",
    "/etc/group",
    "/etc/group-",
    "/etc/subuid",
    "/etc/subgid",
    "/var/log/wtmp",
    "/var/log/btmp",
    "/var/log/lastlog",
];

/// True when a command that reads this word reads what every program may read.
pub(super) fn is_free(word: &Word, command: &Command, reading: &CommandProfile) -> bool {
    let Some(text) = word.text() else { return false };
    let path = Path::new(&*text);
    let plain = |it: Component<'_>| matches!(it, Component::RootDir | Component::Normal(_));
    if !path.is_absolute() || !path.components().all(plain) {
        return false;
    }
    let named = reading.paths.iter().filter(|it| it.word == *word);
    let hows: Vec<How> = named.map(|it| it.how).collect();
    let lists = !hows.is_empty() && hows.iter().all(|it| *it == How::Listed);
    let program = command.words.first().and_then(Word::text).unwrap_or_default();
    let shallow = program == "find" && is_shallow(command);
    let looks = lists && (shallow || LOOK_AT_ONE.contains(&&*program)) && !is_recursive(command);
    match path == Path::new("/") {
        true => looks && program == "ls",
        false => is_free_path(path, looks, lists || READ_BYTES.contains(&&*program)),
    }
}

/// Whether a search goes no further than what is in the directory that it is given.
fn is_shallow(command: &Command) -> bool {
    let words: Vec<_> = command.words.iter().map(Word::text).collect();
    words.windows(2).any(|it| {
        matches!(it, [Some(flag), Some(depth)] if flag == "-maxdepth" && (depth == "0" || depth == "1"))
    })
}

/// Whether a command lists what is beneath a directory, too.
fn is_recursive(command: &Command) -> bool {
    let recursive = |it: &str| {
        it.starts_with("--r") || (it.starts_with('-') && !it.starts_with("--") && it.contains('R'))
    };
    command.words.iter().any(|it| it.text().is_none_or(|it| recursive(&it)))
}

/// `looks`: at a directory by itself. `plainly`: a program is listed or taken for bytes.
fn is_free_path(path: &Path, looks: bool, plainly: bool) -> bool {
    let beneath = |trees: &[&str], it: &Path| trees.iter().any(|tree| it.starts_with(tree));
    let single = |it: &Path| FILES.iter().any(|file| it == Path::new(file));
    if single(path) {
        return true;
    }
    let told = |it: &Path| {
        beneath(SYSTEM_SECRETS, it) || ABOUT_PEOPLE.iter().any(|file| it == Path::new(file))
    };
    if !beneath(&TREES, path) || told(path) {
        return false;
    }
    let Ok(real) = path.canonicalize() else {
        // Nothing is there to be read now; among programs nobody keeps anything later either.
        return beneath(&PROGRAMS, path) && plainly;
    };
    if told(&real) || !(beneath(&TREES, &real) || single(&real)) {
        return false;
    }
    let Ok(found) = fs::metadata(&real) else { return false };
    let of_programs = beneath(&PROGRAMS, &real);
    let in_bin =
        real.parent().and_then(Path::file_name).is_some_and(|it| it == "bin" || it == "sbin");
    let (enough, wanted) = match found.is_dir() {
        true => (looks || of_programs, 0o005),
        false => (plainly || !(of_programs && in_bin), 0o004),
    };
    let may_enter = |it: &Path| fs::metadata(it).is_ok_and(|it| it.mode() & 0o001 != 0);
    enough && found.mode() & wanted == wanted && real.ancestors().skip(1).all(may_enter)
}

#[cfg(test)]
mod tests;
