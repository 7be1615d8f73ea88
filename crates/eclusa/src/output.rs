//! What a tool produced, and how to take it back.

use std::{any::Any, fmt, sync::Arc};

use serde_json::Value;

use crate::{Attachment, Changes, WholeOutput};

/// What a tool produced.
///
/// ```
/// use eclusa::prelude::*;
///
/// let found = serde_json::json!({"count": 3});
/// let output = Output { data: Some(found), ..Output::text("3 boats") };
/// assert_eq!(output.text, "3 boats");
/// assert!(output.changes.is_empty());
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Output {
    /// Text for the model.
    pub text: String,
    /// The same as structure, for programs and other tools.
    pub data: Option<Value>,
    /// What the model gets besides the text.
    pub attachments: Vec<Attachment>,
    /// What it would change in the workspace. Nothing of it is real yet: the gate judges it, and
    /// commits or discards it.
    pub changes: Changes,
    /// What holds staged contents of the changes, let go once they are settled.
    pub staged: Option<Staged>,
    /// How to take it back, if it can be. For [`changes`](Output::changes) the gate fills it in.
    pub undo: Option<Undo>,
    /// Set when the tool could not do it: one sentence that says why. The text is kept.
    pub error: Option<String>,
    /// What a person who is asked about the changes must know besides them, a line each: whom the
    /// program talked to, what was left out.
    pub remarks: Vec<String>,
    /// What held the program that did it, if one ran: `full`, or `partial` and what was missing.
    /// It goes on record with the call.
    pub sandbox: Option<String>,
    /// All of it, where the text is only the beginning and the end.
    pub whole: Option<WholeOutput>,
}

impl Output {
    /// Plain text and nothing else.
    pub fn text(text: impl Into<String>) -> Output {
        Output { text: text.into(), ..Output::default() }
    }
}

impl From<String> for Output {
    fn from(text: String) -> Output {
        Output::text(text)
    }
}

impl From<&str> for Output {
    fn from(text: &str) -> Output {
        Output::text(text)
    }
}

/// Holds the place where staged contents lie. Once the changes are committed or discarded it is
/// dropped, and whatever it holds cleans up after itself.
#[derive(Clone)]
pub struct Staged(Arc<dyn Any + Send + Sync>);

impl Staged {
    /// Keeps this until the changes are settled.
    pub fn new(place: impl Any + Send + Sync) -> Staged {
        Staged(Arc::new(place))
    }
}

impl fmt::Debug for Staged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("staged")
    }
}

impl PartialEq for Staged {
    fn eq(&self, other: &Staged) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// How to take a call back, told by the tool that did it.
#[derive(Debug, Clone, PartialEq)]
pub struct Undo {
    /// What taking it back would do, for people.
    pub description: String,
    /// What the tool needs to do it.
    pub data: Value,
}

/// The tool ran and could not do it.
///
/// ```
/// use eclusa::prelude::*;
///
/// let failed = ToolError { output: "2 of 3 done".to_owned(), ..ToolError::new("the disk is full") };
/// assert_eq!(failed.message, "the disk is full");
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ToolError {
    /// Why, in one sentence.
    pub message: String,
    /// What it had produced by then; kept for the model.
    pub output: String,
    /// The same as structure.
    pub data: Option<Value>,
}

impl ToolError {
    /// A failure without output.
    pub fn new(message: impl Into<String>) -> ToolError {
        ToolError { message: message.into(), output: String::new(), data: None }
    }
}

impl From<String> for ToolError {
    fn from(message: String) -> ToolError {
        ToolError::new(message)
    }
}

impl From<&str> for ToolError {
    fn from(message: &str) -> ToolError {
        ToolError::new(message)
    }
}
