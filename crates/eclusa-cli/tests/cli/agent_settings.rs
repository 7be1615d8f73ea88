//! `eclusa install`, `uninstall` and `status`: an agent's settings, changed and changed back.

use std::{collections::BTreeMap, fs, os::unix::fs::PermissionsExt as _, path::Path};

use serde_json::json;

use crate::{
    hook::{before, claude, decision, send},
    hook_faults::shell,
    mcp::{client::Client, http::Up},
    servers::{configured, works},
    world::{World, run},
};

pub(crate) const AGENTS: [&str; 9] = [
    "claude-code",
    "codex",
    "gemini",
    "opencode",
    "cursor",
    "copilot",
    "windsurf",
    "vscode",
    "zed",
];

/// Every file below a directory.
pub(crate) fn tree(root: &Path) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    let mut left = vec![root.to_owned()];
    while let Some(directory) = left.pop() {
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            match entry.path() {
                path if path.is_dir() => left.push(path),
                path => {
                    drop(all.insert(path.display().to_string(), fs::read_to_string(&path).unwrap()))
                }
            }
        }
    }
    all
}

#[test]
fn every_agent_is_connected_once_and_disconnected_byte_for_byte() {
    for agent in AGENTS {
        let world = World::new();
        let home = world.path("home");
        for directory in [".claude", ".codex", ".gemini"] {
            fs::create_dir(home.join(directory)).unwrap();
        }
        world.write(
            "home/.claude/settings.json",
            "{\n    \"mine\": 1,\n    \"model\": \"opus\"\n}\n",
        );
        let toml = "# mine\nmodel = \"x\"\n[mcp_servers.time] # local\ncommand = 'time-mcp'\n";
        world.write("home/.codex/config.toml", toml);
        let servers = "\"mcpServers\" : {\"time\":{\"command\":\"time-mcp\"}}";
        let text = format!("{{\"theme\":\"dark\", {servers} /* mine */}}");
        world.write("home/.gemini/settings.json", &text);
        world.write("home/.claude.json", &text);
        fs::set_permissions(home.join(".gemini/settings.json"), fs::Permissions::from_mode(0o640))
            .unwrap();
        let files = || {
            let mut all = tree(&home);
            all.extend(tree(&world.path("config")));
            all
        };
        let before = files();
        let ran = world.eclusa(&["--dry-run", "install", agent]);
        assert_eq!((ran.code, files() == before), (0, true), "{agent} {ran:?}");
        assert!(ran.out.contains("+++"), "{ran:?}");
        let ran = world.eclusa(&["install", agent]);
        assert_eq!(ran.code, 0, "{agent} {ran:?}");
        let installed = files();
        assert_ne!(installed, before, "{agent}");
        let ran = world.eclusa(&["install", agent]);
        assert!(ran.out.contains("already"), "{agent} {ran:?}");
        assert_eq!(files(), installed, "{agent}");
        let status = world.eclusa(&["--json", "status", agent]);
        // Hooks of Codex hold once its person has trusted them.
        let hooks = !["codex", "zed"].contains(&agent);
        let level = if hooks { "hooked" } else { "none" };
        assert_eq!(status.json()[0]["level"], level, "{status:?}");
        assert_eq!(status.json()[0]["server"], true, "{status:?}");
        assert_eq!(status.json()[0]["proven"], false);
        if ["claude-code", "codex", "gemini"].contains(&agent) {
            assert_eq!(status.json()[0]["servers_behind"], json!(["time"]), "{status:?}");
        }
        assert_eq!(status.code, i32::from(!hooks));
        let mode = fs::metadata(home.join(".gemini/settings.json")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o640);
        let ran = world.eclusa(&["uninstall", agent]);
        assert_eq!(ran.code, 0, "{agent} {ran:?}");
        assert_eq!(files(), before, "{agent}");
        assert!(world.eclusa(&["uninstall", agent]).out.contains("nothing to take out"));
    }
}

