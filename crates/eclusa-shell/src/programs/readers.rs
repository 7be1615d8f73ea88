//! Small readers, for programs whose words are not quite flags and operands.

use std::borrow::Cow;

use crate::{Part, Word};

use super::argv;
use super::class::Class;
use super::entry::{Arity, Entry, Role};
use super::operands::{self, ArgPosition, one};
use super::profile::{
    CommandProfile, How, PathUse, appended, behind, is_dynamic, joined, unclear, with_unknown,
};

/// tar: the first word can be a bundle without a dash, whose arguments follow in order; and the
/// archive is read or written by what is done.
pub(crate) fn tar(entry: &'static Entry, words: &[Word], profile: &mut CommandProfile) {
    let words = dashed(entry, words);
    argv::plain(entry, &words, profile);
    let writes = words.iter().any(|it| it.text().is_some_and(|it| writes_archive(&it)));
    let mut found: Vec<(Class, String)> = Vec::new();
    for PathUse { word, how } in &mut profile.paths {
        if *how != How::Listed {
            continue;
        }
        *how = if writes { How::Written } else { How::Read };
        if writes && word.text().as_deref() != Some("/dev/null") {
            found.push((Class::Writes, format!("`{}` is written by `tar`", word.source)));
        }
        let mut known = word.parts.iter();
        if known.any(|it| matches!(it, Part::Text(it) | Part::Glob(it) if it.contains(':'))) {
            found.push((Class::Network, format!("`{}` can be on another machine", word.source)));
        } else if is_dynamic(word) {
            // A name with a colon has it start another program, to reach another machine by.
            let what = format!("what `{}` names is only known when it runs", word.source);
            found.push((Class::RunsCode, what));
        }
    }
    for (class, what) in found {
        profile.add(class, what);
    }
}

/// The words with the dashes that the first may lack.
fn dashed(entry: &'static Entry, words: &[Word]) -> Vec<Word> {
    let first = words.first().and_then(Word::text).filter(|it| {
        !it.starts_with('-') && !it.is_empty() && it.chars().all(|it| it.is_ascii_alphabetic())
    });
    let Some(letters) = first else { return words.to_vec() };
    let mut plain = Vec::new();
    let mut rest = words.iter().skip(1);
    for letter in letters.chars() {
        let name = format!("-{letter}");
        plain.push(Word::literal(&name));
        let takes = entry.flag(&name).is_some_and(|it| it.arity == Arity::Required);
        if takes && let Some(value) = rest.next() {
            plain.push(value.clone());
        }
    }
    plain.extend(rest.cloned());
    plain
}

/// True for a flag by which an archive is made or changed. A bundle with such a letter counts even
/// where the letter is an argument.
fn writes_archive(text: &str) -> bool {
    let long = ["--create", "--append", "--update", "--catenate", "--concatenate", "--delete"];
    match text.strip_prefix("--") {
        Some(_) => long.iter().any(|it| it.starts_with(text)),
        None => text.starts_with('-') && text.contains(['c', 'r', 'u', 'A']),
    }
}

/// dd: `name=value`, and nothing else.
pub(crate) fn dd(entry: &'static Entry, words: &[Word], profile: &mut CommandProfile) {
    profile.add_all(entry.class, |it| format!("`{it}`"));
    for word in words {
        let lead = word.prefix().to_owned();
        let Some((name, _)) = lead.split_once('=') else {
            profile.doubt(format!("`{}` is not an operand of `dd`", word.source));
            continue;
        };
        let value = behind(word, name.len() + 1);
        let (role, name) = match name {
            "if" => (Role::Read, "if="),
            "of" => (Role::Write, "of="),
            "wipe" | "hof" => (Role::Write, "wipe="),
            "bs" | "ibs" | "obs" => (Role::Size, "bs="),
            "cbs" | "count" | "seek" | "skip" | "conv" | "iflag" | "oflag" | "status" => continue,
            _ => {
                profile.doubt(format!("`{name}` is not an operand of `dd`"));
                continue;
            }
        };
        one(role, &value, ArgPosition::Flag(name), profile);
    }
}

/// xargs: what it runs gets further words, which nobody knows beforehand. With `-I` they take the
/// place of a mark.
pub(crate) fn xargs(entry: &'static Entry, words: &[Word], profile: &mut CommandProfile) {
    argv::plain(entry, words, profile);
    for inner in &mut profile.runs {
        let own = words.len().saturating_sub(inner.len());
        let mark = mark(words.get(..own).unwrap_or_default());
        for word in inner.iter_mut() {
            let marked = mark.as_ref().filter(|it| !it.is_empty() && word.source.contains(*it));
            if let Some(mark) = marked {
                let known = word.text().map(|it| it.into_owned());
                *word = known.map_or_else(|| unclear(mark), |it| with_unknown(&it, mark));
            }
        }
        if mark.is_none() {
            inner.push(appended("…"));
        }
    }
}

/// The mark of `-I`, if there is one.
fn mark(words: &[Word]) -> Option<String> {
    let mut rest = words.iter().map(|it| it.text().unwrap_or_default());
    while let Some(word) = rest.next() {
        match word.as_ref() {
            "-I" => return rest.next().map(|it| it.into_owned()),
            "-i" | "--replace" => return Some("{}".to_owned()),
            it if it.starts_with("-I") => return it.get(2..).map(str::to_owned),
            it if it.starts_with("-i") => return it.get(2..).map(str::to_owned),
            it if it.starts_with("--replace=") => return it.get(10..).map(str::to_owned),
            _ => {}
        }
    }
    None
}

