//! A tool of another server, as the gate sees it: like any other (S4.47).

use std::sync::Arc;

use eclusa::{Facts, Job, Output, Scene, Tool, ToolError, Touch};
use futures::future::BoxFuture;
use serde_json::{Value, json};

use super::{definition::ToolDefinition, upstream::Upstream};

/// One tool of a server.
pub(super) struct ProxyTool {
    pub(super) upstream: Arc<Upstream>,
    pub(super) definition: ToolDefinition,
    /// Changes whenever the definition does.
    pub(super) revision: String,
    /// The name that the server gave it, where clients know it by that.
    pub(super) alias: Option<String>,
    /// Nobody has looked yet at what it says now: neither does a model.
    pub(super) withheld: bool,
}

impl Tool for ProxyTool {
    fn name(&self) -> &str {
        &self.definition.name
    }

    fn description(&self, _: &Scene) -> String {
        match self.withheld {
            true => format!(
                "Cannot be called: the server `{}` says something else about it than before, and \
                 a person has to look at that first.",
                self.upstream.settings.name
            ),
            false => self.definition.description.clone(),
        }
    }

    fn input_schema(&self) -> Value {
        match self.withheld {
            true => json!({"type": "object"}),
            false => self.definition.input.clone(),
        }
    }

    fn output_schema(&self) -> Option<Value> {
        self.definition.output.clone().filter(|_| !self.withheld)
    }

    fn facts(&self) -> Facts {
        let trusted = self.upstream.settings.trusted;
        Facts {
            concurrent: trusted && self.definition.read_only,
            read_only: trusted && self.definition.read_only,
            destructive: !trusted || self.definition.destructive,
            aliases: self.alias.iter().cloned().collect(),
            search_hint: format!(
                "{} {}",
                self.upstream.settings.name,
                self.definition.original.replace(['_', '-', '.', '/'], " ")
            ),
            audit_operation: "mcp".to_owned(),
            sensitive: true,
            ..Facts::default()
        }
    }

    fn revision(&self) -> &str {
        &self.revision
    }

    /// Nothing that rules about paths and hosts could be held against: what the server reaches is
    /// a matter of its sandbox, and whether it is asked for anything, of rules about it (C21).
    fn touches(&self, _: &Value) -> Vec<Touch> {
        Vec::new()
    }

    fn run<'a>(&'a self, job: &'a Job) -> BoxFuture<'a, Result<Output, ToolError>> {
        Box::pin(self.upstream.call(&self.definition.original, job))
    }
}
