//! Where the hunks of a patch lie in a file.
//!
//! Exactly where the patch says, if the lines are there. Otherwise wherever they are, exactly at
//! first, then with ever more overlooked; but what is overlooked must leave one place only. The
//! work is bounded, so that a file and a patch of many equal lines cannot hold anybody up.

use std::ops::Range;

use super::{
    hunk::{Hunk, HunkLine, HunkNote, LineRole},
    reject::{self, HunkFault},
};
use crate::text::{Newline, plain};

/// How many comparisons of lines the hunks of one file may take.
const WORK: usize = 20_000_000;

/// How many lines of context may be ignored at each end of a hunk.
const FUZZ: usize = 2;

/// How much is overlooked when lines are compared, from nothing on.
const EYES: [Eye; 5] =
    [Eye::Exact, Eye::LineEnds, Eye::TrailingBlanks, Eye::Indents, Eye::Typography];

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Eye {
    Exact,
    LineEnds,
    TrailingBlanks,
    Indents,
    Typography,
}

impl Eye {
    fn same(self, there: &str, wanted: &HunkLine) -> bool {
        let bare = there.strip_suffix('\n').unwrap_or(there);
        let ended = bare.len() < there.len();
        match self {
            Eye::Exact => bare == wanted.text && ended == wanted.ended,
            Eye::LineEnds => {
                let cut = |it| str::strip_suffix(it, '\r').unwrap_or(it);
                cut(bare) == cut(&wanted.text)
            }
            Eye::TrailingBlanks => bare.trim_end() == wanted.text.trim_end(),
            Eye::Indents => bare.trim() == wanted.text.trim(),
            Eye::Typography => {
                bare.trim().chars().map(plain).eq(wanted.text.trim().chars().map(plain))
            }
        }
    }

    fn overlooks(self) -> Option<&'static str> {
        match self {
            // The file's own line ends are kept, which is what everybody wants.
            Eye::Exact | Eye::LineEnds => None,
            Eye::TrailingBlanks => Some("overlooking blanks at the end of lines"),
            Eye::Indents => Some("overlooking indentation"),
            Eye::Typography => Some("overlooking indentation and the kind of quotes and dashes"),
        }
    }
}

/// A file as lines, each with its `\n`.
pub(super) struct LineIndex<'a> {
    pub(super) text: &'a str,
    pub(super) style: Newline,
    lines: Vec<&'a str>,
}

/// Where a hunk lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fit {
    /// The line of its first old line that counts, from 0.
    pub(super) at: usize,
    /// Lines of context that do not count.
    pub(super) skipped_before: usize,
    pub(super) skipped_after: usize,
    eye: Eye,
}

/// A hunk that has its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Placed {
    pub(super) hunk: usize,
    pub(super) fit: Fit,
    /// What had to be overlooked.
    what: Vec<String>,
}

impl Placed {
    pub(super) fn note(&self) -> Option<HunkNote> {
        let noted = !self.what.is_empty();
        noted.then(|| HunkNote { hunk: self.hunk, line: self.fit.at + 1, what: self.what.clone() })
    }
}

impl<'a> LineIndex<'a> {
    pub(super) fn new(text: &'a str) -> LineIndex<'a> {
        LineIndex {
            text,
            style: Newline::detect(text),
            lines: text.split_inclusive('\n').collect(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }

    pub(super) fn get(&self, at: usize) -> Option<&'a str> {
        self.lines.get(at).copied()
    }

    pub(super) fn range(&self, from: usize, to: usize) -> impl Iterator<Item = &'a str> {
        self.lines.get(from..to).unwrap_or_default().iter().copied()
    }

    /// A place for every hunk, or what is wrong with each that has none.
    pub(super) fn place(&self, hunks: &[Hunk]) -> Result<Vec<Placed>, Vec<(usize, HunkFault)>> {
        let mut search = Search { lines: self, work: WORK, taken: Vec::new(), shift: 0, after: 0 };
        let (mut placed, mut faults) = (Vec::new(), Vec::new());
        for (index, hunk) in hunks.iter().enumerate() {
            match search.find(hunk) {
                Ok(fit) => {
                    let what = search.settle(hunk, &fit);
                    placed.push(Placed { hunk: index, fit, what });
                }
                Err(fault) => faults.push((index, fault)),
            }
        }
        if faults.is_empty() { Ok(placed) } else { Err(faults) }
    }
}

struct Search<'a> {
    lines: &'a LineIndex<'a>,
    /// Comparisons that are left.
    work: usize,
    /// What the hunks so far change.
    taken: Vec<Range<usize>>,
    /// How far the last hunk lay from where the patch said.
    shift: isize,
    /// Where the last hunk ended.
    after: usize,
}

