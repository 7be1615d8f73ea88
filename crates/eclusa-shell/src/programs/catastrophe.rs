//! Catastrophes: commands that destroy a machine, a home or a disk, whatever else they say.
//!
//! Judged on final words and resolved targets, never on text: `rm -fr /`, `rm -r -f //` and
//! `rm --recursive /etc/..` are one command, and `echo 'rm -rf /'` is another.

use crate::{Part, Word};

use super::class::Class;
use super::reading::{How, Reading};
use super::target::{Target, is_of_system, may_be_root, target};

/// What a catastrophe is said to hit: everything.
pub(crate) const ALL: &str = "the whole file system";
/// A device.
pub(crate) const DEVICE: &str = "the device";
/// Where the script is.
pub(crate) const HERE: &str = "the whole working directory or one above it";

/// Programs that can destroy by themselves, or that run what they are handed.
pub(crate) const DESTROYERS: [&str; 34] = [
    "rm",
    "grm",
    "srm",
    "rimraf",
    "trash",
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
    let found = reading.paths.iter().find_map(|it| {
        by_path(it.how, &it.word, reading).or_else(|| {
            moved.iter().find_map(|place| by_path(it.how, &beneath(place, &it.word)?, reading))
        })
    });
    found.or_else(|| by_words(argv, reading))
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

fn by_path(how: How, word: &Word, reading: &Reading) -> Option<String> {
    let sweeping = reading.class.contains(Class::Sweeping) || unsure_of_flags(reading);
    let source = &word.source;
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

/// Catastrophes that no path shows.
fn by_words(argv: &[Word], reading: &Reading) -> Option<String> {
    let texts: Vec<String> =
        argv.iter().skip(1).filter_map(|it| it.text().map(|it| it.into_owned())).collect();
    match reading.entry? {
        "kill" => every_process(&texts).then(|| "ends every process".to_owned()),
        "killall5" => Some("ends every process".to_owned()),
        "killall" => {
            ends_all_that_fit(&reading.program, argv).then(|| "ends every process".to_owned())
        }
        "partitions" | "images" => unmakes(argv, reading),
        "sed" if reading.class.contains(Class::Writes) => {
            let found = reading.paths.iter().find_map(|it| catastrophic_write(&it.word));
            found.filter(|_| texts.iter().any(|it| it.starts_with("-i") || it.starts_with("--in")))
        }
        "chmod" => {
            let opens = texts.iter().any(|it| opens_to_all(it));
            let found = reading.paths.iter().find(|it| is_of_system(&it.word))?;
            opens.then(|| format!("opens `{}` of the system to everybody", found.word.source))
        }
        _ => None,
    }
}

/// `kill -9 -1`: the last word but one may be the signal; `-1` as a process is all of them.
fn every_process(words: &[String]) -> bool {
    let mut rest = words.iter().peekable();
    let mut signalled = false;
    while let Some(word) = rest.next() {
        match word.as_str() {
            "-s" | "-n" | "--signal" | "-q" | "--queue" => {
                rest.next();
                signalled = true;
            }
            "--" => signalled = true,
            "-1" if signalled => return true,
            "1" => return true,
            it if it.starts_with('-') => signalled = true,
            _ => signalled = true,
        }
    }
    false
}

/// `pkill .`, `killall -r '.*'`, `pkill -u root`, and what is not like something: more than anybody
/// can name.
fn ends_all_that_fit(program: &str, argv: &[Word]) -> bool {
    let (mut any, mut sought, mut group, mut inverted) = (false, false, false, false);
    let mut words = argv.iter().skip(1);
    while let Some(word) = words.next() {
        let text = word.text();
        match text.as_deref() {
            Some("-u" | "-U" | "-G" | "--uid" | "--euid" | "--group" | "--user") => {
                group = true;
                words.next();
            }
            Some("-P" | "-g" | "-s" | "-t" | "-F" | "-d" | "-c" | "-r" | "--signal")
                if !(program == "killall" && text.as_deref() == Some("-r")) =>
            {
                sought = true;
                words.next();
            }
            Some("-v" | "--inverse") => inverted = program != "killall",
            Some(it) if it.starts_with("-u") || it.starts_with("--euid=") => group = true,
            Some(it) if it.starts_with('-') && it.len() > 1 => {}
            Some(it) => {
                let all = it.chars().all(|it| ".*^$+?()".contains(it));
                any |= all || matches!(it, "init" | "systemd" | "launchd");
                sought |= !all;
            }
            None => sought = true,
        }
    }
    any || inverted || (group && !sought)
}

/// What takes a disk, a volume or all that is on it away without naming a device.
fn unmakes(argv: &[Word], reading: &Reading) -> Option<String> {
    if !reading.class.contains(Class::Destructive) {
        return None;
    }
    let device = argv.iter().skip(1).find_map(|it| {
        let text = it.text()?;
        let value = text.rsplit_once('=').map_or(&*text, |(_, value)| value);
        catastrophic_write(&Word::literal(value))
    });
    let removes = matches!(&*reading.program, "vgremove" | "lvremove" | "pvremove" | "nwipe");
    let words = argv.iter().skip(1).filter_map(Word::text);
    let what =
        ["destroy", "labelclear", "remove_all", "wipe_table", "luksFormat", "luksErase", "erase"];
    let erases = |it: &str| what.contains(&it) || it.starts_with("erase") || it.ends_with("Disk");
    let names = words.into_iter().any(|it| erases(&it));
    device.or_else(|| (removes || names).then(|| "takes a disk or a volume away".to_owned()))
}

/// A mode that lets everybody write.
fn opens_to_all(mode: &str) -> bool {
    let octal = mode.len() >= 3 && mode.chars().all(|it| ('0'..='7').contains(&it));
    if octal {
        return mode.ends_with(['2', '3', '6', '7']);
    }
    mode.split(',').any(|it| {
        it.split_once(['+', '=']).is_some_and(|(who, what)| {
            (who.is_empty() || who.contains(['o', 'a']))
                && what.contains('w')
                && who.chars().all(|it| "ugoa".contains(it))
        })
    })
}
