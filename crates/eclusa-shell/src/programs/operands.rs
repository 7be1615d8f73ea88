//! Operands: what each word is to the program, and what follows from it.

use eclusa_net::Endpoint;

use crate::{Influence, Part, Unknown, Word, influence};

use super::class::Class;
use super::entry::{Entry, Operand, Operands, Role};
use super::profile::{CommandProfile, How, is_appended, is_dynamic, may_be_flag, splits};
use super::{awk, git, sed};

/// Sinks that swallow what is written to them.
const SINKS: [&str; 4] = ["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"];

/// Memory that a size may ask for, in KiB: beyond it the machine may suffer.
const MODEST: u64 = 1 << 20;

/// Words of jq and yq that read files or the environment.
const OUTSIDE: [&str; 8] =
    ["import", "include", "strenv", "envsubst", "eval", "modulemeta", "system", "exec"];

/// Reads the operands of a command, given the flags that it has.
pub(crate) fn read(
    entry: &'static Entry,
    flags: &[&'static str],
    words: &[&Word],
    profile: &mut CommandProfile,
) {
    let matches = |names: &[&str]| names.iter().any(|it| flags.contains(it));
    let with = entry.with.iter().find(|(names, _)| matches(names));
    let operands = with.map_or(&entry.operands, |(_, operands)| operands);
    if operands.last.first().is_some_and(|it| it.role == Role::Command) {
        return assignments_then_command(entry, words, profile);
    }
    let first_split = words.iter().position(|it| splits(it)).unwrap_or(words.len());
    for (at, word) in words.iter().enumerate() {
        let choices = if at < first_split {
            let mut choices: Vec<_> = exact(operands, at, words.len()).into_iter().collect();
            // What is appended may be nothing: then this is the last.
            if words.iter().skip(at + 1).all(|it| is_appended(it)) && at + 1 < words.len() {
                choices.extend(operands.last.last());
            }
            (!choices.is_empty()).then_some(choices)
        } else {
            possible(operands, first_split, words.len() - at - 1)
        };
        let Some(choices) = choices else {
            if !entry.harmless && !entry.any_flags {
                profile.doubt_of(format!("`{}` is one operand too many", word.source));
            }
            return;
        };
        for Operand { role, class } in choices {
            profile.add_all(class, |it| format!("operand `{}` of `{it}`", word.source));
            if role == Role::Command {
                return command(words.get(at..).unwrap_or_default(), profile);
            }
            one(role, word, ArgPosition::Operand, profile);
        }
    }
}

/// What the operand at a place is, when every word before it is one word.
fn exact(operands: &Operands, at: usize, count: usize) -> Option<Operand> {
    if let Some(first) = operands.first.get(at) {
        return Some(*first);
    }
    let from_end = count.checked_sub(at)?;
    if let Some(place) = operands.last.len().checked_sub(from_end) {
        return operands.last.get(place).copied();
    }
    operands.rest
}

/// What the operand at a place can be, when a word before it, or it, can be any number of words.
fn possible(operands: &Operands, first_split: usize, behind: usize) -> Option<Vec<Operand>> {
    let mut choices: Vec<Operand> = Vec::new();
    choices.extend(operands.first.iter().skip(first_split));
    choices.extend(operands.rest);
    if behind < operands.last.len() {
        choices.extend(operands.last.iter());
    }
    choices.dedup();
    (!choices.is_empty()).then_some(choices)
}

fn assignments_then_command(entry: &Entry, words: &[&Word], profile: &mut CommandProfile) {
    let is_assignment = |word: &&&Word| word.prefix().contains('=');
    let count = words.iter().take_while(is_assignment).count();
    for word in words.iter().take(count) {
        one(Role::Assign, word, ArgPosition::Operand, profile);
    }
    let rest = words.get(count..).unwrap_or_default();
    if rest.is_empty() {
        profile.add_all(entry.bare, |it| format!("`{it}` without a command"));
    }
    command(rest, profile);
}

/// A command inside. One word with blanks in it is a script for those who hand it to a shell.
fn command(words: &[&Word], profile: &mut CommandProfile) {
    if let [only] = words
        && only.text().is_some_and(|it| it.contains(char::is_whitespace))
    {
        profile.scripts.push((*only).clone());
    }
    // `flock file -c '…'` and its like.
    if let [flag, script, ..] = words
        && flag.text().as_deref() == Some("-c")
    {
        profile.scripts.push((*script).clone());
    }
    if !words.is_empty() {
        profile.runs.push(words.iter().map(|it| (*it).clone()).collect());
    }
}

/// Where a word stands, for explanations.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ArgPosition {
    /// It is an operand.
    Operand,
    /// It is the argument of this flag.
    Flag(&'static str),
}

/// Reads one word by what it is to the program.
pub(crate) fn one(role: Role, word: &Word, place: ArgPosition, profile: &mut CommandProfile) {
    let what = |profile: &CommandProfile, then: &str| {
        let (source, program) = (&word.source, &profile.program);
        match place {
            ArgPosition::Operand => format!("`{source}`, operand of `{program}`, {then}"),
            ArgPosition::Flag(flag) => {
                format!("`{source}`, argument of `{flag}` of `{program}`, {then}")
            }
        }
    };
    match role {
        Role::Read => file(word, How::Read, profile),
        Role::List | Role::Archive => file(word, How::Listed, profile),
        Role::Enter => {
            if word.text().as_deref() == Some("-") {
                profile.doubt("where `-` goes is only known when it runs".to_owned());
            }
            profile.path(word.clone(), How::Entered);
        }
        Role::Write => {
            let sink = word.text().is_some_and(|it| SINKS.contains(&it.as_ref()));
            if !sink {
                profile.add(Class::Writes, what(profile, "is written"));
            }
            profile.path(word.clone(), How::Written);
        }
        Role::Delete => {
            profile.add(Class::Destructive, what(profile, "is deleted"));
            profile.path(word.clone(), How::Deleted);
        }
        Role::Move => {
            profile.add(Class::Writes, what(profile, "is moved"));
            profile.path(word.clone(), How::Moved);
        }
        Role::Change => {
            profile.add(Class::Writes, what(profile, "is changed"));
            profile.path(word.clone(), How::Changed);
        }
        Role::Exec => {
            profile.add(Class::RunsCode, what(profile, "is run"));
            profile.path(word.clone(), How::Executed);
        }
        Role::Host | Role::Url if is_this_machine(word) => {
            profile.add(Class::Reveals, what(profile, "is a service of this machine"));
            profile.hosts.push(word.clone());
        }
        Role::Host | Role::Url => {
            profile.add(Class::Network, what(profile, "is another machine"));
            profile.hosts.push(word.clone());
        }
        Role::Command => profile.runs.push(vec![word.clone()]),
        Role::Script => script(word, profile),
        Role::Assign => assignment(word, profile),
        Role::Name => name(word, profile),
        Role::Size => size(word, profile),
        Role::Format => format(word, profile),
        Role::Revision => git::revision(word, profile),
        Role::Argument if may_be_flag(word) => {
            profile.doubt(what(profile, "looks like a flag"));
        }
        Role::Text | Role::Mode | Role::Argument => {}
        Role::Pattern => {
            let paths = word.text().map_or_else(|| vec![word.clone()], |it| git::patterns(&it));
            paths.into_iter().for_each(|it| profile.path(it, How::Read));
        }
        Role::Refspec => git::refspec(word, profile),
        Role::GitFormat => git::format(word, profile),
        Role::GitConfig => git::config(word, profile),
        Role::Sed => sed::read(word, profile),
        Role::Awk => awk::read(word, profile),
        Role::Jq => jq(word, profile),
        Role::Process => profile.add(Class::Destructive, what(profile, "is sent a signal")),
        Role::Setting if word.prefix().contains('=') || is_dynamic(word) => {
            profile.add(Class::Privilege, what(profile, "sets something"));
        }
        Role::Setting => {}
    }
}

/// True for an address of this machine: `localhost:3000/x`, `http://127.0.0.1:80`. The port and
/// what is behind it may be unknown, the host not.
fn is_this_machine(word: &Word) -> bool {
    let text = word.prefix();
    let bare = ["http://", "https://", "ws://"].iter().find_map(|it| text.strip_prefix(it));
    let bare = bare.unwrap_or(text);
    // `127.0.0.1:80@evil.example` is another machine.
    if word.source.contains('@') {
        return false;
    }
    let end = bare.find(['/', '?', '#']);
    let authority = end.and_then(|it| bare.get(..it)).unwrap_or(bare);
    if end.is_some() || !is_dynamic(word) {
        return Endpoint::parse(authority).is_ok_and(|it| it.is_loopback());
    }
    // The port is only known when it runs.
    let host =
        authority.rsplit_once(':').filter(|(_, it)| it.bytes().all(|it| it.is_ascii_digit()));
    host.is_some_and(|(host, _)| Endpoint::parse(host).is_ok_and(|it| it.is_loopback()))
}

/// A path, unless it is `-`, which is the standard input.
fn file(word: &Word, how: How, profile: &mut CommandProfile) {
    if word.text().as_deref() != Some("-") {
        profile.path(word.clone(), how);
    }
}

/// A script. One that is not known in full is a doubt, and is followed as far as it is known all
/// the same: what it certainly runs may be denied.
pub(crate) fn script(word: &Word, profile: &mut CommandProfile) {
    // `trap - EXIT` runs nothing.
    if word.text().as_deref() == Some("-") {
        return;
    }
    if is_dynamic(word) {
        profile.doubt(format!("the script `{}` is only known when it runs", word.source));
        profile.scripts.push(Word::literal(as_far_as_known(word)));
    }
    profile.scripts.push(word.clone());
}

/// The text of a script, with a variable where only the run decides.
pub(crate) fn as_far_as_known(word: &Word) -> String {
    let parts = word.parts.iter().map(|part| match part {
        Part::Text(text) | Part::Glob(text) => text.as_str(),
        Part::Unknown { why: Unknown::Home, .. } => "$HOME",
        Part::Unknown { why: Unknown::Here, .. } => "$PWD",
        Part::Unknown { .. } => "$UNKNOWN",
    });
    parts.collect()
}

fn assignment(word: &Word, profile: &mut CommandProfile) {
    let lead = word.prefix();
    let name = lead.split('=').next().unwrap_or_default();
    match influence(name) {
        Influence::Looks => {}
        Influence::Unlisted => {
            profile.doubt(format!("what programs make of the variable `{name}` is not known"));
        }
        Influence::Counts | Influence::Steers => {
            profile
                .add(Class::RunsCode, format!("the variable `{name}` changes what programs run"));
        }
    }
}

/// A variable of the shell. A name with a subscript is evaluated, and evaluation runs code.
fn name(word: &Word, profile: &mut CommandProfile) {
    let lead = word.prefix();
    let name = lead.split('=').next().unwrap_or_default().trim_end_matches('+');
    let whole = lead.contains('=') || !is_dynamic(word);
    let plain = |it: char| it == '_' || it.is_ascii_alphanumeric();
    if !whole || splits_unquoted(word) {
        profile.doubt(format!("which variable `{}` names is only known when it runs", word.source));
    } else if name.is_empty() || !name.chars().all(plain) {
        profile.add(Class::RunsCode, format!("`{name}` is evaluated"));
    } else if influence(name).is_grave() {
        profile.add(Class::RunsCode, format!("the variable `{name}` changes what programs run"));
    }
}

fn splits_unquoted(word: &Word) -> bool {
    word.parts.iter().any(|it| matches!(it, Part::Unknown { splits: true, .. }))
}

fn size(word: &Word, profile: &mut CommandProfile) {
    if !word.text().is_some_and(|it| is_modest(&it)) {
        profile.doubt(format!("`{}` may take more memory than there is", word.source));
    }
}

/// A number, a number of KiB, or one with a unit, that asks for a gigabyte at most.
fn is_modest(text: &str) -> bool {
    let digits = text.trim_end_matches(|it: char| !it.is_ascii_digit());
    let unit = text.strip_prefix(digits).unwrap_or_default();
    let Ok(number) = digits.parse::<u64>() else { return false };
    let limit = match unit.to_ascii_lowercase().as_str() {
        "" | "k" | "kb" | "kib" => MODEST,
        "b" => MODEST << 10,
        "m" | "mb" | "mib" => MODEST >> 10,
        "g" | "gb" | "gib" => MODEST >> 20,
        "%" => 50,
        _ => return false,
    };
    number <= limit
}

fn format(word: &Word, profile: &mut CommandProfile) {
    if word.prefix().starts_with('+') {
        return;
    }
    if is_dynamic(word) {
        profile.doubt(format!("`{}` can set the clock", word.source));
    } else {
        profile.add(Class::Privilege, format!("`{}` sets the clock", word.source));
    }
}

/// A filter of jq writes nothing and runs nothing, but it can print the environment.
fn jq(word: &Word, profile: &mut CommandProfile) {
    let Some(text) = word.text() else {
        profile.doubt(format!("the filter `{}` is only known when it runs", word.source));
        return;
    };
    let outside = |it: char| !(it.is_ascii_alphanumeric() || "_$.".contains(it));
    for token in text.split(outside) {
        if token == "env" || token.starts_with("env.") || token.starts_with("$ENV") {
            profile.add(Class::Reveals, "the filter prints the environment".to_owned());
        } else if token.starts_with("load") || OUTSIDE.contains(&token) {
            profile.doubt(format!("`{token}` in the filter reaches outside of it"));
        }
    }
}
