//! Every case of the corpus of spoofed prompts, on every surface that it is meant for.

use serde_json::Value;

use super::{question, shell};
use crate::{Question, render};

const CASES: &str = include_str!("../../../../../../tests/corpus/prompt-spoof.jsonl");

/// The call of a case, in every place where its words can turn up.
fn asked(case: &Value) -> Question {
    let tool = case["tool"].as_str().unwrap();
    match (tool, case["args"]["command"].as_str()) {
        ("bash", Some(command)) => shell(command),
        _ => question(tool, case["args"].clone()),
    }
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
        let rendered = render(&asked(&case));
        let web = case["channel"] == "web";
        let html = rendered.to_html();
        // What a page shows is its text; what a page obeys is its source.
        let page = html.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
        let mut found = Vec::new();
        if !web {
            found.extend(faults(&case, &rendered.to_string()));
            let wrapped = rendered.wrapped(80);
            found.extend(faults(&case, &wrapped).into_iter().filter(|it| it.starts_with("con")));
            found.extend(faults(&case, &page));
        }
        found.extend(faults(&case, &html).into_iter().filter(|it| it.starts_with("con")));
        found.extend(faults(&case, &page).into_iter().filter(|it| !it.starts_with("con")));
        if !found.is_empty() {
            wrong.push(format!("{}: {}", case["id"], found.join("; ")));
        }
    }
    assert!(seen >= 30, "the corpus is not there");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
