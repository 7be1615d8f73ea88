//! Reading a resource and getting a prompt of a server, as calls: so that rules, questions,
//! redaction and the record hold for them as for any tool. No model sees these tools.

use std::sync::Arc;

use eclusa::{Attachment, Facts, Job, Output, Registration, Scene, Tool, ToolError, Touch};
use futures::future::BoxFuture;
use rmcp::model::{GetPromptResult, ReadResourceResult, ServerResult};
use serde_json::{Value, json};

use super::{
    request::UpstreamRequest,
    result::{attached, embedded},
    upstream::Upstream,
};

/// What is had from a server.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    Resource,
    Prompt,
}

impl Kind {
    /// The tool's name. A point in it keeps it apart from all names that a server's tools get.
    pub(super) fn tool(self, server: &str) -> String {
        match self {
            Kind::Resource => format!("mcp.{server}.read_resource"),
            Kind::Prompt => format!("mcp.{server}.get_prompt"),
        }
    }
}

/// Puts both tools of a server into the registry, once.
pub(super) fn register(upstream: &Arc<Upstream>) {
    let server = &upstream.settings.name;
    for kind in [Kind::Resource, Kind::Prompt] {
        let name = kind.tool(server);
        if upstream.world.registry.has(&name) {
            continue;
        }
        let tool = ResourceTool { upstream: upstream.clone(), kind, name };
        let registration =
            Registration::new(tool).foreign(server).trusted(upstream.settings.trusted).unlisted();
        if let Err(err) = upstream.world.registry.register(registration) {
            tracing::warn!(server, "its resources and prompts cannot be had: {err}");
        }
    }
}

struct ResourceTool {
    upstream: Arc<Upstream>,
    kind: Kind,
    name: String,
}

impl Tool for ResourceTool {
    fn name(&self) -> &str {
        &self.name
    }

    fn description(&self, _: &Scene) -> String {
        let server = &self.upstream.settings.name;
        match self.kind {
            Kind::Resource => format!("Reads a resource of the server {server}."),
            Kind::Prompt => format!("Gets a prompt of the server {server}."),
        }
    }

    fn input_schema(&self) -> Value {
        let (properties, required) = match self.kind {
            Kind::Resource => (json!({"uri": {"type": "string"}}), "uri"),
            Kind::Prompt => {
                (json!({"name": {"type": "string"}, "arguments": {"type": "object"}}), "name")
            }
        };
        json!({
            "type": "object",
            "properties": properties,
            "required": [required],
            "additionalProperties": false,
        })
    }

    fn facts(&self) -> Facts {
        Facts { audit_operation: "mcp".to_owned(), sensitive: true, ..Facts::default() }
    }

    fn touches(&self, _: &Value) -> Vec<Touch> {
        Vec::new()
    }

    fn run<'a>(&'a self, job: &'a Job) -> BoxFuture<'a, Result<Output, ToolError>> {
        Box::pin(async move {
            let text = |key| job.args().get(key).and_then(Value::as_str).unwrap_or_default();
            let request = match self.kind {
                Kind::Resource => UpstreamRequest::Read(text("uri").to_owned()),
                Kind::Prompt => {
                    let args = job.args().get("arguments").and_then(Value::as_object).cloned();
                    UpstreamRequest::Prompt(text("name").to_owned(), args)
                }
            };
            let given = self.upstream.for_caller().await.send(&request, job).await?;
            let mut output = match given.said {
                ServerResult::ReadResourceResult(it) => resource(it),
                ServerResult::GetPromptResult(it) => prompt(it),
                _ => return Err(ToolError::new(self.upstream.no_result())),
            };
            output.sandbox = given.sandbox;
            Ok(output)
        })
    }
}

/// A text alone is the output's text, which is kept whole where it is cut; anything else goes
/// beside it.
fn resource(result: ReadResourceResult) -> Output {
    let mut output = Output::default();
    for part in result.contents {
        match embedded(part) {
            Ok(text) => output.text.push_str(&text),
            Err(attachment) => output.attachments.push(attachment),
        }
    }
    if let [Attachment::Resource { uri, media_type, body: eclusa::attachment::Body::Text(text) }] =
        output.attachments.as_slice()
        && output.text.is_empty()
    {
        output.data = Some(json!({"uri": uri, "mimeType": media_type}));
        output.text = text.clone();
        output.attachments.clear();
    }
    output
}

/// The messages are the structure; what is no text in them goes beside it, by number.
fn prompt(result: GetPromptResult) -> Output {
    let mut output = Output::default();
    let mut messages = Vec::new();
    for message in result.messages {
        let role = serde_json::to_value(&message.role).unwrap_or_default();
        messages.push(match attached(message.content) {
            Ok(text) => {
                output.text.push_str(&text);
                output.text.push('\n');
                json!({"role": role, "text": text})
            }
            Err(attachment) => {
                output.attachments.push(attachment);
                json!({"role": role, "attachment": output.attachments.len() - 1})
            }
        });
    }
    output.data = Some(json!({"description": result.description, "messages": messages}));
    output
}
