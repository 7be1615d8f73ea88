//! Targets: what a path comes down to when it is deleted, moved or written.

use super::kind::Target;
use crate::{Part, Unknown, Word};

/// Directories that a machine does not work without, or that hold what many need.
const SYSTEM: [&str; 45] = [
    "Applications",
    "Library",
    "System",
    "Users",
    "Volumes",
    "bin",
    "boot",
    "boot/efi",
    "cdrom",
    "dev",
    "etc",
    "home",
    "lib",
    "lib/modules",
    "lib32",
    "lib64",
    "libx32",
    "media",
    "mnt",
    "nix",
    "nix/store",
    "opt",
    "private",
    "private/etc",
    "private/var",
    "proc",
    "run",
    "sbin",
    "snap",
    "srv",
    "sys",
    "tmp",
    "usr",
    "usr/bin",
    "usr/include",
    "usr/lib",
    "usr/lib64",
    "usr/libexec",
    "usr/sbin",
    "usr/share",
    "var",
    "var/lib",
    "var/log",
    "var/mail",
    "var/spool",
];

/// Names below `/dev` that swallow, make or pass on what is written to them.
const HARMLESS_DEVICES: [&str; 12] = [
    "null", "zero", "full", "stdin", "stdout", "stderr", "tty", "random", "urandom", "ptmx",
    "console", "log",
];

/// What the word comes down to, if a catastrophe can hit it.
pub(crate) fn target(word: &Word) -> Option<Target> {
    match base(word) {
        Base::Root(rest) => below_root(&components(&rest, Vec::new())),
        Base::Home(rest) => {
            match components(&rest, vec![PathPiece::Name("~".to_owned())]).as_slice() {
                [PathPiece::Name(home)] if home == "~" => Some(Target::Home),
                [PathPiece::Name(home), PathPiece::All] if home == "~" => Some(Target::Home),
                [] | [PathPiece::Up] => Some(Target::SystemDirectory("home".to_owned())),
                _ => None,
            }
        }
        Base::Here(rest) => {
            let pieces = components(&rest, Vec::new());
            let above = pieces.iter().all(|it| matches!(it, PathPiece::Up));
            match pieces.split_last() {
                _ if above => Some(Target::WorkingDirectory),
                Some((PathPiece::All, before)) if before.iter().all(|it| *it == PathPiece::Up) => {
                    Some(Target::WorkingDirectory)
                }
                _ => None,
            }
        }
        Base::Unknown => None,
    }
}

/// Where a path starts from, and the parts behind that.
enum Base {
    Root(Vec<Part>),
    Home(Vec<Part>),
    Here(Vec<Part>),
    Unknown,
}

fn base(word: &Word) -> Base {
    let mut parts = word.parts.clone();
    parts.retain(|it| !matches!(it, Part::Text(text) if text.is_empty()));
    let rest = parts.get(1..).unwrap_or_default().to_vec();
    match parts.first() {
        None => Base::Unknown,
        Some(Part::Text(text) | Part::Glob(text)) if text.starts_with('/') => Base::Root(parts),
        Some(Part::Text(_) | Part::Glob(_)) => Base::Here(parts),
        Some(Part::Unknown { why: Unknown::Home, .. }) => Base::Home(user(rest)),
        Some(Part::Unknown { why: Unknown::Here, .. }) => Base::Here(rest),
        Some(Part::Unknown { why: Unknown::Variable, .. }) => match variable(&word.source) {
            Some("HOME") => Base::Home(rest),
            Some("PWD" | "OLDPWD") => Base::Here(rest),
            None if word.source.starts_with("~-") => Base::Here(rest),
            _ => Base::Unknown,
        },
        Some(Part::Unknown { .. }) => Base::Unknown,
    }
}

/// `~name` is a home too, whether or not the name is a part of its own.
fn user(mut rest: Vec<Part>) -> Vec<Part> {
    if let Some(Part::Text(text)) = rest.first_mut()
        && !text.starts_with('/')
    {
        *text = text.find('/').and_then(|at| text.get(at..)).unwrap_or_default().to_owned();
    }
    rest
}

