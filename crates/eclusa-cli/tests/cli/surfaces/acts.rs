//! What is done at a surface, in no surface's words, and what came of it.

use serde_json::{Value, json};

/// Something that a person, a model or an agent wants done.
#[derive(Debug, Clone)]
pub(crate) enum Act {
    /// A file of the workspace is read.
    Read(&'static str),
    /// A file of the workspace is written whole.
    Write(&'static str, String),
    /// A command is run.
    Bash(&'static str),
    /// A page is fetched.
    Fetch(&'static str),
    /// The tool `own` is called, which a person has configured.
    Own,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Seen {
    /// It was done, and this is what whoever wanted it sees.
    Done(String),
    /// It was let through, and failed by itself.
    Failed(String),
    /// A person must say yes, and nobody did.
    Asked(String),
    /// It was refused.
    Denied(String),
    /// It waits for an answer in the approval queue.
    Waits,
}

impl Act {
    /// The call of our own tools that does it.
    pub(crate) fn call(&self) -> (&'static str, Value) {
        match self {
            Act::Read(path) => ("read", json!({"path": path})),
            Act::Write(path, text) => ("write", json!({"path": path, "content": text})),
            Act::Bash(command) => ("bash", json!({"command": command})),
            Act::Fetch(url) => ("web_fetch", json!({"url": url})),
            Act::Own => ("own", json!({})),
        }
    }
}

impl Seen {
    /// What a refusal means, from what it says to the model.
    pub(crate) fn refused(text: &str) -> Seen {
        let says = |part: &str| text.contains(part);
        if says("waits for approval") || says("wait for approval") {
            Seen::Waits
        } else if says("nobody is available") || says("nobody approved") {
            Seen::Asked(text.to_owned())
        } else {
            Seen::Denied(text.to_owned())
        }
    }

    /// The same from the stable code of a reply and its text.
    pub(crate) fn from_code(code: &str, output: &str, error: &str) -> Seen {
        match code {
            "ok" => Seen::Done(output.to_owned()),
            "tool_failed" | "timed_out" => Seen::Failed(format!("{output}{error}")),
            "parked" => Seen::Waits,
            _ => Seen::refused(error),
        }
    }

    pub(crate) fn word(&self) -> &'static str {
        match self {
            Seen::Done(_) => "done",
            Seen::Failed(_) => "failed",
            Seen::Asked(_) => "asked",
            Seen::Denied(_) => "denied",
            Seen::Waits => "waits",
        }
    }
}
