//! What a change did to a text: how many lines, and the lines around it with their numbers, so
//! that nobody need read the file again.

use std::{fmt::Write as _, ops::Range};

use eclusa::{
    Change, Changes, FileNode, Node,
    workspace::{Bounds, Diff, InlineContents},
};
use memchr::{memchr, memchr_iter, memrchr};

use crate::text::{decode, short};

#[cfg(test)]
mod tests;

/// Lines that are shown on both sides of a change.
const CONTEXT: usize = 3;
/// So many lines are shown at the most.
const LINES: usize = 40;
/// Longer stretches are not compared line by line.
const COMPARED: usize = 1 << 20;

/// What changed in a text.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct EditSummary {
    /// Lines that came.
    pub(crate) added: u64,
    /// Lines that went.
    pub(crate) removed: u64,
    /// The lines that are there now, with their numbers.
    pub(crate) lines: String,
}

impl EditSummary {
    /// What changed between two contents; nothing where one of them is not text.
    pub(crate) fn new(old: &[u8], new: &[u8]) -> Option<EditSummary> {
        let (old, new) = (decode(old).ok()?, decode(new).ok()?);
        Some(EditSummary::of_text(&old.text, &new.text))
    }

    /// What changed between two texts.
    pub(crate) fn of_text(old: &str, new: &str) -> EditSummary {
        let (head, tail) = ends(old.as_bytes(), new.as_bytes());
        if old.len() + new.len() - 2 * (head + tail) > COMPARED {
            return EditSummary::coarse(old, new, head, tail);
        }
        let part = |text: &str| {
            let part = text.as_bytes().get(head..text.len() - tail).unwrap_or_default();
            Node::File(FileNode::new(part, 0))
        };
        // The lines in between are compared by what compares them for people, too.
        let (before, after) = (Some(part(old)), Some(part(new)));
        let changes = Changes::of([Change { path: "part".into(), from: None, before, after }]);
        let diff = Diff::of(&changes, &InlineContents, Bounds::default());
        let (sum, unified) = (diff.summary(), diff.unified());

        let above = memchr_iter(b'\n', part_of(new, 0..head)).count();
        let length = memchr_iter(b'\n', part_of(new, head..new.len() - tail)).count();
        let shown = unified.lines().filter_map(hunk).map(|(first, count)| {
            // Counted from 0, and wider where the compared part ends.
            let (start, end) = (first.saturating_sub(usize::from(count > 0)), first + count);
            let end = end.saturating_sub(usize::from(count > 0));
            let start = if start == 0 { above.saturating_sub(CONTEXT) } else { above + start };
            let end = if end >= length { above + end + CONTEXT } else { above + end };
            start..end
        });
        let lines = numbered(new, head, above, shown);
        EditSummary { added: sum.added, removed: sum.removed, lines }
    }

    /// The same for a long stretch: all its lines went, and all came.
    fn coarse(old: &str, new: &str, head: usize, tail: usize) -> EditSummary {
        let count = |text: &str| {
            let part = part_of(text, head..text.len() - tail);
            let open = part.last().is_some_and(|it| *it != b'\n');
            memchr_iter(b'\n', part).count() + usize::from(open)
        };
        let (removed, added) = (count(old), count(new));
        let above = memchr_iter(b'\n', part_of(new, 0..head)).count();
        let lines = numbered(new, head, above, std::iter::once(above..above + added));
        EditSummary { added: added as u64, removed: removed as u64, lines }
    }

    /// `+3 -1`
    pub(crate) fn counts(&self) -> String {
        format!("+{} -{}", self.added, self.removed)
    }
}

fn part_of(text: &str, bytes: Range<usize>) -> &[u8] {
    text.as_bytes().get(bytes).unwrap_or_default()
}

/// The first new line, from 1, and how many, of the head of a hunk.
fn hunk(line: &str) -> Option<(usize, usize)> {
    let new = line.strip_prefix("@@ -")?.split(' ').nth(1)?.strip_prefix('+')?;
    let (first, count) = new.split_once(',').unwrap_or((new, "1"));
    Some((first.parse().ok()?, count.parse().ok()?))
}

/// The lines in these ranges (from 0), given that line `above` begins at byte `head`.
fn numbered(
    text: &str,
    head: usize,
    above: usize,
    ranges: impl Iterator<Item = Range<usize>>,
) -> String {
    let (mut at, mut number) = (head, above);
    while number > above.saturating_sub(CONTEXT) {
        let before = part_of(text, 0..at.saturating_sub(1));
        at = memrchr(b'\n', before).map_or(0, |it| it + 1);
        number -= 1;
    }
    let mut lines = text.get(at..).unwrap_or_default().lines().zip(number..).peekable();
    let (mut out, mut count, mut last) = (String::new(), 0, None);
    for range in ranges {
        while lines.next_if(|(_, at)| *at < range.start).is_some() {}
        while let Some((line, at)) = lines.next_if(|(_, at)| *at < range.end) {
            if count == LINES {
                out.push_str("     …\n");
                return out;
            }
            if last.is_some_and(|it| it + 1 < at) {
                out.push_str("     …\n");
            }
            let _ = writeln!(out, "{:>6}\t{}", at + 1, short(line));
            (last, count) = (Some(at), count + 1);
        }
    }
    out
}

/// How many bytes are the same at the start and at the end, in whole lines.
fn ends(old: &[u8], new: &[u8]) -> (usize, usize) {
    let same = same_bytes(old, new);
    let head = memrchr(b'\n', old.get(..same).unwrap_or_default()).map_or(0, |it| it + 1);
    let rest = |text: &'_ [u8]| text.len() - head;
    let most = rest(old).min(rest(new));
    let pairs = old.iter().rev().zip(new.iter().rev()).take(most);
    let same = pairs.take_while(|(a, b)| a == b).count();
    // Only what begins a line on both sides is the same line.
    let tail = old.get(old.len() - same..).unwrap_or_default();
    let begins = |text: &[u8]| {
        let at = text.len() - same;
        at == 0 || text.get(at - 1) == Some(&b'\n')
    };
    let tail = match begins(old) && begins(new) {
        true => same,
        false => memchr(b'\n', tail).map_or(0, |at| same - at - 1),
    };
    (head, tail)
}

/// How many bytes are the same at the start: in steps, because files are long and edits short.
fn same_bytes(old: &[u8], new: &[u8]) -> usize {
    const STEP: usize = 4096;
    let steps = old.chunks(STEP).zip(new.chunks(STEP)).take_while(|(a, b)| a == b).count();
    let done = (steps * STEP).min(old.len()).min(new.len());
    let (old, new) = (old.get(done..).unwrap_or_default(), new.get(done..).unwrap_or_default());
    done + old.iter().zip(new).take_while(|(a, b)| a == b).count()
}
