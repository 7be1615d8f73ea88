//! Calls that a model makes in one answer: their hooks answer before the first of them is asked about, or runs beside
//! it, and none of them waits for another.

use std::thread;

use serde_json::{Value, json};

use crate::{
    ahead::{on_a_terminal, shell_named},
    hook::{before, claude, decision, rewritten, shell},
    world::World,
};

fn world() -> World {
    let world = World::new();
    world.write("workspace/a.txt", "one\n");
    world.write("workspace/b.txt", "one\n");
    world
}

fn edit(name: &str) -> String {
    format!("sed -i s/one/two/ {name}.txt")
}

/// The moments of events, which the agent says: before anything, and after everything.
const EARLY: (u64, &str) = (7, "1970-01-01T00:00:00.007Z");
const LATE: (u64, &str) = (4_102_444_800_000, "2100-01-01T00:00:00.000Z");

/// All hooks of one answer come first, then the second ones, then the prompts.
#[test]
fn copilot_asks_about_two_calls_of_one_answer_and_each_yes_counts() {
    eclusa_testing::needs!(Namespaces);
    let world = world();
    let hook = |command: &str, turn: &str, answer: u64| {
        let event = json!({
            "sessionId": "s-1", "timestamp": answer, "cwd": world.path("workspace"), "toolName": "bash",
            "toolArgs": {"command": command},
        });
        on_a_terminal(&world, ("sh", &[]), &format!("copilot {turn}"), &event)
    };
    let first = |name: &str, answer: u64| {
        let said = hook(&edit(name), "", answer);
        said["modifiedArgs"]["command"].as_str().unwrap_or_else(|| panic!("{said}")).to_owned()
    };
    let second = |line: &str, answer: u64| {
        assert_eq!(hook(line, "--second", answer)["permissionDecision"], "ask");
    };
    let lines = [first("a", EARLY.0), first("b", EARLY.0)];
    lines.iter().for_each(|it| second(it, EARLY.0));
    for line in &lines {
        let ran = shell(&world, line);
        assert_eq!(ran.code, 0, "{ran:?}");
    }
    assert_eq!(
        (&*world.read("workspace/a.txt"), &*world.read("workspace/b.txt")),
        ("two\n", "two\n")
    );
    // A no: the model's next answer ends it.
    world.write("workspace/a.txt", "one\n");
    world.write("workspace/b.txt", "one\n");
    let refused = first("a", EARLY.0);
    second(&refused, EARLY.0);
    let line = first("b", LATE.0);
    assert_eq!(shell(&world, &refused).code, 3);
    assert_eq!(world.read("workspace/a.txt"), "one\n");
    second(&line, LATE.0);
    assert_eq!(shell(&world, &line).code, 0);
    assert_eq!(world.eclusa(&["log", "verify"]).code, 0);
}

/// Gemini CLI starts the hooks of one answer at once, and then its prompts stand one after the other.
#[test]
fn gemini_asks_about_two_calls_of_one_answer_and_each_yes_counts() {
    eclusa_testing::needs!(Namespaces);
    let world = world();
    let program = shell_named(&world, "0.61.0");
    let hook = |command: &str, turn: &str, moment: &str| {
        let event = json!({
            "hook_event_name": "BeforeTool", "session_id": "s-1", "cwd": world.path("workspace"),
            "timestamp": moment, "tool_name": "run_shell_command", "tool_input": {"command": command},
        });
        on_a_terminal(&world, (program.to_str().unwrap(), &[]), &format!("gemini {turn}"), &event)
    };
    let asked = |name: &str, moment: &str| {
        let said = hook(&edit(name), "", moment);
        assert_eq!(said["decision"], "ask", "{said}");
        said["hookSpecificOutput"]["tool_input"]["command"].as_str().unwrap().to_owned()
    };
    let lines = [asked("a", EARLY.1), asked("b", EARLY.1)];
    lines.iter().for_each(|it| assert_eq!(hook(it, "--second", EARLY.1), Value::Null));
    for line in &lines {
        assert_eq!(shell(&world, line).code, 0);
    }
    assert_eq!(
        (&*world.read("workspace/a.txt"), &*world.read("workspace/b.txt")),
        ("two\n", "two\n")
    );
    // A no; a moment that nobody can read is taken for a later one.
    for moment in [LATE.1, "yesterday", ""] {
        world.write("workspace/a.txt", "one\n");
        let refused = asked("a", EARLY.1);
        assert_eq!(hook(&refused, "--second", EARLY.1), Value::Null);
        hook("ls", "", moment);
        assert_eq!(shell(&world, &refused).code, 3, "{moment}");
        assert_eq!(world.read("workspace/a.txt"), "one\n");
    }
}

