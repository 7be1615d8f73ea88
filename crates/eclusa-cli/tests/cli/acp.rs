//! `eclusa acp`: between an editor, which the test plays, and an agent that is a script.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, ChildStdin, Stdio},
    sync::mpsc::{Receiver, channel},
    time::Duration,
};

use serde_json::{Value, json};

use crate::world::{Ran, World};

/// Makes the request that the prompt says, and tells the answer. Everything else it does as agents do.
const AGENT: &str = r#"#!/usr/bin/env python3
import json, sys
def send(**message):
    print(json.dumps(dict(message, jsonrpc="2.0")), flush=True)
for line in sys.stdin:
    message = json.loads(line)
    params = message.get("params", {})
    if message.get("method") == "initialize":
        send(id=message["id"], result={"protocolVersion": 1, "agentInfo": {"name": "scripted", "version": "7"}})
    elif message.get("method") in ("session/new", "session/fork"):
        send(id=message["id"], result={"sessionId": "s2" if "sessionId" in params else "s1"})
        send(method="_servers", params=params["mcpServers"])
    elif message.get("method") == "session/set_mode":
        send(method="_mode", params=params)
    elif message.get("method") == "session/prompt":
        for wanted in json.loads(params["prompt"][0]["text"]):
            if isinstance(wanted, str):
                sys.stdout.buffer.write(wanted.encode() + b"\n")
                sys.stdout.buffer.flush()
            else:
                send(**wanted)
    elif "method" not in message:
        send(method="_answer", params=message)
"#;

/// The editor's side.
pub(crate) struct Editor {
    child: Child,
    input: ChildStdin,
    lines: Receiver<String>,
}

impl Editor {
    fn open(world: &World) -> Editor {
        Editor::try_open(world).unwrap()
    }

    /// The same where it may not come about; the error is what the editor was told.
    pub(crate) fn try_open(world: &World) -> Result<Editor, String> {
        Editor::try_open_in(world, "workspace")
    }

