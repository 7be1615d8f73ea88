//! `eclusa hook` fails closed: whatever goes wrong is a denial in JSON, on stderr and by exit code.

use std::{
    io::{Read as _, Write as _},
    process::Stdio,
};

use serde_json::{Value, json};

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
    // Nobody could tell which rules the person has.
    let world = World::new();
    let event = before(&world, "Bash", json!({"command": "ls"})).to_string();
    let mut homeless = world.command(&["hook", "claude-code"]);
    homeless.env_remove("HOME").env_remove("XDG_CONFIG_HOME");
    homeless.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = homeless.spawn().unwrap();
    child.stdin.take().unwrap().write_all(event.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let code = output.status.code().unwrap_or(-1);
    is_denied(&Ran { code, out: text(&output.stdout), err: text(&output.stderr) });
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

/// What cannot be recorded, or looked through for secrets, is not shown either; each agent hides it in its
/// own way.
#[test]
fn events_after_a_call_hide_what_cannot_be_recorded() {
    let world = World::new();
    let cwd = world.path("workspace");
    let after = |name: &str, tool: &str, response: Value| {
        json!({"session_id": "s", "cwd": cwd, "hook_event_name": name, "tool_name": tool,
            "tool_input": {"command": "ls"}, "tool_response": response})
    };
    let events = [
        (
            "claude-code",
            after("PostToolUse", "Bash", "secret".into()),
            "/hookSpecificOutput/updatedToolOutput",
        ),
        ("codex", after("PostToolUse", "Bash", "secret".into()), "/reason"),
        (
            "gemini",
            after("AfterTool", "run_shell_command", json!({"llmContent": "secret"})),
            "/reason",
        ),
        (
            "opencode",
            json!({"event": "after", "session": "o", "call": "1", "tool": "bash", "root": cwd,
                "directory": cwd, "args": {"command": "ls"}, "output": "secret"}),
            "/output",
        ),
    ];
    let hidden = || {
        for (agent, event, place) in &events {
            let ran = send(&world, agent, event);
            assert_eq!(ran.code, 0, "an exit code would leave the output as it is: {ran:?}");
            let said = ran.json();
            let shown = said.pointer(place).and_then(Value::as_str).unwrap_or_default();
            assert!(shown.starts_with("output withheld: "), "{agent} {ran:?}");
            assert!(!ran.out.contains("secret") && ran.err.starts_with("eclusa: "), "{ran:?}");
            match *agent {
                "codex" => assert_eq!(said["decision"], "block", "{ran:?}"),
                "gemini" => assert_eq!(said["decision"], "deny", "{ran:?}"),
                _ => {}
            }
        }
    };
    world.write("config/eclusa/eclusa.toml", "mode = = 1\n");
    hidden();
    world.write("config/eclusa/eclusa.toml", "");
    #[expect(clippy::disallowed_methods, reason = "the test breaks it on purpose")]
    std::fs::rename(world.path("state"), world.path("elsewhere")).unwrap();
    world.write("state", "not a directory");
    hidden();
}

/// Every agent whose hooks are ours: an event before a call that is allowed, where nothing is wrong.
fn events(world: &World) -> Vec<(&'static str, Value)> {
    let (cwd, file) = (world.path("workspace"), world.path("workspace/a.txt"));
    let named = |name: &str, tool: &str, input: Value| {
        json!({"session_id": "s", "cwd": cwd, "hook_event_name": name, "tool_name": tool,
            "tool_input": input, "permission_mode": "default"})
    };
    vec![
        ("claude-code", named("PreToolUse", "Read", json!({"file_path": file}))),
        ("codex", named("PreToolUse", "view_image", json!({"path": file}))),
        ("gemini", named("BeforeTool", "read_file", json!({"file_path": file}))),
        (
            "opencode",
            json!({"event": "before", "session": "o", "call": "1", "tool": "read", "root": cwd,
                "directory": cwd, "args": {"filePath": file}}),
        ),
        (
            "cursor",
            json!({"hook_event_name": "beforeReadFile", "conversation_id": "c", "cwd": cwd,
                "workspace_roots": [cwd], "file_path": file}),
        ),
        (
            "copilot",
            json!({"sessionId": "p", "cwd": cwd, "toolName": "view", "toolArgs": {"path": file}}),
        ),
        (
            "windsurf",
            json!({"agent_action_name": "pre_read_code", "trajectory_id": "w",
                "tool_info": {"file_path": file, "cwd": cwd}}),
        ),
    ]
}

/// Whether an agent takes this for a no: by each of the three ways that it may look at.
fn is_refused(agent: &str, ran: &Ran) {
    assert_eq!(ran.code, 2, "{agent} {ran:?}");
    assert!(!ran.err.trim().is_empty(), "{agent} {ran:?}");
    let said: Value = serde_json::from_str(&ran.out).unwrap_or_default();
    let specific = &said["hookSpecificOutput"]["permissionDecision"];
    let word = match agent {
        "claude-code" | "codex" => specific,
        "gemini" | "opencode" => &said["decision"],
        "cursor" => &said["permission"],
        "copilot" => &said["permissionDecision"],
        // It looks at the exit code alone.
        _ => return assert_eq!(ran.out, ""),
    };
    assert_eq!(word, "deny", "{agent} {ran:?}");
}

/// Section by section of what can go wrong, for each agent: what is allowed where nothing is wrong is
/// refused where something is.
#[test]
fn whatever_goes_wrong_is_a_denial_in_every_agents_language() {
    let world = World::new();
    world.write("workspace/a.txt", "one\n");
    let events = events(&world);
    for (agent, event) in &events {
        let ran = send(&world, agent, event);
        assert_eq!(ran.code, 0, "{agent} {ran:?}");
        assert!(!ran.out.contains("deny"), "{agent} {ran:?}");
        let junk = "\u{feff}\0 not an event";
        is_refused(agent, &world.piped(&["hook", agent], junk));
        is_refused(agent, &world.piped(&["hook", agent], &"[".repeat(100_000)));
    }
    world.write("config/eclusa/eclusa.toml", "mode = = 1\n");
    events.iter().for_each(|(agent, event)| is_refused(agent, &send(&world, agent, event)));
    world.write("config/eclusa/eclusa.toml", "");
    let state = world.path("state");
    #[expect(clippy::disallowed_methods, reason = "the test breaks it on purpose")]
    std::fs::rename(&state, world.path("elsewhere")).unwrap();
    world.write("state", "not a directory");
    events.iter().for_each(|(agent, event)| is_refused(agent, &send(&world, agent, event)));
}

/// What no program of ours can answer is answered by the line that `install` wrote: nobody is there,
/// it is killed, it has no memory, the disk is full, its answer cannot be written.
#[test]
fn the_installed_line_of_every_agent_refuses_whatever_becomes_of_the_program() {
    let world = World::new();
    world.write("workspace/a.txt", "one\n");
    let dies = world.program("dies", "#!/bin/sh\nkill -9 $$\n");
    let mut lines = 0;
    for (agent, event) in events(&world) {
        assert_eq!(world.eclusa(&["install", agent]).code, 0);
        let Some(line) = installed_line(&world, agent) else { continue };
        lines += 1;
        let ours = env!("CARGO_BIN_EXE_eclusa");
        let with = |program: &str| line.replace(ours, program);
        assert_eq!(shell(&world, &line, &event).code, 0, "{agent}");
        for broken in [
            with("/nowhere/eclusa"),
            with(dies.to_str().unwrap()),
            format!("ulimit -v 15000; {line}"),
            format!("ulimit -f 0; {line}"),
            format!("{{ {line}; }} > /dev/full"),
        ] {
            // Whoever says no by saying something says it; the others refuse a call by exit code.
            if broken.contains("/dev/full")
                && ["codex", "gemini", "copilot", "windsurf"].contains(&agent)
            {
                continue;
            }
            let ran = shell(&world, &broken, &event);
            assert_eq!(ran.code, 2, "{agent}: {broken} {ran:?}");
            assert!(!ran.err.trim().is_empty(), "{agent}: {broken} {ran:?}");
        }
    }
    assert_eq!(lines, 6, "all but opencode, which has a plugin");
}

/// The command that an agent runs before a call.
fn installed_line(world: &World, agent: &str) -> Option<String> {
    let (file, path) = match agent {
        "claude-code" => (".claude/settings.json", "/hooks/PreToolUse/0/hooks/0/command"),
        "codex" => (".codex/hooks.json", "/hooks/PreToolUse/0/hooks/0/command"),
        "gemini" => (".gemini/settings.json", "/hooks/BeforeTool/0/hooks/0/command"),
        "cursor" => (".cursor/hooks.json", "/hooks/beforeReadFile/0/command"),
        "copilot" => (".copilot/hooks/eclusa.json", "/hooks/preToolUse/0/bash"),
        "windsurf" => (".codeium/windsurf/hooks.json", "/hooks/pre_read_code/0/command"),
        _ => return None,
    };
    let settings: Value = serde_json::from_str(&world.read(&format!("home/{file}"))).unwrap();
    Some(settings.pointer(path).unwrap().as_str().unwrap().to_owned())
}

/// Runs a line as an agent would, with an event on stdin.
pub(crate) fn shell(world: &World, line: &str, event: &Value) -> Ran {
    #[expect(clippy::disallowed_methods, reason = "the test plays the agent")]
    let mut command = std::process::Command::new("sh");
    let ours = world.command(&[]);
    command.args(["-c", line]).current_dir(world.path("workspace")).env_clear();
    command.envs(ours.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A program that is not there reads nothing.
    let _ = child.stdin.take().unwrap().write_all(event.to_string().as_bytes());
    let output = child.wait_with_output().unwrap();
    Ran {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Settings that would lose the hooks do not count for the session that runs.
#[test]
fn settings_that_would_lose_the_hooks_are_refused_while_a_session_runs() {
    let world = World::new();
    let event = json!({"session_id": "s", "cwd": world.path("workspace"), "source": "user_settings",
        "hook_event_name": "ConfigChange"});
    assert_eq!(world.eclusa(&["install", "claude-code"]).code, 0);
    let ran = claude(&world, &event);
    assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{ran:?}");
    let installed = world.read("home/.claude/settings.json");
    for lost in ["{}", "{", &installed.replacen('{', "{\"disableAllHooks\": true,", 1)] {
        world.write("home/.claude/settings.json", lost);
        let ran = claude(&world, &event);
        assert!(ran.code == 2 && ran.err.contains("eclusa: "), "{lost} {ran:?}");
    }
    world.write("home/.claude/settings.json", &installed);
    assert_eq!(claude(&world, &event).code, 0);
}
