//! The public cases, as far as a plain splitter takes them apart: the table must not call a
//! forbidden command harmless, and must not call a harmless one unknown.

use serde_json::Value;

use crate::catastrophe::{of_words, of_write};
use crate::programs::{inner, read};
use crate::{Influence, Part, RedirectKind, Unknown, Word, analyse_with, influence};

struct Case {
    id: String,
    command: String,
    must: String,
    tier: String,
    shell: String,
}

fn cases() -> Vec<Case> {
    let text = include_str!("../../../../tests/corpus/shell.jsonl");
    let text_of = |value: &Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
    text.lines()
        .map(|line| {
            let value: Value = serde_json::from_str(line).unwrap();
            Case {
                id: text_of(&value, "id"),
                command: text_of(&value, "command"),
                must: text_of(&value, "must"),
                tier: text_of(&value, "tier"),
                shell: text_of(&value, "shell"),
            }
        })
        .collect()
}

/// What stands between a script and being harmless, by the table and the analysis alone. Which
/// paths may be read is a policy's business; here nothing outside and no secret may be.
fn objections(script: &str) -> Vec<String> {
    let analysis = analyse_with(script, &inner);
    let mut found: Vec<String> = Vec::new();
    found.extend(analysis.refused.map(|it| it.what));
    found.extend(analysis.doubts.into_iter().map(|it| it.what));
    found.extend(analysis.fork_bomb);
    for command in &analysis.commands {
        let profile = read(&command.words);
        if !profile.class.is_read_only() {
            found.push(format!("{} {:?}", profile.class, profile.why));
        }
        let assigned = command.assignments.iter().map(|it| it.name.as_str());
        let environment = |it: &&str| influence(it) != Influence::Looks;
        if !command.words.is_empty() {
            found.extend(assigned.filter(environment).map(|it| format!("sets {it}")));
        }
        for redirect in &command.redirects {
            let null = redirect.target.text().as_deref() == Some("/dev/null");
            let neutral = match redirect.kind {
                RedirectKind::Descriptor | RedirectKind::Text => true,
                RedirectKind::Read => !is_secret(&redirect.target),
                RedirectKind::Write | RedirectKind::Append | RedirectKind::ReadWrite => null,
            };
            if !neutral {
                found.push(format!("redirection {}", redirect.target.source));
            }
        }
        let paths = profile.paths.iter().map(|it| &it.word).filter(|it| is_secret(it));
        found.extend(paths.map(|it| format!("path {}", it.source)));
        let reveals = |it: &Part| matches!(it, Part::Unknown { why: Unknown::Variable, .. });
        let words = command.words.iter().filter(|it| it.parts.iter().any(reveals));
        found.extend(words.map(|it| format!("environment {}", it.source)));
    }
    found
}

/// A path that a policy would refuse to show.
fn is_secret(word: &Word) -> bool {
    let text: String = word
        .parts
        .iter()
        .map(|it| match it {
            Part::Text(text) | Part::Glob(text) => text.as_str(),
            Part::Unknown { why: Unknown::Home, .. } => "/outside",
            Part::Unknown { .. } => "",
        })
        .collect();
    let secret = [".env", ".pem", "id_rsa", "credentials"];
    secret.iter().any(|it| text.ends_with(it)) || text.starts_with('/') || text.contains("../")
}

/// Nothing that must not be allowed is without an objection.
#[test]
fn no_forbidden_case_reads_as_harmless() {
    let wrong: Vec<String> = cases()
        .iter()
        .filter(|it| it.must != "allow" && it.shell.is_empty())
        .filter(|it| objections(&it.command).is_empty())
        .map(|it| format!("{}: {:?}", it.id, it.command))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Nearly everything harmless reads as harmless.
#[test]
fn harmless_cases_read_as_harmless() {
    for (tier, share) in [("core", 0.95), ("stretch", 0.70)] {
        let (mut seen, mut wrong) = (0_usize, Vec::new());
        for case in cases().iter().filter(|it| it.must == "allow" && it.tier == tier) {
            seen += 1;
            let objections = objections(&case.command);
            if !objections.is_empty() {
                wrong.push(format!("{}: {:?}: {objections:?}", case.id, case.command));
            }
        }
        let missed = wrong.len() as f64 / seen as f64;
        assert!(missed <= 1.0 - share, "{tier}: {} of {seen}\n{}", wrong.len(), wrong.join("\n"));
    }
}

/// Every catastrophe is found, wherever in the script it stands.
#[test]
fn every_catastrophe_among_the_cases_is_found() {
    let wrong: Vec<String> = cases()
        .iter()
        .filter(|it| it.must == "deny" && !is_catastrophic(&it.command))
        .map(|it| format!("{}: {:?}", it.id, it.command))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// True for a script that is, or runs, a catastrophe.
pub(crate) fn is_catastrophic(script: &str) -> bool {
    let analysis = analyse_with(script, &inner);
    analysis.fork_bomb.is_some()
        || analysis.commands.iter().any(|command| {
            let writes = command.redirects.iter().filter(|it| it.kind != RedirectKind::Read);
            of_words(&command.words, &read(&command.words), &command.moved).is_some()
                || writes.into_iter().any(|it| of_write(&it.target).is_some())
        })
}

type Wrap<'w> = &'w dyn Fn(&str) -> String;

/// Whatever a case is put into, it is not judged more mildly.
#[test]
fn wrapping_a_case_never_loosens_it() {
    let quoted = |it: &str| format!("'{}'", it.replace('\'', "'\\''"));
    let wrappers: [(&str, Wrap<'_>); 8] = [
        ("bash -c", &|it| format!("bash -c {}", quoted(it))),
        ("sudo sh -c", &|it| format!("sudo sh -c {}", quoted(it))),
        ("timeout", &|it| format!("timeout 5 sh -c {}", quoted(it))),
        ("find -exec", &|it| format!("find . -exec sh -c {} \\;", quoted(it))),
        ("group", &|it| format!("{{ {it}\n}}")),
        ("if", &|it| format!("if true; then {it}\nfi")),
        ("substitution", &|it| format!("echo \"$( {it}\n)\"")),
        ("list", &|it| format!("ls\n{it}")),
    ];
    let mut wrong = Vec::new();
    for case in cases().iter().filter(|it| it.must != "allow" && it.shell.is_empty()) {
        if case.id.starts_with("sh-parse") {
            continue;
        }
        for (name, wrap) in &wrappers {
            let script = wrap(&case.command);
            let missed = if case.must == "deny" {
                !is_catastrophic(&script)
            } else {
                objections(&script).is_empty()
            };
            if missed {
                wrong.push(format!("{} in {name}: {script:?}", case.id));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