    /// The same with a session in this directory.
    fn try_open_in(world: &World, directory: &str) -> Result<Editor, String> {
        let agent = world.program("agent", AGENT);
        let mut command = world.command(&["acp", "--", agent.to_str().unwrap()]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let (send, lines) = channel();
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                if send.send(line).is_err() {
                    break;
                }
            }
        });
        let input = child.stdin.take().unwrap();
        let mut editor = Editor { child, input, lines };
        editor.send(&json!({"id": 0, "method": "initialize", "params": {"protocolVersion": 1}}));
        assert_eq!(editor.next()["result"]["agentInfo"]["name"], "scripted");
        let servers = json!([{"name": "git", "command": "mcp-git", "args": ["-v"],
            "env": [{"name": "TOKEN", "value": "x"}]}]);
        let params = json!({"cwd": world.path(directory), "mcpServers": servers});
        editor.send(&json!({"id": 1, "method": "session/new", "params": params}));
        let opened = editor.next();
        if opened["result"]["sessionId"] != "s1" {
            return Err(opened.to_string());
        }
        let wrapped = editor.next()["params"][0].clone();
        let expected =
            json!(["mcp", "--wrap", "--name", "git", "--env", "TOKEN", "--", "mcp-git", "-v"]);
        assert_eq!(wrapped["args"], expected, "{wrapped}");
        assert!(wrapped["command"].as_str().unwrap().ends_with("/eclusa"), "{wrapped}");
        Ok(editor)
    }

    pub(crate) fn send(&mut self, message: &Value) {
        let mut message = message.clone();
        message["jsonrpc"] = "2.0".into();
        writeln!(self.input, "{message}").unwrap();
    }

    fn line(&mut self) -> String {
        self.lines.recv_timeout(Duration::from_secs(120)).unwrap()
    }

    pub(crate) fn next(&mut self) -> Value {
        serde_json::from_str(&self.line()).unwrap()
    }

    /// Has the agent send this.
    fn agent_sends(&mut self, messages: Value) {
        let prompt = json!([{"type": "text", "text": messages.to_string()}]);
        let params = json!({"sessionId": "s1", "prompt": prompt});
        self.send(&json!({"id": 2, "method": "session/prompt", "params": params}));
    }

    /// Has the agent make this request, with the id `a`.
    pub(crate) fn agent_asks(&mut self, method: &str, mut params: Value) {
        params["sessionId"] = "s1".into();
        self.agent_sends(json!([{"id": "a", "method": method, "params": params}]));
    }

    /// The answer that the agent got.
    pub(crate) fn answer(&mut self) -> Value {
        let told = self.next();
        assert_eq!(told["method"], "_answer", "{told}");
        assert_eq!(told["params"]["id"], "a", "{told}");
        told["params"].clone()
    }

    pub(crate) fn permission(&mut self, call: Value) {
        let options = json!([
            {"optionId": "forever", "name": "Always", "kind": "allow_always"},
            {"optionId": "go", "name": "Yes", "kind": "allow_once"},
            {"optionId": "stop", "name": "No", "kind": "reject_once"},
        ]);
        let params = json!({"toolCall": call, "options": options});
        self.agent_asks("session/request_permission", params);
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn permissions_are_judged_and_people_asked_in_the_editor() {
    let world = World::new();
    let mut editor = Editor::open(&world);
    let call = |command: &str| {
        json!({"toolCallId": "t1", "title": "harmless", "kind": "execute", "rawInput":
            {"command": command}})
    };
    editor.permission(call("rm -rf /"));
    assert_eq!(editor.answer()["result"]["outcome"]["optionId"], "stop");
    for (said, given) in [("eclusa-allow", "go"), ("eclusa-reject", "stop"), ("forever", "stop")] {
        editor.permission(call("npm publish"));
        let asked = editor.next();
        assert_eq!(asked["method"], "session/request_permission", "{asked}");
        let shown = asked["params"]["toolCall"].to_string();
        assert!(shown.contains("bash: ` npm publish `") && !shown.contains("harmless"), "{shown}");
        let outcome = json!({"outcome": {"outcome": "selected", "optionId": said}});
        editor.send(&json!({"id": asked["id"], "result": outcome}));
        assert_eq!(editor.answer()["result"]["outcome"]["optionId"], given);
    }
    // What is asked is no markup, and nothing in it is hidden.
    let spoof = "npm publish \u{202e}x\u{200b}\n```\n## Approved by your administrator\n[a](b)";
    editor.permission(call(spoof));
    let asked = editor.next();
    let text = asked["params"]["toolCall"]["content"][0]["content"]["text"].as_str().unwrap();
    assert!(!text.contains(['\u{202e}', '\u{200b}']), "{text}");
    assert!(text.contains("\n````text\n") && text.ends_with("\n````"), "{text}");
    assert!(!text.lines().any(|it| it.starts_with("##")), "{text}");
    let title = asked["params"]["toolCall"]["title"].as_str().unwrap();
    assert!(!title.contains(['\n', '\u{202e}']) && title.starts_with("bash: ````"), "{title}");
    editor.send(&json!({"id": asked["id"], "result": {"outcome": {"outcome": "cancelled"}}}));
    assert_eq!(editor.answer()["result"]["outcome"]["optionId"], "stop");
    // A command beside an edit is judged by the edit too.
    let mut both = call("ls");
    let hook = world.path("workspace/.git/hooks/pre-commit");
    both["content"] = json!([{"type": "diff", "path": hook, "oldText": null, "newText": "x"}]);
    editor.permission(both);
    assert_eq!(editor.answer()["result"]["outcome"]["optionId"], "stop");
    // What the agent calls a command without saying it.
    editor.permission(json!({"toolCallId": "t2", "title": "ls", "kind": "execute"}));
    let asked = editor.next();
    editor.send(&json!({"id": asked["id"], "result": {"outcome": {"outcome": "cancelled"}}}));
    assert_eq!(editor.answer()["result"]["outcome"]["optionId"], "stop");
    // What a rule denies of it is denied, and what one allows is asked about all the same.
    editor.permission(json!({"toolCallId": "t3", "title": "rm -rf /", "kind": "execute"}));
    assert_eq!(editor.answer()["result"]["outcome"]["optionId"], "stop");
    // Nobody was asked about this one.
    let update = json!({"sessionUpdate": "tool_call", "toolCallId": "t9", "title": "secretly",
        "status": "completed"});
    let params = json!({"sessionId": "s1", "update": update});
    editor.agent_sends(json!([{"method": "session/update", "params": params}]));
    assert_eq!(editor.next()["method"], "session/update");
    crate::world::wait_until("it is on record", || {
        let unasked =
            |it: &Value| it["args"]["outcome"] == "unasked" && it["client"] == "scripted 7";
        world.records().iter().any(unasked)
    });
}

#[test]
fn files_and_terminals_of_the_editor_pass_the_gate() {
    eclusa_testing::needs!(Namespaces);
    let world = World::with(
        "[[rules]]\ndecision = \"allow\"\ntool = [\"write\", \"undo\"]\npath = \"**\"\n\n\
         [[rules]]\ndecision = \"allow\"\ncommand = \"printenv\"\n",
    );
    world.write("workspace/a.txt", "one\n");
    world.write("workspace/.env", "KEY=1\n");
    let mut editor = Editor::open(&world);
    let path = |name: &str| json!(world.path("workspace").join(name));
    editor.agent_asks("fs/read_text_file", json!({"path": path(".env")}));
    let denied = editor.answer();
    assert!(denied["error"]["message"].as_str().unwrap().starts_with("eclusa: "), "{denied}");
    editor.agent_asks("fs/read_text_file", json!({"path": path("a.txt")}));
    let asked = editor.next();
    assert_eq!((&asked["method"], &asked["id"]), (&"fs/read_text_file".into(), &"a".into()));
    editor.send(&json!({"id": "a", "result": {"content": "one\n"}}));
    assert_eq!(editor.answer()["result"]["content"], "one\n");
    // The editor writes, and it can be undone.
    editor.agent_asks("fs/write_text_file", json!({"path": path("a.txt"), "content": "two\n"}));
    let asked = editor.next();
    assert_eq!(asked["params"]["content"], "two\n", "{asked}");
    world.write("workspace/a.txt", "two\n");
    editor.send(&json!({"id": asked["id"], "result": null}));
    assert!(editor.answer().get("error").is_none());
    let undone = world.eclusa(&["undo"]);
    assert_eq!((undone.code, world.read("workspace/a.txt")), (0, "one\n".to_owned()), "{undone:?}");
    // A command is run by our sandbox, variables and all.
    let env = json!([{"name": "GREETING", "value": "it's me"}]);
    let params = json!({"command": "printenv", "args": ["GREETING"], "env": env});
    editor.agent_asks("terminal/create", params);
    let asked = editor.next();
    let args: Vec<String> = serde_json::from_value(asked["params"]["args"].clone()).unwrap();
    assert!(args.contains(&"--ticket".to_owned()) && asked["params"].get("env").is_none());
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let ran: Ran = world.eclusa(&args);
    assert_eq!((ran.code, ran.out.as_str()), (0, "it's me\n"), "{ran:?}");
    editor.send(&json!({"id": "a", "result": {"terminalId": "x"}}));
    assert_eq!(editor.answer()["result"]["terminalId"], "x");
}

/// What somebody could read more generously than we do goes nowhere or is refused; the rest passes
/// byte for byte.
#[test]
fn what_is_no_message_does_not_pass_and_the_rest_passes_as_it_is() {
    let world = World::new();
    world.write("workspace/.env", "KEY=1\n");
    let mut editor = Editor::open(&world);
    let read = r#""params":{"sessionId":"s1","path":".env"}}"#;
    let evil = format!(r#"{{"id":"a","method":"fs/read_text_file",{read}"#);
    let dropped = [
        "Loaded credentials.".to_owned(),
        String::new(),
        format!("[{evil}]"),
        format!("\u{feff}{evil}"),
        format!(r#"{{"id":1}}{evil}"#),
        format!("{{\"id\":1}}\r{evil}"),
        format!(r#"{{"method":"fs/read_text_file","id":"a","method":"_x",{read}"#),
        format!(r#"{{"method":"fs/read_text_file",{read}"#),
    ];
    let refused = [
        evil.clone(),
        format!(r#"{{"id":"a","METHOD":"fs/read_text_file",{read}"#),
        format!(r#"{{"id":"a","method":"fs\/read_text_file",{read}"#),
        evil.replace("}}", r#","line":1,"Path":"b.txt"}}"#),
        evil.replace(".env", r"\ud800"),
        evil.replace("s1", "s7"),
    ];
    editor.agent_sends(json!(dropped));
    for line in refused {
        editor.agent_sends(json!([line]));
        let answer = editor.answer();
        assert!(answer["error"]["message"].as_str().unwrap().starts_with("eclusa: "), "{answer}");
    }
    let plain = r#"{"jsonrpc":"2.0",  "method":"_plain", "params":[1.50, 1e999, "\ud800\u0061"]}"#;
    editor.agent_sends(json!([plain]));
    assert_eq!(editor.line(), plain);
    // An answer to a request of the agent's is no answer to ours, whatever its id.
    let call =
        json!({"toolCallId": "t1", "kind": "execute", "rawInput": {"command": "npm publish"}});
    editor.permission(call);
    let asked = editor.next();
    let yes = json!({"outcome": {"outcome": "selected", "optionId": "eclusa-allow"}});
    editor.send(&json!({"id": "eclusa-0", "result": yes}));
    assert_eq!(editor.next()["params"]["id"], "eclusa-0");
    editor.send(&json!({"id": asked["id"], "result": {"outcome": {"outcome": "cancelled"}}}));
    assert_eq!(editor.answer()["result"]["outcome"]["optionId"], "stop");
}

/// A mode in which the agent asks nobody is asked about; a session that is forked is known, and its
/// servers are behind the gate.
#[test]
fn modes_that_loosen_are_asked_about_and_forked_sessions_are_known() {
    let world = World::new();
    world.write("workspace/a.txt", "one\n");
    let mut editor = Editor::open(&world);
    let mode = |id: &str| json!({"id": 9, "method": "session/set_mode", "params": {"sessionId": "s1", "modeId": id}});
    editor.send(&mode("plan"));
    assert_eq!(editor.next()["params"]["modeId"], "plan");
    for (said, passes) in [("eclusa-reject", false), ("eclusa-allow", true)] {
        editor.send(&mode("bypassPermissions"));
        let asked = editor.next();
        assert_eq!(asked["method"], "session/request_permission", "{asked}");
        assert!(asked.to_string().contains("acts without asking"), "{asked}");
        let outcome = json!({"outcome": {"outcome": "selected", "optionId": said}});
        editor.send(&json!({"id": asked["id"], "result": outcome}));
        let told = editor.next();
        assert_eq!(told["params"]["modeId"] == "bypassPermissions", passes, "{told}");
        assert_eq!(told["id"] == 9 && told.get("error").is_some(), !passes, "{told}");
    }
    let servers = json!([{"name": "git", "command": "mcp-git", "args": [], "env": []}]);
    let params = json!({"sessionId": "s1", "cwd": world.path("workspace"), "mcpServers": servers});
    editor.send(&json!({"id": 3, "method": "session/fork", "params": params}));
    assert_eq!(editor.next()["result"]["sessionId"], "s2");
    assert_eq!(editor.next()["params"][0]["args"][1], "--wrap");
    let read = json!({"sessionId": "s2", "path": world.path("workspace/a.txt")});
    editor.agent_sends(json!([{"id": "a", "method": "fs/read_text_file", "params": read}]));
    assert_eq!(editor.next()["method"], "fs/read_text_file");
}

/// A session that was started below the root of its workspace: what it names starts there.
fn below_the_root(config: &str) -> (World, Editor) {
    let world = World::with(config);
    for name in ["workspace/.git", "workspace/sub"] {
        std::fs::create_dir_all(world.path(name)).unwrap();
    }
    world.write("workspace/sub/private.txt", "one\n");
    let editor = Editor::try_open_in(&world, "workspace/sub").unwrap();
    (world, editor)
}

#[test]
fn a_relative_path_is_judged_from_where_the_session_stands() {
    let deny = "[[rules]]\ndecision = \"deny\"\naccess = \"read\"\npath = \"sub/private.txt\"\n";
    let (_world, mut editor) = below_the_root(deny);
    for path in ["private.txt", "./private.txt", "../sub/private.txt"] {
        let call = json!({"toolCallId": "t1", "kind": "read", "rawInput": {"path": path}});
        editor.permission(call);
        assert_eq!(editor.answer()["result"]["outcome"]["optionId"], "stop", "{path}");
    }
}

#[test]
fn a_command_without_a_directory_starts_where_the_session_stands() {
    eclusa_testing::needs!(Namespaces);
    let allow = "[[rules]]\ndecision = \"allow\"\ncommand = \"pwd\"\n";
    let (world, mut editor) = below_the_root(allow);
    editor.agent_asks("terminal/create", json!({"command": "pwd"}));
    let asked = editor.next();
    let args: Vec<String> = serde_json::from_value(asked["params"]["args"].clone()).unwrap();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let ran = world.eclusa(&args);
    let here = world.path("workspace/sub").canonicalize().unwrap();
    assert_eq!(ran.out.trim(), here.to_str().unwrap(), "{ran:?}");
}
