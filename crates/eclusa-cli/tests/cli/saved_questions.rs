//! Answers that save questions: for files, for all edits of a session, and one that defers to the changes.

use serde_json::{Value, json};

use crate::{
    hook::before,
    pending::park,
    prompt::Person,
    world::{Ran, World, run, wait_until},
};

const QUEUE: &str = "on_no_approver = \"queue\"\n";

/// A command of a session of another agent, in the queue or applied.
fn command(world: &World, command: &str, subagent: Option<&str>) -> Ran {
    let mut call = before(world, "Bash", json!({"command": command}));
    call["tool_use_id"] = format!("t-{command}").into();
    if let Some(subagent) = subagent {
        call["agent_id"] = subagent.into();
    }
    let hook = run(world.command(&["hook", "claude-code"]), &call.to_string());
    let answer = &hook.json()["hookSpecificOutput"];
    match answer["updatedInput"]["command"].as_str() {
        Some(line) => crate::hook::shell(world, line),
        // What a rule asks about is asked before, and refused there.
        None => {
            assert_eq!(answer["permissionDecision"], "deny", "{hook:?}");
            Ran { code: 3, ..hook }
        }
    }
}

fn waiting(world: &World) -> usize {
    let listed = world.eclusa(&["--json", "approvals"]).out;
    listed.lines().filter(|it| serde_json::from_str::<Value>(it).is_ok()).count()
}

/// Runs a command of the session, and answers its question with these words while it waits.
fn answered(world: &World, text: &str, words: &[&str]) {
    std::thread::scope(|scope| {
        let running = scope.spawn(|| command(world, text, None));
        wait_until("the question", || waiting(world) == 1);
        let listed = world.eclusa(&["--json", "approvals"]).out;
        let id = serde_json::from_str::<Value>(listed.lines().next().unwrap()).unwrap()["id"]
            .to_string();
        let mut args = vec!["approvals", "yes", &id];
        args.extend(words);
        let said = world.eclusa(&args);
        assert_eq!(said.code, 0, "{said:?}");
        let ran = running.join().unwrap();
        assert_eq!(ran.code, 0, "{ran:?}");
    });
}

#[test]
fn s_covers_other_commands_that_edit_the_same_files() {
    eclusa_testing::needs!(Namespaces);
    let world = World::with(&format!("{QUEUE}[limits]\napproval = \"60s\"\n"));
    world.write("workspace/a.txt", "one\n");
    answered(&world, "sed -i s/one/two/ a.txt", &["--session"]);
    let ran = command(&world, "sed -i s/two/three/ a.txt", None);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(world.read("workspace/a.txt"), "three\n");
    assert_eq!(waiting(&world), 0);
    // Another file, and deleting the same one, are other matters.
    for other in ["touch b.txt", "rm a.txt"] {
        let parked = park(&world, other);
        assert!(parked["approval"].is_u64(), "{parked}");
    }
}

/// All edits of the session that gave the answer: not those of its subagents, and not of others.
#[test]
fn all_edits_of_a_session_need_one_answer() {
    eclusa_testing::needs!(Namespaces);
    let world = &World::with(&format!("{QUEUE}[limits]\napproval = \"60s\"\n"));
    world.write("workspace/a.txt", "one\n");
    answered(world, "sed -i s/one/two/ a.txt", &["--edits"]);
    for text in ["echo new > b.txt", "echo two >> a.txt"] {
        let ran = command(world, text, None);
        assert_eq!(ran.code, 0, "{ran:?}");
    }
    assert_eq!(world.read("workspace/a.txt"), "two\ntwo\n");
    assert!(world.path("workspace/b.txt").exists());
    // What a rule asks about it does not answer.
    let rule = "[[rules]]\ndecision = \"ask\"\npath = \"c.txt\"\n";
    world.write("workspace/eclusa.toml", rule);
    std::thread::scope(|scope| {
        for (text, subagent) in [("echo x > c.txt", None), ("echo x > d.txt", Some("helper"))] {
            let running = scope.spawn(move || command(world, text, subagent));
            wait_until("the question", || waiting(world) == 1);
            let shown = world.eclusa(&["approvals", "show", &latest(world)]).out;
            assert!(subagent.is_none_or(|it| shown.contains(it)), "names who asks: {shown}");
            assert_eq!(world.eclusa(&["approvals", "no", &latest(world)]).code, 0);
            assert_eq!(running.join().unwrap().code, 3);
        }
    });
}

fn latest(world: &World) -> String {
    let listed = world.eclusa(&["--json", "approvals"]).out;
    let last = listed.lines().last().unwrap();
    serde_json::from_str::<Value>(last).unwrap()["id"].to_string()
}

/// A rule asks before: `r` runs it and asks about what it changes, instead of applying that.
#[test]
fn r_runs_it_and_asks_about_the_changes() {
    eclusa_testing::needs!(Namespaces);
    let world = World::with("[[rules]]\ndecision = \"ask\"\ncommand = \"touch\"\n");
    let words = ["run", "bash", r#"{"command": "touch a.txt"}"#];
    let mut person = Person::runs(&world, &words);
    person.sees("Run it? [");
    person.types("r");
    person.sees("Apply these changes? [");
    person.types("n");
    person.sees("Why");
    person.types("");
    person.ends();
    assert!(!world.path("workspace/a.txt").exists());
}

#[test]
fn all_edits_are_a_key_on_the_terminal() {
    let world = World::new();
    let mut person = Person::runs(&world, &["run", "note", r#"{"text": "hello"}"#]);
    person.sees("Apply these changes? [y/n/s/A/a/q/?]");
    person.types("A");
    person.ends();
    assert_eq!(world.read("workspace/notes.txt"), "hello\n");
    let records = world.records();
    let answer = |it: &Value| it["changes"]["approval"]["answer"] == "edits";
    assert!(records.iter().any(answer), "{records:?}");
}
