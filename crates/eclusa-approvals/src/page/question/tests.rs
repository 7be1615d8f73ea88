//! The corpus of spoofed prompts on the page: what somebody else wrote is text, and all of it.

use std::time::Duration;

use super::*;
use eclusa::{
    Decision, Grant, PermissionClass, Question, Reason, Source, Verdict, approve::GrantScope,
};

const CASES: &str = include_str!("../../../../../tests/corpus/prompt-spoof.jsonl");

fn queued(case: &Value) -> QueuedQuestion {
    let tool = case["tool"].as_str().unwrap().to_owned();
    let question = Question {
        call: "c1".to_owned(),
        tool: tool.clone(),
        server: None,
        class: match tool.as_str() {
            "bash" => PermissionClass::Shell,
            _ => PermissionClass::Generic,
        },
        args: case["args"].clone(),
        shown_args: None,
        touches: Vec::new(),
        verdict: Verdict::from_reasons(vec![Reason {
            decision: Decision::Ask,
            source: Source::Rule,
            origin: "eclusa.toml:7".into(),
            text: "asked about".into(),
        }]),
        reason: case["reason"].as_str().map(str::to_owned),
        destructive: false,
        reverse_thinking: None,
        about: eclusa::approve::QuestionAbout::Running,
        binding: "b1".to_owned(),
        grant: Some(Grant {
            tool,
            revision: "r1".to_owned(),
            args: None,
            scope: Some(GrantScope::default()),
        }),
        can_always: true,
        task: None,
        principal: "me".to_owned(),
        session: "talk".to_owned(),
        time: Duration::from_secs(60),
        keep: eclusa::approve::KEEP,
        pending: None,
    };
    QueuedQuestion {
        id: 7,
        question,
        created: 1,
        expires: 2,
        state: QuestionState::Pending,
        asker_away: false,
        answer: None,
        decided_by: None,
        proof: None,
        decided_at: None,
        reason: None,
        taken_at: None,
    }
}

fn identical(ids: &[u64]) -> Vec<IdenticalQuestion> {
    let one = |id: &u64| IdenticalQuestion { id: *id, about: "session <s>".to_owned() };
    ids.iter().map(one).collect()
}

fn page(queued: &QueuedQuestion) -> String {
    let (key, name) = ("k".to_owned(), "w".to_owned());
    let workspace = WorkspaceEntry { key, name, directory: None };
    question(&workspace, "q", "ann", queued, (&identical(&[7, 8]), &[]), 1).into_string()
}

/// What the element with the call shows, and the source of everything else.
fn split(page: &str) -> (String, String) {
    let (before, rest) = page.split_once("<pre class=\"lines\"").unwrap();
    let (lines, after) = rest.split_once("</pre>").unwrap();
    let mut shown = String::new();
    let mut inside = false;
    for c in lines.split_once('>').unwrap().1.chars() {
        match c {
            '<' => inside = true,
            '>' => inside = false,
            c if !inside => shown.push(c),
            _ => {}
        }
    }
    let named = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")];
    let shown = named.iter().fold(shown, |text, (from, to)| text.replace(from, to));
    (shown, format!("{before}{after}"))
}

/// attacks.md D: a page shows what will run, and obeys none of it.
#[test]
fn no_case_of_the_corpus_fools_the_page() {
    let empty = serde_json::json!({"tool": "bash", "args": {"command": "x"}});
    let tags = |page: &str| page.matches('<').count();
    let mut seen = 0;
    for case in CASES.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
        seen += 1;
        let page = page(&queued(&case));
        let (shown, rest) = split(&page);
        let strings = |list: &Value| -> Vec<String> {
            list.as_array().unwrap().iter().map(|it| it.as_str().unwrap().to_owned()).collect()
        };
        let id = &case["id"];
        for bad in strings(&case["must_not_contain"]) {
            // Markup is harmless as the text of an element; what a terminal or an eye obeys is not.
            let text = bad.contains('<');
            assert!(text || !shown.contains(&bad), "{id}: shows {bad:?}");
            assert!(!page.contains(&bad) || !text, "{id}: has {bad:?} as markup");
        }
        for good in strings(&case["must_contain"]) {
            assert!(shown.contains(&good), "{id}: lacks {good:?} in {shown}");
        }
        for any in case["must_contain_any"].as_array().unwrap() {
            let found = strings(any).iter().any(|good| shown.contains(good));
            assert!(found, "{id}: has none of {any} in {shown}");
        }
        assert!(!rest.chars().any(|c| c.is_control() && c != '\n'), "{id}: a control character");
        assert!(tags(&rest) == tags(&split(&self::page(&queued(&empty))).1), "{id}: more elements");
    }
    assert!(seen >= 30, "the corpus is not there");
}

#[test]
fn what_holds_a_secret_is_masked_and_not_offered_for_editing() {
    let mut queued = queued(&serde_json::json!({
        "tool": "bash", "args": {"command": "login s3cr3t"},
    }));
    assert!(page(&queued).contains("data-open=\"edit\""));
    queued.question.shown_args = Some(serde_json::json!({"command": "login ****"}));
    let page = page(&queued);
    assert!(!page.contains("s3cr3t") && !page.contains("data-open=\"edit\""), "{page}");
}

#[test]
fn who_said_yes_so_far_and_which_files_can_be_picked_are_shown() {
    let mut queued = queued(&serde_json::json!({"tool": "bash", "args": {"command": "x"}}));
    let plain = page(&queued);
    assert!(!plain.contains("so far") && !plain.contains("data-open=\"only\""), "{plain}");
    let requires = eclusa::approve::Requirement {
        of: vec!["release".to_owned()],
        need: 2,
        with: Proof::Passkey,
        separate: true,
        within: None,
        then: Vec::new(),
    };
    queued.question.verdict.because[0].origin = eclusa::ReasonId::Rule {
        id: None,
        written_at: "eclusa.toml:7".into(),
        requires: Some(std::sync::Arc::new(requires)),
    };
    queued.question.about = eclusa::approve::QuestionAbout::Changes(eclusa::approve::Preview {
        summary: "2 files changed".to_owned(),
        diff: String::new(),
        whole: true,
        choices: vec![("a<b".into(), String::new()), ("c".into(), String::new())],
    });
    let (key, name) = ("k".to_owned(), "w".to_owned());
    let workspace = WorkspaceEntry { key, name, directory: None };
    let bo = GivenVote { by: "<bo>".to_owned(), signed: None, waited: Duration::ZERO };
    let page =
        question(&workspace, "q", "ann", &queued, (&identical(&[7]), &[bo]), 1).into_string();
    assert!(page.contains("<b>&lt;bo&gt;</b> approved by word"), "{page}");
    assert!(page.contains("1 of 2 so far") && page.contains("data-proof=\"passkey\""), "{page}");
    assert!(page.contains("value=\"a&lt;b\"") && page.contains("data-open=\"only\""), "{page}");
}

#[test]
fn identical_ones_are_listed_and_each_can_be_left_out() {
    let page = page(&queued(&serde_json::json!({"tool": "note", "args": {"text": "x"}})));
    for part in [
        "data-open=\"identical\"><kbd>x</kbd>",
        "name=\"marked\" checked value=\"7\"",
        "name=\"marked\" checked value=\"8\"",
        "session &lt;s&gt;",
        "id=\"marked\">2</span> identical ones",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
}
