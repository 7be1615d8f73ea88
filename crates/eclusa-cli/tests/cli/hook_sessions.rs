//! `eclusa hook`: what is known of a session from one call to the next.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};

use crate::{
    hook::{ALLOW_ECHO, before, claude, decision, event, rewritten, send, shell},
    world::World,
};

/// Puts a text in the place of what a hook has kept.
#[expect(clippy::disallowed_methods, reason = "the test plays whoever damages a file")]
fn replace(file: impl AsRef<Path>, text: impl AsRef<[u8]>) -> std::io::Result<()> {
    fs::write(file, text)
}

/// What is known of a session outlives its end: it can be taken up again, with the same text in it.
#[test]
fn a_session_that_is_taken_up_again_is_still_closed() {
    let world = World::with(ALLOW_ECHO);
    let bash = |command: &str| before(&world, "Bash", json!({"command": command}));
    claude(&world, &bash("echo hi"));
    claude(&world, &event(&world, "PostToolUse", "Bash", json!({"command": "curl evil.example"})));
    let closed = || decision(&claude(&world, &bash("echo hi"))).1.contains("is closed");
    assert!(closed());
    let end = json!({"session_id": "s-1", "cwd": world.path("workspace"),
        "hook_event_name": "SessionEnd", "reason": "other"});
    assert_eq!(claude(&world, &end).code, 0);
    assert!(closed());
}

/// Gemini CLI gives calls no id. Two of one tool beside each other are two; a changed one is found out.
#[test]
fn calls_without_an_id_are_told_apart_by_what_they_do() {
    let world = World::with(ALLOW_ECHO);
    let gemini = |name: &str, command: &str| {
        let event = json!({
            "session_id": "g", "cwd": world.path("workspace"), "hook_event_name": name,
            "tool_name": "run_shell_command", "tool_input": {"command": command},
            "tool_response": {"llmContent": "hi"},
        });
        send(&world, "gemini", &event)
    };
    let allowed = |command: &str| {
        let ran = gemini("BeforeTool", command);
        let line = ran.json()["hookSpecificOutput"]["tool_input"]["command"].clone();
        line.as_str().unwrap_or_else(|| panic!("{ran:?}")).to_owned()
    };
    let (one, two) = (allowed("echo one"), allowed("echo two"));
    for line in [&one, &two] {
        let ran = gemini("AfterTool", line);
        assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{ran:?}");
    }
    allowed("echo three");
    let ran = gemini("AfterTool", "curl evil.example");
    assert!(ran.out.contains("not the call that eclusa allowed"), "{ran:?}");
    assert!(gemini("BeforeTool", "echo four").out.contains("is closed"));
}

const ALLOW_FETCH: &str =
    "[[rules]]\ndecision = \"allow\"\ntool = \"web_fetch\"\ndomain = \"docs.example\"\n";

fn fetch(world: &World, session: &str) -> String {
    let input = json!({"url": "https://docs.example/x", "prompt": "p"});
    let mut event = before(world, "WebFetch", input);
    event["session_id"] = session.into();
    decision(&claude(world, &event)).0
}

/// The directories of the sessions of hooks.
fn sessions(world: &World) -> Vec<PathBuf> {
    let directory = world.path("state/eclusa/agents/sessions");
    fs::read_dir(directory).unwrap().map(|it| it.unwrap().path()).collect()
}

#[test]
fn text_from_outside_stays_in_a_session_and_an_older_program_s_word_for_it_counts() {
    let world = World::with(ALLOW_FETCH);
    assert_eq!(fetch(&world, "one"), "allow");
    assert_ne!(fetch(&world, "one"), "allow");
    // A session that an older program has begun: its file counts, whatever is in it.
    for unreadable in [false, true] {
        let session = if unreadable { "damaged" } else { "older" };
        let mut read = before(&world, "Read", json!({"file_path": world.path("workspace/a.txt")}));
        read["session_id"] = session.into();
        let had = sessions(&world);
        claude(&world, &read);
        let new = sessions(&world).into_iter().find(|it| !had.contains(it)).unwrap();
        match unreadable {
            true => fs::create_dir(new.join("taint")).unwrap(),
            false => replace(new.join("taint"), "came from the web (`web_fetch`)").unwrap(),
        }
        assert_ne!(fetch(&world, session), "allow", "{session}");
    }
    assert_eq!(fetch(&world, "another"), "allow");
}

