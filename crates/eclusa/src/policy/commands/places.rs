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

/// True for what lies in `/tmp`: commands have one of their own, which lasts for the conversation.
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
    /// Into the temporary directory of the conversation.
    Scratch,
    /// Out of the workspace.
    Outside,
    /// Nobody knows.
    Unknown,
}

/// Where a path can lead: from where the script began, which is `start`, and from wherever it may
/// have gone.
pub(super) fn places(word: &Word, command: &Command, start: &str, root: &Root) -> Vec<Where> {
    let mut all = vec![place(word, None, start, root)];
    let absolute = word.prefix().starts_with('/');
    if !absolute {
        all.extend(command.moved.iter().map(|moved| place(word, Some(moved), start, root)));
    }
    all
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
    if is_in_scratch(&known) && !matches!(root.place(&known), PathLocation::Inside(_)) {
        return Where::Scratch;
    }
    if HARMLESS.contains(&&*known) && whole {
        return Where::Harmless;
    }
    let is_unknown = word
        .parts
        .iter()
        .any(|it| matches!(it, Part::Unknown { why, .. } if !matches!(why, Unknown::Here | Unknown::Found)));
    let path = format!("{from}{known}");
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