/// ps: letters without a dash are flags as well; `e` prints the environment.
pub(crate) fn ps(entry: &'static Entry, words: &[Word], profile: &mut CommandProfile) {
    let mut plain = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let letters = word.text().filter(|it| !it.starts_with('-') && at == 0);
        match letters {
            Some(letters) if letters.chars().all(|it| "auxfwljrThHv".contains(it)) => {}
            Some(letters) if letters.contains('e') => {
                profile.add(Class::Reveals, "`ps e` prints the environment".to_owned());
            }
            _ => plain.push(word.clone()),
        }
    }
    argv::plain(entry, &plain, profile);
}

/// eval: its words, joined by blanks, are a script.
pub(crate) fn eval(words: &[Word], profile: &mut CommandProfile) {
    let words = match words.split_first() {
        Some((first, rest)) if first.text().as_deref() == Some("--") => rest,
        _ => words,
    };
    if words.is_empty() {
        return;
    }
    profile.add(Class::RunsCode, "`eval` runs text".to_owned());
    let mut parts = Vec::new();
    for word in words {
        if !parts.is_empty() {
            parts.push(Part::Text(" ".to_owned()));
        }
        parts.extend(word.parts.iter().cloned());
    }
    let sources: Vec<&str> = words.iter().map(|it| it.source.as_str()).collect();
    let script = joined(&Word { parts, source: sources.join(" ") });
    operands::script(&script, profile);
}

/// set: options of the shell, and positional parameters.
pub(crate) fn set(words: &[Word], profile: &mut CommandProfile) {
    if words.is_empty() {
        profile.add(Class::Reveals, "`set` prints every variable".to_owned());
    }
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        let Some(text) = word.text() else {
            profile.doubt(format!("`{}` can turn out to be an option of the shell", word.source));
            return;
        };
        match text.as_ref() {
            "--" | "-" => return,
            it if it.starts_with(['-', '+']) && it.len() > 1 => {
                // `-a` makes every variable one that programs see, and `-H` brings old lines back.
                let options =
                    if it.starts_with('-') { "befhnuvxBCETmo" } else { "abefhnuvxBCEHTmo" };
                let known = it.chars().skip(1).all(|it| options.contains(it));
                if !known {
                    profile.doubt(format!("`{it}` is not a known option of `set`"));
                }
                if it.ends_with('o') {
                    let name = rest.next().and_then(Word::text);
                    let harmless = ["pipefail", "errexit", "nounset", "noglob", "noclobber"];
                    let harmless =
                        harmless.iter().chain(&["errtrace", "xtrace", "verbose", "posix"]);
                    match name {
                        Some(name) if harmless.clone().any(|it| *it == name) => {}
                        Some(name) => profile.doubt(format!("`set -o {name}` is not known")),
                        None => profile.add(Class::Reveals, "`set -o` prints options".to_owned()),
                    }
                }
            }
            _ => return,
        }
    }
}

/// kill: a flag is a signal, a word is a process. `-l` only lists.
pub(crate) fn kill(entry: &'static Entry, words: &[Word], profile: &mut CommandProfile) {
    let first = words.first().and_then(Word::text);
    if matches!(first.as_deref(), Some("-l" | "-L" | "--list" | "--table")) {
        return;
    }
    profile.add_all(entry.class, |it| format!("`{it}`"));
    if words.iter().any(is_dynamic) {
        profile.doubt("which process it ends is only known when it runs".to_owned());
    }
}

/// rsync: a path with a host before it is on another machine.
pub(crate) fn rsync(entry: &'static Entry, words: &[Word], profile: &mut CommandProfile) {
    argv::plain(entry, words, profile);
    let remote = |it: &Word| {
        let Some(text) = it.text() else { return !it.prefix().contains('/') };
        let host = text.split('/').next().unwrap_or_default();
        host.contains(':') || text.starts_with("rsync://")
    };
    // Any word can be one: which flags take an argument is not known.
    if let Some(word) = words.iter().find(|it| !it.prefix().starts_with('-') && remote(it)) {
        let what = format!("`{}` can be on another machine", word.source);
        profile.add(Class::Network, what);
        profile.hosts.push(word.clone());
    }
}

/// ln: what a symbolic link leads to is seen from the directory that the link is in.
pub(crate) fn ln(entry: &'static Entry, words: &[Word], profile: &mut CommandProfile) {
    argv::plain(entry, words, profile);
    let symbolic = words.iter().any(|it| {
        let flag = it.prefix();
        flag == "--symbolic"
            || (flag.starts_with('-') && !flag.starts_with("--") && flag.contains('s'))
    });
    let link = profile.paths.iter().find(|it| it.how == How::Written).map(|it| it.word.clone());
    let Some(link) = link.filter(|_| symbolic).and_then(|it| it.text().map(Cow::into_owned)) else {
        return;
    };
    let directory = link.trim_end_matches('/').rsplit_once('/').map_or(".", |(before, _)| before);
    let mut seen = Vec::new();
    for PathUse { word, how } in &mut profile.paths {
        let Some(text) = word.text().filter(|it| *how == How::Read && !it.starts_with('/')) else {
            continue;
        };
        // Where the link is an existing directory, it is made in that.
        let inside = Word::literal(format!("{}/{text}", link.trim_end_matches('/')));
        seen.push(PathUse { word: inside, how: How::Read });
        *word = Word::literal(format!("{directory}/{text}"));
    }
    profile.paths.extend(seen);
}
