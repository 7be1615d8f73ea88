//! What comes in a form that nobody wants: settings with other line ends, events of other agents, of later
//! versions, in halves, too long, or at the same moment, and agents that are killed.

use std::{io::Write as _, process::Stdio, thread};

use serde_json::{Value, json};

use crate::{
    ahead::Agent,
    hook::{before, claude, decision, rewritten, send, shell},
    world::World,
};

/// How many lines a text has that end in another way.
fn other_ends(text: &str) -> usize {
    text.matches('\n').count() - text.matches("\r\n").count()
}

#[test]
fn settings_keep_their_line_ends() {
    let toml = "# mine\r\nmodel = \"x\"\r\n\r\n[mcp_servers.time]\r\ncommand = 'time-mcp'\r\n";
    let json = "{\r\n  // mine\r\n  \"theme\": \"dark\",\r\n  \"mcpServers\": {\r\n    \"time\": \
                {\"command\": \"time-mcp\"}\r\n  }\r\n}\r\n";
    // It reads no comments there.
    let plain = json.replace("// mine\r\n  ", "\"mine\": 1,\r\n  ");
    let files = [
        ("claude-code", "home/.claude/settings.json", plain.as_str()),
        ("claude-code", "home/.claude.json", json),
        ("codex", "home/.codex/config.toml", toml),
        ("gemini", "home/.gemini/settings.json", json),
        ("opencode", "config/opencode/opencode.json", json),
        ("cursor", "home/.cursor/mcp.json", json),
        ("copilot", "home/.copilot/mcp-config.json", json),
        ("vscode", "config/Code/User/settings.json", json),
        ("zed", "config/zed/settings.json", json),
    ];
    for (agent, file, text) in files {
        let world = World::new();
        std::fs::create_dir_all(world.path(file).parent().unwrap()).unwrap();
        for text in [text.to_owned(), format!("\u{feff}{text}")] {
            world.write(file, &text);
            let ran = world.eclusa(&["install", agent]);
            assert_eq!(ran.code, 0, "{agent} {ran:?}");
            let installed = world.read(file);
            assert_ne!(installed, text, "{agent} {file}");
            assert_eq!(other_ends(&installed), 0, "{agent} {installed:?}");
            // Somebody else writes there meanwhile, so that ours are taken out by hand.
            world.write(file, &installed.replace("dark", "light").replace("\"x\"", "\"y\""));
            assert_eq!(world.eclusa(&["uninstall", agent]).code, 0, "{agent}");
            let left = world.read(file);
            assert_eq!(other_ends(&left), 0, "{agent} {left:?}");
            assert!(left.contains("mine") && !left.contains("\"mcp\", \"--wrap"), "{left}");
        }
    }
}

/// What an agent would take for no settings at all is left alone, and counts as nothing where it came later.
#[test]
fn hooks_that_an_agent_could_not_read_are_not_written_and_hold_nothing() {
    let (comment, comma) = ("// mine\n{}\n", "{\"mine\": 1,}\n");
    let marked = "\u{feff}{\"mine\": 1}\n";
    let files = [
        ("claude-code", "home/.claude/settings.json", vec![comment, comma], vec![marked]),
        ("codex", "home/.codex/hooks.json", vec![comment, comma, marked], vec!["\r\n"]),
        ("copilot", "home/.copilot/hooks/eclusa.json", vec![comment, comma, marked], vec![" {}"]),
        ("gemini", "home/.gemini/settings.json", vec![], vec![comment]),
    ];
    for (agent, file, unread, read) in files {
        let world = World::new();
        std::fs::create_dir_all(world.path(file).parent().unwrap()).unwrap();
        for text in &unread {
            world.write(file, text);
            let ran = world.eclusa(&["install", agent]);
            assert!(ran.code == 1 && ran.err.contains("was left alone"), "{agent} {ran:?}");
            assert!(ran.err.contains("runs none of its hooks"), "{agent} {ran:?}");
            assert_eq!(world.read(file), *text, "{agent}");
        }
        for text in read {
            world.write(file, text);
            let ran = world.eclusa(&["install", agent]);
            assert_eq!(ran.code, 0, "{agent} {text:?} {ran:?}");
        }
        let installed = world.read(file).replace('\u{feff}', "");
        for text in unread {
            let later = match text {
                "// mine\n{}\n" => format!("// mine\n{installed}"),
                "{\"mine\": 1,}\n" => {
                    let whole = installed.trim_end().strip_suffix('}').unwrap();
                    format!("{},\n}}\n", whole.trim_end())
                }
                _ => format!("\u{feff}{installed}"),
            };
            world.write(file, &later);
            let status = world.eclusa(&["status", agent]);
            assert!(status.code == 1 && status.out.contains(" none"), "{agent} {status:?}");
            assert!(status.out.contains("runs none of its hooks"), "{agent} {status:?}");
        }
        // It is taken out all the same.
        assert_eq!(world.eclusa(&["uninstall", agent]).code, 0, "{agent}");
        let left = std::fs::read_to_string(world.path(file)).unwrap_or_default();
        assert!(!left.contains("hook "), "{agent} {left}");
    }
}