#[test]
fn what_was_changed_meanwhile_stays() {
    let world = World::new();
    fs::create_dir(world.path("home/.gemini")).unwrap();
    let file = "home/.gemini/settings.json";
    world.write(file, "{\n  \"theme\": \"dark\" // mine\n}\n");
    assert_eq!(world.eclusa(&["install", "gemini"]).code, 0);
    let edited = world.read(file).replace("\"dark\"", "\"light\"");
    world.write(file, &edited);
    assert_eq!(world.eclusa(&["uninstall", "gemini"]).code, 0);
    let left = world.read(file);
    assert!(left.contains("\"theme\": \"light\"") && left.contains("// mine"), "{left}");
    assert!(!left.contains("eclusa"), "{left}");
}

#[test]
fn a_file_that_cannot_be_parsed_is_left_alone_and_so_are_the_others() {
    let world = World::new();
    fs::create_dir(world.path("home/.codex")).unwrap();
    world.write("home/.codex/config.toml", "model = = 1\n");
    let ran = world.eclusa(&["install", "codex"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.err.contains("config.toml") && ran.err.contains("line 1"), "{ran:?}");
    assert_eq!(world.read("home/.codex/config.toml"), "model = = 1\n");
    assert!(!world.path("home/.codex/hooks.json").exists());
    let status = world.eclusa(&["status", "codex"]);
    assert_eq!(status.code, 1);
    assert!(status.out.contains("none") && status.out.contains("problem:"), "{status:?}");
}

/// The line in the agent's settings starts the server behind the gate: its tools are there under
/// their names, its calls are on record, its variables reach it, and hosts do not.
#[test]
fn a_moved_server_runs_behind_the_gate_as_the_agent_would_start_it() {
    let world = configured("mode = \"yolo\"\n");
    let text = r#"{"mcpServers": {"fake": {"command": "python3", "args": ["fake.py"], "env": {"LINE": "told"}}}}"#;
    world.write("home/.claude.json", text);
    let ran = world.eclusa(&["install", "claude-code"]);
    assert!(ran.out.contains("servers behind the gate: fake"), "{ran:?}");
    let settings: serde_json::Value =
        serde_json::from_str(&world.read("home/.claude.json")).unwrap();
    let entry = &settings["mcpServers"]["fake"];
    assert_eq!(entry["command"], env!("CARGO_BIN_EXE_eclusa"));
    let args: Vec<&str> =
        entry["args"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
    let mut command = world.command(&args);
    command.env("LINE", entry["env"]["LINE"].as_str().unwrap());
    let mut client = Client::of(command);
    client.speak_modern(json!({}));
    assert_eq!(works(&mut client, "env", json!({"text": "LINE"})), "told");
    drop(client);
    assert!(world.records().iter().any(|it| it["tool"] == "mcp_fake_env"));
    assert_eq!(world.eclusa(&["uninstall", "claude-code"]).code, 0);
    assert_eq!(world.read("home/.claude.json"), text);
    assert_eq!(world.eclusa(&["install", "claude-code", "--plain-servers"]).code, 0);
    let status = world.eclusa(&["status", "claude-code"]);
    assert!(status.out.contains("servers not behind the gate: fake"), "{status:?}");
}

/// A call of a server behind the gate is put to a person once: by the gateway, if the agent that asks
/// has started it, and by the hook otherwise.
#[test]
fn nobody_is_asked_twice_about_a_call_of_a_moved_server() {
    let world = configured("");
    let line = format!("{} hook claude-code || exit 2", env!("CARGO_BIN_EXE_eclusa"));
    let event = |server: &str| {
        json!({"session_id": "s", "cwd": world.path("workspace"), "tool_use_id": "t",
            "hook_event_name": "PreToolUse", "permission_mode": "default",
            "tool_name": format!("mcp__{server}__echo"), "tool_input": {"text": "x"}})
    };
    let decided = |line: &str, server: &str| decision(&shell(&world, line, &event(server))).0;
    assert_eq!(decided(&line, "fake"), "ask");
    // The test is the agent: the gateway is its child.
    let args = ["mcp", "--wrap", "--installed", "--name", "fake", "--", "python3", "fake.py"];
    let mut client = Client::modern_with(&world, &args, json!({"elicitation": {}}));
    client.ask("tools/list", json!({}));
    assert_eq!(decided(&line, "fake"), "allow");
    assert_eq!(decided(&line, "other"), "ask");
    // An agent inside this one has servers of its own.
    assert_eq!(decided(&format!("sh -c '{line}'; exit $?"), "fake"), "ask");
    let asked = client.ask("tools/call", json!({"name": "echo", "arguments": {"text": "x"}}));
    assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
    let mut after = event("fake");
    after["hook_event_name"] = "PostToolUse".into();
    after["tool_response"] = "x".into();
    let told = shell(&world, &line, &after);
    assert_eq!((told.code, told.out.as_str()), (0, ""), "{told:?}");
    world.write("config/eclusa/eclusa.toml", "[[rules]]\ndecision = \"deny\"\nserver = \"fake\"\n");
    assert_eq!(decided(&line, "fake"), "deny");
    world.write("config/eclusa/eclusa.toml", "");
    client.close();
    assert_eq!(decided(&line, "fake"), "ask");
}

/// An agent that writes its settings anew keeps what it was given; the server is given back.
#[test]
fn a_server_is_given_back_although_the_file_was_written_anew() {
    let world = World::new();
    world.write(
        "home/.claude.json",
        r#"{"mcpServers": {"a": {"command": "a", "args": ["b"]}}, "n": 1}"#,
    );
    assert_eq!(world.eclusa(&["install", "claude-code"]).code, 0);
    let mut settings: serde_json::Value =
        serde_json::from_str(&world.read("home/.claude.json")).unwrap();
    settings["n"] = json!(2);
    world.write("home/.claude.json", &settings.to_string());
    assert_eq!(world.eclusa(&["uninstall", "claude-code"]).code, 0);
    let left: serde_json::Value = serde_json::from_str(&world.read("home/.claude.json")).unwrap();
    assert_eq!(left, json!({"mcpServers": {"a": {"command": "a", "args": ["b"]}}, "n": 2}));
}

/// A file that others share names no path of this machine.
#[test]
fn a_project_names_the_program_without_a_path() {
    let world = World::new();
    let ran = world.eclusa(&["install", "claude-code", "--project"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let text = world.read("workspace/.claude/settings.json");
    assert!(text.contains("\"eclusa hook claude-code || {"), "{text}");
    assert!(world.read("workspace/.mcp.json").contains("\"command\": \"eclusa\""));
    assert_eq!(world.eclusa(&["status", "claude-code"]).code, 0);
    let ran = world.eclusa(&["install", "cursor", "--managed"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert_eq!(world.eclusa(&["install", "nobody"]).code, 2);
}

/// The line that agents run says no when the program is gone, was built for another machine, or may not be
/// executed (`noexec`), in every shell, and says how to recover.
#[test]
fn the_installed_line_refuses_when_the_program_cannot_be_run() {
    let world = World::new();
    assert_eq!(world.eclusa(&["install", "codex"]).code, 0);
    let settings: serde_json::Value =
        serde_json::from_str(&world.read("home/.codex/hooks.json")).unwrap();
    let line = settings["hooks"]["PreToolUse"][0]["hooks"][0]["command"].as_str().unwrap();
    // An executable for System z.
    let head = format!("\x7fELF\x02\x01\x01{}\x02\0\x16\0{}", "\0".repeat(9), "\0".repeat(44));
    let odd = [
        world.path("nowhere"),
        world.program("foreign", &head),
        world.write("plain", "#!/bin/sh\nexit 0\n"),
    ];
    for program in odd {
        let line = line.replace(env!("CARGO_BIN_EXE_eclusa"), program.to_str().unwrap());
        for shell in ["sh", "bash"] {
            #[expect(clippy::disallowed_methods, reason = "the test plays the agent")]
            let mut shell = std::process::Command::new(shell);
            shell.args(["-c", &line]);
            let ran = run(shell, "{}");
            assert!(ran.code == 2 && ran.err.contains("install it again"), "{line} {ran:?}");
        }
    }
}

/// What Codex writes down when its person trusts our hooks.
fn trust_codex(world: &World) {
    let key = format!("{}:pre_tool_use:0:0", world.path("home/.codex/hooks.json").display());
    let config = world.read("home/.codex/config.toml");
    let state = format!("[hooks.state.{key:?}]\ntrusted_hash = \"sha256:0\"\n");
    world.write("home/.codex/config.toml", &format!("{config}\n{state}"));
}

/// What a repository or a person can do to switch hooks off is seen, and nothing is then called held.
#[test]
fn hooks_that_are_switched_off_hold_nothing_and_a_name_cannot_be_guessed() {
    let world = World::new();
    for directory in ["home/.codex", "workspace/.claude", "workspace/.gemini", "workspace/.codex"] {
        fs::create_dir_all(world.path(directory)).unwrap();
    }
    let level = |agent: &str| {
        let status = world.eclusa(&["--json", "status", agent]).json();
        (status[0]["level"].as_str().unwrap().to_owned(), status[0]["problems"].to_string())
    };
    let name = |world: &World| {
        let text = world.read("home/.gemini/settings.json");
        let at = text.find("eclusa-").unwrap_or_else(|| panic!("{text}"));
        text.get(at..at + 23).unwrap().to_owned()
    };
    for agent in ["claude-code", "codex", "gemini"] {
        assert_eq!(world.eclusa(&["install", agent]).code, 0);
        if agent == "codex" {
            trust_codex(&world);
        }
        assert_eq!(level(agent).0, "hooked");
    }
    let ours = name(&world);
    assert!(ours.chars().skip(7).all(|it| it.is_ascii_hexdigit()), "{ours}");
    let other = World::new();
    assert_eq!(other.eclusa(&["install", "gemini"]).code, 0);
    assert_ne!(name(&other), ours, "each installation has a name of its own");
    let disabled = |name: &str| format!("{{\"hooksConfig\": {{\"disabled\": [\"{name}\"]}}}}");
    // A repository can only guess.
    world.write("workspace/.gemini/settings.json", &disabled("eclusa"));
    assert_eq!(level("gemini").0, "hooked");
    let switches = [
        ("gemini", ".gemini/settings.json", disabled(&ours)),
        ("gemini", ".gemini/settings.json", "{\"hooksConfig\": {\"enabled\": false}}".to_owned()),
        ("claude-code", ".claude/settings.json", "{\"disableAllHooks\": true}".to_owned()),
        ("claude-code", ".claude/settings.local.json", "{\"disableAllHooks\": true}".to_owned()),
        ("codex", ".codex/config.toml", "[features]\nhooks = false\n".to_owned()),
    ];
    for (agent, file, text) in switches {
        let file = format!("workspace/{file}");
        world.write(&file, &text);
        let (level, problems) = level(agent);
        assert_eq!(level, "none", "{file} {text}");
        assert!(problems.contains("switches its hooks off"), "{problems}");
        world.write(&file, "");
    }
    assert_eq!(level("claude-code").0, "hooked");
}

/// Variables that a project's settings give to hooks: those that lead them to other rules are seen, and
/// every call is refused meanwhile.
#[test]
fn a_project_that_leads_hooks_to_other_rules_holds_nothing_and_runs_nothing() {
    let world = World::new();
    fs::create_dir_all(world.path("workspace/.claude")).unwrap();
    world.write("workspace/a.txt", "one\n");
    assert_eq!(world.eclusa(&["install", "claude-code"]).code, 0);
    let read = before(&world, "Read", json!({"file_path": world.path("workspace/a.txt")}));
    let level = || world.eclusa(&["--json", "status", "claude-code"]).json()[0]["level"].clone();
    assert_eq!((decision(&claude(&world, &read)).0.as_str(), level()), ("allow", "hooked".into()));
    for (file, variable) in [
        ("settings.json", "HOME"),
        ("settings.local.json", "XDG_CONFIG_HOME"),
        ("settings.json", "XDG_STATE_HOME"),
        ("settings.json", "LD_PRELOAD"),
    ] {
        let file = format!("workspace/.claude/{file}");
        world.write(&file, &json!({"env": {variable: "/elsewhere"}}).to_string());
        let status = world.eclusa(&["status", "claude-code"]);
        let told = format!("sets `{variable}` for hooks");
        assert!(status.code == 1 && status.out.contains(&told), "{status:?}");
        assert_eq!(level(), "none");
        let (word, why) = decision(&claude(&world, &read));
        assert!(word == "deny" && why.contains(&told), "{word}: {why}");
        world.write(&file, &json!({"env": {"NODE_ENV": "test"}}).to_string());
    }
    assert_eq!((decision(&claude(&world, &read)).0.as_str(), level()), ("allow", "hooked".into()));

    // Gemini CLI reads variables from here, and from directories above.
    assert_eq!(world.eclusa(&["install", "gemini"]).code, 0);
    fs::create_dir_all(world.path("workspace/.gemini")).unwrap();
    let event = json!({"session_id": "g", "cwd": world.path("workspace"), "tool_name": "read_file",
        "hook_event_name": "BeforeTool", "tool_input": {"file_path": "a.txt"}});
    let says = || (send(&world, "gemini", &event).out, world.eclusa(&["status", "gemini"]).out);
    assert_eq!(says().0, "");
    for file in ["workspace/.env", "workspace/.gemini/.env", ".env"] {
        world.write(file, "A=1\nexport XDG_CONFIG_HOME = /elsewhere\n");
        let (answer, status) = says();
        assert!(answer.contains("deny") && answer.contains("XDG_CONFIG_HOME"), "{file}: {answer}");
        assert!(status.contains("nothing is enforced"), "{file}: {status}");
        world.write(file, "# HOME=/elsewhere\nA=1\n");
    }
    assert_eq!(says().0, "");
}

/// A server at an address is reached through the gate, with its header, which stays where it was.
#[test]
fn a_server_at_an_address_is_moved_and_reached_with_its_header() {
    let remote = World::new();
    remote.write("workspace/a.txt", "from afar\n");
    let up = Up::start(&remote, Some("a-token-that-nobody-guesses"));
    let world = World::with("[[rules]]\ndecision = \"allow\"\nserver = \"docs\"\n");
    fs::create_dir(world.path("home/.cursor")).unwrap();
    let text = json!({"mcpServers": {
        "docs": {"url": up.url(), "headers": {"Authorization": format!("Bearer {}", up.token)}},
        "login": {"url": "https://login.example/mcp"},
    }});
    let before = world.write("home/.cursor/mcp.json", &format!("{text:#}\n"));
    let bytes = fs::read(&before).unwrap();
    let ran = world.eclusa(&["install", "cursor"]);
    assert!(ran.code == 0 && ran.out.contains("the agent logs in to it by itself"), "{ran:?}");
    let installed: serde_json::Value =
        serde_json::from_str(&world.read("home/.cursor/mcp.json")).unwrap();
    let moved = &installed["mcpServers"]["docs"];
    let args: Vec<&str> =
        moved["args"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
    assert!(!args.concat().contains("token"), "{args:?}");
    let mut command = world.command(&args);
    command.env("ECLUSA_SERVER", moved["env"]["ECLUSA_SERVER"].as_str().unwrap());
    let mut client = Client::of(command);
    client.speak_modern(json!({}));
    works(&mut client, "read", json!({"path": "a.txt"}));
    client.close();
    let ends = world.records();
    let end = ends.iter().find(|it| it["event"] == "ended").unwrap();
    assert!(end["tool"].as_str().unwrap().contains("docs"), "{end}");
    assert!(ends.iter().all(|it| !it.to_string().contains(&up.token)));
    let status = world.eclusa(&["status", "cursor"]);
    assert!(status.out.contains("servers behind the gate: docs"), "{status:?}");
    assert!(status.out.contains("login: no header lets us in"), "{status:?}");
    assert_eq!(world.eclusa(&["uninstall", "cursor"]).code, 0);
    assert_eq!(fs::read(&before).unwrap(), bytes);
}
