//! Which lines of a text differ from those of another.
//!
//! The work is bounded by the lengths of the texts and never by a clock, so that the same texts
//! always differ in the same lines. What texts have in common at both ends costs next to nothing;
//! between very different long texts the answer is coarser, and still right.

use std::{collections::HashMap, ops::Range};

use memchr::{memchr, memchr_iter, memrchr};
use similar::{Algorithm, DiffOp, capture_diff_slices};

/// Lines that are repeated around a difference.
const CONTEXT: usize = 3;
/// Stretches of at most so many lines on both sides together are compared line by line.
const NEAR: usize = 6_000;
/// More lines than this on both sides together are not told apart.
const FAR: usize = 400_000;

/// Everything in which two texts differ.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Compared {
    pub(super) hunks: Vec<Hunk>,
    pub(super) added: u64,
    pub(super) removed: u64,
}

/// Lines that differ, with those around them.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Hunk {
    /// The first line and how many, counted from 0, before and after.
    pub(super) old: (usize, usize),
    pub(super) new: (usize, usize),
    pub(super) runs: Vec<LineRun>,
}

/// Lines one after another that have the same sign.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct LineRun {
    pub(super) sign: Sign,
    /// Which bytes: of the new text where they were added, of the old one otherwise.
    pub(super) bytes: Range<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    Same,
    Removed,
    Added,
}

/// A stretch of both texts that is the same, or is not.
#[derive(Debug, Clone)]
struct Stretch {
    same: bool,
    old: LineSpan,
    new: LineSpan,
}

/// Lines and bytes of one text.
#[derive(Debug, Clone, Default)]
struct LineSpan {
    bytes: Range<usize>,
    lines: usize,
}

/// Compares two texts line by line; a line includes its end.
pub(super) fn compare(old: &str, new: &str) -> Compared {
    let (old, new) = (old.as_bytes(), new.as_bytes());
    let (head, tail) = ends(old, new);
    let (old_end, new_end) = (old.len() - tail, new.len() - tail);
    let mut all = Stretches { old, new, found: Vec::new() };
    all.push(true, 0..head, 0..head);
    all.middle(head..old_end, head..new_end);
    all.push(true, old_end..old.len(), new_end..new.len());
    let mut compared = hunks(old, &all.found);
    for it in all.found.iter().filter(|it| !it.same) {
        compared.removed += it.old.lines as u64;
        compared.added += it.new.lines as u64;
    }
    compared
}

/// How many bytes are the same at the start and at the end, in whole lines.
fn ends(old: &[u8], new: &[u8]) -> (usize, usize) {
    let same = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let head = match same == old.len() && same == new.len() {
        true => same,
        false => memrchr(b'\n', part(old, 0..same)).map_or(0, |at| at + 1),
    };
    let (old, new) = (part(old, head..old.len()), part(new, head..new.len()));
    let same = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count();
    let starts = |text: &[u8]| {
        let before = text.len() - same;
        before == 0 || text.get(before - 1) == Some(&b'\n')
    };
    let tail = match starts(old) && starts(new) {
        true => same,
        false => {
            let end = part(old, old.len() - same..old.len());
            memchr(b'\n', end).map_or(0, |at| same - at - 1)
        }
    };
    (head, tail)
}

fn part(text: &[u8], bytes: Range<usize>) -> &[u8] {
    text.get(bytes).unwrap_or_default()
}

/// How many lines these bytes have. The last one may lack its end.
fn count(text: &[u8]) -> usize {
    memchr_iter(b'\n', text).count() + usize::from(text.last().is_some_and(|it| *it != b'\n'))
}

struct Stretches<'a> {
    old: &'a [u8],
    new: &'a [u8],
    found: Vec<Stretch>,
}

impl Stretches<'_> {
    /// Adds a stretch, to the last one if that is of the same sort.
    fn push(&mut self, same: bool, old: Range<usize>, new: Range<usize>) {
        if old.is_empty() && new.is_empty() {
            return;
        }
        let old = LineSpan { lines: count(part(self.old, old.clone())), bytes: old };
        let new = LineSpan { lines: count(part(self.new, new.clone())), bytes: new };
        match self.found.last_mut() {
            Some(last) if last.same == same => {
                last.old.join(old);
                last.new.join(new);
            }
            _ => self.found.push(Stretch { same, old, new }),
        }
    }

    /// What lies between the ends that are the same.
    fn middle(&mut self, old: Range<usize>, new: Range<usize>) {
        let lines = |text: &[u8]| count(text);
        let (n, m) = (lines(part(self.old, old.clone())), lines(part(self.new, new.clone())));
        if n == 0 || m == 0 || n + m > FAR {
            return self.push(false, old, new);
        }
        let mut ids = HashMap::new();
        let a = Lines::new(self.old, old, &mut ids);
        let b = Lines::new(self.new, new, &mut ids);
        let (mut at_a, mut at_b) = (0, 0);
        for (to_a, to_b) in anchors(&a.ids, &b.ids).into_iter().chain([(n, m)]) {
            self.gap(&a, at_a..to_a, &b, at_b..to_b);
            (at_a, at_b) = (to_a, to_b);
        }
    }

    /// What lies between two lines that were found on both sides.
    fn gap(&mut self, a: &Lines, old: Range<usize>, b: &Lines, new: Range<usize>) {
        if old.len() + new.len() > NEAR {
            return self.push(false, a.bytes(&old), b.bytes(&new));
        }
        let (x, y) = (a.ids.get(old.clone()), b.ids.get(new.clone()));
        let (x, y) = (x.unwrap_or_default(), y.unwrap_or_default());
        for op in capture_diff_slices(Algorithm::Myers, x, y) {
            let same = matches!(op, DiffOp::Equal { .. });
            let (from, to) = (op.old_range(), op.new_range());
            let from = a.bytes(&(old.start + from.start..old.start + from.end));
            let to = b.bytes(&(new.start + to.start..new.start + to.end));
            self.push(same, from, to);
        }
    }
}

