//! What a script gives to its variables, and the texts that it holds, as far as they are written in
//! it. They are only looked at for catastrophes: what is found by them denies, nothing allows.

use super::pipes::{self, PipeData};
use super::{indirect, substituted};
use crate::outline::Outline;
use crate::{Command, Redirect, RedirectKind, Word, programs};

/// What the script gives to variables, where that is written in it.
pub(crate) fn values(
    commands: &[Command],
    outline: &Outline,
    script: &str,
) -> Vec<(String, String)> {
    let looped = outline.scopes.iter().flat_map(|it| {
        let values = it.values.iter().flatten().take(4);
        let texts = values.filter_map(|span| script.get(span.start..span.end));
        texts.map(|text| (it.name.clone(), text.to_owned())).collect::<Vec<_>>()
    });
    let called = |it: &Command| {
        let name = it.words.first().and_then(Word::text).unwrap_or_default();
        outline.functions.iter().any(|it| it.name == name)
    };
    let positions = commands.iter().filter(|it| called(it)).flat_map(|it| positions(&it.words, 1));
    commands.iter().flat_map(set).chain(looped).chain(positions).collect()
}

/// What one command gives to variables.
fn set(command: &Command) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for it in &command.assignments {
        // `name=(…)` is a list.
        let list = it.value.source.strip_prefix('(').and_then(|it| it.strip_suffix(')'));
        if let Some(list) = list {
            let all = ["[@]", "[*]"].map(|index| (format!("{}{index}", it.name), list.to_owned()));
            found.extend(all);
            let each = substituted::plain_words(list).into_iter().take(4).enumerate();
            found.extend(each.map(|(at, text)| (format!("{}[{at}]", it.name), text)));
        } else if let Some(text) = programs::known_text(&it.value) {
            found.push((it.name.clone(), text));
        }
    }
    let name = command.words.first().and_then(Word::text);
    match name.as_deref() {
        Some("printf") if command.words.get(1).and_then(Word::text).as_deref() == Some("-v") => {
            let words: Vec<Word> =
                command.words.iter().take(1).chain(command.words.iter().skip(3)).cloned().collect();
            let name = command.words.get(2).and_then(Word::text).map(|it| it.into_owned());
            found.extend(name.zip(programs::printed(&words)));
        }
        Some("read") => {
            let mut names = command.words.iter().skip(1).filter_map(Word::text);
            let name = names.rfind(|it| !it.starts_with('-')).map(|it| it.into_owned());
            let text = command.texts().last().and_then(Word::text).map(|it| it.into_owned());
            found.extend(name.zip(text));
        }
        Some("declare" | "typeset" | "local" | "export" | "readonly") => {
            let words = command.words.iter().skip(1).filter_map(Word::text);
            found.extend(words.filter_map(|it| {
                it.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()))
            }));
        }
        Some("set") => {
            let operand = |it: &Word| !it.prefix().starts_with(['-', '+']);
            let from = command.words.iter().skip(1).position(operand).unwrap_or_default();
            found.extend(positions(&command.words, from + 1));
        }
        _ => {}
    }
    found
}

/// `$1`, `$2` … and all of them, from this word on.
fn positions(words: &[Word], from: usize) -> Vec<(String, String)> {
    // A pattern or a home is put in as it is written.
    let told = |it: &Word| it.text().map_or_else(|| it.source.clone(), |it| it.into_owned());
    let words: Vec<String> = words.iter().skip(from).map(told).collect();
    let all = ["@", "*"].map(|name| (name.to_owned(), words.join(" ")));
    let each = words.into_iter().enumerate().map(|(at, it)| ((at + 1).to_string(), it));
    each.chain(all).collect()
}

/// Every text of the script that may be run where something is run that nobody knows: what is
/// printed, put into variables, or handed to functions and scripts.
pub(crate) fn held(commands: &[Command], feeds: &[Option<PipeData>]) -> Vec<String> {
    let printed = commands.iter().zip(feeds);
    let printed = printed.filter_map(|(it, feed)| pipes::printed_by(it, feed.as_ref()));
    let values = commands.iter().flat_map(set).map(|(_, text)| text);
    let given = commands.iter().flat_map(|it| it.texts()).filter_map(Word::text);
    let words = commands.iter().flat_map(|it| indirect::spoken(&it.words));
    let texts = given.chain(words).map(|it| it.into_owned());
    let mut all: Vec<String> = printed.chain(values).chain(texts).collect();
    all.retain(|it| it.contains([' ', '\t', '\n', '{']));
    all.dedup();
    all
}

/// What a loop goes through is put in as it is written; without its quotes it is a text.
pub(crate) fn quoted(values: &[(String, String)]) -> Vec<String> {
    let texts = values.iter().map(|(_, text)| text).filter(|it| it.starts_with(['\'', '"']));
    let texts = texts.map(|it| it.replace("'\"'\"'", "\u{1}"));
    texts.map(|it| substituted::plain_words(&it).join(" ").replace('\u{1}', "'")).collect()
}

/// True when the script runs a file that it has written itself: `echo … > x; sh x`.
pub(crate) fn runs_own(commands: &[Command]) -> bool {
    let plain = |it: &Word| it.text().map(|it| it.trim_start_matches("./").to_owned());
    let writes = |it: &&Redirect| matches!(it.kind, RedirectKind::Write | RedirectKind::Append);
    let mut written: Vec<String> = Vec::new();
    for command in commands {
        let run = |it: &Word| plain(it).is_some_and(|it| written.contains(&it));
        if !written.is_empty() {
            let name = command.words.first().map(|it| it.prefix()).unwrap_or_default();
            let runs = name.contains('/') || matches!(name, "." | "source" | "at" | "crontab");
            let runs = runs || indirect::is_shell(&command.words);
            if runs && command.words.iter().take(4).any(run) {
                return true;
            }
        }
        written.extend(command.redirects.iter().filter(writes).filter_map(|it| plain(&it.target)));
        if command.words.first().and_then(Word::text).as_deref() == Some("tee") {
            written.extend(command.words.iter().skip(1).filter_map(plain));
        }
    }
    false
}
