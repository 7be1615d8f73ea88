//! Catastrophes: commands that destroy a machine, a home or a disk, whatever else they say.
//!
//! Judged on final words and resolved targets, never on text: `rm -fr /`, `rm -r -f //` and
//! `rm --recursive /etc/..` are one command, and `echo 'rm -rf /'` is another.

use crate::{Part, Word};

use super::by_words::{by_words, looks};
use super::class::Class;
use super::reading::{How, Reading};
use super::target::{Target, is_vital, may_be_root, of_devices, target};

/// What a catastrophe is said to hit: everything.
pub(crate) const ALL: &str = "the whole file system";
/// A device.
pub(crate) const DEVICE: &str = "the device";
/// What is said of a file without which a machine is of no use.
const VITAL: &str = "which the machine does not work without";
/// Where the script is.
pub(crate) const HERE: &str = "the whole working directory or one above it";

/// Programs that can destroy by themselves, or that run what they are handed.
pub(crate) const DESTROYERS: [&str; 62] = [
    "rm",
    "grm",
    "srm",
    "rimraf",
    "del-cli",
    "trash",
    "trash-cli",
    "trash-put",
    "unlink",
    "git",
    "cp",
    "tar",
    "chattr",
    "setfacl",
    "pkill",
    "killall",
    "crontab",
    "userdel",
    "deluser",
    "docker",
    "podman",
    "nerdctl",
    "btrfs",
    "zfs",
    "zpool",
    "lvremove",
    "vgremove",
    "pvremove",
    "cryptsetup",
    "mdadm",
    "nvme",
    "hdparm",
    "flashrom",
    "find",
    "dd",
    "chmod",
    "chown",
    "chgrp",
    "mv",
    "rsync",
    "kill",
    "killall5",
    "shred",
    "wipe",
    "wipefs",
    "blkdiscard",
    "parted",
    "sgdisk",
    "fdisk",
    "sfdisk",
    "mkswap",
    "mke2fs",
    "truncate",
    "tee",
    "sh",
    "bash",
    "dash",
    "zsh",
    "ksh",
    "xargs",
    "eval",
    "busybox",
];

/// True when the program of this name can destroy, or runs what it is handed.
pub(crate) fn destroys(name: &str) -> bool {
    let base = name.rsplit('/').next().unwrap_or(name);
    DESTROYERS.contains(&base) || base.starts_with("mkfs")
}

/// Why this command is a catastrophe, if it is one: one clause, for people. What it runs in turn is
/// judged on its own. `moved` are the directories that the script may have gone to before, from
/// which a relative path then starts.
pub fn catastrophe(argv: &[Word], reading: &Reading, moved: &[Word]) -> Option<String> {
    if looks(argv, reading) {
        return None;
    }
    let found = reading.paths.iter().find_map(|it| {
        by_path(it.how, &it.word, reading).or_else(|| {
            moved.iter().find_map(|place| by_path(it.how, &beneath(place, &it.word)?, reading))
        })
    });
    found.or_else(|| by_words(argv, reading, moved))
}

/// A relative path, as it is seen from another directory.
fn beneath(place: &Word, path: &Word) -> Option<Word> {
    let absolute =
        path.prefix().starts_with('/') || matches!(path.parts.first(), Some(Part::Unknown { .. }));
    if absolute {
        return None;
    }
    let mut parts = place.parts.clone();
    parts.push(Part::Text("/".to_owned()));
    parts.extend(path.parts.iter().cloned());
    Some(Word { parts, source: format!("{}/{}", place.source, path.source) })
}

/// Why writing to this path is a catastrophe, if it is one: a device, or a switch of the kernel.
pub fn catastrophic_write(word: &Word) -> Option<String> {
    if word.text().is_some_and(|it| it.contains("/proc/sysrq-trigger")) {
        return Some("writes to the switch that stops the machine".to_owned());
    }
    match target(word) {
        Target::Device(name) => Some(format!("overwrites {DEVICE} `/dev/{name}`")),
        _ => None,
    }
}

/// Why emptying this file is a catastrophe, if it is one.
pub fn catastrophic_emptying(word: &Word) -> Option<String> {
    let emptied = || is_vital(word).then(|| format!("empties `{}`, {VITAL}", word.source));
    catastrophic_write(word).or_else(emptied)
}

/// What takes one file away that a machine does not work without, or nobody can log in without.
fn takes_away(gone: &str, word: &Word) -> Option<String> {
    if is_vital(word) {
        return Some(format!("{gone} `{}`, {VITAL}", word.source));
    }
    of_devices(word).then(|| format!("{gone} {DEVICE} `{}`", word.source))
}

fn by_path(how: How, word: &Word, reading: &Reading) -> Option<String> {
    let sweeping = reading.class.contains(Class::Sweeping) || unsure_of_flags(reading);
    let source = &word.source;
    let found = match how {
        How::Deleted if !reading.narrowed => takes_away("deletes", word),
        How::Moved => takes_away("moves", word),
        _ => None,
    };
    if found.is_some() {
        return found;
    }
    let gone = match how {
        How::Written => {
            if let Some(why) = catastrophic_write(word) {
                return Some(why);
            }
            if !reading.class.contains(Class::Sweeping) {
                return None;
            }
            "overwrites"
        }
        How::Deleted if sweeping && !reading.narrowed => "deletes",
        How::Moved => "moves",
        How::Changed => {
            let whole = target(word) == Target::Root;
            if !sweeping && !whole {
                return None;
            }
            "changes the rights of"
        }
        How::Deleted | How::Read | How::Listed | How::Executed | How::Entered => return None,
    };
    let certain = how == How::Deleted && reading.class.contains(Class::Sweeping);
    match target(word) {
        Target::Other if certain && may_be_root(word) => {
            Some(format!("{gone} {ALL} where a variable holds nothing (`{source}`)"))
        }
        Target::Root => Some(format!("{gone} {ALL} (`{source}`)")),
        Target::System(name) => Some(format!("{gone} the system directory `{name}` (`{source}`)")),
        Target::Home => Some(format!("{gone} a home directory (`{source}`)")),
        Target::Here if is_removal(how, reading) || is_above(how, word) => {
            Some(format!("{gone} {HERE} (`{source}`)"))
        }
        Target::Device(name) if how != How::Changed => {
            Some(format!("{gone} {DEVICE} `/dev/{name}`"))
        }
        Target::Here | Target::Device(_) | Target::Other => None,
    }
}

/// `rm` and its like, not `find`, which is told what to delete by its tests.
fn is_removal(how: How, reading: &Reading) -> bool {
    how == How::Deleted && !matches!(reading.entry, Some("find" | "fd"))
}

/// `find .. -delete`
fn is_above(how: How, word: &Word) -> bool {
    how == How::Deleted && word.prefix().starts_with("..")
}

/// A flag that is not known can be the one that descends.
fn unsure_of_flags(reading: &Reading) -> bool {
    reading.class.contains(Class::Unknown)
}
