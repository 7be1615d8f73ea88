//! `eclusa log`: reading the log, and finding out that somebody else wrote in it.

use std::{
    io::{BufRead, BufReader},
    process::Stdio,
};

use insta::assert_snapshot;
use serde_json::Value;

use crate::world::World;

fn with_calls() -> World {
    let world = World::new();
    world.eclusa(&["run", "echo", r#"{"text": "one"}"#, "--reason", "to begin"]);
    world.eclusa(&["--mode", "confirm-all", "run", "note", r#"{"text": "two"}"#]);
    world.eclusa(&["--mode", "yolo", "run", "note", r#"{"text": "three"}"#]);
    world
}

#[test]
fn calls_are_listed_and_shown() {
    let world = with_calls();
    assert_snapshot!(world.transcript(&[
        &["log"],
        &["log", "list", "-n", "1"],
        &["log", "show", "1"],
        &["log", "show", "99"],
    ]), @r###"
    $ eclusa log
    call  time                  tool  about  decision  outcome      ms
    1     <time>  echo  one    allow     ok           <ms>
    2     <time>  note  two    ask       no_approver  <ms>
    3     <time>  note  three  stage     ok           <ms>
    exit 0
    $ eclusa log list -n 1
    call  time                  tool  about  decision  outcome  ms
    3     <time>  note  three  stage     ok       <ms>
    exit 0
    $ eclusa log show 1
    call 1: echo, ok
      time          <time>
      took          <ms> ms
      call          <call>
      principal     tester
      conversation  command-line
      origin        person
      class         read-only
      revision      <revision>
      operation     read
      mode          confirm-sensitive
      reason        to begin
      args          {"text":"one","times":1}
      args sha256   <hash>
      decision      allow
      because       allow: read-only (defaults)
      output        {"bytes":3,"sha256":"<hash>"}
      record        <hash>
    exit 0
    $ eclusa log show 99
    stderr:
    error: the log has no call `99`
    hint: `eclusa log` lists the last calls with their numbers
    exit 1
    "###);
}

#[test]
fn a_call_is_found_by_its_number_and_by_the_models_id() {
    let world = with_calls();
    let by_number = world.eclusa(&["--json", "log", "show", "3"]).json();
    assert_eq!((&by_number["outcome"], &by_number["number"]), (&"ok".into(), &3.into()));
    let id = by_number["call"].as_str().unwrap();
    assert_eq!(world.eclusa(&["--json", "log", "show", id]).json(), by_number);
    // The record that ends it has a number of its own, which is no call's.
    assert_eq!(world.eclusa(&["log", "show", "4"]).code, 1);
}

/// Calls count 1, 2, 3, however many records each has, and one number is right everywhere: in
/// replies, in every list, for `undo`, `redo`, `changes`, `log show` and `--since`.
#[test]
fn calls_are_numbered_without_gaps_and_one_number_holds_everywhere() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    let exec = |text: &str| world.eclusa(&["exec", "--apply", "--", text]);
    for number in 1..=3 {
        let ran = exec(&format!("echo {number} > {number}.txt"));
        assert!(ran.err.contains(&format!("`eclusa undo {number}`")), "{ran:?}");
    }
    assert_eq!(world.eclusa(&["--json", "run", "list"]).json()["number"], 4);
    assert_eq!(world.eclusa(&["exec", "--", "echo no > no.txt"]).code, 3);
    let numbers = |args: &[&str], key: &str| -> Vec<u64> {
        let lines = world.eclusa(args).out;
        let read = |it: &str| serde_json::from_str::<Value>(it).unwrap()[key].as_u64().unwrap();
        lines.lines().map(read).collect()
    };
    assert_eq!(numbers(&["--json", "log"], "number"), [1, 2, 3, 4, 5]);
    assert_eq!(numbers(&["--json", "log", "--since", "3"], "number"), [3, 4, 5]);
    assert_eq!(numbers(&["--json", "changes"], "call"), [1, 2, 3]);
    assert_eq!(numbers(&["--json", "changes", "--discarded"], "call"), [5]);
    assert!(world.eclusa(&["log", "show", "2"]).out.contains("2.txt"));
    assert!(world.eclusa(&["changes", "show", "2"]).out.contains("made 2.txt"));
    assert!(world.eclusa(&["changes", "show", "5"]).out.contains("made no.txt"));
    let undone = world.eclusa(&["undo", "2"]);
    assert!(undone.out.contains("`eclusa redo 6` redoes it"), "{undone:?}");
    assert!(!world.path("workspace/2.txt").exists() && world.path("workspace/3.txt").exists());
    assert_eq!(world.eclusa(&["redo", "6"]).code, 0);
    assert_eq!(world.read("workspace/2.txt"), "2\n");
    assert_eq!(world.eclusa(&["undo", "--since", "2"]).code, 0);
    assert!(world.path("workspace/1.txt").exists() && !world.path("workspace/3.txt").exists());
    assert_eq!(world.eclusa(&["log", "verify"]).code, 0);
}

/// Shows S0.34.
#[test]
fn export_holds_every_record_byte_for_byte() {
    let world = with_calls();
    let ran = world.eclusa(&["log", "export"]);
    assert_eq!(ran.out.lines().count(), 4);
    // Anybody can check the chain: previous, number and body, with a line break after each.
    let mut previous = "0".repeat(64);
    for (number, line) in ran.out.lines().enumerate() {
        let record: Value = serde_json::from_str(line).unwrap();
        let (_, body) = line.split_once(r#""body":"#).unwrap();
        let body = body.strip_suffix('}').unwrap();
        let text = format!("{previous}\n{}\n{body}\n", number + 1);
        previous = eclusa::Hash::sha256(text.as_bytes()).to_string();
        assert_eq!(record["hash"], previous.as_str());
    }
}

#[test]
fn tail_follows_what_other_processes_write() {
    let world = World::new();
    world.eclusa(&["run", "echo", r#"{"text": "one"}"#]);
    let mut command = world.command(&["--json", "log", "tail", "-n", "1", "-f"]);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || serde_json::from_str::<Value>(&lines.next().unwrap().unwrap()).unwrap();
    assert_eq!(next()["seq"], 1);
    world.eclusa(&["--mode", "yolo", "run", "note", r#"{"text": "two"}"#]);
    assert_eq!((&next()["seq"], &next()["seq"]), (&2.into(), &3.into()));
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn tail_tells_each_record_in_a_line() {
    let world = World::new();
    world.eclusa(&["run", "echo", r#"{"text": "one"}"#]);
    world.eclusa(&["--mode", "confirm-all", "run", "note", r#"{"text": "two"}"#]);
    world.eclusa(&["--mode", "yolo", "run", "note", r#"{"text": "three"}"#]);
    let told = world.eclusa(&["log", "tail"]);
    let words: Vec<Vec<&str>> =
        told.out.lines().map(|it| it.split_whitespace().collect()).collect();
    let said = |row: usize| [words[row][0], words[row][3], words[row][4], words[row][5]];
    assert_eq!(said(0), ["1", "ended", "echo", "ok"]);
    assert_eq!(said(1), ["2", "ended", "note", "no_approver:"]);
    assert_eq!(said(2), ["3", "started", "note", "stage"]);
    assert_eq!(said(3), ["4", "ended", "note", "ok"]);
}

#[test]
fn verify_says_where_the_chain_ends_and_knows_heads_that_were_noted() {
    let world = with_calls();
    let head = world.eclusa(&["--json", "log", "verify"]).json();
    assert_eq!((&head["ok"], &head["records"]), (&true.into(), &4.into()));
    let noted = head["head"].as_str().unwrap();
    assert_eq!(world.eclusa(&["log", "verify", "--head", noted]).code, 0);
    world.eclusa(&["run", "time"]);
    let later = world.eclusa(&["log", "verify", "--head", noted]);
    assert!(later.out.contains("is record 4; one more was written since"), "{}", later.out);
    assert_eq!(world.eclusa(&["log", "verify", "--head", &"0".repeat(64)]).code, 1);
    assert_eq!(world.eclusa(&["log", "verify", "--head", "abc"]).code, 2);
    let after = world.eclusa(&["--json", "log", "verify", "--after", noted]).json();
    let all = world.eclusa(&["--json", "log", "verify"]).json();
    assert_eq!((&after["ok"], &after["head"]), (&true.into(), &all["head"]));
    assert_eq!(
        after["checked"],
        all["records"].as_u64().unwrap() - head["records"].as_u64().unwrap()
    );
    assert_eq!(world.eclusa(&["log", "verify", "--after", &"0".repeat(64)]).code, 1);
}

#[test]
fn a_log_that_was_replaced_does_not_have_the_head_that_was_noted() {
    let world = with_calls();
    let noted = world.eclusa(&["--json", "log", "verify"]).json()["head"].clone();
    let other = with_calls();
    for end in ["", "-wal", "-shm"] {
        let from = format!("{}{end}", other.store().display());
        let to = format!("{}{end}", world.store().display());
        if std::path::Path::new(&from).exists() {
            std::fs::copy(from, to).unwrap();
        }
    }
    assert_eq!(world.eclusa(&["log", "verify"]).code, 0);
    let ran = world.eclusa(&["log", "verify", "--head", noted.as_str().unwrap()]);
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("verification failed"), "{}", ran.err);
}

#[test]
fn a_changed_byte_is_found() {
    let world = with_calls();
    let store = world.store();
    // Everything into the one file, where a stranger would look for it.
    let connection = rusqlite::Connection::open(&store).unwrap();
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    drop(connection);
    let mut bytes = std::fs::read(&store).unwrap();
    let at = bytes.windows(8).position(|it| it == b"to begin").unwrap();
    bytes[at] = b'T';
    std::io::Write::write_all(&mut std::fs::File::create(&store).unwrap(), &bytes).unwrap();
    let ran = world.eclusa(&["--json", "log", "verify"]);
    assert_eq!((ran.code, ran.json()["ok"].clone()), (1, false.into()));
    assert!(ran.err.contains("record 1 was changed"), "{}", ran.err);
}

#[test]
fn a_workspace_without_a_log_says_so() {
    let world = World::new();
    let ran = world.eclusa(&["log"]);
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("nothing recorded for this workspace yet"), "{}", ran.err);
    assert!(!world.path("state/eclusa").exists());
}

#[test]
fn a_broken_configuration_does_not_hide_the_log() {
    let world = with_calls();
    world.write("config/eclusa/eclusa.toml", "nonsense = 1\n");
    assert_eq!(world.eclusa(&["run", "time"]).code, 2);
    assert_eq!(world.eclusa(&["log", "verify"]).code, 0);
}

#[test]
fn every_workspace_has_a_log_of_its_own() {
    let world = with_calls();
    let other = world.path("home").display().to_string();
    assert_eq!(world.eclusa(&["--workspace", &other, "log"]).code, 1);
}