/// The variable that a word begins with, by how it is written.
fn variable(source: &str) -> Option<&str> {
    let bare = source.trim_start_matches('"').strip_prefix('$')?;
    let bare = bare.strip_prefix('{').unwrap_or(bare);
    let end = bare.find(|it: char| it != '_' && !it.is_ascii_alphanumeric()).unwrap_or(bare.len());
    bare.get(..end)
}

/// True for `"$DIR/"*` and its like: where nothing is in the variable, it is the root. Only what comes
/// down to everything; `$DIR/bin` is most likely not `/bin`.
pub(crate) fn may_be_root(word: &Word) -> bool {
    let variable = |it: &Part| matches!(it, Part::Unknown { why: Unknown::Variable, .. });
    let mut parts =
        word.parts.iter().filter(|it| !matches!(it, Part::Text(text) if text.is_empty()));
    if !parts.next().is_some_and(variable) || !may_be_empty(&word.source) {
        return false;
    }
    let rest: Vec<Part> = parts.cloned().collect();
    let lead = rest.first().and_then(|it| match it {
        Part::Text(it) | Part::Glob(it) => Some(it.starts_with('/')),
        Part::Unknown { .. } => None,
    });
    lead == Some(true) && matches!(components(&rest, Vec::new()).as_slice(), [] | [PathPiece::All])
}

/// False for `${NAME:?}` and `${NAME:-value}`, which are never nothing.
fn may_be_empty(source: &str) -> bool {
    let braced = source.trim_start_matches('"').strip_prefix("${");
    let inside = braced.and_then(|it| it.split_once('}')).map(|(inside, _)| inside);
    inside.is_none_or(|it| !it.contains(['?', '-', '=', '+']))
}

/// A component of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
enum PathPiece {
    /// A name, known in full.
    Name(String),
    /// A pattern that matches some names.
    Some,
    /// A pattern that matches every name.
    All,
    /// One directory up, above where the path starts.
    Up,
}

/// Cuts a path into components and resolves `.` and `..` as far as names allow.
fn components(parts: &[Part], mut pieces: Vec<PathPiece>) -> Vec<PathPiece> {
    let start = pieces.len();
    for (text, known) in split(parts) {
        match text.as_str() {
            "" | "." if known => {}
            ".." if known => match pieces.pop() {
                Some(PathPiece::Up) => pieces.extend([PathPiece::Up, PathPiece::Up]),
                Some(_) => {}
                None if start == 0 => pieces.push(PathPiece::Up),
                None => pieces.push(PathPiece::Up),
            },
            _ if known => pieces.push(PathPiece::Name(text)),
            _ if matches_all(&text) => pieces.push(PathPiece::All),
            _ => pieces.push(PathPiece::Some),
        }
    }
    pieces
}

/// The text between slashes, and whether it is known in full.
fn split(parts: &[Part]) -> Vec<(String, bool)> {
    let mut list = vec![(String::new(), true)];
    for part in parts {
        let (text, known) = match part {
            Part::Text(text) => (text.as_str(), true),
            Part::Glob(text) => (text.as_str(), false),
            Part::Unknown { .. } => ("\u{0}", false),
        };
        for (at, piece) in text.split('/').enumerate() {
            if at > 0 {
                list.push((String::new(), true));
            }
            if let Some(last) = list.last_mut() {
                last.0.push_str(piece);
                let pattern = piece.contains(['*', '?', '[', ']', '(', ')', '\u{0}']);
                last.1 &= known || !pattern;
            }
        }
    }
    list
}

/// `*`, `**`, `.*`, `?*`, `.[!.]*`: every name, or every hidden one.
fn matches_all(pattern: &str) -> bool {
    let rest = pattern.trim_start_matches('.');
    let rest = rest.strip_prefix("[!.]").or(rest.strip_prefix("[^.]")).unwrap_or(rest);
    !pattern.is_empty() && rest.chars().all(|it| it == '*' || it == '?') && rest.contains('*')
}

