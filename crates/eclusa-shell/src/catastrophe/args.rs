//! Catastrophes that no path shows: what the words of a command say to its program.

use std::borrow::Cow;

use super::kind::{Catastrophe, Target, Verb};
use super::target::{is_of_system, target};
use super::{of_emptying, of_write};
use crate::Word;
use crate::programs::{Class, CommandProfile, How, PathUse, ends_all_that_fit};

/// Catastrophes that no path shows. `moved` are the directories that the script may have gone to.
pub(super) fn by_words(
    argv: &[Word],
    profile: &CommandProfile,
    moved: &[Word],
) -> Option<Catastrophe> {
    let texts = || argv.iter().skip(1).filter_map(Word::text);
    let found = |verb, target| Some(Catastrophe::new(verb, target));
    if let Some(found) = makes_away(argv, moved) {
        return Some(found);
    }
    match profile.entry? {
        "kill" if every_process(texts()) => found(Verb::End, Target::Processes),
        "killall5" => found(Verb::End, Target::Processes),
        "killall" if ends_all_that_fit(&profile.program, argv) => {
            found(Verb::End, Target::Processes)
        }
        "kill" | "killall" => None,
        "partitions" | "images" => unmakes(argv, profile),
        "sed" if profile.class.contains(Class::Writes) => {
            let found = profile.paths.iter().find_map(|it| of_write(&it.word));
            found.filter(|_| texts().any(|it| it.starts_with("-i") || it.starts_with("--in")))
        }
        "chmod" => {
            let opens = texts().any(|it| opens_to_all(&it));
            let file = profile.paths.iter().find(|it| opens && is_of_system(&it.word))?;
            Some(Catastrophe::new(Verb::OpenToAll, Target::SystemFile).with_word(&file.word))
        }
        "services" | "systemctl" | "accounts" if stops_machine(argv) => {
            found(Verb::End, Target::Machine)
        }
        "crontab" => {
            // What stands behind `u` is a name.
            let removes = |it: &str| it.split('u').next().is_some_and(|it| it.contains('r'));
            let mut flags = texts().filter(|it| it.starts_with('-') && !it.starts_with("--"));
            flags.find(|it| removes(it)).and_then(|_| found(Verb::Delete, Target::ScheduledTasks))
        }
        "services" if profile.program == "efibootmgr" => {
            let mut flags = texts().filter(|it| it.starts_with('-'));
            let deletes = |it: &str| it == "--delete-bootnum" || short(it, 'B');
            flags.find(|it| deletes(it)).and_then(|_| found(Verb::Delete, Target::Boot))
        }
        "accounts" if opens_root(argv) => found(Verb::OpenToAll, Target::RootAccount),
        "accounts" => {
            let removes = |it: &str| short(it, 'r') || it.starts_with("--remove");
            let deletes = matches!(&*profile.program, "userdel" | "deluser");
            let home = deletes && texts().any(|it| removes(&it));
            home.then(|| Catastrophe::new(Verb::Delete, Target::Account))
        }
        "attributes" => {
            let descends = texts().any(|it| short(&it, 'R') || it == "--recursive");
            let place = argv.iter().skip(1).find(|it| descends && is_everybodys(it))?;
            Some(Catastrophe::new(Verb::ChangeRights, Target::Tree).with_word(place))
        }
        "power" if !texts().any(|it| matches!(&*it, "-c" | "--show" | "--help" | "-k")) => {
            let stays =
                |it: &str| matches!(it, "1" | "2" | "3" | "4" | "5" | "s" | "S" | "q" | "Q");
            let level = matches!(&*profile.program, "init" | "telinit");
            let stops = !level || texts().any(|it| matches!(&*it, "0" | "6"));
            let stops = stops && !(level && texts().any(|it| stays(&it)));
            stops.then(|| Catastrophe::new(Verb::End, Target::Machine))
        }
        "tar" | "unzip" if extracts_into_system(argv, profile) => {
            let place = argv.iter().skip(1).find(|it| is_systems(it))?;
            Some(Catastrophe::new(Verb::Overwrite, Target::Tree).with_word(place))
        }
        "tar" if extracts_anywhere(argv) => {
            let name = argv.first()?;
            Some(Catastrophe::new(Verb::Overwrite, Target::NamedPaths).with_word(name))
        }
        "tar" => {
            let removes = texts().any(|it| it.starts_with("--remove-f"));
            let place = argv.iter().skip(1).find(|it| removes && is_everybodys(it))?;
            Some(Catastrophe::new(Verb::Delete, Target::Tree).with_word(place))
        }
        "git" if profile.program == "git clean" => cleans(argv, profile, moved),
        "git" if profile.program == "git push" => {
            let mirror = texts().any(|it| it.len() > 4 && "--mirror".starts_with(&*it));
            mirror.then(|| Catastrophe::new(Verb::Overwrite, Target::RemoteRepository))
        }
        _ => empties(argv, profile),
    }
}

