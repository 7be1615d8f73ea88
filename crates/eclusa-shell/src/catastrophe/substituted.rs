//! A command with what the script itself tells put in: the values of variables, and what known
//! commands print. For catastrophes alone.

use std::borrow::Cow;

use super::indirect::{MAX_TEXT, Suspect};
use crate::{Command, Word, programs};

/// Values of one variable that are tried.
const MAX_VALUES: usize = 6;

/// The command with what the script itself tells put in: the values of variables, and what `echo`
/// prints. Where a variable has several values, each of them is tried.
pub(super) fn filled_in(command: &Command, values: &[(String, String)]) -> Vec<Suspect> {
    let sources: Vec<&str> = command.words.iter().map(|it| it.source.as_str()).collect();
    let text = sources.join(" ");
    if text.len() > MAX_TEXT || !text.contains(['$', '`']) {
        return Vec::new();
    }
    let used = values.iter().filter(|(name, value)| text.contains(name) && value.len() <= MAX_TEXT);
    let mut rounds: Vec<Vec<&(String, String)>> = vec![Vec::new()];
    for value in used {
        let free = |it: &Vec<&(String, String)>| it.iter().all(|other| other.0 != value.0);
        let at = rounds.iter().position(free).unwrap_or(rounds.len());
        match rounds.get_mut(at) {
            Some(round) => round.push(value),
            None if at < MAX_VALUES => rounds.push(vec![value]),
            None => {}
        }
    }
    // What has one value has it in every round.
    let first = rounds.first().cloned().unwrap_or_default();
    let mut found: Vec<String> = Vec::new();
    for mut round in rounds {
        let missing = first.iter().filter(|it| round.iter().all(|other| other.0 != it.0));
        let missing: Vec<&(String, String)> = missing.copied().collect();
        round.extend(missing);
        found.extend(with_values(&text, &round).filter(|it| !found.contains(it)));
    }
    found.into_iter().map(Suspect::Text).collect()
}

fn with_values(before: &str, values: &[&(String, String)]) -> Option<String> {
    let mut text = before.to_owned();
    text = text.replace("$(pwd)", ".").replace("`pwd`", ".");
    for (open, close) in [("$(", ')'), ("`", '`')] {
        while let Some(printed) = printed_in(&text, open, close) {
            text = printed;
        }
    }
    for (name, value) in values {
        // All of a list are words of their own in spite of the quotes, and a home is one in them;
        // a loop goes through what a command prints word by word.
        if name.contains('@') || value.starts_with(['~', '"', '$', '`']) {
            text = text.replace(&format!("\"${{{name}}}\""), value);
            text = text.replace(&format!("\"${name}\""), value);
        }
        text = text.replace(&format!("${{{name}}}"), value);
        text = replaced(&text, &format!("${name}"), value);
        // Values in values can grow without end.
        if text.len() > 2 * MAX_TEXT {
            return None;
        }
    }
    while let Some(filled) = with_default(&text) {
        text = filled;
    }
    text = text.replace("${IFS}", " ");
    text = replaced(&text, "$IFS", " ");
    (text != before).then_some(text)
}

/// Puts in what the first commands between these marks print, where that is known.
fn printed_in(text: &str, open: &str, close: char) -> Option<String> {
    for (at, _) in text.match_indices(open) {
        let (before, rest) = text.split_at_checked(at)?;
        let rest = rest.get(open.len()..)?;
        let Some((inside, after)) = rest.split_once(close) else { continue };
        if let Some(printed) = output(inside) {
            return Some(format!("{before}{}{after}", printed.trim_end()));
        }
    }
    None
}

/// What a short text of commands prints, where that is known: `dirname /x`, `cd / && pwd`,
/// `tr x / <<< x`, `echo a | rev`.
fn output(text: &str) -> Option<String> {
    for between in ["&&", ";"] {
        if let Some((moves, tells)) = text.split_once(between)
            && matches!(tells.trim(), "pwd" | "pwd -P" | "pwd -L" | "echo $PWD" | "echo \"$PWD\"")
        {
            let words = plain_words(moves);
            return match words.as_slice() {
                [cd, place] if cd == "cd" => Some(place.clone()),
                [cd] if cd == "cd" => Some("~".to_owned()),
                _ => None,
            };
        }
    }
    // What is in single quotes means nothing to the shell: `awk '{print $2}'`.
    let bare = text.replace("<<<", "");
    if bare.split('\'').step_by(2).any(|it| it.contains(['$', '`', '(', ';', '&', '<'])) {
        return None;
    }
    let mut printed: Option<String> = None;
    for (at, command) in text.split('|').enumerate() {
        let (command, given) = match command.split_once("<<<") {
            Some((command, given)) => (command, Some(plain_words(given).join(" "))),
            None => (command, None),
        };
        let words: Vec<Word> = plain_words(command).into_iter().map(Word::literal).collect();
        printed = match (at, given.or(printed)) {
            (_, Some(text)) => programs::passed_through(&words, &text),
            (0, None) => programs::printed(&words)
                .or_else(|| programs::all_processes(&words))
                .or_else(|| looked_up(&words)),
            (_, None) => None,
        };
    }
    printed
}

/// `which rm`, `command -v rm`
fn looked_up(words: &[Word]) -> Option<String> {
    let texts: Vec<Cow<'_, str>> = words.iter().map(Word::text).collect::<Option<_>>()?;
    match texts.as_slice() {
        [name, program] if name == "which" => Some(program.to_string()),
        [name, flag, program] if matches!(&**name, "command" | "type") && flag.starts_with('-') => {
            Some(program.to_string())
        }
        _ => None,
    }
}

/// Words between blanks, quotes taken away.
pub(super) fn plain_words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for it in text.chars() {
        match quote {
            Some(open) if it == open => quote = None,
            None if matches!(it, '\'' | '"') => {
                quote = Some(it);
                word.get_or_insert_default();
            }
            None if it.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(it),
        }
    }
    words.extend(word);
    words
}

/// Puts in the value that `${name:-value}` has where the variable has none.
fn with_default(text: &str) -> Option<String> {
    for mark in [":-", ":=", "-", "="] {
        for (at, _) in text.match_indices("${") {
            let (before, rest) = text.split_at_checked(at)?;
            let Some((inside, after)) = rest.split_once('}') else { continue };
            let Some((name, value)) = inside.split_once(mark) else { continue };
            let name = name.trim_start_matches("${");
            if name.chars().all(|it| it == '_' || it.is_ascii_alphanumeric())
                && !value.contains(['$', '`'])
            {
                return Some(format!("{before}{value}{after}"));
            }
        }
    }
    None
}

/// `$name` replaced, where the name ends there.
fn replaced(text: &str, name: &str, value: &str) -> String {
    let mut done = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(name) {
        done.push_str(before);
        let goes_on = after.starts_with(|it: char| it == '_' || it.is_ascii_alphanumeric());
        done.push_str(if goes_on { name } else { value });
        rest = after;
    }
    done.push_str(rest);
    done
}
