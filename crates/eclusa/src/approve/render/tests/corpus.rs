//! Every case of the corpus of spoofed prompts that a terminal could show. Those for a page are
//! tried on the page, in `eclusa-approvals`.

use serde_json::{Value, json};

use super::{question, shell};
use crate::{Question, Touch, render};

const CASES: &str = include_str!("../../../../../../tests/corpus/prompt-spoof.jsonl");

/// The call of a case, in every place where its words can turn up.
fn asked(case: &Value) -> Question {
    let tool = case["tool"].as_str().unwrap();
    let asked = match (tool, case["args"]["command"].as_str()) {
        ("bash", Some(command)) => shell(command),
        _ => question(tool, case["args"].clone()),
    };
    Question { reason: case["reason"].as_str().map(str::to_owned), ..asked }
}

fn strings(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect()
}

/// What is wrong with a text that a case was rendered to.
fn faults(case: &Value, shown: &str) -> Vec<String> {
    let mut faults = Vec::new();
    for bad in strings(&case["must_not_contain"]) {
        if shown.contains(bad) {
            faults.push(format!("contains {bad:?}"));
        }
    }
    for good in strings(&case["must_contain"]) {
        if !shown.contains(good) {
            faults.push(format!("lacks {good:?}"));
        }
    }
    for any in case["must_contain_any"].as_array().unwrap() {
        if !strings(any).iter().any(|good| shown.contains(good)) {
            faults.push(format!("has none of {any}"));
        }
    }
    faults
}

/// attacks.md D, issue 2: the question shows what will run.
#[test]
fn no_case_of_the_corpus_fools_the_prompt() {
    let mut wrong = Vec::new();
    let mut seen = 0;
    for case in CASES.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
        seen += 1;
        if case["channel"] == "web" {
            continue;
        }
        let rendered = render(&asked(&case));
        let mut found = faults(&case, &rendered.to_string());
        let wrapped = rendered.wrapped(80);
        found.extend(faults(&case, &wrapped).into_iter().filter(|it| it.starts_with("con")));
        if !found.is_empty() {
            wrong.push(format!("{}: {}", case["id"], found.join("; ")));
        }
    }
    assert!(seen >= 30, "the corpus is not there");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The same words are no more dangerous in another place: deep inside of an argument, as the
/// name of one, as the tool, as something touched, or as the model's reason.
#[test]
fn no_case_of_the_corpus_fools_the_prompt_from_elsewhere() {
    for case in CASES.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
        for text in case["args"].as_object().unwrap().values().filter_map(Value::as_str) {
            let base = || question("x", Value::Null);
            let mut named = serde_json::Map::new();
            named.insert(text.to_owned(), Value::Null);
            let places = [
                Question { args: json!({ "deep": [{ "er": text }] }), ..base() },
                Question { args: Value::Object(named), ..base() },
                Question { args: json!(text), ..base() },
                Question { reason: Some(text.to_owned()), ..base() },
                Question { touches: vec![Touch::Write(text.to_owned())], ..base() },
                Question { server: Some(text.to_owned()), ..base() },
                question(text, Value::Null),
            ];
            for asked in places {
                let shown = render(&asked).to_string();
                for bad in strings(&case["must_not_contain"]) {
                    // Markup is text in a terminal.
                    assert!(
                        bad.starts_with('<') || !shown.contains(bad),
                        "{}: {shown}",
                        case["id"]
                    );
                }
            }
        }
    }
}