/// `systemctl poweroff`, `systemctl isolate reboot.target`, `loginctl reboot`
fn stops_machine(argv: &[Word]) -> bool {
    let name = argv.first().and_then(Word::text).unwrap_or_default();
    if !matches!(name.rsplit('/').next(), Some("systemctl" | "loginctl" | "initctl" | "launchctl"))
    {
        return false;
    }
    let verbs = ["poweroff", "reboot", "halt", "kexec", "soft-reboot", "emergency", "rescue"];
    let named = |it: &str| verbs.contains(&it.trim_end_matches(".target"));
    let mut words = argv.iter().skip(1).filter_map(Word::text).filter(|it| !it.starts_with('-'));
    match words.next().as_deref() {
        Some("isolate" | "start" | "restart") => words.any(|it| named(&it)),
        Some(verb) => named(verb),
        None => false,
    }
}

/// Directories that are the system's alone, and into which nobody unpacks by hand.
const SYSTEMS: [&str; 12] = [
    "/bin",
    "/boot",
    "/etc",
    "/lib",
    "/lib64",
    "/sbin",
    "/usr",
    "/usr/bin",
    "/usr/lib",
    "/usr/sbin",
    "/var",
    "/dev",
];

/// True for the root, and for a directory that is the system's alone.
fn is_systems(word: &Word) -> bool {
    match target(word) {
        Some(Target::FileSystem) => true,
        Some(Target::SystemDirectory(name)) => SYSTEMS.contains(&&*name),
        _ => false,
    }
}

/// `tar xf x.tar -C /`, `unzip x.zip -d /`
fn extracts_into_system(argv: &[Word], profile: &CommandProfile) -> bool {
    // The letters of tar may stand without a dash.
    let letters = |(at, it): (usize, &Word)| {
        let text = it.text().unwrap_or_default();
        let bundle = text.starts_with('-') || at == 0;
        matches!(&*text, "--extract" | "--get")
            || (bundle && !text.starts_with("--") && text.contains('x') && !text.contains('/'))
    };
    let extracts = argv.iter().skip(1).enumerate().any(letters);
    let into = |it: &PathUse| match it.how {
        How::Entered => extracts,
        _ => false,
    };
    // unzip takes its flag behind the archive too.
    let unzips = profile.entry == Some("unzip") && profile.class.contains(Class::Writes);
    let pairs = argv.iter().zip(argv.iter().skip(1)).filter(|_| unzips);
    let mut given = pairs.filter(|(flag, _)| flag.text().as_deref() == Some("-d"));
    profile.paths.iter().any(|it| into(it) && is_systems(&it.word))
        || given.any(|(_, place)| is_systems(place))
}

/// `make -C / clean`: whatever a makefile there would take away is the system's.
fn makes_away(argv: &[Word], moved: &[Word]) -> Option<Catastrophe> {
    const GOALS: [&str; 8] = [
        "clean",
        "distclean",
        "mrproper",
        "realclean",
        "maintainer-clean",
        "clobber",
        "uninstall",
        "purge",
    ];
    let name = argv.first()?.text()?;
    if !matches!(name.rsplit('/').next(), Some("make" | "gmake" | "bmake" | "ninja")) {
        return None;
    }
    let mut rest = argv.iter().skip(1);
    rest.clone().filter_map(Word::text).find(|it| GOALS.contains(&&**it))?;
    let mut places: Vec<Word> = moved.last().cloned().into_iter().collect();
    while let Some(word) = rest.next() {
        let text = word.text().unwrap_or_default();
        let joined = text.strip_prefix("--directory=").or_else(|| text.strip_prefix("-C"));
        match joined {
            Some("") => places.extend(rest.next().cloned()),
            Some(place) => places.push(Word::literal(place)),
            None if text == "--directory" => places.extend(rest.next().cloned()),
            None => {}
        }
    }
    let place = places.iter().find(|it| is_systems(it))?;
    Some(Catastrophe::new(Verb::Delete, Target::Tree).with_word(place))
}

/// `passwd -d root`, `usermod -p '' root`: whoever comes is the administrator, or nobody is any more.
fn opens_root(argv: &[Word]) -> bool {
    let name = argv.first().and_then(Word::text).unwrap_or_default();
    let texts = || argv.iter().skip(1).map(|it| it.text().unwrap_or_default());
    let root = texts().any(|it| it == "root");
    let told = |letters: &[char], words: &[&str]| {
        texts().any(|it| letters.iter().any(|letter| short(&it, *letter)) || words.contains(&&*it))
    };
    match name.rsplit('/').next() {
        Some("passwd") => root && told(&['d', 'l'], &["--delete", "--lock"]),
        Some("usermod") => {
            root && told(&['p', 'L', 'e'], &["--password", "--lock", "--expiredate"])
        }
        Some("userdel" | "deluser") => root,
        _ => false,
    }
}

