//! Catastrophes that no path shows: what the words of a command say to its program.

use std::borrow::Cow;

use crate::Word;

use super::catastrophe::{catastrophic_emptying, catastrophic_write};
use super::class::Class;
use super::reading::{How, Reading};
use super::target::{Target, is_of_system, target};

/// Catastrophes that no path shows. `moved` are the directories that the script may have gone to.
pub(super) fn by_words(argv: &[Word], reading: &Reading, moved: &[Word]) -> Option<String> {
    let texts = || argv.iter().skip(1).filter_map(Word::text);
    match reading.entry? {
        "kill" => every_process(texts()).then(|| "ends every process".to_owned()),
        "killall5" => Some("ends every process".to_owned()),
        "killall" => {
            ends_all_that_fit(&reading.program, argv).then(|| "ends every process".to_owned())
        }
        "partitions" | "images" => unmakes(argv, reading),
        "sed" if reading.class.contains(Class::Writes) => {
            let found = reading.paths.iter().find_map(|it| catastrophic_write(&it.word));
            found.filter(|_| texts().any(|it| it.starts_with("-i") || it.starts_with("--in")))
        }
        "chmod" => {
            let opens = texts().any(|it| opens_to_all(&it));
            let found = reading.paths.iter().find(|it| is_of_system(&it.word))?;
            opens.then(|| format!("opens `{}` of the system to everybody", found.word.source))
        }
        "services" if reading.program == "crontab" => {
            // What stands behind `u` is a name.
            let removes = |it: &str| it.split('u').next().is_some_and(|it| it.contains('r'));
            let mut flags = texts().filter(|it| it.starts_with('-') && !it.starts_with("--"));
            flags.any(|it| removes(&it)).then(|| "deletes every task that is planned".to_owned())
        }
        "services" if reading.program == "efibootmgr" => {
            let mut flags = texts().filter(|it| it.starts_with('-'));
            let deletes = |it: &str| it == "--delete-bootnum" || short(it, 'B');
            flags.any(|it| deletes(&it)).then(|| "deletes what the machine starts from".to_owned())
        }
        "accounts" => {
            let removes = |it: &str| short(it, 'r') || it.starts_with("--remove");
            let deletes = matches!(&*reading.program, "userdel" | "deluser");
            let home = deletes && texts().any(|it| removes(&it));
            home.then(|| "deletes a home directory with its account".to_owned())
        }
        "attributes" => {
            let descends = texts().any(|it| short(&it, 'R') || it == "--recursive");
            let place = argv.iter().skip(1).find(|it| descends && is_everybodys(it))?;
            Some(format!("changes the rights of all beneath `{}`", place.source))
        }
        "tar" => {
            let removes = texts().any(|it| it.starts_with("--remove-f"));
            let place = argv.iter().skip(1).find(|it| removes && is_everybodys(it))?;
            Some(format!("deletes all beneath `{}`", place.source))
        }
        "git" if reading.program == "git clean" => cleans(reading, moved),
        _ => empties(argv, reading),
    }
}

/// True for a bundle of short flags with this letter in it.
fn short(word: &str, letter: char) -> bool {
    word.starts_with('-') && !word.starts_with("--") && word.contains(letter)
}

/// True for a place that the machine or somebody's whole work is in.
fn is_everybodys(word: &Word) -> bool {
    matches!(target(word), Target::Root | Target::System(_) | Target::Home)
}

/// `git -C / clean -fdx`: what git does not know of is all there is.
fn cleans(reading: &Reading, moved: &[Word]) -> Option<String> {
    if !reading.class.contains(Class::Destructive) {
        return None;
    }
    let entered = reading.paths.iter().filter(|it| it.how == How::Entered).map(|it| &it.word);
    let mut places = entered.chain(moved.last());
    let place = places.find(|it| is_everybodys(it))?;
    Some(format!("deletes all beneath `{}` that git does not know of", place.source))
}

/// `cp /dev/null /etc/passwd`, and what overwrites a file by its nature.
fn empties(argv: &[Word], reading: &Reading) -> Option<String> {
    let null = |it: &Word| it.text().as_deref() == Some("/dev/null");
    let appends = |it: &Word| it.text().is_some_and(|it| short(&it, 'a') || it == "--append");
    let whole = match &*reading.program {
        "truncate" | "dd" | "shred" => true,
        "tee" => !argv.iter().any(appends),
        "cp" | "ln" | "install" => argv.iter().any(null),
        _ => false,
    };
    let mut written = reading.paths.iter().filter(|it| whole && it.how == How::Written);
    written.find_map(|it| catastrophic_emptying(&it.word))
}

