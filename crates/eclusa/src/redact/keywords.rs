//! Looking for keywords: a quick first look, then one by one, then all at once where that pays.

use std::{
    ops::Range,
    sync::{
        OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
};

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use memchr::memmem;

use super::sieve::Sieve;

/// Texts up to this length are searched word by word, as long as there are few of them: building
/// the automaton takes as long as searching some hundred.
const SHORT: usize = 4 << 10;
const FEW: usize = 64;

/// The keywords of all rules.
pub(super) struct Keywords {
    /// In lower case, in order, each once.
    words: Vec<String>,
    /// Tells most texts from those that could have a keyword.
    sieve: Sieve,
    /// Finds every keyword at once; `None` inside: it cannot be built.
    automaton: OnceLock<Option<AhoCorasick>>,
    /// How many texts were searched word by word.
    searched: AtomicUsize,
}

impl Keywords {
    /// `words` are in lower case, in order, each once.
    pub(super) fn new(words: Vec<String>) -> Keywords {
        Keywords {
            sieve: Sieve::new(words.iter()),
            words,
            automaton: OnceLock::new(),
            searched: AtomicUsize::new(0),
        }
    }

    /// False when no keyword is in the text, in whatever case.
    pub(super) fn may_be_in(&self, text: &str) -> bool {
        if !self.sieve.may_hold(text) {
            return false;
        }
        if self.by_word(text) {
            let text = text.to_ascii_lowercase();
            let text = text.as_bytes();
            return self.words.iter().any(|it| memmem::find(text, it.as_bytes()).is_some());
        }
        self.automaton().is_none_or(|it| it.is_match(text))
    }

    /// Every place of every keyword, by their ends, the longer first; a keyword is told by its
    /// number. Nothing where that cannot be found out.
    pub(super) fn hits(&self, text: &str) -> Option<Vec<(usize, Range<usize>)>> {
        if !self.by_word(text) {
            let all = self.automaton()?.find_overlapping_iter(text);
            return Some(all.map(|it| (it.pattern().as_usize(), it.range())).collect());
        }
        let text = text.to_ascii_lowercase();
        let mut hits = Vec::new();
        for (number, word) in self.words.iter().enumerate() {
            let finder = memmem::Finder::new(word);
            let mut from = 0;
            while let Some(at) = text.as_bytes().get(from..).and_then(|it| finder.find(it)) {
                hits.push((number, from + at..from + at + word.len()));
                from += at + 1;
            }
        }
        hits.sort_by_key(|(_, it)| (it.end, it.start));
        Some(hits)
    }

    /// Whether a text is searched word by word.
    fn by_word(&self, text: &str) -> bool {
        // An empty word would be the first, and is everywhere.
        text.len() <= SHORT
            && self.words.first().is_some_and(|it| !it.is_empty())
            && self.automaton.get().is_none()
            && self.searched.fetch_add(1, Ordering::Relaxed) < FEW
    }

    fn automaton(&self) -> Option<&AhoCorasick> {
        let build = || {
            AhoCorasick::builder()
                .ascii_case_insensitive(true)
                .match_kind(MatchKind::Standard)
                .kind(Some(AhoCorasickKind::DFA))
                .build(&self.words)
                .ok()
        };
        self.automaton.get_or_init(build).as_ref()
    }
}

#[cfg(test)]
mod tests;
