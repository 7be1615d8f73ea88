//! Rules about paths reach below the directory that is asked for (C5).

use std::os::unix::fs::symlink;

use eclusa::{Mode, PermissionClass};

use super::*;

const EVERY_LOOK: [(&str, &str); 4] = [
    ("list", r#"{"recursive": true}"#),
    ("list", "{}"),
    ("glob", r#"{"pattern": "**"}"#),
    ("grep", r#"{"pattern": "x", "output": "files"}"#),
];

fn filled(rules: Vec<Rule>) -> Place {
    let place = Place::with(rules);
    place
        .file("a.txt", "x\n")
        .file("private/b.txt", "x\n")
        .file("private/deep/c.txt", "x\n")
        .file("src/d.sqlite", "x\n")
        .file("src/e.txt", "x\n");
    place
}

fn rule(decision: Decision, globs: &[&str]) -> Rule {
    Rule::new(decision).path(globs).unwrap()
}

/// Shows C5.
#[test]
fn what_a_rule_denies_or_asks_about_is_left_out_and_counted_without_names() {
    for decision in [Decision::Deny, Decision::Ask] {
        let place = filled(vec![rule(decision, &["private/**"]), rule(decision, &["*.sqlite"])]);
        for (tool, args) in EVERY_LOOK {
            let text = place.says(tool, serde_json::from_str(args).unwrap());
            assert!(text.contains("a.txt"), "{text}");
            assert!(!text.contains("private") && !text.contains("sqlite"), "{text}");
            assert!(last(&text).contains("kept back by rules"), "{text}");
        }
        let text = place.says("grep", json!({"pattern": "x"}));
        assert_eq!(lines(&text), ["a.txt:1:x", "src/e.txt:1:x"]);
        let data = place.data("grep", json!({"pattern": "x"}));
        assert_eq!(data["left_out"]["kept_back"], 2, "a directory counts once: {data}");
    }
}

/// Shows C5.
#[test]
fn a_rule_about_other_calls_or_about_writing_hides_nothing() {
    let rules = vec![
        rule(Decision::Deny, &["private/**"]).tool(["read"]).unwrap(),
        rule(Decision::Deny, &["private/**"]).class([PermissionClass::File]).unwrap(),
        rule(Decision::Deny, &["private/**"]).access(eclusa::policy::Access::Write),
        rule(Decision::Deny, &["private/**"]).server(["other"]).unwrap(),
        rule(Decision::Stage, &["private/**"]).access(eclusa::policy::Access::Write),
    ];
    let place = filled(rules);
    assert_eq!(lines(&place.says("grep", json!({"pattern": "x"}))).len(), 5);
    // By any name of the tool, and by what is asked for.
    let deny = rule(Decision::Deny, &["private/**"]).tool(["search"]).unwrap();
    let place = filled(vec![deny]);
    assert_eq!(lines(&place.says("grep", json!({"pattern": "x"}))).len(), 3);
    assert_eq!(lines(&place.says("glob", json!({"pattern": "**"}))).len(), 5);
}

#[test]
fn a_link_is_no_way_round_a_rule() {
    let place = filled(vec![rule(Decision::Deny, &["private/**"])]);
    symlink("private", place.root().join("open")).unwrap();
    symlink("private/b.txt", place.root().join("open.txt")).unwrap();
    for (tool, args) in [
        ("list", json!({"path": "open"})),
        ("list", json!({"path": "open", "recursive": true})),
        ("glob", json!({"pattern": "*", "path": "open/deep"})),
        ("grep", json!({"pattern": "x", "path": "open"})),
        ("grep", json!({"pattern": "x", "path": "open.txt"})),
    ] {
        let reply = place.call(tool, args);
        let why = reply.error().unwrap();
        assert!(why.contains("which rules keep back"), "{why}");
        assert!(!reply.content().contains("c.txt"), "{}", reply.content());
    }
}

/// Whoever was asked about a directory and said yes has been told of the rule.
#[test]
fn a_rule_that_was_answered_hides_nothing_and_no_mode_shows_what_is_denied() {
    let rules = vec![rule(Decision::Ask, &["private/**"]), rule(Decision::Deny, &["*.sqlite"])];
    let place = filled(rules);
    let run = Run { mode: Mode::Yolo, ..Run::default() };
    let gate = place.gate.for_run(run);
    let text = |args: Value| {
        let reply = gate.pass_blocking(ToolCall::new("1", "grep", args)).unwrap();
        assert!(!reply.is_error(), "{}", reply.content());
        reply.text().to_owned()
    };
    let found = text(json!({"pattern": "x"}));
    assert_eq!(lines(&found).len(), 4, "{found}");
    assert!(!found.contains("sqlite") && found.contains("1 kept back"), "{found}");
    // Asked about by name, it is shown once it is permitted, in whichever mode.
    let rule = rule(Decision::Ask, &["private/**"]);
    let yes = Rule::new(Decision::Allow).tool(["grep"]).unwrap();
    let setup = place.approving(vec![rule, yes]);
    let args = json!({"pattern": "x", "path": "private"});
    let reply = setup.pass_blocking(ToolCall::new("1", "grep", args)).unwrap();
    assert_eq!(lines(reply.text()).len(), 2, "{}", reply.content());
}

#[test]
fn names_that_are_not_utf8_are_hidden_too() {
    let place = Place::with(vec![rule(Decision::Deny, &["*.sqlite"])]);
    place.file(std::ffi::OsStr::from_bytes(b"caf\xe9.sqlite"), "x\n").file("a.txt", "x\n");
    assert_eq!(lines(&place.says("list", json!({}))), ["a.txt  2 bytes"]);
    assert_eq!(lines(&place.says("grep", json!({"pattern": "x"}))), ["a.txt:1:x"]);
}
