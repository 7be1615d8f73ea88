//! Two pieces of text side by side, line by line, for somebody who expected them to be the same.

use std::{fmt::Write as _, ops::Range};

use similar::{Algorithm, DiffTag, capture_diff_slices};

/// How many lines of each piece are compared and shown.
const LINES: usize = 30;

/// How much of a line is shown.
const WIDTH: usize = 160;

/// What the lines of a file are shown against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// `old_string` of an edit.
    OldString,
    /// The lines of a hunk.
    Patch,
}

impl Side {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Side::OldString => "`old_string`",
            Side::Patch => "the patch",
        }
    }
}

#[derive(Clone, Copy)]
enum EditStep<'a> {
    Both(usize, &'a str),
    There(usize, &'a str),
    Wanted(&'a str),
}

/// The lines of the file from line `first` (from 0), of which `count` were meant, against the
/// lines that were wanted. What only one side has is marked: `-` the file, `+` the other. Gives
/// the first line that is shown (from 0) as well.
pub(crate) fn side_by_side(
    text: &str,
    first: usize,
    count: usize,
    wanted: &str,
    side: Side,
) -> (usize, String) {
    // Some lines more on both sides, in case what is there is longer than what is wanted.
    let from = first.saturating_sub(3);
    let there = text.split('\n').skip(from).take(first - from + count.min(LINES) + 3);
    let there: Vec<&str> = there.map(|it| it.strip_suffix('\r').unwrap_or(it)).collect();
    let all: Vec<&str> = wanted.trim_matches(['\n', '\r']).lines().collect();
    let shown = all.get(..all.len().min(LINES)).unwrap_or(&all);

    let mut steps = steps(&there, shown, from);
    leave_out_surroundings(&mut steps, first..first + count);
    let blanks = steps.iter().any(|step| match step {
        EditStep::There(_, line) | EditStep::Wanted(line) => makes_blanks_visible(line, &steps),
        EditStep::Both(..) => false,
    });
    let mut out = format!("(`-` is the file, `+` is {}", side.name());
    out.push_str(if blanks { "; `·` is a space, `→` a tab):" } else { "):" });
    for step in &steps {
        let (number, mark, line) = match step {
            EditStep::Both(number, line) => (Some(*number), ' ', *line),
            EditStep::There(number, line) => (Some(*number), '-', *line),
            EditStep::Wanted(line) => (None, '+', *line),
        };
        let number = number.map(|it| (it + 1).to_string()).unwrap_or_default();
        let line = if mark != ' ' && blanks { visible(line) } else { short(line) };
        let row = format!("\n{number:>6} {mark} {line}");
        let _ = write!(out, "{}", row.trim_end_matches(' '));
    }
    if all.len() > shown.len() {
        let _ = write!(out, "\n         (and {} more lines)", all.len() - shown.len());
    }
    let line = steps.iter().find_map(|step| match step {
        EditStep::Both(number, _) | EditStep::There(number, _) => Some(*number),
        EditStep::Wanted(_) => None,
    });
    (line.unwrap_or(first), out)
}

/// Drops lines around the ones that were meant, unless they turned out to belong to them.
fn leave_out_surroundings(steps: &mut Vec<EditStep<'_>>, meant: Range<usize>) {
    let common = |step: &EditStep<'_>| matches!(step, EditStep::Both(..));
    let start = steps.iter().position(common).unwrap_or(steps.len());
    let end = steps.iter().rposition(common).unwrap_or(0);
    let mut index = 0;
    steps.retain(|step| {
        let (before, after) = (index < start, index > end);
        index += 1;
        !matches!(step, EditStep::There(number, _)
            if (before && *number < meant.start) || (after && *number >= meant.end))
    });
}

/// True if another line differs from this one in nothing but blanks.
fn makes_blanks_visible(line: &str, steps: &[EditStep<'_>]) -> bool {
    let bare = |it: &str| it.split_whitespace().collect::<String>();
    let this = bare(line);
    steps.iter().any(|step| match step {
        EditStep::There(_, other) | EditStep::Wanted(other) => {
            *other != line && bare(other) == this
        }
        EditStep::Both(..) => false,
    })
}

/// The shortest way from one piece to the other, by the longest common subsequence.
fn steps<'a>(there: &[&'a str], wanted: &[&'a str], first: usize) -> Vec<EditStep<'a>> {
    let mut steps = Vec::new();
    for part in capture_diff_slices(Algorithm::Lcs, there, wanted) {
        let (tag, old, new) = part.as_tag_tuple();
        let lines = there.iter().enumerate().skip(old.start).take(old.len());
        let lines = lines.map(|(at, line)| (first + at, *line));
        if tag == DiffTag::Equal {
            steps.extend(lines.map(|(number, line)| EditStep::Both(number, line)));
        } else {
            steps.extend(lines.map(|(number, line)| EditStep::There(number, line)));
            let lines = wanted.iter().skip(new.start).take(new.len());
            steps.extend(lines.map(|line| EditStep::Wanted(line)));
        }
    }
    steps
}

/// Some lines of a file from line `first` (from 0), with their numbers.
pub(crate) fn listing(text: &str, first: usize, count: usize) -> String {
    let rows = text.split('\n').enumerate().skip(first).take(count.min(LINES));
    let rows = rows.map(|(at, line)| format!("{:>6}   {}", at + 1, short(line.trim_end())));
    rows.map(|it| it.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}

/// A line that is not longer than a person reads.
pub(crate) fn short(line: &str) -> String {
    let Some((end, _)) = line.char_indices().nth(WIDTH) else { return line.to_owned() };
    let rest = line.len() - end;
    format!("{}… ({rest} more bytes)", line.get(..end).unwrap_or_default())
}

/// The same with blanks that can be seen.
fn visible(line: &str) -> String {
    let inner = line.trim();
    let start = line.len() - line.trim_start().len();
    let (before, rest) = line.split_at_checked(start).unwrap_or((line, ""));
    let after = rest.get(inner.len()..).unwrap_or_default();
    let blanks = |it: &str| it.replace(' ', "·").replace('\t', "→");
    short(&format!("{}{}{}", blanks(before), inner.replace('\t', "→"), blanks(after)))
}