/// `tar xPf x.tar`: an archive that names its own places, which can be any.
fn extracts_anywhere(argv: &[Word]) -> bool {
    let flags = |wanted: char, long: &[&str]| {
        argv.iter().skip(1).enumerate().any(|(at, it)| {
            let text = it.text().unwrap_or_default();
            let letters = match text.strip_prefix('-') {
                Some(rest) if rest.starts_with('-') => "",
                // What follows `f` is the name of the archive.
                Some(rest) => rest.split('f').next().unwrap_or_default(),
                None if at == 0 && !text.contains(['/', '.']) => &*text,
                None => "",
            };
            letters.contains(wanted) || long.contains(&&*text)
        })
    };
    flags('x', &["--extract", "--get"]) && flags('P', &["--absolute-names", "--absolute-paths"])
}

/// True for a bundle of short flags with this letter in it.
fn short(word: &str, letter: char) -> bool {
    word.starts_with('-') && !word.starts_with("--") && word.contains(letter)
}

/// True for a place that the machine or somebody's whole work is in.
pub(super) fn is_everybodys(word: &Word) -> bool {
    matches!(target(word), Some(Target::FileSystem | Target::SystemDirectory(_) | Target::Home))
}

/// `git -C / clean -fdx`: what git does not know of is all there is.
fn cleans(argv: &[Word], profile: &CommandProfile, moved: &[Word]) -> Option<Catastrophe> {
    let tries = |it: &Word| it.text().is_some_and(|it| short(&it, 'n') || it == "--dry-run");
    if !profile.class.contains(Class::Destructive) || argv.iter().any(tries) {
        return None;
    }
    let entered = profile.paths.iter().filter(|it| it.how == How::Entered).map(|it| &it.word);
    // `git clean -fdx /`
    let named = argv.iter().skip(2).filter(|it| !it.prefix().starts_with('-'));
    let mut places = entered.chain(moved.last()).chain(named);
    let place = places.find(|it| is_everybodys(it))?;
    Some(Catastrophe::new(Verb::Delete, Target::UntrackedFiles).with_word(place))
}

/// `cp /dev/null /etc/passwd`, and what overwrites a file by its nature.
fn empties(argv: &[Word], profile: &CommandProfile) -> Option<Catastrophe> {
    let null = |it: &Word| it.text().as_deref() == Some("/dev/null");
    let appends = |it: &Word| it.text().is_some_and(|it| short(&it, 'a') || it == "--append");
    let whole = match &*profile.program {
        "truncate" | "dd" | "shred" => true,
        "tee" => !argv.iter().any(appends),
        "cp" | "ln" | "install" => argv.iter().any(null),
        _ => false,
    };
    let mut written = profile.paths.iter().filter(|it| whole && it.how == How::Written);
    written.find_map(|it| of_emptying(&it.word))
}

/// What programs for disks are told where they only print.
const PRINTING: [(&str, &str); 16] = [
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
pub(super) fn only_prints(argv: &[Word], profile: &CommandProfile) -> bool {
    if profile.entry != Some("partitions") {
        return false;
    }
    let Some((_, words)) = PRINTING.iter().find(|it| it.0 == profile.program) else { return false };
    // These print where they are told nothing else.
    let mut said = matches!(&*profile.program, "wipefs" | "badblocks");
    argv.iter().skip(1).all(|it| {
        let Some(text) = it.text() else { return false };
        let says = words.split(' ').any(|it| it == text);
        said |= says;
        says || text.starts_with("/dev/") || text.bytes().all(|it| it.is_ascii_digit())
    }) && said
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

/// What takes a disk, a volume or all that is on it away without naming a device.
fn unmakes(argv: &[Word], profile: &CommandProfile) -> Option<Catastrophe> {
    if !profile.class.contains(Class::Destructive) {
        return None;
    }
    let device = argv.iter().skip(1).find_map(|it| {
        let text = it.text()?;
        let value = text.rsplit_once('=').map_or(&*text, |(_, value)| value);
        of_write(&Word::literal(value))
    });
    let removes = matches!(&*profile.program, "vgremove" | "lvremove" | "pvremove" | "nwipe");
    if profile.program == "btrfs" {
        let deletes = |it: &Word| it.text().is_some_and(|it| "delete".starts_with(&*it));
        let place = argv.iter().skip(1).find(|it| is_everybodys(it))?;
        let gone = argv.iter().skip(1).any(deletes);
        return gone.then(|| Catastrophe::new(Verb::Delete, Target::Volume).with_word(place));
    }
    if profile.program == "flashrom" {
        let mut flags = argv.iter().skip(1).filter_map(Word::text);
        let writes =
            |it: &str| matches!(it, "--write" | "--erase") || short(it, 'w') || short(it, 'E');
        return flags
            .any(|it| writes(&it))
            .then(|| Catastrophe::new(Verb::Overwrite, Target::Boot));
    }
    let words = argv.iter().skip(1).filter_map(Word::text);
    let what =
        ["destroy", "labelclear", "remove_all", "wipe_table", "luksFormat", "luksErase", "erase"];
    let erases = |it: &str| what.contains(&it) || it.starts_with("erase") || it.ends_with("Disk");
    let names = words.into_iter().any(|it| erases(&it));
    let volume = || Catastrophe::new(Verb::Delete, Target::Volume);
    device.or_else(|| (removes || names).then(volume))
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
