//! Why a text was not found, in words that let a model find it the next time.

use std::fmt;

use super::{
    newline::Newline,
    side_by_side::{Side, side_by_side},
    similar::{Nearest, bone, bones, scanned},
};

/// What was wanted and is not there: what is there instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextNotFound {
    /// The line where the nearest text begins, from 1.
    pub line: Option<usize>,
    /// What is different there, if it is little enough to be named.
    pub differences: Vec<String>,
    /// The nearest text and what was wanted, side by side.
    pub shown: Option<String>,
    /// True if the text is so long that not all of it was searched for something similar.
    pub partly: bool,
}

impl TextNotFound {
    pub(super) fn new(text: &str, wanted: &str) -> TextNotFound {
        let partly = scanned(text).len() < text.len();
        let text = scanned(text);
        let unix = (Newline::detect(text) == Newline::Cr).then(|| text.replace('\r', "\n"));
        let text = unix.as_deref().unwrap_or(text);
        let miss = misspelt(text, wanted)
            .or_else(|| almost(text, wanted))
            .or_else(|| similar(text, wanted))
            .unwrap_or(TextNotFound { line: None, differences: Vec::new(), shown: None, partly });
        TextNotFound { partly, ..miss }
    }
}

/// Found, if what was wanted is read as it was probably meant.
fn misspelt(text: &str, wanted: &str) -> Option<TextNotFound> {
    let unescaped = wanted.replace("\\r\\n", "\n").replace("\\n", "\n").replace("\\t", "\t");
    let unescaped = unescaped.replace("\\\"", "\"").replace("\\'", "'").replace("\\\\", "\\");
    let readings = [
        (
            numbers_removed(wanted),
            "the line numbers in front of the lines of `old_string`, which are not in the file",
        ),
        (
            Some(unescaped),
            "escapes: `old_string` holds a backslash where the file has the character that the escape stands for",
        ),
    ];
    for (reading, difference) in readings {
        let Some(reading) = reading.filter(|it| it != wanted) else { continue };
        if let Some((range, _)) = bones(text, &reading) {
            let line = line_of(text, range.start);
            let differences = vec![difference.to_owned()];
            return Some(TextNotFound {
                line: Some(line + 1),
                differences,
                shown: None,
                partly: false,
            });
        }
    }
    None
}

/// The text without the numbers that a listing puts in front of lines, if all lines have one.
fn numbers_removed(wanted: &str) -> Option<String> {
    let lines = wanted.trim_end_matches('\n').split('\n').map(|line| {
        let rest = line.trim_start();
        let after = rest.trim_start_matches(|it: char| it.is_ascii_digit());
        let numbered = after.len() < rest.len();
        let marks = ["\t", "→", " | ", "| ", ": ", ":"];
        let cut = marks.iter().find_map(|mark| after.strip_prefix(mark));
        cut.filter(|_| numbered)
    });
    let lines: Option<Vec<&str>> = lines.collect();
    lines.map(|it| it.join("\n"))
}

/// There but for blanks, typography and case.
fn almost(text: &str, wanted: &str) -> Option<TextNotFound> {
    let (range, again) = bones(text, wanted)?;
    let (first, last) = (line_of(text, range.start), line_of(text, range.end));
    let there = with_blanks_around(text, range.start, range.end)?;
    let mut differences = differences(there, wanted.trim_matches(['\n', '\r']), first);
    if differences.is_empty() {
        differences.push("line breaks before or after it".to_owned());
    }
    if again {
        differences.push("and there are further places like it".to_owned());
    }
    let (_, shown) = side_by_side(text, first, last - first + 1, wanted, Side::OldString);
    Some(TextNotFound { line: Some(first + 1), differences, shown: Some(shown), partly: false })
}

/// Lines that look like it.
fn similar(text: &str, wanted: &str) -> Option<TextNotFound> {
    let near = Nearest::find(text, wanted)?;
    let (first, shown) = side_by_side(text, near.first, near.count, wanted, Side::OldString);
    Some(TextNotFound {
        line: Some(first + 1),
        differences: Vec::new(),
        shown: Some(shown),
        partly: false,
    })
}

/// From 0.
fn line_of(text: &str, at: usize) -> usize {
    let before = text.as_bytes().get(..at).unwrap_or_default();
    memchr::memchr_iter(b'\n', before).count()
}

/// A piece of the text with the blanks before and after it on the same line.
fn with_blanks_around(text: &str, start: usize, end: usize) -> Option<&str> {
    let blank = |it: char| it.is_whitespace() && it != '\n';
    let before = text.get(..start)?;
    let after = text.get(end..)?;
    let start = before.trim_end_matches(blank).len();
    let end = end + after.len() - after.trim_start_matches(blank).len();
    text.get(start..end)
}

