//! Where a text is almost found: the same but for blanks, quotes and case, or else the most
//! similar lines. The work is bounded, whatever the text.

use std::{collections::HashMap, ops::Range};

use memchr::memmem;

/// How much of a text is looked at. More is not worth the wait for a hint.
const SCANNED: usize = 16 << 20;

/// How much of a line is looked at.
const OF_A_LINE: usize = 400;

/// How many lines of what was wanted are looked for.
const WANTED: usize = 200;

/// How many different places may be in the running.
const PLACES: usize = 100_000;

/// How alike the best line must be to be worth showing.
const ALIKE: f64 = 0.5;

/// The beginning of a text that hints are looked for in.
pub(super) fn scanned(text: &str) -> &str {
    text.get(..text.floor_char_boundary(SCANNED)).unwrap_or(text)
}

/// A character without its typography: straight quotes, plain dashes and spaces.
pub(crate) fn plain(it: char) -> char {
    match it {
        '‘' | '’' | '‚' | '‛' | '′' | '´' => '\'',
        '“' | '”' | '„' | '‟' | '″' | '«' | '»' => '"',
        '‐' | '‑' | '‒' | '–' | '—' | '―' | '−' => '-',
        '\u{A0}' | '\u{2000}'..='\u{200A}' | '\u{202F}' | '\u{205F}' | '\u{3000}' => ' ',
        _ => it,
    }
}

/// What is left of a character when blanks, typography and case do not count.
pub(super) fn bone(it: char) -> Option<char> {
    match it {
        _ if it.is_whitespace() => None,
        _ if eclusa::workspace::is_ignorable(it) => None,
        _ => Some(plain(it).to_ascii_lowercase()),
    }
}

/// Where the text has what is wanted but for blanks, typography and case: from its first visible
/// character to its last, and whether it is there again.
pub(super) fn bones(text: &str, wanted: &str) -> Option<(Range<usize>, bool)> {
    let skeleton = |it: &str| it.chars().filter_map(bone).collect::<String>();
    let (hay, needle) = (skeleton(text), skeleton(wanted));
    if needle.is_empty() {
        return None;
    }
    let mut found = memmem::find_iter(hay.as_bytes(), needle.as_bytes());
    let first = found.next()?;
    let again = found.next().is_some();

    let (mut start, mut seen) = (None, 0);
    for (at, it) in text.char_indices() {
        let Some(bone) = bone(it) else { continue };
        if seen == first {
            start = Some(at);
        }
        seen += bone.len_utf8();
        if seen == first + needle.len() {
            return Some((start?..at + it.len_utf8(), again));
        }
    }
    None
}

/// The lines that are most like what is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Nearest {
    /// The first of them, from 0.
    pub(crate) first: usize,
    /// How many there are at most.
    pub(crate) count: usize,
}

impl Nearest {
    /// `None` if nothing is similar.
    pub(crate) fn find(text: &str, wanted: &str) -> Option<Nearest> {
        let text = scanned(text);
        let lines: Vec<&str> = wanted.trim_matches(['\n', '\r']).lines().take(WANTED).collect();
        let first = same_lines(text, &lines).or_else(|| similar_line(text, &lines))?;
        Some(Nearest { first, count: lines.len() })
    }
}

/// Where most of the lines are that are the same but for blanks around them. Each line votes for
/// the place where the first one would then be.
fn same_lines(text: &str, wanted: &[&str]) -> Option<usize> {
    let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
    for (index, line) in wanted.iter().enumerate() {
        let line = line.trim();
        let known = places.entry(line).or_default();
        // Brackets are everywhere and say nothing; of many equal lines, some are enough.
        if line.len() > 3 && known.len() < 4 {
            known.push(index);
        }
    }
    let mut votes: HashMap<usize, usize> = HashMap::new();
    for (number, line) in text.split('\n').enumerate() {
        let line = line.trim();
        for index in places.get(line).into_iter().flatten() {
            let Some(first) = number.checked_sub(*index) else { continue };
            if votes.len() < PLACES || votes.contains_key(&first) {
                *votes.entry(first).or_default() += line.len().min(40);
            }
        }
    }
    let best = votes.into_iter().max_by_key(|(first, votes)| (*votes, usize::MAX - first));
    best.map(|(first, _)| first)
}

/// Where the line is that shares most pairs of letters with the longest one that is wanted.
fn similar_line(text: &str, wanted: &[&str]) -> Option<usize> {
    let trimmed = wanted.iter().map(|it| start_of(it)).enumerate();
    let (index, longest) = trimmed.max_by_key(|(index, it)| (it.len(), usize::MAX - index))?;
    let mut pairs = Pairs::new(longest);
    let mut best: Option<(f64, usize)> = None;
    for (number, line) in text.split('\n').enumerate() {
        let alike = pairs.alike(start_of(line));
        if alike > best.map_or(ALIKE, |it| it.0) {
            best = Some((alike, number));
        }
    }
    best.map(|(_, number)| number.saturating_sub(index))
}

/// The beginning of a line, without blanks around it.
fn start_of(line: &str) -> &str {
    let line = line.get(..line.floor_char_boundary(OF_A_LINE * 2)).unwrap_or(line).trim();
    line.get(..line.floor_char_boundary(OF_A_LINE)).unwrap_or(line)
}

/// How often each pair of neighbouring bytes is in a line, counted in buckets.
struct Pairs {
    counts: Vec<u16>,
    total: usize,
    taken: Vec<usize>,
}

impl Pairs {
    fn new(line: &str) -> Pairs {
        let mut counts = vec![0_u16; 1 << 12];
        let mut total = 0;
        for bucket in Pairs::buckets(line) {
            if let Some(count) = counts.get_mut(bucket) {
                *count += 1;
                total += 1;
            }
        }
        Pairs { counts, total, taken: Vec::new() }
    }

    fn buckets(line: &str) -> impl Iterator<Item = usize> {
        let next = line.bytes().skip(1);
        line.bytes().zip(next).map(|(a, b)| (usize::from(a) * 61 + usize::from(b)) & 0xFFF)
    }

    /// From 0 (no pair in common) to 1 (all of them).
    fn alike(&mut self, line: &str) -> f64 {
        for bucket in Pairs::buckets(line) {
            if let Some(count) = self.counts.get_mut(bucket).filter(|it| **it > 0) {
                *count -= 1;
                self.taken.push(bucket);
            }
        }
        let (common, all) = (self.taken.len(), self.total + line.len().saturating_sub(1));
        for bucket in self.taken.drain(..) {
            if let Some(count) = self.counts.get_mut(bucket) {
                *count += 1;
            }
        }
        if all == 0 {
            return 0.0;
        }
        // Lines are cut short before, so the numbers are small and the conversion exact.
        let share = |part: usize, whole: usize| part as f64 / whole.max(1) as f64;
        let contained = if all <= self.total * 5 { share(common, self.total) * 0.9 } else { 0.0 };
        share(2 * common, all).max(contained)
    }
}
