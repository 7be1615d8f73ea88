//! The paths that a command names, and where they lead.

use std::borrow::Cow;

use eclusa_shell::{
    Command, Part, RedirectKind, Unknown, Word,
    programs::{CommandProfile, How},
};

use crate::{
    Access,
    policy::{Root, paths::PathLocation},
};

/// Files outside that tell nothing about anybody.
const HARMLESS: [&str; 8] = [
    "/dev/null",
    "/dev/stdin",
    "/dev/stdout",
    "/dev/stderr",
    "/dev/zero",
    "/etc/os-release",
    "/proc/cpuinfo",
    "/proc/meminfo",
];

/// Directories that are part of the system and the same on every machine that has it: every user may
/// read them, and nobody keeps anything of their own there.
const PUBLIC: [&str; 7] = [
    "/usr/include",
    "/usr/share",
    "/usr/lib",
    "/usr/src",
    "/usr/local/include",
    "/usr/local/share",
    "/usr/local/lib",
];

/// True for a path in one of these, known as far as the directory is.
fn is_public(path: &str) -> bool {
    let inside = |it: &str| {
        path.strip_prefix(it).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    PUBLIC.iter().any(|it| inside(it)) && !path.split('/').any(|it| it == "..")
}

/// True for what lies in `/tmp`: commands have one of their own, which lasts for the session.
fn is_in_scratch(path: &str) -> bool {
    let beneath =
        |it: &str| path.strip_prefix(it).is_some_and(|it| it.is_empty() || it.starts_with('/'));
    (beneath("/tmp") || beneath("/var/tmp")) && !path.split('/').any(|it| it == "..")
}

/// Every path that a command names, and whether it is written.
pub(super) fn uses<'a>(
    command: &'a Command,
    reading: &'a CommandProfile,
) -> impl Iterator<Item = (Access, Cow<'a, Word>)> {
    let access = |how: How| match how {
        How::Read | How::Listed | How::Executed | How::Entered => Access::Read,
        How::Written | How::Deleted | How::Moved | How::Changed => Access::Write,
    };
    let named = reading.paths.iter().map(move |it| (access(it.how), Cow::Borrowed(&it.word)));
    let redirects = command.redirects.iter().filter_map(|it| match it.kind {
        RedirectKind::Read => Some((Access::Read, Cow::Borrowed(&it.target))),
        RedirectKind::Write | RedirectKind::Append | RedirectKind::ReadWrite => {
            Some((Access::Write, Cow::Borrowed(&it.target)))
        }
        RedirectKind::Descriptor | RedirectKind::Text => None,
    });
    named.chain(redirects)
}

/// Where a word leads.
pub(super) enum Where {
    /// To this path, relative to the workspace.
    Inside(String),
    /// To something that is the same for everybody.
    Harmless,
    /// Out of the workspace, to a directory that every user may read.
    Public,
    /// Into the temporary directory of the session.
    Scratch,
    /// Out of the workspace.
    Outside,
    /// Nobody knows.
    Unknown,
}

/// Where a path can lead: from where the script began, which is `start`, and from wherever it may
/// have gone.
pub(super) fn places(word: &Word, command: &Command, start: &str, root: &Root) -> Vec<Where> {
    if let Some(directories) = command.working_directories.as_ref().filter(|_| !is_absolute(word)) {
        let all = std::iter::once(&directories.reached).chain(&directories.otherwise);
        let mut all: Vec<Where> = all.map(|it| place_from(word, it, start, root)).collect();
        // A program follows links where `cd` does not: `link/..` need not be here.
        if !directories.reached.is_empty() && climbs(word) && !moves(command) {
            all.push(place(word, None, start, root));
        }
        return all;
    }
    let mut all = vec![place(word, None, start, root)];
    if !is_absolute(word) {
        all.extend(command.moved.iter().map(|moved| place(word, Some(moved), start, root)));
    }
    all
}

