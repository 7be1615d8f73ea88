//! The call as the model wrote it. Nothing in it has been checked.

use std::time::Duration;

use serde_json::Value;

use crate::words;

/// What a model asked for, word for word.
///
/// ```
/// use eclusa::prelude::*;
///
/// let call = ToolCall::new("toolu_1", "read", serde_json::json!({"path": "notes.txt"}))
///     .because("the notes may say why");
/// assert_eq!((call.tool.as_str(), call.reason.as_deref()), ("read", Some("the notes may say why")));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// The model's id for this call; the reply carries the same one.
    pub id: String,
    /// Name or alias of the tool.
    pub tool: String,
    /// Arguments, as JSON.
    pub args: Value,
    /// Why the model says it wants this. Shown to people as the model's words, never believed.
    pub reason: Option<String>,
    /// Which door it came through.
    pub origin: Origin,
    /// How long the caller asks the run to be allowed; capped by [`Limits::time_cap`].
    ///
    /// [`Limits::time_cap`]: crate::Limits::time_cap
    pub time: Option<Duration>,
}

impl ToolCall {
    /// A call with an id, a tool and arguments, and nothing else said about it.
    pub fn new(id: impl Into<String>, tool: impl Into<String>, args: Value) -> ToolCall {
        ToolCall {
            id: id.into(),
            tool: tool.into(),
            args,
            reason: None,
            origin: Origin::Native,
            time: None,
        }
    }

    /// The same call, with the model's reason.
    pub fn because(self, reason: impl Into<String>) -> ToolCall {
        ToolCall { reason: Some(reason.into()), ..self }
    }

    /// The same call, through another door.
    pub fn from(self, origin: Origin) -> ToolCall {
        ToolCall { origin, ..self }
    }
}

/// Which door a call came through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Origin {
    /// Native function call of a model API.
    Native,
    /// A fenced `tool` block in streamed text.
    Fenced,
    /// A person, through the command line.
    Person,
    /// Another tool, from inside its run.
    Tool,
    /// An MCP `tools/call`.
    Mcp,
    /// Another agent's hook.
    Hook,
}

words! {
    Origin, "an origin of calls":
    Native = "native",
    Fenced = "fenced",
    Person = "person",
    Tool = "tool",
    Mcp = "mcp",
    Hook = "hook",
}

/// Something that looked like a call and could not be read as one.
///
/// It goes through the gate like a call, so that the model is told what was wrong and the
/// attempt is on record.
#[derive(Debug, Clone, PartialEq)]
pub struct Malformed {
    /// The model's id if it could be read, a made one otherwise.
    pub id: String,
    /// The tool's name if it could be read.
    pub tool: Option<String>,
    /// What is wrong, where, and what would be right: one sentence, lower case, no period.
    pub problem: String,
    /// Which door it came through.
    pub origin: Origin,
}

/// What a parser found: a call, or something that should have been one.
#[derive(Debug, Clone, PartialEq)]
pub enum Incoming {
    /// A call.
    Call(ToolCall),
    /// Not quite a call.
    Malformed(Malformed),
}

impl Incoming {
    /// The id that the reply will carry.
    pub fn id(&self) -> &str {
        match self {
            Incoming::Call(call) => &call.id,
            Incoming::Malformed(bad) => &bad.id,
        }
    }
}

impl From<ToolCall> for Incoming {
    fn from(call: ToolCall) -> Incoming {
        Incoming::Call(call)
    }
}

impl From<Malformed> for Incoming {
    fn from(bad: Malformed) -> Incoming {
        Incoming::Malformed(bad)
    }
}

/// How far a call has come. The *record* of a call is this enum; the *code path* is the types.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Arrived, nothing checked.
    Received,
    /// Arguments fit the tool's schema.
    Validated,
    /// Every reviewer let it through.
    Reviewed,
    /// Policy, people and checkpoints agreed.
    Permitted,
    /// Side effects may have begun.
    Running,
    /// The tool came back.
    Ran,
    /// Its changes were judged, and committed or discarded.
    Settled,
    /// Output reviewed, redacted and cut to size.
    Released,
}

impl Stage {
    /// The word for it in records.
    pub fn as_str(self) -> &'static str {
        match self {
            Stage::Received => "received",
            Stage::Validated => "validated",
            Stage::Reviewed => "reviewed",
            Stage::Permitted => "permitted",
            Stage::Running => "running",
            Stage::Ran => "ran",
            Stage::Settled => "settled",
            Stage::Released => "released",
        }
    }
}
