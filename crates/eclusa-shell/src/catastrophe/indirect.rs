//! What a command may run without saying so in a way that anybody could rely on.
//!
//! `docker exec web rm -rf /`, `perl -e 'system("rm -rf /")'` and `a=/; rm -rf $a` are not followed
//! as `sudo` and `bash -c` are: nobody knows for sure what these words are to the program. They are
//! looked at for catastrophes alone. What is found here denies; nothing here allows, and nothing
//! here is listed.

use std::borrow::Cow;

use super::pipes::{PipeData, given, printed_by};
use super::target::target;
use super::texts::{in_parallel, pieces, strings, texts};
use super::values::Bindings;
use super::{DESTROYERS, Target, destroys, mounts, substituted};
use crate::programs::Class;
use crate::variables::{Influence, influence};
use crate::{Command, RedirectKind, Word};

/// Longer texts are not looked at: what is not run for sure need not be read at any price.
pub(super) const MAX_TEXT: usize = 2048;

/// Flags whose arguments are written for people.
const MESSAGES: [&str; 8] =
    ["-m", "--message", "--title", "--body", "--description", "--notes", "--subject", "--comment"];

/// Builtins of the shell that work out an index in the names they are given.
const INDEXERS: [&str; 8] = ["[[", "[", "test", "declare", "let", "printf", "read", "unset"];

/// Programs that do to one file what this flag makes them do to all beneath a directory. What
/// empties or overwrites a file is as good as removing it.
const DESCENDING: [(&str, &str); 9] = [
    ("rm", "-r"),
    ("chmod", "-R"),
    ("chown", "-R"),
    ("chgrp", "-R"),
    ("shred", "rm"),
    ("truncate", "rm"),
    ("unlink", "rm"),
    ("wipe", "rm"),
    ("tee", "rm"),
];

/// Something that may be run.
#[derive(Debug)]
pub(crate) enum Suspect {
    /// A command of these words, which is certainly run.
    Command(Vec<Word>),
    /// A command of these words.
    Words(Vec<Word>),
    /// Shell text.
    Text(String),
}

