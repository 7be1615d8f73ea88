//! `eclusa status --prove`: an agent is started and seen to obey. The agents here are scripts that
//! speak with the model and run hooks as Claude Code does, more or less well.

use crate::world::{Ran, World};

/// `$OBEYS`: `all`, `blocks` (what hooks say of an output counts for nothing), `answers` (a hook that
/// failed counts for nothing), or `none` (hooks are not run).
const AGENT: &str = r#"#!/usr/bin/env python3
import json, os, subprocess, sys, urllib.request
OBEYS = "@OBEYS@"
if "--version" in sys.argv:
    print("@VERSION@ (a script)")
    sys.exit()

def ask(messages):
    body = {"model": "m", "stream": True, "tools": [{"name": "Bash"}], "messages": messages}
    request = urllib.request.Request(os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages?beta=true",
                                     json.dumps(body).encode(), {"content-type": "application/json"})
    lines = urllib.request.urlopen(request).read().decode().splitlines()
    return [json.loads(it[6:]) for it in lines if it.startswith("data: ")]

events = ask([{"role": "user", "content": "go"}])
command = [json.loads(it["delta"]["partial_json"]) for it in events if it["type"] == "content_block_delta"][0]
blocked = False
settings = json.load(open(os.environ["HOME"] + "/.claude/settings.json"))
assert "mcpServers" not in settings and "env" not in settings, settings
event = {}
for entry in settings["hooks"]["PreToolUse"] if OBEYS != "none" else []:
    event = {"session_id": "s", "cwd": os.getcwd(), "hook_event_name": "PreToolUse", "tool_use_id": "t",
             "permission_mode": "bypassPermissions", "tool_name": "Bash", "tool_input": command}
    ran = subprocess.run(entry["hooks"][0]["command"], shell=True, input=json.dumps(event), text=True,
                         capture_output=True)
    blocked = blocked or (ran.returncode == 2 and OBEYS in ("all", "blocks"))
    if ran.stdout:
        said = json.loads(ran.stdout)["hookSpecificOutput"]
        blocked = blocked or said["permissionDecision"] == "deny"
        command = said.get("updatedInput", command)
output = "blocked"
if not blocked:
    output = subprocess.run(command["command"], shell=True, text=True, capture_output=True).stdout
    event.update(hook_event_name="PostToolUse", tool_input=command, tool_response={"stdout": output, "stderr": ""})
    for entry in settings["hooks"]["PostToolUse"] if OBEYS == "all" else []:
        ran = subprocess.run(entry["hooks"][0]["command"], shell=True, input=json.dumps(event), text=True,
                             capture_output=True)
        said = json.loads(ran.stdout or "{}").get("hookSpecificOutput", {})
        output = said.get("updatedToolOutput", {}).get("stdout", output)
result = {"type": "tool_result", "tool_use_id": "toolu_proof", "content": output or "ran"}
ask([{"role": "user", "content": [result]}])
"#;

/// `eclusa status --prove` with an agent that obeys so much.
fn prove(world: &World, obeys: &str) -> Ran {
    std::fs::create_dir_all(world.path("bin")).unwrap();
    let agent = AGENT.replace("@OBEYS@", obeys).replace("@VERSION@", "9.8.7");
    world.program("bin/claude", &agent);
    status(world, &["--json", "status", "claude-code", "--prove"])
}

