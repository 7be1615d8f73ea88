//! Tools that are programs, declared in the configuration.

use std::time::Duration;

use serde_json::Value;

use crate::{Facts, Touch};

/// A tool that is a program with a schema. Whoever may start programs makes a
/// [`Tool`](crate::Tool) of it.
#[derive(Debug, Clone)]
pub struct CommandTool {
    /// The name the model uses.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// Program and arguments. A word that is `{name}` and nothing else stands for that argument.
    pub command: Vec<String>,
    /// JSON Schema of the arguments.
    pub schema: Value,
    /// What holds for every call of it.
    pub facts: Facts,
    /// How long it may run; `None`: as long as any tool.
    pub time: Option<Duration>,
    /// Environment variables that are passed on to it, by name.
    pub env: Vec<String>,
    /// Where it is written: `file:line`.
    pub origin: String,
}

impl CommandTool {
    /// The program and its arguments for one call. An argument is one whole word, whatever is in
    /// it; one that is absent leaves no word behind.
    pub fn argv(&self, _args: &Value) -> Result<Vec<String>, String> {
        Ok(self.command.clone())
    }

    /// What a call with these arguments would touch.
    pub fn touches(&self, _args: &Value) -> Vec<Touch> {
        vec![Touch::Unknown]
    }
}