/// Everything that `command` may run. `bindings` are what its names stand for.
pub(crate) fn candidates(
    command: &Command,
    feed: Option<&PipeData>,
    bindings: &Bindings,
) -> Vec<Suspect> {
    let mut found = Vec::new();
    for assignment in &command.assignments {
        if influence(&assignment.name) == Influence::Steers
            && let Some(value) = assignment.value.text()
        {
            texts(&value, &mut found);
        }
    }
    let profile = &command.profile;
    found.extend(with_positions(command));
    found.extend(on_places(command));
    found.extend(by_other_name(command, bindings));
    found.extend(run_later(command, feed));
    if profile.class.is_read_only() {
        return found;
    }
    let name = command.words.first().and_then(Word::text);
    if name.as_deref().is_some_and(|it| INDEXERS.contains(&it)) {
        let indexes = command.words.iter().filter_map(Word::text).filter(|it| it.contains("$("));
        found.extend(indexes.map(|it| Suspect::Text(format!(": \"{it}\""))));
    }
    let sub = profile.program.rsplit_once(' ').map(|(_, sub)| sub);
    found.extend(suffixes(&command.words, sub));
    if profile.entry == Some("awk") {
        let programs = command.words.iter().filter_map(Word::text);
        let devices = programs.flat_map(|it| {
            let devices = strings(&it).into_iter().filter(|it| it.starts_with("/dev/"));
            devices.map(|it| Suspect::Text(format!("> {it}"))).collect::<Vec<_>>()
        });
        found.extend(devices);
    }
    match profile.entry {
        Some("sed") => {
            found.extend(command.words.iter().filter_map(Word::text).flat_map(|it| pieces(&it)));
        }
        Some("parallel") => found.extend(in_parallel(&command.words)),
        // The other machine's shell reads all the words once more.
        Some("ssh") => {
            let words = profile.runs.iter().map(|it| it.iter().filter_map(Word::text).collect());
            let texts = words.map(|it: Vec<Cow<'_, str>>| Suspect::Text(it.join(" ")));
            found.extend(texts);
        }
        Some("docker") => {
            found.extend(mounts::seen_from_outside(&command.words).into_iter().map(Suspect::Text));
        }
        _ => {}
    }
    let code = profile.class.contains(Class::RunsCode) || profile.program == "git config";
    if profile.entry.is_some() && code {
        for word in spoken(&command.words) {
            texts(&word, &mut found);
        }
        for text in command.texts().filter_map(Word::text) {
            texts(&text, &mut found);
        }
    }
    // What an unknown program is told to run: `xterm -e 'rm -rf /'`.
    if profile.entry.is_none() {
        for text in told_to_run(&command.words) {
            texts(&text, &mut found);
        }
    }
    if let Some(PipeData::Text(text)) = feed
        && (profile.class.contains(Class::RunsCode) || schedules(&command.words))
    {
        texts(text, &mut found);
    }
    found.extend(matched(&command.words));
    found.extend(substituted::filled_in(command, &bindings.variables));
    found
}

/// True for a path that begins at the root, at home, or nobody knows where.
pub(super) fn is_far(path: &Word) -> bool {
    path.prefix().is_empty() || path.prefix().starts_with('/')
}

/// Makes a command that is run on each path beneath a place one that descends into the place.
pub(super) fn descend(words: &mut Vec<Word>) {
    let base = |it: &Word| {
        let text = it.text().unwrap_or_default().into_owned();
        text.rsplit('/').next().map(str::to_owned).unwrap_or_default()
    };
    let known = |it: &Word| DESCENDING.iter().find(|(name, _)| *name == base(it));
    let Some(at) = words.iter().position(|it| known(it).is_some()) else { return };
    let flag = words.get(at).and_then(known).map(|(_, flag)| *flag).unwrap_or_default();
    if flag == "rm" {
        words.splice(at..=at, ["rm", "-r"].map(Word::literal));
    } else {
        words.insert(at + 1, Word::literal(flag));
    }
}

/// What `find / -exec … {} +` does to the place itself, where no test narrows it.
fn on_places(command: &Command) -> Vec<Suspect> {
    let profile = &command.profile;
    if !matches!(profile.entry, Some("find" | "fd")) || profile.narrowed {
        return Vec::new();
    }
    let here = |it: &Word| !profile.tested && target(it) == Some(Target::WorkingDirectory);
    let places = profile.paths.iter().map(|it| &it.word).filter(|it| is_far(it) || here(it));
    let of = |place: &Word| {
        let runs = profile.runs.iter().map(|run| {
            let put = |it: &Word| if it.source == "{}" { place.clone() } else { it.clone() };
            let mut words: Vec<Word> = run.iter().map(put).collect();
            descend(&mut words);
            Suspect::Command(words)
        });
        runs.collect::<Vec<_>>()
    };
    places.flat_map(of).collect()
}

/// `hash -p /bin/rm x; x -rf /`, `alias x=rm`, `cp /bin/rm x; ./x -rf /`
fn by_other_name(command: &Command, bindings: &Bindings) -> Vec<Suspect> {
    let Some(name) = command.words.first().and_then(Word::text) else { return Vec::new() };
    let bare = name.trim_start_matches("./");
    let meant = bindings.programs.iter().filter(|(it, _)| *it == bare).take(4);
    let rest: Vec<&str> = command.words.iter().skip(1).map(|it| it.source.as_str()).collect();
    let rest = rest.join(" ");
    let texts = meant.map(|(_, program)| format!("{program} {rest}"));
    texts.filter(|it| it.len() <= MAX_TEXT).map(Suspect::Text).collect()
}

/// Files whose text a shell runs the next time it starts, or a clock or git at some time.
const RUN_LATER: [&str; 16] = [
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".kshrc",
    ".xinitrc",
    "profile",
    "rc.local",
    "bash.bashrc",
];

/// `echo 'rm -rf ~' >> ~/.bashrc`
fn run_later(command: &Command, feed: Option<&PipeData>) -> Vec<Suspect> {
    let later = |it: &Word| {
        let path = it.source.trim_matches(['"', '\'']);
        let name = path.rsplit('/').next().unwrap_or(path);
        RUN_LATER.contains(&name) || path.contains("/cron") || path.contains(".git/hooks/")
    };
    let redirects = command.redirects.iter().filter(|it| {
        matches!(it.kind, RedirectKind::Write | RedirectKind::Append | RedirectKind::ReadWrite)
    });
    let tee = command.words.first().and_then(Word::text).as_deref() == Some("tee");
    let written = command.words.iter().skip(1).filter(|_| tee);
    if !redirects.map(|it| &it.target).chain(written).any(later) {
        return Vec::new();
    }
    let mut found = Vec::new();
    let own = given(command);
    let passed = [own.as_ref(), feed].into_iter().flatten().find_map(|it| match it {
        PipeData::Text(text) if tee => Some(text.clone()),
        _ => None,
    });
    let text = printed_by(command, feed).or(passed);
    if let Some(text) = text.filter(|it| it.len() <= MAX_TEXT) {
        texts(&text, &mut found);
        found.push(Suspect::Text(text));
    }
    found
}

/// What stands behind flags that are called as if they ran something.
fn told_to_run(words: &[Word]) -> Vec<String> {
    let runs = |flag: &str| {
        let Some(name) = flag.strip_prefix('-') else { return false };
        let long = name.trim_start_matches('-').to_ascii_lowercase();
        let verbs = [
            "exec", "command", "cmd", "run", "eval", "shell", "script", "hook", "call", "spawn",
            "start", "before", "after", "on-", "pre", "post",
        ];
        matches!(name, "e" | "c" | "x" | "r" | "E" | "X")
            || (long.len() > 2 && verbs.iter().any(|it| long.starts_with(it) || long.ends_with(it)))
    };
    let pairs = words.iter().zip(words.iter().skip(1));
    let behind = pairs.filter(|(flag, _)| flag.text().is_some_and(|it| runs(&it)));
    let behind = behind.filter_map(|(_, word)| word.text().map(Cow::into_owned));
    let attached = words.iter().filter_map(|it| {
        let text = it.text()?;
        let (flag, value) = text.split_once('=')?;
        runs(flag).then(|| value.to_owned())
    });
    behind.chain(attached).collect()
}

/// `$0`: the script, or the shell, itself.
pub(crate) fn is_itself(words: &[Word]) -> bool {
    let is = |it: &Word| matches!(it.source.trim_matches('"'), "$0" | "${0}");
    let sourced =
        |it: &Word| it.text().is_some_and(|it| matches!(&*it, "." | "source" | "bash" | "sh"));
    match words {
        [first, ..] if is(first) => true,
        [first, second, ..] => sourced(first) && is(second),
        _ => false,
    }
}

/// True when the first word is a shell.
pub(crate) fn is_shell(words: &[Word]) -> bool {
    let name = words.first().and_then(Word::text).unwrap_or_default();
    matches!(name.rsplit('/').next(), Some("sh" | "bash" | "dash" | "zsh" | "ksh"))
}

/// True when it runs text that nobody knows from its words.
pub(crate) fn is_blind(command: &Command) -> bool {
    let profile = &command.profile;
    if command.words.first().is_some_and(|it| it.text().is_none()) {
        return true;
    }
    let reader = matches!(profile.entry, Some("bash" | "source")) || schedules(&command.words);
    let dynamic = |it: &Word| it.text().is_none();
    profile.reads_script
        || profile.scripts.iter().any(dynamic)
        || (reader && command.words.iter().any(dynamic))
}

/// `at` and its like run their input later.
fn schedules(words: &[Word]) -> bool {
    let name = words.first().and_then(Word::text);
    name.is_some_and(|it| matches!(&*it, "at" | "batch" | "crontab"))
}

/// The script of `bash -c`, with the words behind it in the places of `$0`, `$1` and `$@`.
fn with_positions(command: &Command) -> Option<Suspect> {
    let [script] = command.profile.scripts.as_slice() else { return None };
    let script = script.text().filter(|it| it.contains('$') && it.len() <= MAX_TEXT)?;
    let at = command.words.iter().position(|it| it.text().as_deref() == Some(&*script))?;
    let told = |it| Word::text(it).unwrap_or(Cow::Borrowed(it.source.as_str()));
    let arguments: Vec<Cow<'_, str>> = command.words.iter().skip(at + 1).map(told).collect();
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
        // In a row of the same (`eval eval eval`) the first stands for all.
        let before = at.checked_sub(1).and_then(|it| words.get(it)).and_then(Word::text);
        name.is_some_and(|it| destroys(&it) && sub != Some(&*it) && before.as_ref() != Some(&it))
    });
    let separated = |it: &&Word| it.text().as_deref() == Some("--");
    at.filter_map(|at| words.get(at..)).flat_map(move |it| {
        // `--exec /bin/rm -- -rf /`: what is behind the dashes is for the program.
        let bare = it.get(1).filter(separated).and(it.first());
        let bare = bare.map(|name| std::iter::once(name).chain(it.iter().skip(2)).cloned());
        let bare = bare.map(|it| Suspect::Words(it.collect()));
        std::iter::once(Suspect::Words(it.to_vec())).chain(bare)
    })
}

/// A program that is named by a pattern, if the pattern is after one that can destroy.
fn matched(words: &[Word]) -> Option<Suspect> {
    let (first, rest) = words.split_first().filter(|(first, _)| first.is_glob())?;
    let pattern: String = first.source.rsplit('/').next()?.replace(['[', ']'], "");
    let found = DESTROYERS.iter().find(|it| fits(&pattern, it))?;
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
pub(super) fn spoken(words: &[Word]) -> impl Iterator<Item = Cow<'_, str>> {
    let mut message = false;
    words.iter().skip(1).filter_map(move |word| {
        let text = word.text()?;
        let for_people = std::mem::replace(&mut message, MESSAGES.contains(&&*text));
        let attached = text.split_once('=').is_some_and(|(flag, _)| MESSAGES.contains(&flag));
        (!for_people && !attached).then_some(text)
    })
}
