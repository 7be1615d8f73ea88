//! One hook event, whoever sent it.

use std::fmt;

use serde_json::Value;

use crate::Agent;

/// What an agent's hook says.
#[derive(Debug, Clone, PartialEq)]
pub struct HookEvent {
    /// Whose it is.
    pub agent: Agent,
    /// What sort of event.
    pub kind: HookEventKind,
    /// Its name there.
    pub name: String,
    /// The session, as the agent names it.
    pub session: String,
    /// The turn, where the agent names one.
    pub turn: Option<String>,
    /// The agent's id for the call, where it has one.
    pub call: Option<String>,
    /// Where a command would start. It follows what the model wants: never the workspace.
    pub directory: Option<String>,
    /// The root of the session, where the event itself names it.
    pub root: Option<String>,
    /// The tool, by its name there.
    pub tool: String,
    /// Its arguments, as the model wrote them.
    pub input: Value,
    /// The server that the tool comes from and its name there, where the event says so.
    pub server: Option<(String, String)>,
    /// How the agent asks its person, in its own words.
    pub mode: Option<String>,
    /// The agent's version, where the event names it.
    pub version: Option<String>,
    /// What came of the call, in an event after it.
    pub result: Option<ToolResult>,
    /// The same as the agent has it, where what takes its place must have its shape.
    pub response: Option<Value>,
}

/// What sort of event it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookEventKind {
    /// A call is about to run: the only one that can stop it.
    Before,
    /// A call has run, or failed.
    After,
    /// A session begins.
    SessionStart,
    /// A session ends.
    SessionEnd,
    /// The agent's settings change while it runs.
    Settings,
    /// Anything else.
    Other,
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolResult {
    /// What the model would see, as far as it is text.
    pub text: String,
    /// True when the call failed.
    pub failed: bool,
}

/// What a hook was sent, and cannot be read: a denial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadableEvent(pub String);

impl fmt::Display for UnreadableEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the event cannot be read: {}", self.0)
    }
}

impl std::error::Error for UnreadableEvent {}

impl From<String> for UnreadableEvent {
    fn from(why: String) -> UnreadableEvent {
        UnreadableEvent(why)
    }
}

/// An event that brings a call and is not known: nobody could tell whether it is to be stopped.
pub(crate) fn unknown_event(name: &str) -> String {
    format!("the event `{name}` is not known here")
}

impl HookEvent {
    /// An event that nothing is known of yet.
    pub(crate) fn new(agent: Agent, kind: HookEventKind, name: &str, session: &str) -> HookEvent {
        HookEvent {
            agent,
            kind,
            name: name.to_owned(),
            session: session.to_owned(),
            turn: None,
            call: None,
            directory: None,
            root: None,
            tool: String::new(),
            input: Value::Null,
            server: None,
            mode: None,
            version: None,
            result: None,
            response: None,
        }
    }

    /// True when the agent shows its person a question of ours instead of running the call.
    /// `attended`: whether a person sits there, as far as the agent says.
    pub fn can_ask(&self, attended: bool) -> bool {
        match self.agent {
            Agent::ClaudeCode => {
                let asks = !matches!(self.mode.as_deref(), Some("bypassPermissions" | "dontAsk"));
                attended && asks
            }
            Agent::Cursor => {
                matches!(self.name.as_str(), "beforeShellExecution" | "beforeMCPExecution")
            }
            _ => false,
        }
    }
}