fn below_root(pieces: &[PathPiece]) -> Option<Target> {
    let pieces: Vec<&PathPiece> = pieces.iter().filter(|it| **it != PathPiece::Up).collect();
    // The root by another name.
    if let [PathPiece::Name(proc), _, PathPiece::Name(root), rest @ ..] = pieces.as_slice()
        && proc == "proc"
        && root == "root"
    {
        let rest: Vec<PathPiece> = rest.iter().map(|it| (*it).clone()).collect();
        return below_root(&rest);
    }
    let mut names: Vec<&str> = Vec::new();
    let mut all = false;
    for (at, piece) in pieces.iter().enumerate() {
        match piece {
            PathPiece::Name(name) => names.push(name),
            // Any pattern in the root can match what the system needs.
            PathPiece::Some | PathPiece::All if at == 0 => return Some(Target::FileSystem),
            PathPiece::All if at + 1 == pieces.len() => all = true,
            PathPiece::Some if names == ["dev"] => return Some(Target::Device("…".to_owned())),
            PathPiece::All if names == ["dev"] => return Some(Target::Device("…".to_owned())),
            PathPiece::Some | PathPiece::All | PathPiece::Up => return None,
        }
    }
    if names.is_empty() {
        return Some(Target::FileSystem);
    }
    if let ["dev", rest @ ..] = names.as_slice()
        && !rest.is_empty()
    {
        return device(rest);
    }
    let path = names.join("/");
    match names.as_slice() {
        ["root"] | ["var", "root"] => Some(Target::Home),
        ["home" | "Users", _] => Some(Target::Home),
        _ if SYSTEM.contains(&path.as_str()) => Some(Target::SystemDirectory(format!("/{path}"))),
        _ if all && names.len() == 1 => Some(Target::SystemDirectory(format!("/{path}"))),
        _ => None,
    }
}

fn device(names: &[&str]) -> Option<Target> {
    match names {
        [name] if HARMLESS_DEVICES.contains(name) => None,
        ["fd" | "pts" | "shm" | "tcp" | "udp" | "mqueue", ..] => None,
        _ => Some(Target::Device(names.join("/"))),
    }
}

/// True when a file of this place belongs to the system: `chmod 777` there opens the machine.
pub(crate) fn is_of_system(word: &Word) -> bool {
    let text = word.prefix();
    let inside =
        ["/etc/", "/usr/", "/bin/", "/sbin/", "/lib", "/boot/", "/dev/", "/sys/", "/proc/"];
    inside.iter().any(|it| text.starts_with(it)) && !text.starts_with("/usr/local/")
}

/// Files without which nobody can log in, or nothing starts.
const VITAL: [&str; 14] = [
    "/bin/bash",
    "/bin/sh",
    "/boot/grub/grub.cfg",
    "/etc/group",
    "/etc/gshadow",
    "/etc/passwd",
    "/etc/shadow",
    "/etc/sudoers",
    "/lib64/ld-linux-x86-64.so.2",
    "/sbin/init",
    "/usr/bin/bash",
    "/usr/bin/sh",
    "/usr/lib/systemd/systemd",
    "/vmlinuz",
];

/// Files without which the next start fails, or nobody is known any more. A line may be added to
/// them; whoever empties or removes one takes the machine away.
const NEEDED_TO_START: [&str; 6] = [
    "/etc/crypttab",
    "/etc/fstab",
    "/etc/inittab",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/nsswitch.conf",
];

/// True for a file that a machine does not work without.
pub(crate) fn is_vital(word: &Word) -> bool {
    is_one_of(word, &VITAL)
}

/// True for a file without which the next start fails.
pub(crate) fn is_needed_to_start(word: &Word) -> bool {
    is_one_of(word, &NEEDED_TO_START)
}

fn is_one_of(word: &Word, files: &[&str]) -> bool {
    let text = word.prefix();
    if !text.starts_with('/') {
        return false;
    }
    let pieces = components(&word.parts, Vec::new());
    let names = pieces.iter().map(|it| match it {
        PathPiece::Name(name) => name.as_str(),
        PathPiece::Some | PathPiece::All => "*",
        PathPiece::Up => "",
    });
    let path: String = names.filter(|it| !it.is_empty()).flat_map(|it| ["/", it]).collect();
    files.contains(&path.as_str())
}

/// True for an entry of `/dev` itself; what lies in its shared memory is a file like others.
pub(crate) fn of_devices(word: &Word) -> bool {
    let text = word.prefix();
    let name = text.strip_prefix("/dev/").map(|it| it.trim_start_matches('/'));
    name.is_some_and(|it| {
        !it.is_empty() && !["shm", "mqueue", "fd", "pts"].iter().any(|place| it.starts_with(place))
    })
}