impl LineSpan {
    fn join(&mut self, next: LineSpan) {
        self.bytes.end = next.bytes.end;
        self.lines += next.lines;
    }
}

/// The lines of a stretch: a number for each, and where they begin.
struct Lines {
    ids: Vec<u32>,
    starts: Vec<usize>,
}

impl Lines {
    fn new<'a>(text: &'a [u8], of: Range<usize>, known: &mut HashMap<&'a [u8], u32>) -> Lines {
        let mut lines = Lines { ids: Vec::new(), starts: vec![of.start] };
        let mut at = of.start;
        while at < of.end {
            let rest = part(text, at..of.end);
            let line = part(rest, 0..memchr(b'\n', rest).map_or(rest.len(), |end| end + 1));
            let next = known.len() as u32;
            lines.ids.push(*known.entry(line).or_insert(next));
            at += line.len();
            lines.starts.push(at);
        }
        lines
    }

    fn bytes(&self, lines: &Range<usize>) -> Range<usize> {
        let at = |line: usize| self.starts.get(line).copied().unwrap_or_default();
        at(lines.start)..at(lines.end)
    }
}

/// Pairs of lines that occur once on each side, in the same order on both. Short texts need none.
fn anchors(a: &[u32], b: &[u32]) -> Vec<(usize, usize)> {
    if a.len() + b.len() <= NEAR {
        return Vec::new();
    }
    let (once_a, once_b) = (once(a), once(b));
    let mut pairs: Vec<(usize, usize)> =
        once_a.iter().filter_map(|(id, at)| Some(((*at)?, (*once_b.get(id)?)?))).collect();
    pairs.sort_unstable();
    rising(&pairs)
}

/// Where each line is that occurs once.
fn once(ids: &[u32]) -> HashMap<u32, Option<usize>> {
    let mut places = HashMap::with_capacity(ids.len());
    for (at, id) in ids.iter().enumerate() {
        places.entry(*id).and_modify(|it| *it = None).or_insert(Some(at));
    }
    places
}

/// The longest selection of pairs, sorted by their first, whose second rises too.
fn rising(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // The last pair of the best selection of each length, and the pair before each.
    let mut best: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    let second = |at: &usize| pairs.get(*at).map(|it| it.1);
    for (at, pair) in pairs.iter().enumerate() {
        let length = best.partition_point(|it| second(it) < Some(pair.1));
        before.push(length.checked_sub(1).and_then(|it| best.get(it).copied()));
        match best.get_mut(length) {
            Some(it) => *it = at,
            None => best.push(at),
        }
    }
    let mut chosen = Vec::with_capacity(best.len());
    let mut at = best.last().copied();
    while let Some(it) = at {
        chosen.extend(pairs.get(it));
        at = before.get(it).copied().flatten();
    }
    chosen.reverse();
    chosen
}

/// The differences with a few lines around each.
fn hunks(old: &[u8], all: &[Stretch]) -> Compared {
    let mut compared = Compared::default();
    let mut open: Option<Hunk> = None;
    let (mut old_line, mut new_line) = (0, 0);
    for (index, it) in all.iter().enumerate() {
        if it.same {
            let last = index + 1 == all.len();
            if let Some(mut hunk) = open.take() {
                if !last && it.old.lines <= 2 * CONTEXT {
                    hunk.add(Sign::Same, &it.old);
                    open = Some(hunk);
                } else {
                    hunk.add(Sign::Same, &first(old, &it.old));
                    compared.hunks.push(hunk);
                }
            }
            if open.is_none() && !last {
                let lead = last_of(old, &it.old);
                let skipped = it.old.lines - lead.lines;
                let mut hunk = Hunk::default();
                (hunk.old.0, hunk.new.0) = (old_line + skipped, new_line + skipped);
                hunk.add(Sign::Same, &lead);
                open = Some(hunk);
            }
        } else {
            let hunk = open.get_or_insert_with(Hunk::default);
            hunk.add(Sign::Removed, &it.old);
            hunk.add(Sign::Added, &it.new);
        }
        old_line += it.old.lines;
        new_line += it.new.lines;
    }
    compared.hunks.extend(open);
    compared
}

impl Hunk {
    fn add(&mut self, sign: Sign, span: &LineSpan) {
        if span.bytes.is_empty() {
            return;
        }
        if sign != Sign::Added {
            self.old.1 += span.lines;
        }
        if sign != Sign::Removed {
            self.new.1 += span.lines;
        }
        self.runs.push(LineRun { sign, bytes: span.bytes.clone() });
    }
}

/// The first few lines of a stretch.
fn first(text: &[u8], span: &LineSpan) -> LineSpan {
    let bytes = part(text, span.bytes.clone());
    let end = memchr_iter(b'\n', bytes).nth(CONTEXT - 1).map_or(bytes.len(), |at| at + 1);
    LineSpan { bytes: span.bytes.start..span.bytes.start + end, lines: span.lines.min(CONTEXT) }
}

/// The last few lines of a stretch that ends with a line's end.
fn last_of(text: &[u8], span: &LineSpan) -> LineSpan {
    if span.lines <= CONTEXT {
        return span.clone();
    }
    let bytes = part(text, span.bytes.clone());
    let start = memchr::memrchr_iter(b'\n', bytes).nth(CONTEXT).map_or(0, |at| at + 1);
    LineSpan { bytes: span.bytes.start + start..span.bytes.end, lines: CONTEXT }
}