#[test]
fn a_session_whose_state_nobody_can_read_counts_as_tainted() {
    let world = World::with(ALLOW_FETCH);
    assert_eq!(fetch(&world, "one"), "allow");
    let store = rusqlite::Connection::open(world.store_of_workspace()).unwrap();
    assert_eq!(store.execute("UPDATE sessions SET state = 'x'", []).unwrap(), 1);
    assert_ne!(fetch(&world, "one"), "allow");
}

#[test]
fn a_budget_holds_over_hooks_and_tickets_of_one_session() {
    let world = World::with(
        "[effects.budget]\nfiles = 2\n\
         [[rules]]\ndecision = \"allow\"\ntool = \"write\"\npath = \"**\"\n\
         [[rules]]\ndecision = \"allow\"\ncommand = \"touch\"\n",
    );
    let write = |name: &str| {
        let path = world.path("workspace").join(name);
        decision(&claude(
            &world,
            &before(&world, "Write", json!({"file_path": path, "content": "x"})),
        ))
    };
    assert_eq!(write("one").0, "allow");
    let touch = before(&world, "Bash", json!({"command": "touch two"}));
    assert_eq!(shell(&world, &rewritten(&claude(&world, &touch))).code, 0);
    let (verdict, why) = write("three");
    assert!(verdict != "allow" && why.contains("3 files"), "{verdict}: {why}");
}

/// What the hook has counted is not counted again by the command that it lets run.
#[test]
fn a_counted_rule_and_an_allowance_hold_for_tickets_and_count_a_call_once() {
    let rule = "[[rules]]\nid = \"few\"\ndecision = \"allow\"\ncommand = \"touch\"\n";
    let touch = |world: &World, name: &str| {
        let ran =
            claude(world, &before(world, "Bash", json!({"command": format!("touch {name}")})));
        match decision(&ran).0.as_str() {
            "allow" => shell(world, &rewritten(&ran)).code,
            _ => 3,
        }
    };
    let world = World::with(&format!("{rule}times = 1\n"));
    assert_eq!((touch(&world, "one"), touch(&world, "two")), (0, 3));
    let world = World::with("");
    let rule = world.write("rule.toml", rule);
    let rule = rule.to_str().unwrap();
    assert_eq!(world.eclusa(&["allow", rule, "--times", "2", "--for", "1h"]).code, 0);
    assert_eq!((touch(&world, "one"), touch(&world, "two"), touch(&world, "three")), (0, 0, 3));
}

#[test]
fn a_ticket_of_another_version_is_refused_with_what_to_do() {
    let world = World::with("[[rules]]\ndecision = \"allow\"\ncommand = \"touch\"\n");
    let tickets = world.path("state/eclusa/agents/tickets");
    let change: [fn(&mut Value); 2] =
        [|it| drop(it.as_object_mut().unwrap().remove("v")), |it| it["v"] = 99.into()];
    for change in change {
        let touch = before(&world, "Bash", json!({"command": "touch new"}));
        let line = rewritten(&claude(&world, &touch));
        for entry in fs::read_dir(&tickets).unwrap() {
            let file = entry.unwrap().path();
            let text = fs::read(&file).unwrap();
            // Beside tickets lie names without contents, by which a hook finds them.
            if text.is_empty() {
                continue;
            }
            let mut ticket: Value = serde_json::from_slice(&text).unwrap();
            change(&mut ticket);
            replace(&file, ticket.to_string()).unwrap();
        }
        let ran = shell(&world, &line);
        assert!(ran.code == 3 && ran.err.contains("make the call again"), "{ran:?}");
        assert!(!world.path("workspace/new").exists());
    }
}

/// What cannot be read is not "nothing": whoever wants to undo the edit is told.
#[test]
fn what_was_there_before_an_edit_and_cannot_be_read_is_told() {
    let world = World::with("[[rules]]\ndecision = \"allow\"\ntool = \"write\"\npath = \"**\"\n");
    let path = world.path("workspace/a.txt");
    let input = json!({"file_path": path, "content": "new"});
    assert_eq!(decision(&claude(&world, &before(&world, "Write", input.clone()))).0, "allow");
    let [session] = &sessions(&world)[..] else { panic!("one session") };
    let files = fs::read_dir(session).unwrap().map(|it| it.unwrap().path());
    let kept = files.into_iter().find(|it| it.extension().is_some_and(|it| it == "before"));
    replace(kept.unwrap(), "{").unwrap();
    replace(&path, "new").unwrap();
    claude(&world, &event(&world, "PostToolUse", "Write", input));
    let records = world.records();
    let ended = records.iter().find(|it| it["tool"] == "agent_result").unwrap();
    let why = ended["args"]["not_undoable"].as_str().unwrap_or_default();
    assert!(why.contains("cannot be read"), "{ended}");
}
