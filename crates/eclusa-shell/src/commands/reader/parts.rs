//! From pieces to parts: tilde, patterns, and text put together.

use super::Piece;
use crate::{Part, Unknown, Word};

/// The parts of a word of a command.
pub(super) fn of_word(pieces: &[Piece]) -> Vec<Part> {
    let mut parts = Parts::default();
    let mut index = 0;
    // `name=~/…` is expanded like an assignment, also as an argument.
    let value_at = assignment_value(pieces);
    let last_close = pieces.iter().rposition(|it| *it == Piece::Plain(']')).unwrap_or(0);
    while let Some(piece) = pieces.get(index) {
        if (index == 0 || Some(index) == value_at)
            && let Some((why, used)) = tilde(pieces.get(index..).unwrap_or_default(), false)
        {
            parts.unknown(why, false);
            index += used;
            continue;
        }
        index += match piece {
            Piece::Plain(c @ ('*' | '?')) => {
                parts.glob(&c.to_string());
                1
            }
            Piece::Plain('[') if index < last_close => {
                match bracket(pieces.get(index..).unwrap_or_default()) {
                    Some(pattern) => {
                        parts.glob(&text_of(pattern));
                        pattern.len()
                    }
                    None => {
                        parts.text('[');
                        1
                    }
                }
            }
            other => {
                parts.push(other);
                1
            }
        };
    }
    parts.done
}

/// The parts of a value: nothing is a pattern, nothing is split.
pub(super) fn of_value(pieces: &[Piece]) -> Vec<Part> {
    let mut parts = Parts::default();
    let mut index = 0;
    let mut home = true;
    while let Some(piece) = pieces.get(index) {
        if home && let Some((why, used)) = tilde(pieces.get(index..).unwrap_or_default(), true) {
            parts.unknown(why, false);
            index += used;
            home = false;
            continue;
        }
        home = *piece == Piece::Plain(':');
        match piece {
            Piece::Unknown { why, .. } => parts.unknown(*why, false),
            other => parts.push(other),
        }
        index += 1;
    }
    parts.done
}

/// `<<-` takes away the tabs at the beginning of each line.
pub(super) fn without_tabs(pieces: Vec<Piece>) -> Vec<Piece> {
    let mut begins = true;
    pieces
        .into_iter()
        .filter(|piece| {
            let tab = begins && *piece == Piece::Quoted('\t');
            begins = tab || *piece == Piece::Quoted('\n');
            !tab
        })
        .collect()
}

/// Puts the value of a loop variable where its name stands.
pub(super) fn bind(word: &Word, splits: bool, pieces: &mut Vec<Piece>) {
    if splits && word.parts.is_empty() {
        // An empty value that is not quoted is no word at all.
        pieces.push(Piece::Unknown { why: Unknown::Local, splits });
    }
    for part in &word.parts {
        match part {
            Part::Text(text) if splits && text.contains(is_split_or_pattern) => {
                pieces.push(Piece::Unknown { why: Unknown::Local, splits });
            }
            Part::Text(text) => pieces.extend(text.chars().map(Piece::Quoted)),
            // The names of files can have blanks and stars in them.
            Part::Glob(_) if splits => pieces.push(Piece::Unknown { why: Unknown::Local, splits }),
            Part::Glob(pattern) => pieces.push(Piece::Glob(pattern.clone())),
            Part::Unknown { why, .. } => pieces.push(Piece::Unknown { why: *why, splits }),
        }
    }
    if !splits {
        pieces.push(Piece::Empty);
    }
}

fn is_split_or_pattern(c: char) -> bool {
    c.is_whitespace() || matches!(c, '*' | '?' | '[' | '\\')
}

#[derive(Default)]
struct Parts {
    done: Vec<Part>,
}

impl Parts {
    fn push(&mut self, piece: &Piece) {
        match piece {
            Piece::Plain(c) | Piece::Quoted(c) => self.text(*c),
            Piece::Empty => {}
            Piece::Glob(pattern) => self.glob(pattern),
            Piece::Unknown { why, splits } => self.unknown(*why, *splits),
        }
    }

    fn text(&mut self, c: char) {
        match self.done.last_mut() {
            Some(Part::Text(text)) => text.push(c),
            _ => self.done.push(Part::Text(c.to_string())),
        }
    }

    fn glob(&mut self, pattern: &str) {
        match self.done.last_mut() {
            Some(Part::Glob(before)) => before.push_str(pattern),
            _ => self.done.push(Part::Glob(pattern.to_owned())),
        }
    }

    fn unknown(&mut self, why: Unknown, splits: bool) {
        self.done.push(Part::Unknown { why, splits });
    }
}

/// Where the value begins in `name=value`, if the word has that shape.
fn assignment_value(pieces: &[Piece]) -> Option<usize> {
    let equals = pieces.iter().position(|it| *it == Piece::Plain('='))?;
    let name = pieces.get(..equals)?;
    let fits = name.iter().enumerate().all(|(index, piece)| {
        matches!(piece, Piece::Plain(c) if *c == '_' || c.is_ascii_alphabetic()
            || (index > 0 && c.is_ascii_digit()))
    });
    (fits && !name.is_empty()).then_some(equals + 1)
}

/// A tilde at the beginning of `pieces`: what it stands for, and how many pieces belong to it.
fn tilde(pieces: &[Piece], in_value: bool) -> Option<(Unknown, usize)> {
    let mut rest = pieces.iter();
    if rest.next() != Some(&Piece::Plain('~')) {
        return None;
    }
    let mut name = String::new();
    for piece in rest {
        match piece {
            Piece::Plain('/') => break,
            Piece::Plain(':') if in_value => break,
            Piece::Plain(c) => name.push(*c),
            // A quoted character in the name: no expansion.
            _ => return None,
        }
    }
    let why = match name.as_str() {
        "+" => Unknown::Here,
        _ if name.starts_with(['-', '+']) || name.starts_with(|it: char| it.is_ascii_digit()) => {
            Unknown::Variable
        }
        _ => Unknown::Home,
    };
    Some((why, 1 + name.chars().count()))
}

/// `[…]` at the beginning of `pieces`.
fn bracket(pieces: &[Piece]) -> Option<&[Piece]> {
    let negated = matches!(pieces.get(1), Some(Piece::Plain('!' | '^')));
    let first = 1 + usize::from(negated);
    let close = pieces
        .iter()
        .enumerate()
        .skip(first + 1)
        .find(|(_, it)| **it == Piece::Plain(']'))
        .map(|(index, _)| index)?;
    pieces.get(..=close)
}

fn text_of(pieces: &[Piece]) -> String {
    pieces
        .iter()
        .filter_map(|it| match it {
            Piece::Plain(c) | Piece::Quoted(c) => Some(*c),
            Piece::Empty | Piece::Glob(_) => None,
            Piece::Unknown { .. } => Some('?'),
        })
        .collect()
}
