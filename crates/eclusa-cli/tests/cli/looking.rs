//! The tools that look, with the binary: files and text in them, the web, checks.

use insta::assert_snapshot;

use crate::world::World;

/// Shows S4.9, S1.13.
#[test]
fn files_are_listed_found_and_searched() {
    let world = World::new();
    world.write("workspace/a.txt", "one\ntwo\n");
    world.write("workspace/.env", "two=secret\n");
    assert_snapshot!(world.transcript(&[
        &["run", "list_files"],
        &["run", "glob", r#"{"pattern": "*.txt"}"#],
        &["run", "search", r#"{"pattern": "tw", "type": "literal"}"#],
    ]), @r#"
    $ eclusa run list_files
    a.txt  8 bytes
    [1 entries (left out: 1 blocked)]
    exit 0
    $ eclusa run glob {"pattern": "*.txt"}
    a.txt
    [1 files (left out: 1 blocked)]
    exit 0
    $ eclusa run search {"pattern": "tw", "type": "literal"}
    a.txt:2:two
    [1 match in 1 file (left out: 1 blocked)]
    exit 0
    "#);
}

/// Shows C5.
#[test]
fn rules_and_blocked_files_of_the_configuration_hold_below_what_is_asked_for() {
    let world = World::with(
        "[files]\nblocked = [\"*.sqlite\"]\n[[rules]]\ndecision = \"deny\"\npath = \"drafts/\"\n",
    );
    std::fs::create_dir(world.path("workspace/drafts")).unwrap();
    world.write("workspace/drafts/a.txt", "word\n");
    world.write("workspace/b.sqlite", "word\n");
    world.write("workspace/c.txt", "word\n");
    let ran = world.eclusa(&["--mode", "yolo", "run", "grep", r#"{"pattern": "word"}"#]);
    assert!(ran.out.contains("c.txt:1:word"), "{ran:?}");
    assert!(!ran.out.contains("drafts") && !ran.out.contains("sqlite"), "{ran:?}");
    assert!(ran.out.contains("1 blocked, 1 kept back by rules"), "{ran:?}");
    // The blocked file is refused to every other tool as well.
    let read = world.eclusa(&["--mode", "yolo", "run", "read", r#"{"path": "b.sqlite"}"#]);
    assert_eq!(read.code, 3, "{read:?}");
}

/// Shows C7.
#[test]
fn a_check_that_its_person_named_is_no_question() {
    let world = World::new();
    let script = world.script("check", "echo 'a.c:1:2: error: no'; echo $0 >&2; exit 1");
    world.write("config/eclusa/eclusa.toml", &format!("[diagnostics]\ncommand = [{script}]\n"));
    let ran = world.eclusa(&["--json", "run", "diagnostics"]).json();
    let found = &ran["data"]["diagnostics"];
    assert_eq!((&found[0]["path"], &found[0]["line"]), (&"a.c".into(), &1.into()), "{ran}");
    assert_eq!(ran["data"]["checks"][0]["exit_code"], 1);
    // Its person can want to be asked, and where nobody has named one there is no tool.
    world.write(
        "config/eclusa/eclusa.toml",
        &format!("without = [\"named-checks\"]\n[diagnostics]\ncommand = [{script}]\n"),
    );
    assert_eq!(world.eclusa(&["run", "diagnostics"]).code, 3);
    assert_eq!(World::new().eclusa(&["tools", "show", "diagnostics"]).code, 2);
    let missing = World::with("[diagnostics]\ncommand = [\"no-such-program\"]\n");
    let ran = missing.eclusa(&["run", "diagnostics"]);
    assert!(ran.code == 1 && ran.err.contains("`no-such-program` cannot be started"), "{ran:?}");
}

/// Shows C7.
#[test]
fn a_workspace_cannot_name_a_check() {
    let world = World::new();
    world.write("workspace/eclusa.toml", "[diagnostics]\ncommand = [\"make\"]\n");
    let ran = world.eclusa(&["run", "diagnostics"]);
    assert!(
        ran.code != 0 && ran.err.contains("left out, because this file is not trusted"),
        "{ran:?}"
    );
    assert!(ran.err.contains("diagnostics"), "there is no such tool: {ran:?}");
}

/// Shows S3.20, C6.
#[test]
fn hosts_are_judged_by_rules() {
    let world = World::with("[[rules]]\ndecision = \"deny\"\ndomain = \"*.evil.example\"\n");
    let fetch = |url: &str| world.eclusa(&["run", "web_fetch", &format!(r#"{{"url": "{url}"}}"#)]);
    let denied = fetch("https://a.evil.example/");
    assert!(denied.code == 3 && denied.err.contains("a rule denies it"), "{denied:?}");
    let asked = fetch("https://other.example/");
    assert!(asked.code == 3 && !asked.err.contains("a rule denies"), "{asked:?}");
    // No mode and no rule opens the machine's own network.
    let inside =
        world.eclusa(&["--mode", "yolo", "run", "web_fetch", r#"{"url": "http://127.0.0.1:9/"}"#]);
    assert!(inside.code == 1 && inside.err.contains("only public addresses"), "{inside:?}");
}