/// The kinds of difference between two texts that are the same but for blanks, typography and
/// case, each named once, where it is first seen.
fn differences(there: &str, wanted: &str, first: usize) -> Vec<String> {
    let mut named = Vec::new();
    let there: Vec<&str> =
        there.split('\n').map(|it| it.strip_suffix('\r').unwrap_or(it)).collect();
    let wanted: Vec<&str> = wanted.lines().collect();
    let last = there.len().saturating_sub(1);
    if there.len() == wanted.len() {
        let mut pairs = there.iter().zip(&wanted).enumerate();
        let indented = pairs.clone().find_map(|(index, (a, b))| {
            let (a, b) = (indent(a), indent(b));
            let same = if index == 0 { a.ends_with(b) } else { a == b };
            (!same).then(|| {
                format!(
                    "indentation (line {} begins with {}, `old_string` with {})",
                    first + index + 1,
                    blanks(a),
                    blanks(b)
                )
            })
        });
        named.extend(indented);
        let trailing = pairs.clone().find_map(|(index, (a, b))| {
            let (a, b) = (tail(a), tail(b));
            let same = if index == last { a.starts_with(b) } else { a == b };
            (!same).then(|| {
                format!(
                    "blanks at the end of a line (line {} ends with {}, `old_string` with {})",
                    first + index + 1,
                    blanks(a),
                    blanks(b)
                )
            })
        });
        named.extend(trailing);
        let inner = pairs.find(|(_, (a, b))| inside(a) != inside(b));
        named.extend(inner.map(|(index, _)| format!("blanks within line {}", first + index + 1)));
    } else {
        named.push(format!(
            "line breaks or blank lines ({} lines in the file, {} in `old_string`)",
            there.len(),
            wanted.len()
        ));
    }
    let visible =
        |it: &[&str]| it.join("\n").chars().filter(|it| bone(*it).is_some()).collect::<Vec<char>>();
    let (ours, theirs) = (visible(&there), visible(&wanted));
    let unlike = || ours.iter().zip(&theirs).filter(|(a, b)| a != b);
    if let Some((a, b)) = unlike().find(|(a, b)| a.eq_ignore_ascii_case(b)) {
        named.push(format!("upper and lower case (the file has `{a}`, `old_string` has `{b}`)"));
    }
    if let Some((a, b)) = unlike().find(|(a, b)| !a.eq_ignore_ascii_case(b)) {
        let (m, n) = (u32::from(*a), u32::from(*b));
        named.push(format!(
            "quotes or dashes (the file has `{a}`, U+{m:04X}, `old_string` has `{b}`, U+{n:04X})"
        ));
    }
    let hidden = |it: &[&str]| {
        it.iter()
            .flat_map(|it| it.chars())
            .filter(|it| bone(*it).is_none() && !it.is_whitespace())
            .count()
    };
    if hidden(&there) != hidden(&wanted) {
        named.push("invisible characters".to_owned());
    }
    named
}

/// A line without what is told apart elsewhere: blanks around it, typography and case.
fn inside(line: &str) -> String {
    line.trim()
        .chars()
        .filter_map(|it| if it.is_whitespace() { Some(it) } else { bone(it) })
        .collect()
}

fn indent(line: &str) -> &str {
    line.get(..line.len() - line.trim_start().len()).unwrap_or_default()
}

fn tail(line: &str) -> &str {
    line.get(line.trim_end().len()..).unwrap_or_default()
}

/// Blanks in words: `1 tab and 2 spaces`.
fn blanks(it: &str) -> String {
    let counted = |count: usize, what: &str| match count {
        0 => None,
        1 => Some(format!("1 {what}")),
        _ => Some(format!("{count} {what}s")),
    };
    let tabs = it.matches('\t').count();
    let spaces = it.matches(' ').count();
    let others = it.chars().count() - tabs - spaces;
    let words = [counted(tabs, "tab"), counted(spaces, "space"), counted(others, "other blank")];
    let words: Vec<String> = words.into_iter().flatten().collect();
    if words.is_empty() { "none".to_owned() } else { words.join(" and ") }
}

impl fmt::Display for TextNotFound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("`old_string` was not found in the file")?;
        match (self.line, self.differences.is_empty()) {
            (Some(line), false) => {
                let differences = self.differences.join(", ");
                write!(f, "; line {line} is the same except for {differences}")?;
            }
            (Some(line), true) => write!(f, "; the nearest text begins at line {line}")?,
            (None, _) => f.write_str(", nor anything like it")?,
        }
        if self.partly {
            f.write_str(" (only the first 16 MiB were searched for similar text)")?;
        }
        if let Some(shown) = &self.shown {
            writeln!(f, " {shown}")?;
        } else {
            f.write_str("; ")?;
        }
        f.write_str("read the lines again and copy them exactly")
    }
}
