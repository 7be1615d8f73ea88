//! What one command of a pipe certainly hands to the next.
//!
//! Nothing here makes a verdict looser: what is handed on is listed besides what the command says
//! itself, so that rules that deny see `echo 'rm -rf /' | sh` and `find / | xargs rm`.

use super::Inner;
use super::commands::Read;
use super::suspects;
use crate::outline::Span;
use crate::programs::Listing;
use crate::{Command, Word, programs};

/// What a command is handed.
#[derive(Debug, Clone)]
pub(super) enum Feed {
    /// Exactly this text.
    Text(String),
    /// Paths at and below these.
    Paths(Vec<Word>),
    /// Names of files in the workspace.
    Names(Listing),
}

impl Feed {
    /// What `command` runs because of it.
    pub(super) fn to(&self, command: &Command) -> Inner {
        match self {
            Feed::Text(text) => programs::fed(&command.words, text),
            Feed::Paths(paths) | Feed::Names(Listing { places: paths, .. })
                if command.reading.entry == Some("xargs") =>
            {
                let known = |run: &Vec<Word>| {
                    let words = run.iter().filter(|it| it.text().is_some()).cloned();
                    let mut words: Vec<Word> = words.chain(paths.iter().cloned()).collect();
                    // Each path beneath is handed on by itself.
                    if paths.iter().any(suspects::is_far) {
                        suspects::descend(&mut words);
                    }
                    words
                };
                let runs = command.reading.runs.iter().map(known).collect();
                Inner { runs, ..Inner::default() }
            }
            Feed::Paths(_) | Feed::Names(_) => Inner::default(),
        }
    }

    /// What is known of the words that `xargs` gets from it is said in its reading.
    pub(super) fn tell(&self, command: &mut Command) {
        if let Feed::Names(listing) = self {
            listing.tell(&command.words, &mut command.reading);
        }
    }
}

/// The text of a here-document or here-string that a command is given.
pub(super) fn given(command: &Command) -> Option<Feed> {
    let text = command.texts().last()?.text()?;
    Some(Feed::Text(text.into_owned()))
}

/// The text that a command certainly prints.
pub(super) fn printed(command: &Command) -> Option<String> {
    if let Some(text) = programs::printed(&command.words) {
        return Some(text);
    }
    match given(command)? {
        Feed::Text(text) => programs::passed(&command.words, &text),
        Feed::Paths(_) | Feed::Names(_) => None,
    }
}

/// The text that a command certainly prints, given what it is handed.
pub(super) fn printed_by(command: &Command, handed: Option<&Feed>) -> Option<String> {
    printed(command).or_else(|| match handed? {
        Feed::Text(text) => programs::passed(&command.words, text),
        Feed::Paths(_) | Feed::Names(_) => None,
    })
}

/// For each command, what it is handed by the command before it in a pipe.
pub(super) fn feeds(commands: &Read, pipes: &[(Span, Span)]) -> Vec<Option<Feed>> {
    let mut feeds: Vec<Option<Feed>> = vec![None; commands.list.len()];
    let mut pipes: Vec<&(Span, Span)> = pipes.iter().collect();
    // From left to right, because what is handed to one may be handed on.
    pipes.sort_unstable_by_key(|(_, right)| right.start);
    for (left, right) in pipes {
        // The command on the left is the last one before the pipe: `a | b | c` is `(a | b) | c`.
        let Some(at) = last_in(&commands.starts, *left) else { continue };
        let Some(before) = commands.list.get(at) else { continue };
        let handed = feeds.get(at).cloned().flatten();
        let Some(feed) = feed(before, handed) else { continue };
        for (start, slot) in commands.starts.iter().zip(&mut feeds) {
            if right.start <= *start && *start < right.end {
                // A pipe inside stands nearer than one around.
                *slot = Some(feed.clone());
            }
        }
    }
    feeds
}

fn last_in(starts: &[usize], span: Span) -> Option<usize> {
    starts.iter().rposition(|it| span.start <= *it && *it < span.end)
}

fn feed(command: &Command, handed: Option<Feed>) -> Option<Feed> {
    if let Some(text) = printed_by(command, handed.as_ref()) {
        return Some(Feed::Text(text));
    }
    if let Some(text) = programs::processes(&command.words) {
        return Some(Feed::Text(text));
    }
    if let Some(listing) = programs::lists(&command.words) {
        return Some(Feed::Names(listing));
    }
    let paths = programs::found(&command.words);
    (!paths.is_empty()).then_some(Feed::Paths(paths))
}
