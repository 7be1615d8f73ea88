//! What a script gives to its variables, and the texts that it holds, as far as they are written in
//! it. They are only looked at for catastrophes: what is found by them denies, nothing allows.

use super::pipes::{self, PipeData};
use super::{indirect, substituted};
use crate::syntax::outline::Outline;
use crate::{Command, Redirect, RedirectKind, Word, programs};

/// What the names of a script stand for, where that is written in it.
#[derive(Debug, Default)]
pub(crate) struct Bindings {
    /// Variables and their values; one with several values is there several times.
    pub(super) variables: Vec<(String, String)>,
    /// Names of programs, and what is run instead: `alias x=rm`, `hash -p /bin/rm x`, `cp /bin/rm x`.
    pub(super) programs: Vec<(String, String)>,
}

impl Bindings {
    pub(crate) fn collect(
        commands: &[Command],
        feeds: &[Option<PipeData>],
        outline: &Outline,
        script: &str,
    ) -> Bindings {
        let looped = outline.scopes.iter().flat_map(|it| {
            let values = it.values.iter().flatten().take(4);
            let texts = values.filter_map(|span| script.get(span.start..span.end));
            texts.map(|text| (it.name.clone(), text.to_owned())).collect::<Vec<_>>()
        });
        let called = |it: &Command| {
            let name = it.words.first().and_then(Word::text).unwrap_or_default();
            outline.functions.iter().any(|it| it.name == name)
        };
        let positions =
            commands.iter().filter(|it| called(it)).flat_map(|it| positions(&it.words, 1));
        let read = commands.iter().zip(feeds).flat_map(|(it, feed)| from_input(it, feed, commands));
        let variables = commands.iter().flat_map(set).chain(looped).chain(positions).chain(read);
        let programs = commands.iter().flat_map(renamed).collect();
        let mut variables: Vec<(String, String)> = variables.collect();
        variables.extend(parted(&variables));
        Bindings { variables, programs }
    }

    /// Values that hold a command which arithmetic, an index or `${name@P}` would run.
    pub(crate) fn substituting(&self) -> Vec<String> {
        let texts = self.variables.iter().map(|(_, text)| text);
        texts.filter(|it| it.contains("$(") || it.contains('`')).cloned().collect()
    }

    /// What a loop goes through is put in as it is written; without its quotes it is a text.
    pub(crate) fn quoted(&self) -> Vec<String> {
        let texts = self.variables.iter().map(|(_, text)| text);
        let texts = texts.filter(|it| it.starts_with(['\'', '"']));
        let texts = texts.map(|it| it.replace("'\"'\"'", "\u{1}"));
        let plain = |it: String| substituted::plain_words(&it).join(" ").replace('\u{1}', "'");
        texts.map(plain).collect()
    }
}

/// Values as they fall apart into words where the script says what parts words: `IFS=,`.
fn parted(variables: &[(String, String)]) -> Vec<(String, String)> {
    let parting: String =
        variables.iter().filter(|it| it.0 == "IFS").map(|it| it.1.as_str()).collect();
    let parts = |it: char| parting.contains(it);
    let falling = variables.iter().filter(|it| it.0 != "IFS" && it.1.contains(parts));
    falling.map(|(name, value)| (name.clone(), value.replace(parts, " "))).collect()
}

/// What `read` and `mapfile` get from a pipe, or from a redirection of the group that they are in.
fn from_input(
    command: &Command,
    feed: &Option<PipeData>,
    commands: &[Command],
) -> Vec<(String, String)> {
    let name = command.words.first().and_then(Word::text).unwrap_or_default();
    if !matches!(&*name, "read" | "mapfile" | "readarray") {
        return Vec::new();
    }
    let mut names = command.words.iter().skip(1).filter_map(Word::text);
    let Some(variable) = names.rfind(|it| !it.starts_with('-')) else { return Vec::new() };
    let own = command.texts().map(programs::as_far_as_known);
    let groups = commands.iter().filter(|it| it.words.is_empty());
    let around = groups.flat_map(Command::texts).map(programs::as_far_as_known);
    let piped = feed.iter().filter_map(|it| match it {
        PipeData::Text(text) => Some(text.clone()),
        PipeData::Paths(paths) => paths.first().and_then(programs::known_text),
        PipeData::Names(_) | PipeData::Numbers => None,
    });
    let texts = own.chain(around).chain(piped);
    let texts = texts.map(|it| it.trim_end().to_owned()).filter(|it| !it.is_empty()).take(4);
    let list = name != "read";
    texts
        .flat_map(|text| {
            let indexes: &[&str] = if list { &["[@]", "[*]", "[0]"] } else { &[""] };
            let named = indexes.iter().map(|index| format!("{variable}{index}"));
            named.map(|it| (it, text.clone())).collect::<Vec<_>>()
        })
        .collect()
}

/// Another name that a command gives to a program.
fn renamed(command: &Command) -> Vec<(String, String)> {
    let texts: Vec<_> = command.words.iter().filter_map(Word::text).collect();
    let Some((name, rest)) = texts.split_first() else { return Vec::new() };
    let program = |it: &str| super::destroys(it) && !it.ends_with('/');
    match &**name {
        "alias" => {
            let pairs = rest.iter().filter_map(|it| it.split_once('='));
            pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
        }
        "hash" | "cp" | "ln" | "mv" | "install" => {
            let operands: Vec<&str> =
                rest.iter().map(|it| &**it).filter(|it| !it.starts_with('-')).collect();
            match operands.as_slice() {
                [from, to] if program(from) => {
                    let base = from.rsplit('/').next().unwrap_or(from).to_owned();
                    vec![(to.trim_start_matches("./").to_owned(), base)]
                }
                _ => Vec::new(),
            }
        }
        _ => Vec::new(),
    }
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
