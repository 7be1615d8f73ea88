//! Answers to the hooks of every agent, byte for byte: one file for each.

use serde_json::{Value, json};

use super::{plain_run, same, timeless};
use crate::world::World;

/// What an agent is about to do, or has done, in no agent's words.
#[derive(Clone, Copy)]
enum Doing {
    Read(&'static str),
    Write(&'static str, &'static str),
    Shell(&'static str),
    Fetch(&'static str),
    Server,
    Unknown,
    /// An argument of another type than the manual says.
    Malformed,
}

/// The events of a session, in order, and how they are called in the golden.
const SESSION: &[(&str, Doing)] = &[
    ("a read that is allowed", Doing::Read("a.txt")),
    ("a read that is denied", Doing::Read(".env")),
    ("a write that is asked about", Doing::Write("b.txt", "two\n")),
    ("a write that a rule allows", Doing::Write("free/c.txt", "two\n")),
    ("a command that is rewritten", Doing::Shell("echo hi")),
    ("a command that a rule denies", Doing::Shell("rm -rf /")),
    ("a command that is asked about", Doing::Shell("npm publish")),
    ("a page", Doing::Fetch("https://docs.example/")),
    ("a page after a page", Doing::Fetch("https://docs.example/")),
    ("a tool of a server", Doing::Server),
    ("a tool that nobody knows", Doing::Unknown),
    ("a call that cannot be read", Doing::Malformed),
];

const RULES: &str = r#"
[[rules]]
decision = "allow"
tool = "write"
path = "free/**"

[[rules]]
decision = "allow"
tool = "web_fetch"
domain = "docs.example"

[[redact.rules]]
name = "badge"
regex = "badge-[0-9]+"
"#;

const AGENTS: [&str; 7] =
    ["claude-code", "codex", "gemini", "opencode", "cursor", "copilot", "windsurf"];

impl Doing {
    /// The agent's name for the tool, and its input.
    fn call(self, agent: &str, world: &World) -> (&'static str, Value) {
        let at = |name: &str| world.path("workspace").join(name);
        let tool =
            |names: [&'static str; 7]| names[AGENTS.iter().position(|it| *it == agent).unwrap()];
        match self {
            Doing::Read(name) => (
                tool(["Read", "view_image", "read_file", "read", "Read", "view", "read_code"]),
                match agent {
                    "codex" | "copilot" | "cursor" => json!({"path": at(name)}),
                    "opencode" => json!({"filePath": at(name)}),
                    _ => json!({"file_path": at(name)}),
                },
            ),
            Doing::Write(name, text) => (
                tool([
                    "Write",
                    "apply_patch",
                    "write_file",
                    "write",
                    "Write",
                    "create",
                    "write_code",
                ]),
                match agent {
                    "codex" => json!({"command":
                        format!("*** Begin Patch\n*** Add File: {name}\n+{text}*** End Patch\n")}),
                    "opencode" => json!({"filePath": at(name), "content": text}),
                    "cursor" => json!({"path": at(name), "contents": text}),
                    "copilot" => json!({"path": at(name), "file_text": text}),
                    "windsurf" => json!({"file_path": at(name),
                        "edits": [{"old_string": "", "new_string": text}]}),
                    _ => json!({"file_path": at(name), "content": text}),
                },
            ),
            Doing::Shell(text) => (
                tool(["Bash", "Bash", "run_shell_command", "bash", "Shell", "bash", "run_command"]),
                match agent {
                    "windsurf" => json!({"command_line": text, "cwd": world.path("workspace")}),
                    _ => json!({"command": text}),
                },
            ),
            Doing::Fetch(url) => (
                tool([
                    "WebFetch",
                    "WebFetch",
                    "web_fetch",
                    "webfetch",
                    "WebFetch",
                    "web_fetch",
                    "fetch",
                ]),
                json!({"url": url, "prompt": url}),
            ),
            Doing::Server => (
                tool([
                    "mcp__git__push",
                    "mcp__git__push",
                    "mcp_git_push",
                    "git_push",
                    "git_push",
                    "git-push",
                    "mcp_tool_use",
                ]),
                match agent {
                    "windsurf" => json!({"mcp_server_name": "git", "mcp_tool_name": "push"}),
                    _ => json!({"force": true}),
                },
            ),
            Doing::Unknown => (tool(["Teleport"; 7]), json!({"to": "there"})),
            Doing::Malformed => {
                let (tool, _) = Doing::Shell("").call(agent, world);
                (tool, json!({"command": ["ls"], "command_line": 7}))
            }
        }
    }

    /// The event as the agent sends it, before the call or (with its output) after.
    fn event(self, agent: &str, world: &World, output: Option<&str>) -> Value {
        let cwd = world.path("workspace");
        let (tool, input) = self.call(agent, world);
        let after = output.is_some();
        let mut event = match agent {
            "claude-code" | "codex" => json!({
                "session_id": "s-1", "cwd": cwd, "permission_mode": "default",
                "hook_event_name": if after { "PostToolUse" } else { "PreToolUse" },
                "tool_name": tool, "tool_input": input, "tool_use_id": "call-1",
            }),
            "gemini" => json!({
                "session_id": "s-1", "cwd": cwd, "tool_name": tool, "tool_input": input,
                "hook_event_name": if after { "AfterTool" } else { "BeforeTool" },
            }),
            "opencode" => json!({
                "event": if after { "after" } else { "before" }, "session": "s-1",
                "call": "call-1", "tool": tool, "directory": cwd, "root": cwd, "args": input,
            }),
            "cursor" => json!({
                "conversation_id": "s-1", "generation_id": "g-1", "cwd": cwd,
                "hook_event_name": if after { "postToolUse" } else { "preToolUse" },
                "workspace_roots": [cwd], "tool_name": tool, "tool_input": input,
            }),
            "copilot" => json!({
                "sessionId": "s-1", "cwd": cwd, "toolName": tool, "toolArgs": input.to_string(),
            }),
            _ => json!({
                "agent_action_name": format!("{}_{tool}", if after { "post" } else { "pre" }),
                "trajectory_id": "s-1", "tool_info": input,
            }),
        };
        match (agent, output) {
            (_, None) => {}
            ("claude-code", Some(text)) => {
                event["tool_response"] = json!({"type": "text", "file": {"content": text}});
            }
            ("codex" | "gemini", Some(text)) => event["tool_response"] = text.into(),
            ("opencode", Some(text)) => event["output"] = text.into(),
            ("cursor", Some(text)) => event["tool_output"] = text.into(),
            ("copilot", Some(text)) => {
                event["toolResult"] = json!({"textResultForLlm": text, "resultType": "success"});
            }
            _ => {}
        }
        event
    }
}

/// Cursor has events of its own for what it can ask about.
fn cursors_own(world: &World) -> Vec<(&'static str, Value)> {
    let cwd = world.path("workspace");
    let event = |name: &str, fields: Value| {
        let mut event = json!({"conversation_id": "s-1", "hook_event_name": name,
            "workspace_roots": [cwd], "cwd": cwd});
        event.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        event
    };
    vec![
        ("its shell", event("beforeShellExecution", json!({"command": "echo hi"}))),
        (
            "its shell, asked about",
            event("beforeShellExecution", json!({"command": "npm publish"})),
        ),
        ("its read", event("beforeReadFile", json!({"file_path": cwd.join("a.txt")}))),
        (
            "its server",
            event("beforeMCPExecution", json!({"tool_name": "push", "tool_input": "{}"})),
        ),
    ]
}

fn answered(world: &World, agent: &str, what: &str, event: &str) -> String {
    let ran = plain_run(world, &["hook", agent], event);
    let part = |name: &str, text: &str| match text {
        "" => String::new(),
        text => format!("{name}: {text}"),
    };
    let (out, err) = (part("stdout", &ran.out), part("stderr", &ran.err));
    timeless(world, &format!("== {what}\n{out}{err}exit {}\n", ran.code))
}

#[test]
fn every_agent_is_answered_as_it_was() {
    let mut told = Vec::new();
    for agent in AGENTS {
        let world = World::with(RULES);
        std::fs::create_dir(world.path("workspace/free")).unwrap();
        world.write("workspace/a.txt", "one\n");
        world.write("workspace/.env", "KEY=1\n");
        let mut text = String::new();
        for (what, doing) in SESSION {
            let event = doing.event(agent, &world, None).to_string();
            text.push_str(&answered(&world, agent, what, &event));
        }
        let read = Doing::Read("a.txt");
        for (what, event) in [
            ("once more before the read", read.event(agent, &world, None)),
            ("after the read, with a secret", read.event(agent, &world, Some("my badge-77"))),
            ("after a read that nobody asked about", read.event(agent, &world, Some("one"))),
        ] {
            text.push_str(&answered(&world, agent, what, &event.to_string()));
        }
        if agent == "cursor" {
            for (what, event) in cursors_own(&world) {
                text.push_str(&answered(&world, agent, what, &event.to_string()));
            }
        }
        text.push_str(&answered(&world, agent, "nothing that can be read", "{ not json"));
        text.push_str(&answered(&world, agent, "nothing at all", ""));
        let broken = World::with("mode = \"often\"\n");
        let event = read.event(agent, &broken, None).to_string();
        text.push_str(&answered(&broken, agent, "a configuration that is wrong", &event));
        text.push_str(&ticket(&world));
        told.push((agent.to_owned(), text));
    }
    for agent in ["vscode", "zed"] {
        let world = World::new();
        told.push((agent.to_owned(), answered(&world, agent, "it has no hooks", "{}")));
    }
    same("hooks", &told);
}

/// The ticket that the rewritten command shows, as it lies there: an older program made it, and a
/// newer one must not half understand it.
fn ticket(world: &World) -> String {
    let agents = world.path("state/eclusa/agents/tickets");
    let Ok(entries) = std::fs::read_dir(agents) else { return "== no ticket\n".to_owned() };
    let mut texts: Vec<String> = entries
        .map(|it| std::fs::read_to_string(it.unwrap().path()).unwrap())
        .map(|it| super::pretty(world, &it))
        .collect();
    texts.sort();
    format!("== tickets\n{}", texts.concat())
}
