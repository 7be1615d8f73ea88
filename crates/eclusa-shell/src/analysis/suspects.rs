//! What a command may run without saying so in a way that anybody could rely on.
//!
//! `docker exec web rm -rf /`, `perl -e 'system("rm -rf /")'` and `a=/; rm -rf $a` are not followed
//! as `sudo` and `bash -c` are: nobody knows for sure what these words are to the program. They are
//! looked at for catastrophes alone. What is found here denies; nothing here allows, and nothing
//! here is listed.

use std::borrow::Cow;

use super::pipes::Feed;
use crate::programs::{self, Class};
use crate::variables::{Influence, influence};
use crate::{Command, Word};

/// Longer texts are not looked at: what is not run for sure need not be read at any price.
const MAX_TEXT: usize = 2048;

/// Flags whose arguments are written for people.
const MESSAGES: [&str; 8] =
    ["-m", "--message", "--title", "--body", "--description", "--notes", "--subject", "--comment"];

/// Functions of libraries that remove a whole directory.
const REMOVERS: [&str; 5] = ["rmtree", "rm_rf", "rmSync", "remove_tree", "removeSync"];

/// Builtins of the shell that work out an index in the names they are given.
const INDEXERS: [&str; 8] = ["[[", "[", "test", "declare", "let", "printf", "read", "unset"];

/// Something that may be run.
#[derive(Debug)]
pub(super) enum Suspect {
    /// A command of these words.
    Words(Vec<Word>),
    /// Shell text.
    Text(String),
}

/// Everything that `command` may run. `values` are what the script gives to its variables.
pub(super) fn of(
    command: &Command,
    feed: Option<&Feed>,
    values: &[(String, String)],
) -> Vec<Suspect> {
    let mut found = Vec::new();
    for assignment in &command.assignments {
        if influence(&assignment.name) == Influence::Steers
            && let Some(value) = assignment.value.text()
        {
            texts(&value, &mut found);
        }
    }
    let reading = &command.reading;
    found.extend(with_positions(command));
    if reading.class.is_read_only() {
        return found;
    }
    let name = command.words.first().and_then(Word::text);
    if name.as_deref().is_some_and(|it| INDEXERS.contains(&it)) {
        let indexes = command.words.iter().filter_map(Word::text).filter(|it| it.contains("$("));
        found.extend(indexes.map(|it| Suspect::Text(format!(": \"{it}\""))));
    }
    let sub = reading.program.rsplit_once(' ').map(|(_, sub)| sub);
    found.extend(suffixes(&command.words, sub));
    if reading.entry == Some("awk") {
        let programs = command.words.iter().filter_map(Word::text);
        let devices = programs.flat_map(|it| {
            let devices = strings(&it).into_iter().filter(|it| it.starts_with("/dev/"));
            devices.map(|it| Suspect::Text(format!("> {it}"))).collect::<Vec<_>>()
        });
        found.extend(devices);
    }
    let code = reading.class.contains(Class::RunsCode) || reading.program == "git config";
    if reading.entry.is_some() && code {
        for word in spoken(&command.words) {
            texts(&word, &mut found);
        }
        for text in command.texts().filter_map(Word::text) {
            texts(&text, &mut found);
        }
    }
    if let Some(Feed::Text(text)) = feed
        && (reading.class.contains(Class::RunsCode) || schedules(&command.words))
    {
        texts(text, &mut found);
    }
    found.extend(matched(&command.words));
    found.extend(filled_in(command, values));
    found
}

/// True when it runs text that nobody knows from its words.
pub(super) fn is_blind(command: &Command) -> bool {
    let reading = &command.reading;
    let reader = matches!(reading.entry, Some("bash" | "source")) || schedules(&command.words);
    let dynamic = |it: &Word| it.text().is_none();
    reading.reads_script
        || reading.scripts.iter().any(dynamic)
        || (reader && command.words.iter().any(dynamic))
}

/// `at` and its like run their input later.
fn schedules(words: &[Word]) -> bool {
    let name = words.first().and_then(Word::text);
    name.is_some_and(|it| matches!(&*it, "at" | "batch" | "crontab"))
}

/// The script of `bash -c`, with the words behind it in the places of `$0`, `$1` and `$@`.
fn with_positions(command: &Command) -> Option<Suspect> {
    let [script] = command.reading.scripts.as_slice() else { return None };
    let script = script.text().filter(|it| it.contains('$') && it.len() <= MAX_TEXT)?;
    let at = command.words.iter().position(|it| it.text().as_deref() == Some(&*script))?;
    let arguments: Vec<Cow<'_, str>> =
        command.words.iter().skip(at + 1).map_while(Word::text).collect();
    if arguments.is_empty() {
        return None;
    }
    let mut text = script.into_owned();
    let all = arguments.get(1..).unwrap_or_default().join(" ");
    for name in ["\"$@\"", "\"$*\"", "$@", "$*", "${@}", "${*}"] {
        text = text.replace(name, &all);
    }
    for (at, value) in arguments.iter().enumerate().take(10) {
        text = text.replace(&format!("${{{at}}}"), value).replace(&format!("${at}"), value);
    }
    Some(Suspect::Text(text))
}

/// Every place behind the first word where the name of a program stands that can destroy. `sub` is
/// the word that is a subcommand: `git rm` is not `rm`.
fn suffixes(words: &[Word], sub: Option<&str>) -> impl Iterator<Item = Suspect> {
    let at = (1..words.len()).filter(move |at| {
        let name = words.get(*at).and_then(Word::text);
        name.is_some_and(|it| programs::destroys(&it) && sub != Some(&*it))
    });
    at.filter_map(|at| words.get(at..)).map(|it| Suspect::Words(it.to_vec()))
}