/// True when a path leads out of the workspace only if a `cd` before it failed, and the script went on
/// all the same. `places` are those that it can lead to.
pub(super) fn strays_by_failure(places: &[Where], command: &Command) -> bool {
    let inside = |it: &Where| matches!(it, Where::Inside(_));
    match (&command.working_directories, places.split_first()) {
        (Some(_), Some((Where::Inside(_), rest))) => {
            rest.iter().all(|it| inside(it) || matches!(it, Where::Outside))
        }
        (None, Some((Where::Outside, rest))) => !rest.is_empty() && rest.iter().all(inside),
        _ => false,
    }
}

fn is_absolute(word: &Word) -> bool {
    word.prefix().starts_with('/')
}

/// True when a path has `..` in it.
fn climbs(word: &Word) -> bool {
    known(word).0.split('/').any(|it| it == "..")
}

/// True for the `cd` of a script that is followed.
fn moves(command: &Command) -> bool {
    command.words.first().and_then(Word::text).is_some_and(|it| it == "cd")
}

/// Where a path leads from a directory that the script has reached.
fn place_from(word: &Word, directory: &str, start: &str, root: &Root) -> Where {
    match directory.is_empty() {
        true => place(word, None, start, root),
        false => place(word, Some(&Word::literal(directory)), start, root),
    }
}

fn place(word: &Word, from: Option<&Word>, start: &str, root: &Root) -> Where {
    let (known, whole) = known(word);
    match word.parts.first() {
        Some(Part::Unknown { why: Unknown::Home, .. }) => return Where::Outside,
        // A pipe that the shell makes itself.
        Some(Part::Unknown { why: Unknown::Process, .. }) if word.parts.len() == 1 => {
            return Where::Harmless;
        }
        _ => {}
    }
    let from = match from {
        None => String::new(),
        Some(from) => match from.text() {
            Some(text) if text.starts_with('-') => return Where::Unknown,
            Some(text) => format!("{text}/"),
            None if matches!(
                from.parts.first(),
                Some(Part::Unknown { why: Unknown::Home, .. })
            ) =>
            {
                return Where::Outside;
            }
            None => return Where::Unknown,
        },
    };
    let path = format!("{from}{known}");
    if is_in_scratch(&path) && !matches!(root.place(&path), PathLocation::Inside(_)) {
        return Where::Scratch;
    }
    if HARMLESS.contains(&&*known) && whole {
        return Where::Harmless;
    }
    let is_unknown = word
        .parts
        .iter()
        .any(|it| matches!(it, Part::Unknown { why, .. } if !matches!(why, Unknown::Here | Unknown::Found)));
    // What is empty names nothing, and what a shell would replace is doubtful wherever it starts.
    let relative = !path.is_empty() && !path.starts_with(['/', '~', '$']);
    let path = if relative && !start.is_empty() { format!("{start}/{path}") } else { path };
    match root.place(&path) {
        PathLocation::Inside(_) if is_unknown => Where::Unknown,
        PathLocation::Inside(path) => Where::Inside(path.into_owned()),
        PathLocation::Outside if !is_unknown && is_public(&path) => Where::Public,
        PathLocation::Outside => Where::Outside,
        // The empty word names nothing.
        PathLocation::Nowhere if known.is_empty() && whole => Where::Harmless,
        PathLocation::Nowhere => Where::Unknown,
    }
}

/// The text of a word with its patterns as they stand, and whether that is all of it.
fn known(word: &Word) -> (String, bool) {
    let mut text = String::new();
    let mut whole = true;
    for part in &word.parts {
        match part {
            Part::Text(it) => text.push_str(it),
            Part::Glob(it) => {
                whole = false;
                text.push_str(it);
            }
            Part::Unknown { why: Unknown::Here, .. } => text.push('.'),
            Part::Unknown { .. } => {
                whole = false;
                text.push('?');
            }
        }
    }
    (text, whole)
}
