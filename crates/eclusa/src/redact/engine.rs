//! Running the rules over a text: keywords first, then only the expressions that could match.

use std::{borrow::Cow, collections::BTreeMap, ops::Range};

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use super::{BY_NAME, SecretRule};

const OPEN: &str = "[redacted:";
/// The mark for everything, where the rules cannot be used.
const UNREADABLE: &str = "rules-unreadable";

/// How often a text is looked at again.
const ROUNDS: usize = 16;
/// The longest id of a rule.
pub(super) const LONGEST_ID: usize = 64;

/// Rules, and what makes them quick.
pub(super) struct Engine {
    rules: Vec<SecretRule>,
    /// Finds every keyword at once; `None` when it could not be built.
    keywords: Option<AhoCorasick>,
    /// The rules that each keyword stands for.
    of_keyword: Vec<Vec<usize>>,
    /// The rules without a keyword, which always run.
    always: Vec<usize>,
}

/// Something found.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Found {
    range: Range<usize>,
    rule: usize,
}

impl Engine {
    pub(super) fn new(rules: Vec<SecretRule>) -> Engine {
        let mut words: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        let mut always = Vec::new();
        for (index, rule) in rules.iter().enumerate() {
            if rule.keywords().is_empty() {
                always.push(index);
            }
            for word in rule.keywords() {
                words.entry(word.to_ascii_lowercase()).or_default().push(index);
            }
        }
        let keywords = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::Standard)
            .kind(Some(AhoCorasickKind::DFA))
            .build(words.keys())
            .ok();
        Engine { rules, keywords, of_keyword: words.into_values().collect(), always }
    }

    /// Redacts everything.
    pub(super) fn all() -> Engine {
        let nothing = Vec::new();
        Engine { rules: Vec::new(), keywords: None, of_keyword: nothing, always: Vec::new() }
    }

    pub(super) fn rules(&self) -> &[SecretRule] {
        &self.rules
    }

    /// The text without its secrets, and how many there were.
    ///
    /// What it returns has no secrets left that it knows of: a mark may uncover another one, so
    /// it looks again until it finds none.
    pub(super) fn redact<'a>(&self, text: &'a str) -> (Cow<'a, str>, usize) {
        let mut shown = Cow::Borrowed(text);
        let mut count = 0;
        for _ in 0..ROUNDS {
            let found = self.find(&shown);
            if found.is_empty() {
                return (shown, count);
            }
            count += found.len();
            shown = Cow::Owned(self.replace(&shown, &found));
        }
        // Somebody made a text that uncovers one after the other without end: all of it goes.
        (Cow::Owned(format!("{OPEN}{UNREADABLE}]")), count + 1)
    }

    /// True when the text is a mark and nothing else.
    pub(super) fn is_mark(&self, text: &str) -> bool {
        text.starts_with(OPEN)
            && self.marks(text).first().is_some_and(|mark| *mark == (0..text.len()))
    }

    fn find(&self, text: &str) -> Vec<Found> {
        let Some(keywords) = &self.keywords else {
            let done = text.is_empty() || self.is_mark(text);
            return if done {
                Vec::new()
            } else {
                vec![Found { range: 0..text.len(), rule: usize::MAX }]
            };
        };
        let Some(candidates) = self.candidates(keywords, text) else { return Vec::new() };
        let mut found = Vec::new();
        for (index, rule) in self.rules.iter().enumerate() {
            if candidates.contains(index) {
                let ranges = rule.find(text).into_iter();
                found.extend(ranges.map(|range| Found { range, rule: index }));
            }
        }
        if found.is_empty() {
            return found;
        }
        self.apart(text, found)
    }

    /// The rules that could match, going by their keywords; `None` when there are none.
    fn candidates(&self, keywords: &AhoCorasick, text: &str) -> Option<Rules> {
        let mut hits = keywords.find_overlapping_iter(text).peekable();
        if hits.peek().is_none() && self.always.is_empty() {
            return None;
        }
        let mut rules = Rules::new(self.rules.len());
        self.always.iter().for_each(|rule| rules.insert(*rule));
        for hit in hits {
            let of = self.of_keyword.get(hit.pattern().as_usize());
            of.into_iter().flatten().for_each(|rule| rules.insert(*rule));
        }
        Some(rules)
    }

    /// What was found, in order and not overlapping, marks that are there already left alone.
    fn apart(&self, text: &str, mut found: Vec<Found>) -> Vec<Found> {
        let marks = self.marks(text);
        for Found { range, .. } in &mut found {
            let first = marks.partition_point(|mark| mark.end <= range.start);
            let touched = marks.iter().skip(first).take_while(|mark| mark.start < range.end);
            let (mut start, mut end, mut covered) = (range.start, range.end, 0);
            for mark in touched {
                start = start.min(mark.start);
                end = end.max(mark.end);
                covered += mark.len();
            }
            // Nothing but marks: there is nothing left to take away.
            *range = if end - start == covered { 0..0 } else { start..end };
        }
        found.retain(|it| !it.range.is_empty());
        found.sort_by_key(|it| (it.range.start, it.rule));
        let mut apart: Vec<Found> = Vec::new();
        for next in found {
            match apart.last_mut() {
                Some(last) if next.range.start < last.range.end => {
                    last.range.end = last.range.end.max(next.range.end);
                    // Rules are listed from the telling to the guessing.
                    last.rule = last.rule.min(next.rule);
                }
                _ => apart.push(next),
            }
        }
        apart
    }

    /// Where marks stand in a text. Only marks of rules that are known count, so that nothing
    /// hides by looking like one.
    fn marks(&self, text: &str) -> Vec<Range<usize>> {
        let mut marks = Vec::new();
        for (start, _) in text.match_indices(OPEN) {
            let rest = text.get(start + OPEN.len()..).unwrap_or_default();
            let end = rest.bytes().take(LONGEST_ID + 1).position(|byte| byte == b']');
            let Some(id) = end.and_then(|end| rest.get(..end)) else { continue };
            if id == BY_NAME || id == UNREADABLE || self.rules.iter().any(|rule| rule.id() == id) {
                marks.push(start..start + OPEN.len() + id.len() + 1);
            }
        }
        marks
    }

    fn replace(&self, text: &str, found: &[Found]) -> String {
        let mut out = String::with_capacity(text.len());
        let mut at = 0;
        for Found { range, rule } in found {
            out.push_str(text.get(at..range.start).unwrap_or_default());
            out.push_str(OPEN);
            out.push_str(self.rules.get(*rule).map_or(UNREADABLE, |rule| rule.id()));
            out.push(']');
            at = range.end;
        }
        out.push_str(text.get(at..).unwrap_or_default());
        out
    }
}

/// A set of rules.
struct Rules {
    few: u128,
    many: Vec<u128>,
}

impl Rules {
    fn new(most: usize) -> Rules {
        Rules { few: 0, many: vec![0; (most / 128) * usize::from(most > 128)] }
    }

    fn insert(&mut self, rule: usize) {
        if let Some(word) = self.word(rule / 128) {
            *word |= 1 << (rule % 128);
        }
    }

    fn contains(&self, rule: usize) -> bool {
        let word = match rule / 128 {
            0 => self.few,
            further => self.many.get(further - 1).copied().unwrap_or(0),
        };
        word & (1 << (rule % 128)) != 0
    }

    fn word(&mut self, index: usize) -> Option<&mut u128> {
        match index {
            0 => Some(&mut self.few),
            further => self.many.get_mut(further - 1),
        }
    }
}
