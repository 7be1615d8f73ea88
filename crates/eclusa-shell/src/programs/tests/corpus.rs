//! The public cases, as far as a plain splitter takes them apart: the table must not call a
//! forbidden command harmless, and must not call a harmless one unknown.

use serde_json::Value;

use super::super::*;
use super::split::argv;
use crate::{Part, Unknown};

struct Case {
    id: String,
    command: String,
    must: String,
    class: String,
    tier: String,
    shell: String,
}

fn cases() -> Vec<Case> {
    let text = include_str!("../../../../../tests/corpus/shell.jsonl");
    let text_of = |value: &Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
    text.lines()
        .map(|line| {
            let value: Value = serde_json::from_str(line).unwrap();
            Case {
                id: text_of(&value, "id"),
                command: text_of(&value, "command"),
                must: text_of(&value, "must"),
                class: text_of(&value, "class"),
                tier: text_of(&value, "tier"),
                shell: text_of(&value, "shell"),
            }
        })
        .collect()
}

/// The simple commands of a script of pipes and lists. None: it has more to it.
fn commands(script: &str) -> Option<Vec<Vec<Word>>> {
    let control = |it: char| it.is_control() && !matches!(it, '\n' | '\t');
    if script.contains(control) || script.contains(['\u{2028}', '\u{202e}', '\u{200b}']) {
        return None;
    }
    let mut pieces = vec![String::new()];
    let mut quote = None;
    let mut letters = script.chars().peekable();
    while let Some(it) = letters.next() {
        match (quote, it) {
            (None, '\\') | (Some('"'), '\\') => {
                if letters.next_if_eq(&'\n').is_none() {
                    pieces.last_mut()?.push(it);
                    pieces.last_mut()?.extend(letters.next());
                }
                continue;
            }
            (None, '\'' | '"') => quote = Some(it),
            (Some(mark), it) if mark == it => quote = None,
            (None | Some('"'), '`') => return None,
            (None | Some('"'), '$') if letters.peek().is_some_and(|it| "([\\'".contains(*it)) => {
                return None;
            }
            (None, '(' | ')' | '{' | '}' | '#') => return None,
            (None, '<' | '>') if letters.peek() == Some(&'(') => return None,
            (None, '<') if letters.peek() == Some(&'<') => return None,
            (None, '&') if pieces.last()?.ends_with('>') => {}
            (None, '|' | ';' | '\n' | '&') => {
                pieces.push(String::new());
                continue;
            }
            _ => {}
        }
        pieces.last_mut()?.push(it);
    }
    let keywords = ["for", "while", "if", "case", "do", "done", "then", "fi", "until"];
    let mut list = Vec::new();
    for piece in pieces {
        let words = without_redirections(argv(&piece))?;
        let first = words.first().and_then(Word::text).unwrap_or_default().into_owned();
        if keywords.contains(&first.as_str()) || first.contains('=') {
            return None;
        }
        if !words.is_empty() {
            list.push(words);
        }
    }
    Some(list)
}

/// Leaves out redirections that touch no file.
fn without_redirections(words: Vec<Word>) -> Option<Vec<Word>> {
    let harmless = ["2>/dev/null", ">/dev/null", "2>&1", "1>&2", ">&2"];
    let mut kept = Vec::new();
    for word in words {
        if harmless.contains(&word.source.as_str()) {
            continue;
        }
        let redirects = word.source.contains(['<', '>']) && !word.source.contains(['\'', '"']);
        if redirects {
            return None;
        }
        kept.push(word);
    }
    Some(kept)
}

/// The class of a script and of the scripts inside it.
fn class_of(script: &str) -> Option<Classes> {
    let mut class = Classes::READ_ONLY;
    for command in commands(script)? {
        for (_, reading) in read_through(&command) {
            class |= reading.class;
            for script in reading.scripts {
                class |= class_of(&script.text()?)?;
            }
        }
    }
    Some(class)
}

/// Paths that a policy refuses, in the cases that are about them.
fn names_secret(script: &str) -> bool {
    let secret = |word: &Word| {
        let text: String = word
            .parts
            .iter()
            .map(|it| match it {
                Part::Text(text) | Part::Glob(text) => text.as_str(),
                Part::Unknown { why: Unknown::Home, .. } => "/outside",
                Part::Unknown { .. } => "",
            })
            .collect();
        text.contains(".env")
            || text.ends_with(".pem")
            || text.starts_with('/')
            || text.contains("../")
    };
    commands(script).is_some_and(|list| {
        list.iter().any(|argv| read(argv).paths.iter().any(|it| secret(&it.word)))
    })
}

/// Nothing that must not be allowed reads as harmless, unless a path or a variable is what is wrong.
#[test]
fn no_forbidden_case_reads_as_harmless() {
    let mut wrong = Vec::new();
    let mut seen = 0;
    for case in cases().iter().filter(|it| it.must != "allow") {
        // What is no script of bash is the parser's business.
        if case.class == "parse-error" || !case.shell.is_empty() {
            continue;
        }
        let Some(class) = class_of(&case.command) else { continue };
        seen += 1;
        let variable = case.class == "readonly" && case.command.contains('$');
        if class.is_read_only() && !variable && !names_secret(&case.command) {
            wrong.push(format!("{}: {:?}", case.id, case.command));
        }
    }
    assert!(seen > 200, "only {seen} cases were taken apart");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Nearly everything harmless reads as harmless.
#[test]
fn harmless_cases_read_as_harmless() {
    for (tier, share) in [("core", 0.95), ("stretch", 0.70)] {
        let (mut seen, mut right, mut wrong) = (0_u32, 0_u32, Vec::new());
        for case in cases().iter().filter(|it| it.must == "allow" && it.tier == tier) {
            let Some(class) = class_of(&case.command) else { continue };
            seen += 1;
            if class.is_read_only() {
                right += 1;
            } else {
                wrong.push(format!("{}: {:?} is {class}", case.id, case.command));
            }
        }
        assert!(seen > 8, "only {seen} cases were taken apart");
        let reached = f64::from(right) / f64::from(seen);
        assert!(reached >= share, "{tier}: {right} of {seen}\n{}", wrong.join("\n"));
    }
}

/// Every catastrophe is found, in the command itself or in what it runs.
#[test]
fn every_catastrophe_among_the_cases_is_found() {
    let mut wrong = Vec::new();
    let mut seen = 0;
    for case in cases().iter().filter(|it| it.must == "deny") {
        let Some(list) = commands(&case.command) else { continue };
        seen += 1;
        if !list.iter().any(|argv| is_catastrophe(argv)) {
            wrong.push(format!("{}: {:?}", case.id, case.command));
        }
    }
    assert!(seen > 30, "only {seen} cases were taken apart");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// True for a command that is, or runs, a catastrophe.
pub(crate) fn is_catastrophe(argv: &[Word]) -> bool {
    read_through(argv).iter().any(|(words, reading)| {
        let scripts = reading.scripts.iter().filter_map(Word::text);
        let inside = scripts.filter_map(|it| commands(&it)).flatten();
        catastrophe(words, reading).is_some() || inside.into_iter().any(|it| is_catastrophe(&it))
    })
}
