//! `eclusa policy`: rules tried, looked over, replayed, suggested, and carried to and fro.

use std::process::Stdio;

use insta::assert_snapshot;
use serde_json::Value;

use crate::world::{World, wait_until};

#[test]
fn policy_test_counts_examples_and_ends_with_1_where_one_does_not_hold() {
    let world = World::with(
        "[[rules]]\ndecision = \"deny\"\npath = \"*.sql\"\nmatch = [{ writes = [\"a.sql\"] }]\n",
    );
    let ran = world.eclusa(&["policy", "test"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(world.plain(&ran.out).contains("eclusa.toml: 1 rule, 1 example checked\n"), "{ran:?}");
    let file = world.write(
        "new.toml",
        "[[rules]]\ndecision = \"deny\"\npath = \"*.sql\"\nmatch = [{ writes = [\"a.rs\"] }]\n",
    );
    let file = file.display().to_string();
    assert_snapshot!(world.transcript(&[&["policy", "test", &file]]), @r###"
    $ eclusa policy test <dir>/new.toml
    <dir>/new.toml:4:10: the rule does not apply to this example of `match`; fix the rule or the example
    1 problem: no call is permitted with these files
    exit 1
    "###);
}

#[test]
fn policy_lint_finds_what_never_decides_and_what_decides_too_much() {
    let world = World::with(
        r#"
[[rules]]
decision = "allow"
tool = "write"
path = "docs/**"

[[rules]]
decision = "deny"
tool = ["write", "edit"]

[[rules]]
decision = "ask"
tool = "git_*"

[[rules]]
decision = "ask"
tool = "grep"
class = "shell"

[[rules]]
decision = "allow"
tool = "*"

[[rules]]
decision = "ask"
tool = "web_fetch"
domain = "a.example"

[[rules]]
decision = "ask"
tool = "web_*"
"#,
    );
    assert_snapshot!(world.transcript(&[&["policy", "lint"]]), @r###"
    $ eclusa policy lint
    <dir>/config/eclusa/eclusa.toml:2: shadowed: the rule at <dir>/config/eclusa/eclusa.toml:7 decides deny wherever this one decides allow
    <dir>/config/eclusa/eclusa.toml:11: unreachable: no tool fits `git_*`
    <dir>/config/eclusa/eclusa.toml:15: unreachable: `grep` is of class read-only, not shell
    <dir>/config/eclusa/eclusa.toml:20: broad: it allows every tool, also those that come later
    <dir>/config/eclusa/eclusa.toml:24: redundant: the rule at <dir>/config/eclusa/eclusa.toml:29 says the same of more calls
    7 rules of yours, 5 findings
    exit 1
    "###);
    let world = World::with("[[rules]]\ndecision = \"ask\"\ntool = \"web_fetch\"\n");
    assert_eq!(world.eclusa(&["policy", "lint"]).code, 0);
}

#[test]
fn policy_lint_finds_conditions_that_no_call_of_the_tool_can_meet() {
    let world = World::with(
        r#"
[[rules]]
decision = "deny"
tool = "read"
command = "rm"

[[rules]]
decision = "deny"
tool = "write"
arg = { "/contents" = { contains = "x" } }

[[rules]]
decision = "deny"
tool = "write"
arg = { "/content" = { contains = "x" }, "/path" = "*.x" }

[[rules]]
decision = "deny"
tool = "write"
arg = { "/file_path" = "*.x" }
"#,
    );
    let ran = world.eclusa(&["policy", "lint"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.out.contains(":2: unreachable: `read` runs no commands"), "{ran:?}");
    assert!(ran.out.contains(":7: unreachable: `write` has no argument `contents`"), "{ran:?}");
    assert!(ran.out.contains("no argument `file_path` (it is `path` here)"), "{ran:?}");
    assert!(ran.out.contains("4 rules of yours, 3 findings"), "{ran:?}");
}

#[test]
fn policy_replay_tells_what_would_differ_and_what_could_not_be_replayed() {
    let world = World::new();
    world.eclusa(&["run", "time"]);
    world.eclusa(&["run", "note", r#"{"text": "hello"}"#]);
    world.eclusa(&["run", "web_fetch", r#"{"url": "https://docs.example/a"}"#]);
    let long = format!(r#"{{"path": "a.md", "content": "{}"}}"#, "x".repeat(3_000));
    world.eclusa(&["run", "write", &long]);
    let file = world.write(
        "new.toml",
        r#"
[[rules]]
decision = "allow"
tool = "web_fetch"
domain = "docs.example"

[[rules]]
decision = "deny"
tool = "note"
"#,
    );
    let file = file.display().to_string();
    assert_snapshot!(world.transcript(&[
        &["policy", "replay", &file],
        &["policy", "replay", &file, "--since", "1h", "--json"],
    ]), @r###"
    $ eclusa policy replay <dir>/new.toml
    3 calls judged again, 1 as before
    ask -> allow: 1
      call 3: web_fetch {"url":"https://docs.example/a"} (nobody could be asked)
    stage -> deny: 1
      call 2: note {"text":"hello"} (nobody could be asked)
    1 not replayed: they had long arguments, which the log holds shortened
    exit 0
    $ eclusa policy replay <dir>/new.toml --since 1h --json
    {"calls":[3],"now":"allow","then":"ask"}
    {"calls":[2],"now":"deny","then":"stage"}
    {"not_replayed":{"had long arguments, which the log holds shortened":1},"same":1}
    exit 0
    "###);
    // Replaying is looking: nothing is added to the log.
    let count = world.records().len();
    world.eclusa(&["policy", "replay", &file]);
    assert_eq!(world.records().len(), count);
}

/// A note that somebody answers about in the approval queue.
fn asked(world: &World, text: &str, answer: &[&str]) {
    let args = format!(r#"{{"text": "{text}"}}"#);
    let mut command = world.command(&["--json", "run", "note", &args]);
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let mut id = String::new();
    wait_until("the question is in the approval queue", || {
        let ran = world.eclusa(&["--json", "approvals"]);
        let Some(line) = ran.out.lines().next() else { return false };
        id = serde_json::from_str::<Value>(line).unwrap()["id"].to_string();
        true
    });
    let answer: Vec<&str> =
        ["approvals", answer[0], &id].into_iter().chain(answer[1..].iter().copied()).collect();
    assert_eq!(world.eclusa(&answer).code, 0);
    child.wait().unwrap();
}

#[test]
fn policy_suggest_proposes_only_what_people_said_yes_to() {
    let world = World::with("on_no_approver = \"queue\"\n");
    asked(&world, "one", &["yes"]);
    asked(&world, "two", &["yes"]);
    assert_snapshot!(world.transcript(&[&["policy", "suggest"]]), @r###"
    $ eclusa policy suggest
    # 2 questions fewer, as call 1: note {"text":"one"}
    [[rules]]
    decision = "allow"
    tool = "note"
    path = "/notes.txt"

    exit 0
    "###);
    // One no to what the rule would let through, and it is no longer proposed.
    asked(&world, "three", &["no", "not this"]);
    let ran = world.eclusa(&["policy", "suggest"]);
    assert!(ran.out.starts_with("nothing to suggest"), "{ran:?}");
}
