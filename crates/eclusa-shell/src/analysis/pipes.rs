//! What one command of a pipe certainly hands to the next.
//!
//! Nothing here makes a verdict looser: what is handed on is listed besides what the command says
//! itself, so that rules that deny see `echo 'rm -rf /' | sh` and `find / | xargs rm`.

use super::Inner;
use super::commands::Read;
use crate::outline::Span;
use crate::{Command, Word, programs};

/// What a command is handed.
#[derive(Debug, Clone)]
pub(super) enum Feed {
    /// Exactly this text.
    Text(String),
    /// Paths at and below these.
    Paths(Vec<Word>),
}

impl Feed {
    /// What `command` runs because of it.
    pub(super) fn to(&self, command: &Command) -> Inner {
        match self {
            Feed::Text(text) => programs::fed(&command.words, text),
            Feed::Paths(paths) if command.reading.entry == Some("xargs") => {
                let known = |run: &Vec<Word>| {
                    let words = run.iter().filter(|it| it.text().is_some());
                    words.chain(paths).cloned().collect()
                };
                let runs = command.reading.runs.iter().map(known).collect();
                Inner { runs, ..Inner::default() }
            }
            Feed::Paths(_) => Inner::default(),
        }
    }
}

/// For each command, what it is handed by the command before it in a pipe.
pub(super) fn feeds(commands: &Read, pipes: &[(Span, Span)]) -> Vec<Option<Feed>> {
    let mut feeds: Vec<Option<Feed>> = vec![None; commands.list.len()];
    for (left, right) in pipes {
        // The command on the left is the last one before the pipe: `a | b | c` is `(a | b) | c`.
        let before = last_in(&commands.starts, *left).and_then(|it| commands.list.get(it));
        let Some(feed) = before.and_then(feed) else { continue };
        for (start, slot) in commands.starts.iter().zip(&mut feeds) {
            if right.start <= *start && *start < right.end {
                slot.get_or_insert(feed.clone());
            }
        }
    }
    feeds
}

fn last_in(starts: &[usize], span: Span) -> Option<usize> {
    starts.iter().rposition(|it| span.start <= *it && *it < span.end)
}

fn feed(command: &Command) -> Option<Feed> {
    if let Some(text) = programs::printed(&command.words) {
        return Some(Feed::Text(text));
    }
    let paths = programs::found(&command.words);
    (!paths.is_empty()).then_some(Feed::Paths(paths))
}