/// A program that is named by a pattern, if the pattern is after one that can destroy.
fn matched(words: &[Word]) -> Option<Suspect> {
    let (first, rest) = words.split_first().filter(|(first, _)| first.is_glob())?;
    let pattern: String = first.source.rsplit('/').next()?.replace(['[', ']'], "");
    let found = programs::DESTROYERS.iter().find(|it| fits(&pattern, it))?;
    let words = std::iter::once(Word::literal(*found)).chain(rest.iter().cloned());
    Some(Suspect::Words(words.collect()))
}

fn fits(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        Some((start, end)) => {
            let end = end.trim_start_matches('*');
            name.len() >= start.len() + end.len() && name.starts_with(start) && name.ends_with(end)
        }
        None => {
            pattern.len() == name.len()
                && pattern.chars().zip(name.chars()).all(|(one, other)| one == '?' || one == other)
        }
    }
}

/// The words behind the name, without those that are written for people.
fn spoken(words: &[Word]) -> impl Iterator<Item = Cow<'_, str>> {
    let mut message = false;
    words.iter().skip(1).filter_map(move |word| {
        let text = word.text()?;
        let for_people = std::mem::replace(&mut message, MESSAGES.contains(&&*text));
        let attached = text.split_once('=').is_some_and(|(flag, _)| MESSAGES.contains(&flag));
        (!for_people && !attached).then_some(text)
    })
}

/// A word that may be code: as shell text, behind what editors and flags put before it, and the
/// strings in it.
fn texts(text: &str, found: &mut Vec<Suspect>) {
    if text.len() > MAX_TEXT || !text.contains([' ', '\t', '\n', '{', '(', '>']) {
        return;
    }
    if forks_in_loop(text) {
        found.push(Suspect::Text(":(){ :|:& };:".to_owned()));
    }
    let marks = |it: char| matches!(it, ':' | '!' | '+' | '|' | '@' | ' ');
    let bare = text.trim_start_matches(marks);
    found.push(Suspect::Text(bare.to_owned()));
    if text.starts_with(':') {
        found.push(Suspect::Text(text.to_owned()));
    }
    let behind = [
        text.split_once('=').map(|(_, value)| value),
        text.strip_prefix('-').and_then(|it| it.get(1..)),
    ];
    for value in behind.into_iter().flatten() {
        let value = value.trim_start_matches("exec=").trim_start_matches(marks);
        if value.contains([' ', '\t', '{', '(']) {
            found.push(Suspect::Text(value.to_owned()));
        }
    }
    let removes = REMOVERS.iter().any(|it| text.contains(it));
    for string in strings(text).into_iter().filter(|it| it.contains([' ', '/', '~'])) {
        let text = if removes { format!("rm -rf {string}") } else { string.to_owned() };
        found.push(Suspect::Text(text));
    }
}

/// What stands between quotes in a program of some language.
fn strings(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut open: Option<(char, usize)> = None;
    let mut escaped = false;
    for (at, it) in text.char_indices() {
        match open {
            _ if escaped => escaped = false,
            _ if it == '\\' => escaped = true,
            Some((quote, from)) if it == quote => {
                found.extend(text.get(from..at));
                open = None;
            }
            Some(_) => {}
            None if matches!(it, '"' | '\'' | '`') => open = Some((it, at + 1)),
            None => {}
        }
    }
    found
}

/// `fork while fork` and its like, in any language.
fn forks_in_loop(text: &str) -> bool {
    let loops = ["while", "loop", "until", "for ", "for(", "iter("];
    let mut words = text.split(|it: char| !it.is_ascii_alphanumeric() && it != '_');
    words.any(|it| it == "fork") && loops.iter().any(|it| text.contains(it))
}

/// The command with what the script itself tells put in: the values of variables, and what `echo`
/// prints. Once as one word, once as the words that it falls apart into.
fn filled_in(command: &Command, values: &[(String, String)]) -> Option<Suspect> {
    let sources: Vec<&str> = command.words.iter().map(|it| it.source.as_str()).collect();
    let mut text = sources.join(" ");
    if text.len() > MAX_TEXT || !text.contains(['$', '`']) {
        return None;
    }
    let before = text.clone();
    text = text.replace("$(pwd)", ".").replace("`pwd`", ".");
    for (open, close) in [("$(", ')'), ("`", '`')] {
        while let Some(printed) = printed_in(&text, open, close) {
            text = printed;
        }
    }
    for (name, value) in values {
        text = text.replace(&format!("${{{name}}}"), value);
        text = replaced(&text, &format!("${name}"), value);
    }
    while let Some(filled) = with_default(&text) {
        text = filled;
    }
    text = text.replace("${IFS}", " ");
    text = replaced(&text, "$IFS", " ");
    (text != before).then_some(Suspect::Text(text))
}

/// Puts in what the first `echo` or `printf` between these marks prints.
fn printed_in(text: &str, open: &str, close: char) -> Option<String> {
    for program in ["echo ", "printf "] {
        let mark = format!("{open}{program}");
        let Some((before, rest)) = text.split_once(&mark) else { continue };
        let Some((inside, after)) = rest.split_once(close) else { continue };
        let plain = inside.trim().trim_matches(['"', '\'']);
        if !plain.contains(['$', '`', '(', '\'', '"']) {
            return Some(format!("{before}{plain}{after}"));
        }
    }
    None
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