/// An event that some hook could take for a call is answered with a no, and a sentence that says why.
#[test]
fn events_that_are_not_of_this_agent_or_not_whole_are_denied() {
    let world = World::new();
    let cwd = world.path("workspace");
    let claude_call = before(&world, "Bash", json!({"command": "true"}));
    let mut later = claude_call.clone();
    later["hook_event_name"] = "PreToolInvocation".into();
    let copilot = json!({"sessionId": "s", "timestamp": 1, "cwd": cwd, "toolName": "bash",
        "toolArgs": {"command": "true"}});
    let cursor = json!({"hook_event_name": "beforeShellExecution", "conversation_id": "c",
        "command": "true", "workspace_roots": [cwd]});
    let whole = claude_call.to_string();
    let half = whole.get(..whole.len() / 2).unwrap();
    let long = format!("{{\"tool_input\": \"{}\"}}", "x".repeat(16 << 20));
    for (agent, event) in [
        ("claude-code", later.to_string()),
        ("claude-code", copilot.to_string()),
        ("codex", later.to_string()),
        ("codex", cursor.to_string()),
        ("gemini", copilot.to_string()),
        ("copilot", whole.clone()),
        ("cursor", copilot.to_string()),
        ("opencode", whole.clone()),
        ("windsurf", whole.clone()),
        ("claude-code", half.to_owned()),
        ("codex", half.to_owned()),
        ("copilot", half.to_owned()),
        ("claude-code", long.clone()),
        ("vscode", long),
    ] {
        let ran = world.piped(&["hook", agent], &event);
        let start = event.get(..event.len().min(120)).unwrap();
        assert_eq!(ran.code, 2, "{agent} {start} {ran:?}");
        assert_eq!(ran.err.trim_end().lines().count(), 1, "{agent} {ran:?}");
        assert!(ran.err.starts_with("eclusa: "), "{agent} {ran:?}");
    }
}

#[test]
fn calls_at_the_same_moment_do_not_wait_for_one_another_s_time_to_run_out() {
    let world = World::new();
    world.write("workspace/a.txt", "one\n");
    thread::scope(|scope| {
        let calls: Vec<_> = (0..16)
            .map(|number| {
                let world = &world;
                scope.spawn(move || {
                    let input = json!({"file_path": world.path("workspace/a.txt")});
                    let mut call = before(world, "Read", input);
                    call["tool_use_id"] = format!("toolu_{number}").into();
                    claude(world, &call)
                })
            })
            .collect();
        for call in calls {
            let ran = call.join().unwrap();
            assert_eq!((ran.code, decision(&ran).0.as_str()), (0, "allow"), "{ran:?}");
        }
    });
    let ended = |it: &&Value| it["event"] == "ended";
    assert_eq!(world.records().iter().filter(ended).count(), 16);
    assert_eq!(world.eclusa(&["log", "verify"]).code, 0);
}

/// An agent that is killed takes its hook with it, or leaves it without anybody who reads its answer.
#[test]
fn a_hook_whose_agent_is_gone_leaves_nothing_that_matters() {
    let world = World::new();
    world.write("workspace/a.txt", "one\n");
    let call = before(&world, "Read", json!({"file_path": world.path("workspace/a.txt")}));
    for sent in [true, false] {
        let mut command = world.command(&["hook", "claude-code"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut hook = command.spawn().unwrap();
        // Nobody reads what it says.
        drop(hook.stdout.take());
        let mut input = hook.stdin.take().unwrap();
        let text = call.to_string();
        let text = if sent { text.as_str() } else { text.get(..40).unwrap() };
        input.write_all(text.as_bytes()).unwrap();
        if sent {
            drop(input);
            assert_eq!(hook.wait().unwrap().code(), Some(2), "an answer that nobody takes is a no");
        } else {
            hook.kill().unwrap();
            hook.wait().unwrap();
        }
        let ran = claude(&world, &call);
        assert_eq!((ran.code, decision(&ran).0.as_str()), (0, "allow"), "{ran:?}");
        assert_eq!(world.eclusa(&["log", "verify"]).code, 0);
    }
    assert_eq!(send(&world, "claude-code", &call).code, 0);
}

/// Its program is replaced under it: what the person is asked stays what it was, and rules hold.
#[test]
fn an_agent_that_is_upgraded_while_it_runs_is_judged_as_before() {
    eclusa_testing::needs!(Namespaces);
    let world = World::with(
        "[[rules]]\ndecision = \"deny\"\ncommand = \"touch denied\"\nreason = \"no\"\n",
    );
    world.write("workspace/a.txt", "one\n");
    let agent = Agent::of_version(&world, "2.1.325");
    let program = world.path("state/2.1.325");
    world.write("state/new", "another one");
    #[expect(clippy::disallowed_methods, reason = "the test upgrades the agent")]
    std::fs::rename(world.path("state/new"), program).unwrap();
    assert_eq!(decision(&agent.runs(&world, "touch denied")).0, "deny");
    let ran = agent.runs(&world, "sed -i s/one/two/ a.txt");
    assert_eq!(decision(&ran).0, "ask", "{ran:?}");
    assert_eq!(shell(&world, &rewritten(&ran)).code, 0);
    assert_eq!(world.read("workspace/a.txt"), "two\n");
}
