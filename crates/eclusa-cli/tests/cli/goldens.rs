//! What others rely on, as it was: help, refusals, JSON, exit codes, records and answers to hooks.
//!
//! Each golden is a file under `tests/goldens`. A change here is a change for users: it belongs into
//! a commit that says why. `ECLUSA_WRITE_GOLDENS=1` writes them anew, to be looked at.

use std::{collections::BTreeSet, fs, path::PathBuf, sync::LazyLock};

use regex::Regex;
use serde_json::Value;

use crate::world::{Ran, World};

mod answers;
mod exits;
mod help;
mod hooks;
mod installed;
mod protocols;
mod records;

/// Where the goldens of this family are.
fn directory(family: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/goldens").join(family)
}

fn is_writing() -> bool {
    std::env::var_os("ECLUSA_WRITE_GOLDENS").is_some()
}

/// Compares texts with the goldens of a family: all of them, and no others. What differs is told
/// together.
#[expect(clippy::disallowed_methods, reason = "goldens are written where a person asks for that")]
pub(crate) fn same(family: &str, texts: &[(String, String)]) {
    let directory = directory(family);
    if is_writing() {
        let _ = fs::remove_dir_all(&directory);
        fs::create_dir_all(&directory).unwrap();
        for (name, text) in texts {
            fs::write(directory.join(format!("{name}.txt")), text).unwrap();
        }
    }
    let kept: BTreeSet<String> = fs::read_dir(&directory)
        .map(|files| files.map(|it| it.unwrap().file_name().into_string().unwrap()).collect())
        .unwrap_or_default();
    let made: BTreeSet<String> = texts.iter().map(|(name, _)| format!("{name}.txt")).collect();
    let mut wrong: Vec<String> = kept
        .symmetric_difference(&made)
        .map(|it| {
            format!("{family}/{it}: only {}", if kept.contains(it) { "kept" } else { "made" })
        })
        .collect();
    for (name, text) in texts {
        let file = directory.join(format!("{name}.txt"));
        let Ok(was) = fs::read_to_string(&file) else { continue };
        if was != *text {
            wrong.push(format!("{family}/{name}.txt:\n{}", difference(&was, text)));
        }
    }
    let hint = "ECLUSA_WRITE_GOLDENS=1 writes them, if that is how it should be";
    assert!(wrong.is_empty(), "{}\n{hint}", wrong.join("\n"));
}

/// What differs, without the lines before and after it that do not.
fn difference(was: &str, is: &str) -> String {
    let (mut was, mut is): (Vec<&str>, Vec<&str>) = (was.lines().collect(), is.lines().collect());
    while !was.is_empty() && was.last() == is.last() {
        was.pop();
        is.pop();
    }
    let same = was.iter().zip(&is).take_while(|(was, is)| was == is).count();
    let only = |mark: char, lines: &[&str]| -> String {
        lines.iter().skip(same).map(|it| format!("{mark}{it}\n")).collect()
    };
    format!("line {}:\n{}{}", same + 1, only('-', &was), only('+', &is))
}

/// One golden that is a family by itself, under this name.
fn same_one(family: &str, text: String) {
    same(family, &[(family.to_owned(), text)]);
}

/// The binary as somebody has it who knows nothing of tests.
fn plain_run(world: &World, args: &[&str], input: &str) -> Ran {
    world.without(&["ECLUSA_EXAMPLE_TOOLS"], args, input)
}

/// What was typed, what came back, and how it ended.
fn transcript(world: &World, args: &[&str], ran: &Ran) -> String {
    let typed: Vec<String> = args.iter().map(|it| typed(it)).collect();
    let mut text = format!("$ eclusa {}\n{}", typed.join(" "), ended(&ran.out));
    if !ran.err.is_empty() {
        text.push_str(&format!("stderr:\n{}", ended(&ran.err)));
    }
    text.push_str(&format!("exit {}\n", ran.code));
    timeless(world, &text)
}

fn typed(word: &str) -> String {
    let plain = |it: char| it.is_ascii_alphanumeric() || "-_=./:,@".contains(it);
    if !word.is_empty() && word.chars().all(plain) { word.to_owned() } else { format!("'{word}'") }
}

fn ended(text: &str) -> String {
    if text.is_empty() || text.ends_with('\n') { text.to_owned() } else { format!("{text}\n") }
}

/// What differs from run to run, from person to person and from release to release.
static MARKS: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    let marks = [
        (r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\dZ", "<time>"),
        (r"\b[0-9a-f]{64}\b", "<hash>"),
        (r"\b[0-9a-f]{32}\b", "<name>"),
        (r"\b[0-9a-f]{16}\b", "<revision>"),
        (r"cli-[0-9a-f]+-[0-9a-f]+", "<call>"),
        (r"\bmade_[0-9a-f]+_", "made_<call>_"),
        (r#"(execution_time_ms\\?": ?)\d+"#, "$1<ms>"),
        (r"\bdefaults:\d+\b", "defaults:<line>"),
        (r"workspace-[0-9a-f]{12}\b", "workspace-<id>"),
        (r"'(<dir>[^'\s]*)'", "$1"),
        (r"\bmode (10)?0[0-7]{3}\b", "mode <mode>"),
        (r"\btook( +)[0-9.]+ m?s\b", "took${1}<ms>"),
        (r"\b(just now|\d+ (?:s|min) ago)\b", "<when>"),
    ];
    marks.map(|(pattern, mark)| (Regex::new(pattern).unwrap(), mark)).into()
});

/// The text without any of that.
fn timeless(world: &World, text: &str) -> String {
    let text = world.plain(text);
    // Where the paths have blanks, they are quoted.
    let text =
        text.replace(env!("CARGO_BIN_EXE_eclusa"), "<eclusa>").replace("'<eclusa>'", "<eclusa>");
    let text = text.replace(&format!("eclusa {}", env!("CARGO_PKG_VERSION")), "eclusa <version>");
    MARKS.iter().fold(text, |text, (pattern, mark)| pattern.replace_all(&text, *mark).into_owned())
}

/// Numbers that differ from run to run, by the names of their fields.
fn quieted(name: &str, value: Value) -> Value {
    match value {
        Value::Object(fields) => fields
            .into_iter()
            .map(|(name, value)| {
                let value = quieted(&name, value);
                (name, value)
            })
            .collect(),
        Value::Array(all) => all.into_iter().map(|it| quieted(name, it)).collect(),
        Value::Number(_) => match name {
            "at" | "ended_at" | "created" | "expires" | "decided" | "until" | "updated"
            | "written" => "<time>".into(),
            "ms" | "execution_time_ms" | "cpu_time_ms" | "max" | "median" | "p95" => "<ms>".into(),
            _ => value,
        },
        Value::String(text) if name == "mode" && text.starts_with('0') => "<mode>".into(),
        Value::String(_) if name == "version" => "<version>".into(),
        other => other,
    }
}

/// Lines of JSON, each as people read it; other lines as they are.
fn pretty(world: &World, text: &str) -> String {
    let line = |line: &str| match serde_json::from_str::<Value>(line) {
        Ok(value) => serde_json::to_string_pretty(&quieted("", value)).unwrap() + "\n",
        Err(_) => format!("{line}\n"),
    };
    timeless(world, &text.lines().map(line).collect::<String>())
}