/// Codex starts the hooks of one answer at once, and its prompts queue; a no ends the turn.
#[test]
fn codex_asks_about_two_calls_of_one_turn_and_each_yes_counts() {
    eclusa_testing::needs!(Namespaces);
    let world = world();
    let program = shell_named(&world, "0.166.0");
    assert_eq!(world.eclusa(&["install", "codex"]).code, 0);
    let hook = |name: &str, (turn, call): (&str, &str), command: &str| {
        let event = json!({
            "hook_event_name": name, "session_id": "s-1", "turn_id": turn, "tool_use_id": call,
            "cwd": world.path("workspace"), "tool_name": "Bash", "tool_input": {"command": command},
            "tool_response": "done", "permission_mode": "default",
        });
        on_a_terminal(&world, (program.to_str().unwrap(), &[]), "codex", &event)
    };
    let told = |call, name: &str| {
        let answer = hook("PreToolUse", call, &edit(name));
        let line = answer["hookSpecificOutput"]["updatedInput"]["command"].as_str();
        line.unwrap_or_else(|| panic!("{answer}")).to_owned()
    };
    let (first, second) = (("t-1", "c-1"), ("t-1", "c-2"));
    let lines = [(first, told(first, "a")), (second, told(second, "b"))];
    for (call, line) in &lines {
        assert_eq!(hook("PermissionRequest", *call, line), Value::Null);
    }
    for (call, line) in &lines {
        assert_eq!(shell(&world, line).code, 0);
        assert_eq!(hook("PostToolUse", *call, line), Value::Null);
    }
    assert_eq!(
        (&*world.read("workspace/a.txt"), &*world.read("workspace/b.txt")),
        ("two\n", "two\n")
    );
    // A no, and the next turn.
    world.write("workspace/a.txt", "one\n");
    let refused = told(("t-1", "c-3"), "a");
    assert_eq!(hook("PermissionRequest", ("t-1", "c-3"), &refused), Value::Null);
    hook("PreToolUse", ("t-2", "c-4"), "ls");
    let late = hook("PostToolUse", ("t-1", "c-3"), &refused);
    assert_eq!(world.read("workspace/a.txt"), "one\n", "{late}");
}

/// None of several commands can end before all of them have begun.
fn meeting(number: usize) -> String {
    format!(
        "touch /tmp/here-{number}; for n in $(seq 600); do \
         if [ $(ls /tmp/here-* | wc -l) -ge 4 ]; then echo met; exit 0; fi; sleep 0.1; done; echo alone"
    )
}

#[test]
fn commands_of_one_answer_run_beside_each_other() {
    eclusa_testing::needs!(Namespaces);
    let world = World::with("mode = \"auto-approve\"\n");
    thread::scope(|scope| {
        let calls: Vec<_> = (0..4)
            .map(|number| {
                let world = &world;
                scope.spawn(move || {
                    let mut call = before(world, "Bash", json!({"command": meeting(number)}));
                    call["tool_use_id"] = format!("toolu_{number}").into();
                    let ran = claude(world, &call);
                    assert_eq!(decision(&ran).0, "allow", "{ran:?}");
                    shell(world, &rewritten(&ran))
                })
            })
            .collect();
        for call in calls {
            let ran = call.join().unwrap();
            assert_eq!((ran.code, ran.out.trim()), (0, "met"), "{ran:?}");
        }
    });
    assert_eq!(world.eclusa(&["log", "verify"]).code, 0);
}
