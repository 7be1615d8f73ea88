//! `cargo xtask`: the steps of CI, each alone, and the mutation check.

mod copies;
mod mutation_check;
mod program;

use std::{
    collections::BTreeSet,
    fs,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    process::ExitCode,
};

use serde_json::Value;
use xtask::{
    mission,
    mutants::{LISTS, Mutant, all, read},
    source::root,
};

use program::program;

const USAGE: &str = "\
Usage: cargo xtask ci [STEP…]          steps of CI, each alone; without a step they are listed
       cargo xtask all [CHECK…]        everything there is to check, kept in workshop/last.json
       cargo xtask pages               writes the tables that are made from the code
       cargo xtask mutants [WORD…]     makes mistakes whose name has one of these words, or all
       cargo xtask mutants --changed   those whose files changed since all were noticed, by workshop/last.json,
                                       at most 60 of them
       cargo xtask mutants --since REVISION
       cargo xtask mutants --all
       cargo xtask rows [ITEM…]        makes the mistake of each row of workshop/mission.md that has one: exactly
                                       the test that the row names must notice it";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["ci", steps @ ..] => script("scripts/ci", steps),
        ["all", checks @ ..] => script("scripts/all", checks),
        ["pages"] => script("scripts/pages", &[]),
        ["mutants", chosen @ ..] => mutants(chosen),
        ["rows", items @ ..] => rows(items),
        _ => Err(USAGE.to_owned()),
    };
    match done {
        Ok(code) => code,
        Err(problem) => {
            println!("{problem}");
            ExitCode::from(2)
        }
    }
}

fn script(name: &str, words: &[&str]) -> Result<ExitCode, String> {
    let status = program(root().join(name), root()).args(words).status();
    let status = status.map_err(|err| format!("{name} cannot be started: {err}"))?;
    let code = status.code().and_then(|it| u8::try_from(it).ok()).unwrap_or(1);
    Ok(ExitCode::from(code))
}

fn mutants(words: &[&str]) -> Result<ExitCode, String> {
    let all = all()?;
    let chosen = match words {
        [] | ["--all"] => all,
        ["--changed"] => match last_time() {
            Ok(revision) => drawn(inside_one_crate(since(all, &revision)?))?,
            Err(why) => {
                println!("mistakes about any file are made: {why}");
                drawn(inside_one_crate(all))?
            }
        },
        ["--since", revision] => inside_one_crate(since(all, revision)?),
        [option, ..] if option.starts_with('-') => return Err(USAGE.to_owned()),
        words => {
            let named = |it: &Mutant| words.iter().any(|word| it.name.contains(word));
            all.into_iter().filter(named).collect()
        }
    };
    make(&chosen)
}

/// The mistakes of these rows of the mission, or of all that have one.
fn rows(items: &[&str]) -> Result<ExitCode, String> {
    let page = fs::read_to_string(root().join("workshop/mission.md"));
    let page = page.map_err(|err| format!("workshop/mission.md: {err}"))?;
    let mut chosen = all()?;
    let wrong = mission::unmatched_mutants(&page, &chosen);
    if !wrong.is_empty() {
        return Err(wrong.join("\n"));
    }
    let named = |it: &Mutant| it.rows.iter().any(|row| items.contains(&row.as_str()));
    chosen.retain(|it| !it.rows.is_empty() && (items.is_empty() || named(it)));
    let covered: BTreeSet<&String> = chosen.iter().flat_map(|it| &it.rows).collect();
    println!("{} of {} rows have a mistake", covered.len(), mission::proofs(&page).len());
    make(&chosen)
}

fn make(chosen: &[Mutant]) -> Result<ExitCode, String> {
    if chosen.is_empty() {
        println!("no mistake is to be made");
        return Ok(ExitCode::SUCCESS);
    }
    match mutation_check::check(chosen) {
        Ok(0) => Ok(ExitCode::SUCCESS),
        Ok(survivors) => {
            println!("{survivors} mistakes were not noticed");
            Ok(ExitCode::FAILURE)
        }
        Err(problem) => {
            println!("the mutation check cannot be made: {problem}");
            Ok(ExitCode::FAILURE)
        }
    }
}

