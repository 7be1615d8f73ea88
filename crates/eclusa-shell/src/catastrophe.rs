//! Catastrophes: commands that destroy a machine, a home or a disk, whatever else they say.
//!
//! Judged on final words and resolved targets, never on text: `rm -fr /`, `rm -r -f //` and
//! `rm --recursive /etc/..` are one command, and `echo 'rm -rf /'` is another.

mod args;
mod indirect;
mod kind;
mod mounts;
mod pipes;
mod substituted;
mod target;
mod texts;
mod values;

use crate::programs::{Class, CommandProfile, How};
use crate::{Command, Part, Redirect, RedirectKind, Word};
use args::{by_words, only_prints};
use target::{is_needed_to_start, is_vital, may_be_root, of_devices, target};

pub(crate) use indirect::{Suspect, candidates, is_blind, is_itself, is_shell};
pub use kind::{Catastrophe, Target, Verb};
pub(crate) use pipes::{PipeData, between, given};
pub(crate) use values::{Bindings, held, runs_own};

/// Programs that can destroy by themselves, or that run what they are handed.
pub(crate) const DESTROYERS: [&str; 64] = [
    "rm",
    "Remove-Item",
    "remove-item",
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

/// The catastrophe that a command is by its words and redirections. What it runs in turn is judged
/// on its own.
pub fn of_command(command: &Command) -> Option<Catastrophe> {
    let written = |it: &Redirect| match it.kind {
        RedirectKind::Write => of_emptying(&it.target),
        RedirectKind::Append | RedirectKind::ReadWrite => of_write(&it.target),
        RedirectKind::Read | RedirectKind::Descriptor | RedirectKind::Text => None,
    };
    of_words(&command.words, &command.profile, &command.moved)
        .or_else(|| command.redirects.iter().find_map(written))
}

/// The catastrophe that these words are. `moved` are the directories that the script may have gone
/// to before, from which a relative path then starts.
pub fn of_words(argv: &[Word], profile: &CommandProfile, moved: &[Word]) -> Option<Catastrophe> {
    if only_prints(argv, profile) {
        return None;
    }
    let found = profile.paths.iter().find_map(|it| {
        by_path(it.how, &it.word, profile).or_else(|| {
            moved.iter().find_map(|place| by_path(it.how, &beneath(place, &it.word)?, profile))
        })
    });
    found.or_else(|| by_words(argv, profile, moved))
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

/// The catastrophe that writing to this path is: a device, a switch of the kernel, or a file that
/// the machine does not work without.
pub fn of_write(word: &Word) -> Option<Catastrophe> {
    if word.text().is_some_and(|it| it.contains("/proc/sysrq-trigger")) {
        return Some(Catastrophe::new(Verb::Overwrite, Target::KernelSwitch).with_word(word));
    }
    if is_vital(word) {
        return Some(Catastrophe::new(Verb::Change, Target::VitalFile).with_word(word));
    }
    let device = target(word).filter(|it| matches!(it, Target::Device(_)))?;
    Some(Catastrophe::new(Verb::Overwrite, device).with_word(word))
}

/// The catastrophe that emptying this file is.
pub fn of_emptying(word: &Word) -> Option<Catastrophe> {
    let vital = || Catastrophe::new(Verb::Empty, Target::VitalFile).with_word(word);
    (is_vital(word) || is_needed_to_start(word)).then(vital).or_else(|| of_write(word))
}

/// What takes one file away that a machine does not work without, or nobody can log in without.
fn takes_away(verb: Verb, word: &Word) -> Option<Catastrophe> {
    if is_vital(word) || is_needed_to_start(word) {
        return Some(Catastrophe::new(verb, Target::VitalFile).with_word(word));
    }
    let name = || word.source.trim_start_matches("/dev/").to_owned();
    of_devices(word).then(|| Catastrophe::new(verb, Target::Device(name())).with_word(word))
}

fn by_path(how: How, word: &Word, profile: &CommandProfile) -> Option<Catastrophe> {
    let sweeping = profile.class.contains(Class::Sweeping) || unsure_of_flags(profile);
    let found = match how {
        How::Deleted if !profile.narrowed => takes_away(Verb::Delete, word),
        How::Moved => takes_away(Verb::Move, word),
        _ => None,
    };
    if found.is_some() {
        return found;
    }
    let verb = match how {
        How::Written => {
            if let Some(found) = of_write(word) {
                return Some(found);
            }
            if !profile.class.contains(Class::Sweeping) {
                return None;
            }
            Verb::Overwrite
        }
        How::Deleted if sweeping && !profile.narrowed => Verb::Delete,
        // An empty one that is gone is missed all the same.
        How::Deleted if profile.entry == Some("rmdir") => Verb::Delete,
        How::Moved => Verb::Move,
        How::Changed => {
            let whole = target(word) == Some(Target::FileSystem);
            if !sweeping && !whole {
                return None;
            }
            Verb::ChangeRights
        }
        How::Deleted | How::Read | How::Listed | How::Executed | How::Entered => return None,
    };
    let certain = how == How::Deleted && profile.class.contains(Class::Sweeping);
    let hit = match target(word) {
        None if certain && may_be_root(word) => Target::FileSystemIfUnset,
        Some(Target::WorkingDirectory) if !is_removal(how, profile) && !is_above(how, word) => {
            return None;
        }
        Some(Target::Device(_)) if how == How::Changed => return None,
        other => other?,
    };
    Some(Catastrophe::new(verb, hit).with_word(word))
}

/// `rm` and its like, and `find` without a test that chooses.
fn is_removal(how: How, profile: &CommandProfile) -> bool {
    let chooses = matches!(profile.entry, Some("find" | "fd")) && profile.tested;
    how == How::Deleted && !chooses && profile.entry != Some("rmdir")
}

/// `find .. -delete`
fn is_above(how: How, word: &Word) -> bool {
    how == How::Deleted && word.prefix().starts_with("..")
}

/// A flag that is not known can be the one that descends.
fn unsure_of_flags(profile: &CommandProfile) -> bool {
    profile.class.contains(Class::Unknown)
}
