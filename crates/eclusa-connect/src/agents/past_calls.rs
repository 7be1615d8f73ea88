//! Calls that an agent made before, as the files say that it keeps of its sessions.

use std::{ffi::OsString, path::PathBuf};

use serde_json::{Value, json};

use super::AgentSpec;
use crate::MappedCall;

/// Where an agent keeps its sessions, and how calls are written there.
pub(crate) struct PastSpec {
    /// The variable that names its directory.
    pub(crate) variable: &'static str,
    /// The directory below the home directory, without that variable.
    pub(crate) home: &'static str,
    /// Where in it the sessions lie, one file each.
    pub(crate) sessions: &'static str,
    /// The calls of one line: the tool as its hook would name it, and the input.
    pub(crate) calls: fn(&Value) -> Vec<(String, Value)>,
    /// Where the session was at work from this line on, if the line says so.
    pub(crate) directory: fn(&Value) -> Option<&str>,
}

/// A call of a session that is over.
#[derive(Debug, Clone, PartialEq)]
pub struct PastCall {
    /// Where the session was at work.
    pub directory: String,
    /// The tool, by its name there.
    pub tool: String,
    /// What it is here.
    pub mapped: MappedCall,
}

impl AgentSpec {
    /// Whether its past sessions can be read.
    pub fn keeps_sessions(&self) -> bool {
        self.past.is_some()
    }

    /// Where its sessions lie, one file each, in directories below this one; `None`: they are not read.
    pub fn past_sessions(&self, variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
        let past = self.past.as_ref()?;
        let own = variable(past.variable).filter(|it| !it.is_empty()).map(PathBuf::from);
        let own = own.or_else(|| Some(PathBuf::from(variable("HOME")?).join(past.home)))?;
        Some(own.join(past.sessions))
    }

    /// The calls in a file of one of its sessions. Lines that are no JSON have none.
    pub fn past_calls(&self, text: &str) -> Vec<PastCall> {
        let Some(past) = &self.past else { return Vec::new() };
        let mut directory = String::new();
        let mut found = Vec::new();
        for line in text.lines().filter_map(|it| serde_json::from_str::<Value>(it).ok()) {
            if let Some(there) = (past.directory)(&line) {
                there.clone_into(&mut directory);
            }
            for (tool, input) in (past.calls)(&line) {
                let event = json!({
                    "session_id": "past", "hook_event_name": "PreToolUse", "cwd": directory,
                    "tool_name": tool, "tool_input": input, "tool_use_id": "past", "turn_id": "past",
                });
                let mapped = match self.read_event(event.to_string().as_bytes()) {
                    Ok(event) => event.mapped_call(),
                    Err(why) => MappedCall::Malformed(why.to_string()),
                };
                found.push(PastCall { directory: directory.clone(), tool, mapped });
            }
        }
        found
    }
}

/// Claude Code: each message of the model is a line, with blocks.
pub(crate) const CLAUDE_CODE: PastSpec = PastSpec {
    variable: "CLAUDE_CONFIG_DIR",
    home: ".claude",
    sessions: "projects",
    directory: |line| line.get("cwd")?.as_str(),
    calls: |line| {
        let blocks = line.pointer("/message/content").and_then(Value::as_array);
        let used = blocks.into_iter().flatten().filter(|it| it["type"] == "tool_use");
        used.filter_map(|it| Some((it.get("name")?.as_str()?.to_owned(), it.get("input")?.clone())))
            .collect()
    },
};

/// Codex: each item of a response is a line. Shell commands have several forms there and one at its hook.
pub(crate) const CODEX: PastSpec = PastSpec {
    variable: "CODEX_HOME",
    home: ".codex",
    sessions: "sessions",
    directory: |line| line.pointer("/payload/cwd")?.as_str(),
    calls: |line| codex_call(line).into_iter().collect(),
};

fn codex_call(line: &Value) -> Option<(String, Value)> {
    let item = line.get("payload").filter(|_| line["type"] == "response_item")?;
    let name = item.get("name").and_then(Value::as_str).unwrap_or("shell");
    let args = match item.get("type")?.as_str()? {
        "function_call" => serde_json::from_str(item.get("arguments")?.as_str()?).ok()?,
        "custom_tool_call" => json!({"input": item.get("input")?}),
        "local_shell_call" => item.get("action")?.clone(),
        _ => return None,
    };
    let Value::Object(fields) = &args else { return None };
    let command = fields.get("command").or_else(|| fields.get("cmd"));
    match (name, command.and_then(shell_text)) {
        ("shell" | "exec_command" | "shell_command" | "local_shell", Some(text)) => {
            Some(("Bash".to_owned(), json!({"command": text})))
        }
        _ => Some((name.to_owned(), args)),
    }
}

/// The text that a shell is given: as it is, or the last word of `bash -lc TEXT`.
fn shell_text(command: &Value) -> Option<String> {
    match command {
        Value::String(text) => Some(text.clone()),
        Value::Array(words) => {
            let words: Option<Vec<&str>> = words.iter().map(Value::as_str).collect();
            match words?.as_slice() {
                [shell, "-c" | "-lc", text] if shell.ends_with("sh") => Some((*text).to_owned()),
                words => Some(
                    words.iter().map(|it| crate::shell_quoted(it)).collect::<Vec<_>>().join(" "),
                ),
            }
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
