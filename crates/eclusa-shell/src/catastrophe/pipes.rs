//! What one command of a pipe certainly hands to the next.
//!
//! Nothing here makes a verdict looser: what is handed on is listed besides what the command says
//! itself, so that rules that deny see `echo 'rm -rf /' | sh` and `find / | xargs rm`.

use super::indirect;
use crate::programs::Listing;
use crate::syntax::outline::Span;
use crate::{Command, NestedCommands, Word, programs};

/// What a command is handed.
#[derive(Debug, Clone)]
pub(crate) enum PipeData {
    /// Exactly this text.
    Text(String),
    /// Paths at and below these.
    Paths(Vec<Word>),
    /// Names of files in the workspace.
    Names(Listing),
    /// Numbers, one a line.
    Numbers,
}

impl PipeData {
    /// What `command` runs because of it.
    pub(crate) fn runs_in(&self, command: &Command) -> NestedCommands {
        match self {
            PipeData::Text(text) => programs::run_with_input(&command.words, text),
            PipeData::Paths(paths) | PipeData::Names(Listing { places: paths, .. })
                if command.profile.entry == Some("xargs") =>
            {
                let known = |run: &Vec<Word>| {
                    let words = run.iter().filter(|it| it.text().is_some()).cloned();
                    let mut words: Vec<Word> = words.chain(paths.iter().cloned()).collect();
                    // Each path beneath is handed on by itself.
                    if paths.iter().any(indirect::is_far) {
                        indirect::descend(&mut words);
                    }
                    words
                };
                let runs = command.profile.runs.iter().map(known).collect();
                NestedCommands { runs, ..NestedCommands::default() }
            }
            PipeData::Paths(_) | PipeData::Names(_) | PipeData::Numbers => {
                NestedCommands::default()
            }
        }
    }

    /// What is known of the words that `xargs` gets from it is said in its reading.
    pub(crate) fn describe_in(&self, command: &mut Command) {
        if let PipeData::Names(listing) = self {
            listing.describe_in(&command.words, &mut command.profile);
        }
    }

    /// True for plain words, numbers and names of files. Shell text that they are put into runs
    /// nothing that is not in the script or in the workspace already.
    pub(crate) fn is_known_here(&self) -> bool {
        let plain =
            |it: char| it.is_ascii_alphanumeric() || it.is_whitespace() || "._-/".contains(it);
        match self {
            PipeData::Text(text) => text.chars().all(plain),
            PipeData::Paths(_) | PipeData::Names(_) | PipeData::Numbers => true,
        }
    }
}

/// The text of a here-document or here-string that a command is given.
pub(crate) fn given(command: &Command) -> Option<PipeData> {
    let text = command.texts().last()?;
    Some(PipeData::Text(programs::as_far_as_known(text)))
}

/// The text that a command certainly prints.
pub(super) fn printed(command: &Command) -> Option<String> {
    if let Some(text) = programs::printed(&command.words) {
        return Some(text);
    }
    match given(command)? {
        PipeData::Text(text) => programs::passed_through(&command.words, &text),
        PipeData::Paths(_) | PipeData::Names(_) | PipeData::Numbers => None,
    }
}

/// The text that a command certainly prints, given what it is handed.
pub(super) fn printed_by(command: &Command, handed: Option<&PipeData>) -> Option<String> {
    printed(command).or_else(|| match handed? {
        PipeData::Text(text) => programs::passed_through(&command.words, text),
        PipeData::Paths(_) | PipeData::Names(_) | PipeData::Numbers => None,
    })
}

/// For each command, what it is handed by the command before it in a pipe.
/// `starts` says where each begins.
pub(crate) fn between(
    commands: &[Command],
    starts: &[usize],
    pipes: &[(Span, Span)],
) -> Vec<Option<PipeData>> {
    let mut feeds: Vec<Option<PipeData>> = vec![None; commands.len()];
    let mut pipes: Vec<&(Span, Span)> = pipes.iter().collect();
    // From left to right, because what is handed to one may be handed on.
    pipes.sort_unstable_by_key(|(_, right)| right.start);
    for (left, right) in pipes {
        // The command on the left is the last one before the pipe: `a | b | c` is `(a | b) | c`.
        let Some(at) = last_in(starts, *left) else { continue };
        let Some(before) = commands.get(at) else { continue };
        let handed = feeds.get(at).cloned().flatten();
        let Some(feed) = handed_on(before, handed) else { continue };
        for (start, slot) in starts.iter().zip(&mut feeds) {
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

fn handed_on(command: &Command, handed: Option<PipeData>) -> Option<PipeData> {
    if let Some(text) = printed_by(command, handed.as_ref()) {
        return Some(PipeData::Text(text));
    }
    if let Some(text) = programs::all_processes(&command.words) {
        return Some(PipeData::Text(text));
    }
    let on = matches!(handed, Some(PipeData::Numbers)) && programs::picks_lines(&command.words);
    if on || programs::counts(&command.words) {
        return Some(PipeData::Numbers);
    }
    if let Some(listing) = programs::lists(&command.words) {
        return Some(PipeData::Names(listing));
    }
    let paths = programs::searched_places(&command.words);
    let here = command.words.first().and_then(Word::text).as_deref() == Some("ls");
    (here || !paths.is_empty()).then_some(PipeData::Paths(paths))
}