impl Search<'_> {
    fn find(&mut self, hunk: &Hunk) -> Result<Fit, HunkFault> {
        let anchor = self.anchor(hunk)?;
        let old: Vec<&HunkLine> = hunk.old().collect();
        if old.is_empty() {
            return self.insertion(hunk, anchor);
        }
        let expected = self.expected(hunk);
        let whole = |at, eye| Fit { at, skipped_before: 0, skipped_after: 0, eye };
        if let Some(at) = expected.filter(|at| !hunk.at_end && self.fits(*at, &old, Eye::Exact)) {
            return Ok(whole(at, Eye::Exact));
        }
        for eye in EYES {
            let places = self.places(&old, eye, hunk.at_end);
            let places = self.free(places, |at| core(hunk, &whole(at, eye)));
            if let Some(at) = self.choose(&places, expected, anchor, eye)? {
                return Ok(whole(at, eye));
            }
        }
        if let Some(fit) = self.with_less_context(hunk, &old, expected, anchor)? {
            return Ok(fit);
        }
        Err(match self.work {
            0 => HunkFault::TooMuch,
            _ => reject::not_found(self.lines.text, hunk, expected, self.applied(hunk)),
        })
    }

    /// Where the patch says that the hunk lies, from 0.
    fn expected(&self, hunk: &Hunk) -> Option<usize> {
        let start = hunk.start?.saturating_sub(1);
        Some(start.saturating_add_signed(self.shift))
    }

    /// A hunk without old lines has nothing but its word for where it belongs.
    fn insertion(&self, hunk: &Hunk, anchor: Option<usize>) -> Result<Fit, HunkFault> {
        let said = hunk.start.map(|it| it.saturating_add_signed(self.shift));
        let end = (hunk.at_end && anchor.is_none()).then_some(self.lines.len());
        let at = anchor.or(end).or(said).ok_or(HunkFault::NoContext)?;
        if at > self.lines.len() {
            return Err(HunkFault::BeyondEnd { line: at, lines: self.lines.len() });
        }
        Ok(Fit { at, skipped_before: 0, skipped_after: 0, eye: Eye::Exact })
    }

    /// The line after the last of the lines that the hunk names before it.
    fn anchor(&mut self, hunk: &Hunk) -> Result<Option<usize>, HunkFault> {
        let mut after = None;
        for anchor in &hunk.anchors {
            let from = after.unwrap_or(self.after);
            let found = self.anchor_from(anchor, from);
            let found = found.or_else(|| after.is_none().then(|| self.anchor_from(anchor, 0))?);
            let missing = || reject::no_anchor(self.lines.text, anchor);
            after = Some(found.ok_or_else(missing)? + 1);
        }
        Ok(after)
    }

    /// The whole line, or else a line that it is the beginning of.
    fn anchor_from(&self, anchor: &str, from: usize) -> Option<usize> {
        let wanted = anchor.trim();
        let lines = || self.lines.range(from, self.lines.len()).map(str::trim);
        let same = lines().position(|it| it == wanted);
        same.or_else(|| lines().position(|it| it.starts_with(wanted))).map(|it| from + it)
    }

    /// All places where the lines are, in ascending order.
    fn places(&mut self, old: &[&HunkLine], eye: Eye, at_end: bool) -> Vec<usize> {
        let Some(last) = self.lines.len().checked_sub(old.len()) else { return Vec::new() };
        let first = if at_end { last } else { 0 };
        (first..=last).filter(|at| self.fits(*at, old, eye)).collect()
    }

    fn fits(&mut self, at: usize, old: &[&HunkLine], eye: Eye) -> bool {
        let Some(there) = self.lines.lines.get(at..at.saturating_add(old.len())) else {
            return false;
        };
        there.iter().zip(old).all(|(there, wanted)| {
            // Long lines take longer to compare.
            let cost = 1 + there.len().min(wanted.text.len()) / 256;
            self.work = self.work.saturating_sub(cost);
            self.work > 0 && eye.same(there, wanted)
        })
    }

    /// The places where no other hunk changes the same lines.
    fn free(&self, places: Vec<usize>, core: impl Fn(usize) -> Range<usize>) -> Vec<usize> {
        let clash = |a: &Range<usize>, b: &Range<usize>| a.start < b.end && b.start < a.end;
        let free = |at: &usize| !self.taken.iter().any(|it| clash(it, &core(*at)));
        places.into_iter().filter(free).collect()
    }

    /// The one place that is meant. `None`: there is none. An error: there are several.
    fn choose(
        &self,
        places: &[usize],
        expected: Option<usize>,
        anchor: Option<usize>,
        eye: Eye,
    ) -> Result<Option<usize>, HunkFault> {
        let several = || HunkFault::Several {
            lines: places.iter().take(10).map(|it| it + 1).collect(),
            count: places.len(),
        };
        if let Some(after) = anchor {
            // Many hunks repeat the line that `@@` names as their first.
            return Ok(places.iter().find(|it| **it + 1 >= after).copied());
        }
        if let [] | [_] = places {
            return Ok(places.first().copied());
        }
        let Some(expected) = expected else {
            let mut later = places.iter().filter(|it| **it >= self.after);
            return match (later.next(), later.next()) {
                (Some(only), None) => Ok(Some(*only)),
                _ => Err(several()),
            };
        };
        let mut near: Vec<(usize, usize)> =
            places.iter().map(|it| (it.abs_diff(expected), *it)).collect();
        near.sort_unstable();
        match near.as_slice() {
            [(0, at), ..] => Ok(Some(*at)),
            // Clearly nearer than any other.
            [(one, at), (two, _), ..] if eye <= Eye::LineEnds && one * 2 <= *two => Ok(Some(*at)),
            _ => Err(several()),
        }
    }

    /// The same with some lines of context ignored, if that leaves one place only.
    fn with_less_context(
        &mut self,
        hunk: &Hunk,
        old: &[&HunkLine],
        expected: Option<usize>,
        anchor: Option<usize>,
    ) -> Result<Option<Fit>, HunkFault> {
        let (before, after) = hunk.margins();
        for fuzz in 1..=FUZZ {
            for (skip, drop) in [(fuzz, 0), (0, fuzz), (fuzz, fuzz)] {
                let kept = old.get(skip..old.len().saturating_sub(drop)).unwrap_or_default();
                let says_something = kept.iter().any(|it| it.text.trim().len() > 1);
                if skip > before || drop > after || !says_something {
                    continue;
                }
                for eye in [Eye::Exact, Eye::LineEnds, Eye::TrailingBlanks] {
                    let fit = |at| Fit { at, skipped_before: skip, skipped_after: drop, eye };
                    let places = self.places(kept, eye, hunk.at_end && drop == 0);
                    let places = self.free(places, |at| core(hunk, &fit(at)));
                    let expected = expected.map(|it| it + skip);
                    let loose = Eye::TrailingBlanks;
                    if let Some(at) = self.choose(&places, expected, anchor, loose)? {
                        return Ok(Some(fit(at)));
                    }
                }
            }
        }
        Ok(None)
    }

    /// Where the file already has what the hunk would make, from 0.
    fn applied(&mut self, hunk: &Hunk) -> Option<usize> {
        let new: Vec<&HunkLine> = hunk.made().collect();
        let adds = hunk.lines.iter().any(|it| it.role == LineRole::Add && it.text.trim().len() > 1);
        let places = if adds { self.places(&new, Eye::LineEnds, false) } else { Vec::new() };
        places.first().copied()
    }

    /// Keeps in mind where a hunk lies, and says what was overlooked.
    fn settle(&mut self, hunk: &Hunk, fit: &Fit) -> Vec<String> {
        let old = hunk.old().count();
        let mut what = Vec::new();
        if let Some(start) = hunk.start {
            let said = if old == 0 { start } else { start.saturating_sub(1) + fit.skipped_before };
            self.shift = fit.at.cast_signed() - said.cast_signed();
            match self.shift {
                0 => {}
                1.. => what.push(format!(
                    "{} later than the patch says",
                    counted(self.shift.unsigned_abs())
                )),
                _ => what.push(format!(
                    "{} earlier than the patch says",
                    counted(self.shift.unsigned_abs())
                )),
            }
        }
        what.extend(fit.eye.overlooks().map(str::to_owned));
        if fit.skipped_before > 0 {
            what.push(format!("ignoring {} of context before it", counted(fit.skipped_before)));
        }
        if fit.skipped_after > 0 {
            what.push(format!("ignoring {} of context after it", counted(fit.skipped_after)));
        }
        if hunk.miscounted {
            what.push("although the numbers in its header do not fit its lines".to_owned());
        }
        if old == 0 && self.lines.len() > 0 && hunk.anchors.is_empty() {
            what.push("where it has no context to confirm the place".to_owned());
        }
        let core = core(hunk, fit);
        self.after = core.end;
        self.taken.push(core);
        what
    }
}

/// The lines of the file from the first change of a hunk to its last.
fn core(hunk: &Hunk, fit: &Fit) -> Range<usize> {
    let (before, after) = hunk.margins();
    let old = hunk.old().count();
    let start = fit.at + before - fit.skipped_before;
    start..start + old.saturating_sub(before + after)
}

fn counted(lines: usize) -> String {
    if lines == 1 { "1 line".to_owned() } else { format!("{lines} lines") }
}
