//! One file for each agent: how its events are read, and what its tools are here.

use serde_json::Value;

use crate::{Agent, HookEvent, MappedCall, UnreadableEvent, fields::Fields, mapped::server_call};

pub(crate) mod claude_code;
mod codex;
mod copilot;
mod cursor;
mod gemini;
mod opencode;
mod windsurf;

impl Agent {
    /// Reads what the agent's hook sent on stdin.
    pub fn read_event(self, bytes: &[u8]) -> Result<HookEvent, UnreadableEvent> {
        let value: Value = serde_json::from_slice(bytes)
            .map_err(|err| UnreadableEvent(format!("it is not JSON: {err}")))?;
        let fields = Fields::new(&value, "it")?;
        Ok(match self {
            Agent::ClaudeCode => claude_code::read(fields)?,
            Agent::Codex => codex::read(fields)?,
            Agent::Gemini => gemini::read(fields)?,
            Agent::Opencode => opencode::read(fields)?,
            Agent::Cursor => cursor::read(fields)?,
            Agent::Copilot => copilot::read(fields)?,
            Agent::Windsurf => windsurf::read(fields)?,
            Agent::VsCode | Agent::Zed => {
                return Err(UnreadableEvent(format!("{self} has no hooks")));
            }
        })
    }
}

impl HookEvent {
    /// What the call is in our words.
    pub fn mapped_call(&self) -> MappedCall {
        if let Some((server, tool)) = &self.server {
            return server_call(server, tool, self.input.clone());
        }
        let mapped = Fields::new(&self.input, "the input").and_then(|input| match self.agent {
            Agent::ClaudeCode => claude_code::map(self, input),
            Agent::Codex => codex::map(self, input),
            Agent::Gemini => gemini::map(self, input),
            Agent::Opencode => opencode::map(self, input),
            Agent::Cursor => cursor::map(self, input),
            Agent::Copilot => copilot::map(self, input),
            Agent::Windsurf => windsurf::map(self, input),
            Agent::VsCode | Agent::Zed => Ok(self.unknown()),
        });
        mapped.unwrap_or_else(|why| {
            MappedCall::Malformed(format!("`{}` of {}: {why}", self.tool, self.agent))
        })
    }
}
