//! Lines of a diff in colour, with the words marked in which a line differs from the one that it
//! replaces.

use std::{borrow::Cow, ops::Range};

use super::{Paint, Style, sanitize};

/// More lines than this in a row are not compared word by word.
const MAX_RUN: usize = 200;

/// Stands where lines of a file are left out.
pub const BETWEEN_HUNKS: &str = "⋮";

impl Paint {
    /// The lines, each in its colour and harmless.
    pub fn diff(self, lines: &[&str]) -> Vec<String> {
        let clean: Vec<String> = lines.iter().map(|it| sanitize(it)).collect();
        let clean: Vec<&str> = clean.iter().map(String::as_str).collect();
        let marks = changed_words(&clean);
        let painted = clean.iter().zip(marks);
        painted.map(|(line, mark)| self.marked(style(line), line, mark).into_owned()).collect()
    }

    /// A text in its colour, with some of its bytes marked.
    pub fn marked(self, style: Style, text: &str, mark: Option<Range<usize>>) -> Cow<'_, str> {
        let parts = mark.and_then(|it| {
            Some((text.get(..it.start)?, text.get(it.clone())?, text.get(it.end..)?))
        });
        match parts {
            Some((before, marked, after)) if self.0 && !style.code().is_empty() => {
                let code = style.code();
                format!("\x1b[{code}m{before}\x1b[7m{marked}\x1b[27m{after}\x1b[0m").into()
            }
            _ => self.text(style, text).into_owned().into(),
        }
    }
}

/// The colour of a line of a diff.
pub fn style(line: &str) -> Style {
    match line.as_bytes() {
        [b'+', b'+', b'+', ..] | [b'-', b'-', b'-', ..] => Style::Strong,
        [b'+', ..] => Style::Good,
        [b'-', ..] => Style::Bad,
        [b'@', ..] | [b'#', ..] | [b'\\', ..] => Style::Faint,
        [b'*', ..] => Style::Strong,
        [b'!', ..] => Style::Warn,
        _ if line == BETWEEN_HUNKS => Style::Faint,
        _ => Style::Plain,
    }
}

/// For each line, the bytes in which it differs from the one that it replaces or that replaces it.
/// Lines are paired where as many come as go, one block after the other.
pub fn changed_words(lines: &[&str]) -> Vec<Option<Range<usize>>> {
    let mut marks = vec![None; lines.len()];
    let mut at = 0;
    while at < lines.len() {
        let run = |from: usize, sign: &str| {
            let rest = lines.get(from..).unwrap_or_default();
            rest.iter().take_while(|it| it.starts_with(sign)).count()
        };
        let gone = run(at, "- ");
        let come = run(at + gone, "+ ");
        if gone == come && (1..=MAX_RUN).contains(&gone) {
            for number in 0..gone {
                let (old, new) = (at + number, at + gone + number);
                if let (Some(a), Some(b)) = (lines.get(old), lines.get(new)) {
                    let (in_old, in_new) = differing(a, b);
                    for (place, mark) in [(old, in_old), (new, in_new)] {
                        if let Some(slot) = marks.get_mut(place) {
                            *slot = mark;
                        }
                    }
                }
            }
        }
        at += (gone + come).max(1);
    }
    marks
}

/// A part of a line that differs; `None`: nothing is marked.
type Mark = Option<Range<usize>>;

/// The bytes in which two lines differ, in whole words; nothing where they have little in common.
fn differing(old: &str, new: &str) -> (Mark, Mark) {
    // The sign and the space behind it are no part of the line.
    let (Some(a), Some(b)) = (old.get(2..), new.get(2..)) else { return (None, None) };
    let (words_a, words_b) = (words(a), words(b));
    let same = words_a.iter().zip(&words_b).take_while(|(x, y)| x == y);
    let head: usize = same.clone().map(|(x, _)| x.len()).sum();
    let heads = same.count();
    let rest = |all: &[&str]| all.get(heads..).unwrap_or_default().len();
    let most = rest(&words_a).min(rest(&words_b));
    let tails = words_a.iter().rev().zip(words_b.iter().rev()).take(most);
    let tail: usize = tails.take_while(|(x, y)| x == y).map(|(x, _)| x.len()).sum();
    let common = (head + tail) * 3;
    if common < a.len().min(b.len()) || a == b {
        return (None, None);
    }
    let mark = |text: &str| Some(2 + head..2 + text.len() - tail).filter(|it| !it.is_empty());
    (mark(a), mark(b))
}

/// A line in words and the characters between them.
fn words(line: &str) -> Vec<&str> {
    let is_word = |it: char| it.is_alphanumeric() || it == '_';
    let mut words = Vec::new();
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let end = match is_word(first) {
            true => rest.find(|it| !is_word(it)).unwrap_or(rest.len()),
            false => first.len_utf8(),
        };
        let (word, after) = rest.split_at(end);
        words.push(word);
        rest = after;
    }
    words
}
