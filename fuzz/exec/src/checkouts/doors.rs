//! Random events of hooks, and random messages of an agent in an editor: nothing that a rule denies passes,
//! and nothing reaches the editor that would write outside.

use std::io::{self, BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};
use std::sync::mpsc;

use serde_json::{Value, json};

use super::{PATIENCE, Place, Seen, wait};
use crate::bytes::mutated;
use crate::random::Random;

/// How many messages an agent sends in one checkout, and how many events its hook gets.
const MESSAGES: usize = 24;
const EVENTS: usize = 4;
/// The last message of the agent.
const LAST: &str = r#"{"jsonrpc":"2.0","method":"_last"}"#;

impl Place {
    /// Gives the hook events that somebody has altered.
    pub(super) fn events(&self, random: &mut Random, seen: &mut Seen) -> io::Result<()> {
        let cwd = self.path("workspace");
        let event = |tool: &str, input: Value| {
            json!({"session_id": "s", "cwd": cwd, "hook_event_name": "PreToolUse", "tool_name": tool,
                "tool_input": input, "tool_use_id": "t"})
            .to_string()
        };
        let seeds = [
            event("Bash", json!({"command": "touch ../outside/event"})),
            event("Write", json!({"file_path": self.path("outside/event"), "content": "x"})),
            event("mcp__eclusa__bash", json!({"command": "touch ../outside/event"})),
        ];
        let seeds: Vec<&str> = seeds.iter().map(String::as_str).collect();
        for _ in 0..EVENTS {
            let agent = random.word(&["claude-code", "codex"]);
            let input = mutated(&seeds, random);
            let mut hook = Command::new(&self.program);
            hook.args(["hook", &agent]);
            let Some(output) = self.end(hook, &input)? else {
                seen.findings.push(format!("no answer to {:?}", String::from_utf8_lossy(&input)));
                continue;
            };
            let said = String::from_utf8_lossy(&output.stdout);
            let refused =
                ["deny", "\"ask\"", "block", " --ticket "].iter().any(|it| said.contains(it));
            if output.status.code() == Some(0) && !refused && is_denied(&input) {
                let event = String::from_utf8_lossy(&input);
                seen.findings.push(format!("{agent} may go on with {event:?}: {said:?}"));
            }
        }
        Ok(())
    }

    /// Has an agent send altered messages, and says no to whatever the editor is asked.
    pub(super) fn editor(&self, random: &mut Random, seen: &mut Seen) -> io::Result<()> {
        let message = |method: &str, mut params: Value| {
            if let Some(fields) = params.as_object_mut() {
                fields.insert("sessionId".to_owned(), "s1".into());
            }
            json!({"jsonrpc": "2.0", "id": "a", "method": method, "params": params}).to_string()
        };
        let outside = self.path("outside/editor");
        let run = |command: &str| json!({"toolCallId": "t", "title": command, "rawInput": {"command": command}});
        let options = json!([{"optionId": "go", "name": "Yes", "kind": "allow_once"}]);
        let seeds = [
            message("fs/write_text_file", json!({"path": outside, "content": "x"})),
            message("terminal/create", json!({"command": "touch", "args": [outside]})),
            message("terminal/create", json!({"command": "touch ../outside/editor"})),
            message(
                "session/request_permission",
                json!({"toolCall": run("touch x"), "options": options}),
            ),
            message(
                "session/update",
                json!({"update": {"sessionUpdate": "tool_call", "title": "x"}}),
            ),
        ];
        let seeds: Vec<&str> = seeds.iter().map(String::as_str).collect();
        let mut lines = Vec::new();
        for _ in 0..MESSAGES {
            lines.extend(mutated(&seeds, random));
            lines.push(b'\n');
        }
        lines.extend([LAST, "\n"].concat().into_bytes());
        let script = self.path("home/messages");
        std::fs::write(&script, &lines)?;
        let agent = format!(
            "read a; echo '{{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{{\"protocolVersion\":1}}}}'; read b; \
             echo '{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{{\"sessionId\":\"s1\"}}}}'; cat '{}'; cat > /dev/null",
            script.display()
        );
        let mut command = Command::new(&self.program);
        self.at_home(&mut command);
        command.args(["acp", "--", "sh", "-c", &agent]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn()?;
        let (Some(mut stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::Error::other("no pipes"));
        };
        let (send, told) = mpsc::channel();
        std::thread::spawn(move || {
            let lines = BufReader::new(stdout).lines().map_while(Result::ok);
            lines.map_while(|it| send.send(it).ok()).for_each(drop);
        });
        let new = json!({"cwd": self.path("workspace"), "mcpServers": []});
        for (id, method, params) in
            [(0, "initialize", json!({"protocolVersion": 1})), (1, "session/new", new)]
        {
            let text = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
            // One that has ended says nothing.
            let _ = writeln!(stdin, "{text}");
        }
        while let Ok(line) = told.recv_timeout(PATIENCE) {
            let message: Value = serde_json::from_str(&line).unwrap_or_default();
            let text = |it: &str| message.pointer(it).and_then(Value::as_str).unwrap_or_default();
            let (method, path) = (text("/method"), text("/params/path"));
            let inside = self.path("workspace").join("");
            let writes = method == "fs/write_text_file"
                && (path.contains("..") || !path.starts_with(&*inside.to_string_lossy()));
            let runs = method == "terminal/create" && starts_with_touch(text("/params/command"));
            if writes || runs {
                seen.findings.push(format!("an editor is to do what is denied: {line}"));
            }
            if method == "_last" {
                seen.messages += MESSAGES;
                break;
            }
            if let (false, Some(id)) = (method.is_empty(), message.get("id")) {
                let no = json!({"jsonrpc": "2.0", "id": id, "result": {"outcome": {"outcome": "cancelled"}}});
                let _ = writeln!(stdin, "{no}");
            }
        }
        drop(stdin);
        if wait(&mut child)?.is_none() {
            seen.findings.push("an editor's proxy did not end".to_owned());
        }
        Ok(())
    }
}

fn starts_with_touch(command: &str) -> bool {
    command == "touch" || command.starts_with("touch ")
}

/// Whether an event, as an agent would read it, is about what the person's rules deny.
fn is_denied(event: &[u8]) -> bool {
    let Ok(event) = serde_json::from_slice::<Value>(event) else { return true };
    let command = event.pointer("/tool_input/command").and_then(Value::as_str);
    let is_shell = event.get("tool_name").is_some_and(|it| it == "Bash");
    is_shell && command.is_some_and(starts_with_touch)
}
