//! `{a,b}` and `{1..5}`.

use super::Piece;
use crate::limits::MAX_BRACES;

/// How deep braces may stand in each other before the word stays unknown.
const MAX_LEVELS: usize = 6;

/// The words that a word with braces becomes. None when they are too many, or when it is not
/// certain what the shell makes of them.
pub(super) fn expand(pieces: &[Piece]) -> Option<Vec<Vec<Piece>>> {
    if !pieces.contains(&Piece::Plain('{')) {
        return Some(vec![pieces.to_vec()]);
    }
    let braces = pieces.iter().filter(|it| matches!(it, Piece::Plain('{'))).count();
    if braces > MAX_BRACES {
        return None;
    }
    alternatives(pieces, MAX_LEVELS)
}

fn alternatives(pieces: &[Piece], levels: usize) -> Option<Vec<Vec<Piece>>> {
    let mut words: Vec<Vec<Piece>> = vec![Vec::new()];
    let mut rest = pieces;
    while let Some((open, close)) = next_group(rest)? {
        let (before, group) = (rest.get(..open)?, rest.get(open + 1..close)?);
        let choices = match sequence(group) {
            Some(choices) => choices?,
            None => {
                let levels = levels.checked_sub(1)?;
                let mut choices = Vec::new();
                for choice in split(group) {
                    choices.extend(alternatives(choice, levels)?);
                    if choices.len() > MAX_BRACES {
                        return None;
                    }
                }
                choices
            }
        };
        if words.len() * choices.len() > MAX_BRACES {
            return None;
        }
        words = words
            .iter()
            .flat_map(|word| {
                choices.iter().map(move |choice| [word.as_slice(), before, choice].concat())
            })
            .collect();
        rest = rest.get(close + 1..)?;
    }
    for word in &mut words {
        word.extend_from_slice(rest);
    }
    Some(words)
}

/// The first pair of braces that the shell works out. The outer None: not certain.
#[expect(clippy::option_option, reason = "none found and not certain are different answers")]
fn next_group(pieces: &[Piece]) -> Option<Option<(usize, usize)>> {
    for (open, piece) in pieces.iter().enumerate() {
        if *piece != Piece::Plain('{') {
            continue;
        }
        let Some(close) = matching(pieces, open) else {
            // An open brace without its partner, with a comma behind it: shells differ.
            let tail = pieces.get(open..).unwrap_or_default();
            if tail.contains(&Piece::Plain(',')) || dots(tail).is_some() {
                return None;
            }
            continue;
        };
        let group = pieces.get(open + 1..close).unwrap_or_default();
        if split(group).len() > 1 || sequence(group).is_some() {
            return Some(Some((open, close)));
        }
        if dots(group).is_some() {
            return None;
        }
    }
    Some(None)
}

fn matching(pieces: &[Piece], open: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (index, piece) in pieces.iter().enumerate().skip(open) {
        match piece {
            Piece::Plain('{') => depth += 1,
            Piece::Plain('}') => {
                depth -= 1;
                if depth == 0 {
                    return Some(index);
                }
            }
            _ => {}
        }
    }
    None
}

fn split(group: &[Piece]) -> Vec<&[Piece]> {
    let mut depth = 0_usize;
    group
        .split(|piece| {
            match piece {
                Piece::Plain('{') => depth += 1,
                Piece::Plain('}') => depth = depth.saturating_sub(1),
                _ => {}
            }
            depth == 0 && *piece == Piece::Plain(',')
        })
        .collect()
}

fn dots(pieces: &[Piece]) -> Option<usize> {
    let dot = Piece::Plain('.');
    pieces.windows(2).position(|it| it.iter().all(|it| *it == dot))
}

/// `1..5`, `a..e`, `1..9..2`. The inner None: one, but too long or not certain.
#[expect(clippy::option_option, reason = "not a sequence and not certain are different answers")]
fn sequence(group: &[Piece]) -> Option<Option<Vec<Vec<Piece>>>> {
    dots(group)?;
    if split(group).len() > 1 {
        return None;
    }
    let mut text = String::new();
    for piece in group {
        match piece {
            Piece::Plain(c) => text.push(*c),
            _ => return Some(None),
        }
    }
    let fields: Vec<&str> = text.split("..").collect();
    let (first, last, step) = match fields.as_slice() {
        [first, last] => (*first, *last, "1"),
        [first, last, step] => (*first, *last, *step),
        _ => return Some(None),
    };
    let Some(step) = step.parse::<i64>().ok().filter(|it| *it != 0) else { return Some(None) };
    let step = step.unsigned_abs();
    if let (Ok(from), Ok(to)) = (first.parse::<i64>(), last.parse::<i64>()) {
        return Some(numbers(from, to, step, padding(first, last)));
    }
    if let (Some(from), Some(to)) = (letter(first), letter(last)) {
        if from.is_ascii_lowercase() != to.is_ascii_lowercase() {
            return Some(None);
        }
        let words = numbers(i64::from(from), i64::from(to), step, 0)?;
        return Some(letters(&words));
    }
    Some(None)
}

fn letter(text: &str) -> Option<u8> {
    match text.as_bytes() {
        [letter] if letter.is_ascii_alphabetic() => Some(*letter),
        _ => None,
    }
}

/// `{01..10}` pads with noughts to the longer of the two.
fn padding(first: &str, last: &str) -> usize {
    let padded = |it: &str| {
        let digits = it.trim_start_matches(['-', '+']);
        digits.len() > 1 && digits.starts_with('0')
    };
    if padded(first) || padded(last) { first.len().max(last.len()) } else { 0 }
}

fn numbers(from: i64, to: i64, step: u64, width: usize) -> Option<Vec<Vec<Piece>>> {
    let count = from.abs_diff(to) / step + 1;
    if count > MAX_BRACES as u64 {
        return None;
    }
    let step = i64::try_from(step).ok()?;
    let step = if from <= to { step } else { -step };
    let mut value = from;
    let mut words = Vec::new();
    for _ in 0..count {
        words.push(format!("{value:0width$}").chars().map(Piece::Quoted).collect());
        value = value.checked_add(step)?;
    }
    Some(words)
}

fn letters(words: &[Vec<Piece>]) -> Option<Vec<Vec<Piece>>> {
    let letter = |word: &Vec<Piece>| {
        let digits: String = word
            .iter()
            .filter_map(|it| if let Piece::Quoted(c) = it { Some(*c) } else { None })
            .collect();
        let code = digits.parse::<u8>().ok()?;
        Some(vec![Piece::Quoted(char::from(code))])
    };
    words.iter().map(letter).collect()
}
