//! `eclusa check`: verdicts, one at a time and line by line.

use std::{
    io::{BufRead, BufReader, Write},
    process::Stdio,
};

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::world::World;

const RULES: &str = r#"
[[rules]]
decision = "allow"
tool = "note"
reason = "notes are harmless"

[[rules]]
decision = "deny"
tool = "note"
arg."/text" = { contains = "password" }
reason = "no secrets in notes"
"#;

#[test]
fn the_verdict_and_the_rules_behind_it_are_shown() {
    let world = World::with(RULES);
    assert_snapshot!(world.transcript(&[
        &["check", "note", r#"{"text": "hello"}"#],
        &["check", "note", r#"{"text": "my password"}"#],
        &["--mode", "confirm-all", "check", "time"],
        &["check", "nothing"],
    ]), @r###"
    $ eclusa check note {"text": "hello"}
    allow (class file)
      allow  notes are harmless (<dir>/config/eclusa/eclusa.toml:2)
    with this rule it would be ask:
      [[rules]]
      decision = "ask"
      tool = "note"
      path = "/notes.txt"
    exit 0
    $ eclusa check note {"text": "my password"}
    deny (class file)
      deny   no secrets in notes (<dir>/config/eclusa/eclusa.toml:7)
    no rule changes this: the rule at <dir>/config/eclusa/eclusa.toml:7 decides; change it there
    exit 3
    $ eclusa --mode confirm-all check time
    ask (class read-only)
      ask    the mode confirm-all asks about every call (mode)
    no rule changes this: the mode confirm-all asks about every call
    exit 0
    $ eclusa check nothing
    deny (class generic)
      deny   no tool is called `nothing`; did you mean `note`? (unknown_tool)
    exit 3
    "###);
}

#[test]
fn checking_runs_and_records_nothing() {
    let world = World::with(RULES);
    world.eclusa(&["check", "note", r#"{"text": "hello"}"#]);
    assert_eq!(world.read("workspace/notes.txt"), "");
    assert!(!world.path("state/eclusa").exists());
}

#[test]
fn a_line_in_is_a_line_out_in_order_and_bad_lines_keep_their_place() {
    let world = World::with(RULES);
    let lines = [
        r#"{"id": "a", "tool": "time", "args": {}}"#,
        r#"{"id": "b", "tool": "note", "args": {"text": "hello"}}"#,
        "this is not JSON",
        r#"{"id": 4, "tool": "note", "args": {"text": "password"}}"#,
        r#"{"id": {"any": "thing"}, "args": {}}"#,
        r#"{"id": "f", "tool": "nothing", "args": {}}"#,
        r#"{"id": "g", "tool": "note", "args": {"text": 1}}"#,
        r#"{"id": "h", "tool": "time"}"#,
        r#"["id", "i"]"#,
        r#"{"id": "j", "tool": "echo", "args": {"text": "x"}, "more": 1}"#,
    ];
    let ran = world.piped(&["check", "--jsonl"], &lines.join("\n"));
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    let said: Vec<Value> = ran.out.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    let short: Vec<Value> =
        said.iter().map(|it| json!([it["id"], it["decision"], it["class"]])).collect();
    assert_eq!(
        Value::from(short),
        json!([
            ["a", "allow", "read-only"],
            ["b", "allow", "file"],
            [null, "deny", "generic"],
            [4, "deny", "file"],
            [{"any": "thing"}, "deny", "generic"],
            ["f", "deny", "generic"],
            ["g", "deny", "generic"],
            ["h", "allow", "read-only"],
            [null, "deny", "generic"],
            ["j", "allow", "read-only"],
        ])
    );
    assert!(said.iter().all(|it| it["because"].as_array().is_some_and(|it| !it.is_empty())));
    assert!(said[2]["because"][0]["text"].as_str().unwrap().starts_with("line 3 cannot be read"));
}

#[test]
fn whoever_waits_for_an_answer_gets_it_before_the_next_line() {
    let world = World::new();
    let mut command = world.command(&["check", "--jsonl"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
    for number in 0..3 {
        writeln!(stdin, r#"{{"id": {number}, "tool": "time", "args": {{}}}}"#).unwrap();
        let answer: Value = serde_json::from_str(&answers.next().unwrap().unwrap()).unwrap();
        assert_eq!(answer["id"], number);
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
}

#[test]
fn many_lines_come_back_in_order() {
    let world = World::new();
    let lines: String =
        (0..5_000).map(|it| format!("{{\"id\":{it},\"tool\":\"time\",\"args\":{{}}}}\n")).collect();
    let ran = world.piped(&["check", "--jsonl"], &lines);
    let ids: Vec<u64> = ran
        .out
        .lines()
        .map(|it| serde_json::from_str::<Value>(it).unwrap()["id"].as_u64().unwrap())
        .collect();
    assert_eq!(ids, (0..5_000).collect::<Vec<_>>());
}