/// What programs for disks are told where they only print.
const LOOKS: [(&str, &str); 16] = [
    ("badblocks", "-s -v -sv -vs"),
    ("cryptsetup", "luksDump status isLuks luksUUID -v"),
    ("dmsetup", "ls info status table deps --tree -c"),
    ("e2fsck", "-n -v -nv -f -fn -nf"),
    ("fdisk", "-l -x --list --list-details"),
    ("fsck", "-n -N -V"),
    ("gdisk", "-l"),
    ("hdparm", "-I -i -g -C -t -T -tT -Tt -H"),
    ("mdadm", "--detail -D --examine -E --query -Q --scan -s --examine-bitmap -X"),
    ("nvme", "list list-subsys id-ctrl id-ns smart-log error-log fw-log show-regs -o json"),
    ("parted", "print free all devices list unit s B MB MiB GB GiB % -l -s -m --list --script"),
    ("partx", "-s -l --show --list"),
    ("sfdisk", "-l -d -J --list --dump --json"),
    ("sgdisk", "-p -v -i --print --verify --info"),
    ("tune2fs", "-l"),
    ("wipefs", "-n --no-act -p --parsable -J --json -i --noheadings"),
];

/// True when a program for disks is only told to print: every word of it is one that says so, a
/// device or a number. Such a command is still one that asks for rights.
pub(super) fn looks(argv: &[Word], reading: &Reading) -> bool {
    if reading.entry != Some("partitions") {
        return false;
    }
    let Some((_, words)) = LOOKS.iter().find(|it| it.0 == reading.program) else { return false };
    // These print where they are told nothing else.
    let mut said = matches!(&*reading.program, "wipefs" | "badblocks");
    argv.iter().skip(1).all(|it| {
        let Some(text) = it.text() else { return false };
        let says = words.split(' ').any(|it| it == text);
        said |= says;
        says || text.starts_with("/dev/") || text.bytes().all(|it| it.is_ascii_digit())
    }) && said
}

/// What listing processes with these words gives where it gives all of them.
pub(super) fn lists_all(argv: &[Word]) -> bool {
    let Some((name, words)) = argv.split_first() else { return false };
    let name = name.text().unwrap_or_default();
    match name.rsplit('/').next() {
        Some("pgrep") => ends_all_that_fit("pgrep", argv),
        Some("ps") => {
            let texts: Vec<Cow<'_, str>> = words.iter().filter_map(Word::text).collect();
            let some = ["-C", "-p", "-q", "-t", "-g", "-s", "--pid", "--ppid", "--tty", "--sid"];
            let one = |it: &str| some.iter().any(|flag| it == *flag || it.starts_with("--p"));
            let all = |it: &str| match it.strip_prefix('-') {
                Some(flags) if !flags.starts_with('-') => flags.contains(['e', 'A', 'u', 'U', 'x']),
                Some(_) => it.starts_with("--user") || it == "--everyone",
                None => it.contains('x') && it.len() < 6,
            };
            // The first words are the flags; what follows `-o` names columns.
            texts.iter().any(|it| all(it)) && !texts.iter().any(|it| one(it))
        }
        _ => false,
    }
}

/// `kill -9 -1`: the last word but one may be the signal; `-1` as a process is all of them.
fn every_process<'a>(mut rest: impl Iterator<Item = Cow<'a, str>>) -> bool {
    let mut signalled = false;
    while let Some(word) = rest.next() {
        match &*word {
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
    if reading.program == "btrfs" {
        let deletes = |it: &Word| it.text().is_some_and(|it| "delete".starts_with(&*it));
        let place = argv.iter().skip(1).find(|it| is_everybodys(it))?;
        let gone = argv.iter().skip(1).any(deletes);
        return gone.then(|| format!("deletes the volume `{}`", place.source));
    }
    if reading.program == "flashrom" {
        let mut flags = argv.iter().skip(1).filter_map(Word::text);
        let writes =
            |it: &str| matches!(it, "--write" | "--erase") || short(it, 'w') || short(it, 'E');
        return flags
            .any(|it| writes(&it))
            .then(|| "overwrites what the machine starts from".to_owned());
    }
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