/// The commit at which all mistakes were noticed, or why there is none that can be compared with.
fn last_time() -> Result<String, String> {
    let text = fs::read_to_string(root().join("workshop/last.json"));
    let text = text.map_err(|err| format!("workshop/last.json: {err}"))?;
    let last: Value =
        serde_json::from_str(&text).map_err(|err| format!("workshop/last.json: {err}"))?;
    let said = |key: &str| last.pointer(&format!("/checks/mutants/{key}")).and_then(Value::as_str);
    let changed = last.pointer("/checks/mutants/changed").is_some();
    match (said("outcome"), said("commit")) {
        (Some("passed"), Some(commit)) if !changed => {
            let known = git(&["cat-file", "-e", &format!("{commit}^{{commit}}")]);
            known.map(|_| commit.to_owned()).map_err(|_| format!("{commit} is not in this clone"))
        }
        _ => Err("workshop/last.json does not say that all were noticed at a commit".to_owned()),
    }
}

/// Those that something has changed about since this revision.
fn since(all: Vec<Mutant>, revision: &str) -> Result<Vec<Mutant>, String> {
    let changed = git(&["diff", "--name-only", revision, "--"])?;
    let changed: BTreeSet<String> = changed.lines().map(str::to_owned).collect();
    let mut before = Vec::new();
    for name in LISTS {
        // A list that was not there, or was written in other words, names none of today's.
        let text = git(&["show", &format!("{revision}:{name}")]).unwrap_or_default();
        before.extend(read(&text, name).unwrap_or_default());
    }
    let count = all.len();
    let chosen = all.into_iter().filter(|it| it.is_touched(&changed, &before));
    let chosen: Vec<Mutant> = chosen.collect();
    println!("{} of {count} mistakes are about what changed since {revision}", chosen.len());
    Ok(chosen)
}

/// Those for which one crate is built anew: each of the others has several, or the program, which `--all` has time
/// for.
fn inside_one_crate(chosen: Vec<Mutant>) -> Vec<Mutant> {
    let (inside, through): (Vec<Mutant>, Vec<Mutant>) =
        chosen.into_iter().partition(Mutant::is_inside_one_crate);
    if !through.is_empty() {
        println!(
            "not run: {} mistakes for which several crates are built; `--all` makes them",
            through.len()
        );
    }
    inside
}

/// So many mistakes are made where CI chooses them: it has some minutes for them.
const MAX_DRAWN: usize = 60;

/// As many as CI has time for. They are drawn by the week of the commit: whoever mends one looks at the same ones
/// again, and next week looks at others.
fn drawn(mut chosen: Vec<Mutant>) -> Result<Vec<Mutant>, String> {
    let count = chosen.len();
    if count <= MAX_DRAWN {
        return Ok(chosen);
    }
    let week = git(&["log", "-1", "--format=%cd", "--date=format:%G-%V"])?;
    let lot = |it: &Mutant| {
        let mut hasher = DefaultHasher::new();
        (week.trim(), &it.name).hash(&mut hasher);
        hasher.finish()
    };
    let mut lots: Vec<u64> = chosen.iter().map(lot).collect();
    lots.sort_unstable();
    let last = lots.get(MAX_DRAWN - 1).copied().unwrap_or(u64::MAX);
    chosen.retain(|it| lot(it) <= last);
    let left = count - chosen.len();
    println!("not run: {left} of {count} mistakes, drawn by the week; `--all` makes them");
    Ok(chosen)
}

fn git(words: &[&str]) -> Result<String, String> {
    let ran = program("git", root()).args(words).output();
    let ran = ran.map_err(|err| format!("git cannot be started: {err}"))?;
    match ran.status.success() {
        true => Ok(String::from_utf8_lossy(&ran.stdout).into_owned()),
        false => Err(String::from_utf8_lossy(&ran.stderr).into_owned()),
    }
}