fn status(world: &World, args: &[&str]) -> Ran {
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = world.command(args);
    let output =
        command.env("PATH", format!("{}:{path}", world.path("bin").display())).output().unwrap();
    Ran {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

#[test]
fn an_agent_that_obeys_is_proven_until_something_changes() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    std::fs::create_dir(world.path("home/.claude")).unwrap();
    let mine = "{\"env\": {\"ANTHROPIC_API_KEY\": \"mine\"}, \"model\": \"opus\"}";
    world.write("home/.claude/settings.json", mine);
    assert_eq!(world.eclusa(&["install", "claude-code"]).code, 0);
    let ran = prove(&world, "all");
    let said = &ran.json()[0];
    assert_eq!((ran.code, &said["proven"], &said["level"]), (0, &true.into(), &"hooked".into()));
    assert_eq!(said["proven_with"], "9.8.7 (a script)", "{ran:?}");
    let ran = status(&world, &["status", "claude-code"]);
    assert!(ran.out.contains("(proven here with 9.8.7 (a script))"), "{ran:?}");
    // Other settings, of which nobody knows how the agent takes them.
    let settings = world.read("home/.claude/settings.json");
    world.write("home/.claude/settings.json", &settings.replace("opus", "haiku"));
    let ran = status(&world, &["status", "claude-code"]);
    assert!(ran.out.contains("(not proven: 9.8.7 is a version that was never tried"), "{ran:?}");
}

#[test]
fn a_line_of_versions_that_nobody_tried_is_not_held_until_it_is_proven() {
    let world = World::new();
    std::fs::create_dir_all(world.path("bin")).unwrap();
    assert_eq!(world.eclusa(&["install", "claude-code"]).code, 0);
    for (version, level) in [("9.8.7", "none"), ("2.1.400", "hooked"), ("strange", "hooked")] {
        world.program("bin/claude", &AGENT.replace("@VERSION@", version));
        let ran = status(&world, &["--json", "status", "claude-code"]);
        let said = &ran.json()[0];
        assert_eq!(said["level"], level, "{version} {said}");
        assert_eq!((said["proven"] == true, ran.code == 0), (false, level == "hooked"), "{said}");
    }
}

/// An agent of an older version that blocks, and shows its model what it printed.
#[test]
fn an_output_that_is_not_redacted_is_told() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    assert_eq!(world.eclusa(&["install", "claude-code"]).code, 0);
    for (obeys, redacts) in [("all", true), ("blocks", false)] {
        let ran = prove(&world, obeys);
        let said = &ran.json()[0];
        assert_eq!((&said["proven"], &said["redacts"]), (&true.into(), &redacts.into()), "{said}");
        assert_eq!(
            said["open"].to_string().contains("does not let Eclusa redact"),
            !redacts,
            "{said}"
        );
    }
}

/// Codex runs no hook that its person has not trusted: until then nothing is held, and nothing proven.
#[test]
fn hooks_that_nobody_trusted_hold_nothing() {
    let world = World::new();
    assert_eq!(world.eclusa(&["install", "codex"]).code, 0);
    let level = || {
        let ran = world.eclusa(&["--json", "status", "codex", "--prove"]);
        (ran.json()[0]["level"].as_str().unwrap().to_owned(), ran.json()[0].to_string())
    };
    let (none, said) = level();
    assert!(none == "none" && said.contains("not trusted yet"), "{said}");
    assert!(said.contains("trust the hooks"), "{said}");
    let config = world.read("home/.codex/config.toml");
    let hooks = world.path("home/.codex/hooks.json");
    for (file, more, expected) in [
        (hooks.clone(), "", "hooked"),
        (hooks, "enabled = false\n", "none"),
        (world.path("elsewhere/hooks.json"), "", "none"),
    ] {
        let key = format!("{}:pre_tool_use:0:0", file.display());
        let state = format!("\n[hooks.state.{key:?}]\ntrusted_hash = \"sha256:0\"\n{more}");
        world.write("home/.codex/config.toml", &format!("{config}{state}"));
        assert_eq!(level().0, expected, "{state}");
    }
}

#[test]
fn an_agent_that_does_not_obey_is_not_proven() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    let ran = prove(&world, "all");
    assert_eq!(ran.code, 1, "nothing is installed: {ran:?}");
    assert_eq!(world.eclusa(&["install", "claude-code"]).code, 0);
    for (obeys, why) in
        [("none", "a denied command ran"), ("answers", "a command ran with eclusa missing")]
    {
        let ran = prove(&world, obeys);
        let said = &ran.json()[0];
        assert_eq!((ran.code, &said["proven"]), (1, &false.into()), "{ran:?}");
        assert_eq!((&said["not_proven"], &said["level"]), (&why.into(), &"none".into()), "{ran:?}");
    }
}
