//! `eclusa hook` fails closed: whatever goes wrong is a denial in JSON, on stderr and by exit code.

use std::{
    io::{Read as _, Write as _},
    process::Stdio,
};

use serde_json::json;

use crate::{
    hook::{before, claude, decision, send},
    world::{Ran, World, wait_until},
};

fn is_denied(ran: &Ran) {
    assert_eq!(ran.code, 2, "{ran:?}");
    assert_eq!(decision(ran).0, "deny", "{ran:?}");
    assert!(ran.err.starts_with("eclusa: "), "{ran:?}");
}

#[test]
fn what_cannot_be_read_is_denied() {
    let world = World::new();
    for text in ["", "{", "[]", "{\"hook_event_name\":\"PreToolUse\"}"] {
        is_denied(&world.piped(&["hook", "claude-code"], text));
    }
    let long = format!("{{\"x\":\"{}\"}}", "y".repeat(16 << 20));
    is_denied(&world.piped(&["hook", "claude-code"], &long));
    let ran = world.piped(&["hook", "no-such-agent"], "{}");
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("claude-code"), "{ran:?}");
    assert_eq!(world.piped(&["hook"], "{}").code, 2);
}

#[test]
fn without_a_configuration_or_a_log_everything_is_denied() {
    let call = |world: &World| claude(world, &before(world, "Bash", json!({"command": "ls"})));
    is_denied(&call(&World::with("mode = = 1\n")));
    is_denied(&call(&World::with("[[rules]]\ndecision = \"perhaps\"\n")));
    // A file where the state directory should be: as good as a disk that is full, for root too.
    let world = World::new();
    #[expect(clippy::disallowed_methods, reason = "the test breaks it on purpose")]
    std::fs::remove_dir(world.path("state")).unwrap();
    world.write("state", "not a directory");
    is_denied(&call(&world));
}

#[test]
fn a_hook_that_is_ended_says_no() {
    let world = World::new();
    let mut command = world.command(&["hook", "claude-code"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"{\"hook_event_name\":").unwrap();
    // It is ready when it would hear the signal.
    let status = format!("/proc/{}/status", child.id());
    wait_until("the hook hears signals", || {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let caught = text.lines().find_map(|it| it.strip_prefix("SigCgt:")).unwrap_or("0");
        u64::from_str_radix(caught.trim(), 16).is_ok_and(|it| it & (1 << 14) != 0)
    });
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    let code = child.wait().unwrap().code();
    let (mut out, mut err) = (String::new(), String::new());
    child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    drop(stdin);
    is_denied(&Ran { code: code.unwrap_or(-1), out, err });
}

#[test]
fn events_after_a_call_hide_what_cannot_be_recorded() {
    let world = World::with("mode = = 1\n");
    let event = json!({
        "session_id": "s", "cwd": world.path("workspace"), "hook_event_name": "PostToolUse",
        "tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_response": "secret",
    });
    let ran = send(&world, "claude-code", &event);
    assert!(ran.out.contains("output withheld") && !ran.out.contains("secret"), "{ran:?}");
}
