//! A reply of the gate as the result of `tools/call`.

use eclusa::{CallResult, Registry, Reply, ResultShape};
use rmcp::model::{CallToolResult, ContentBlock, MetaObject, Resource};
use serde_json::{Value, json};

/// Where outputs that were cut can be read whole.
pub(crate) const OUTPUTS: &str = "eclusa://output/";

/// The result. Everything in it is redacted: the reply is.
///
/// Claude Code and Codex show a model the structure instead of the text, where there is one. So it
/// goes out as structure only where the tool says that it tells everything, and beside the result
/// otherwise.
pub(crate) fn result(reply: &Reply, registry: &Registry) -> CallToolResult {
    let mut shape = CallResult::of(reply).json(ResultShape::Mcp);
    let complete = registry.get(reply.tool()).is_some_and(|it| it.output_schema().is_some());
    let data = match shape.as_object_mut() {
        Some(shape) if !complete || reply.is_error() => shape.remove("structuredContent"),
        _ => None,
    };
    let read = serde_json::from_value::<CallToolResult>(shape);
    let mut result = read.unwrap_or_else(|_| {
        CallToolResult::error(vec![ContentBlock::text(reply.content().into_owned())])
    });
    result.result_type = CallToolResult::success(Vec::new()).result_type;
    if let Some(reference) = reply.spool() {
        let link = Resource::new(format!("{OUTPUTS}{reference}"), reference)
            .with_title("The whole output")
            .with_description("This output was cut; here is all of it.")
            .with_mime_type("text/plain");
        result.content.push(ContentBlock::ResourceLink(link));
    }
    result.meta = Some(beside(reply, data));
    result
}

/// What programs may want to know: the outcome's code, the number in the log, the structure.
fn beside(reply: &Reply, data: Option<Value>) -> MetaObject {
    let mut meta = MetaObject::new();
    meta.0.insert("eclusa/code".to_owned(), reply.code().into());
    if let Some(number) = reply.number() {
        meta.0.insert("eclusa/number".to_owned(), number.into());
    }
    if let Some(data) = data {
        meta.0.insert("eclusa/data".to_owned(), data);
    }
    if !reply.warnings().is_empty() {
        meta.0.insert("eclusa/warnings".to_owned(), json!(reply.warnings()));
    }
    meta
}

/// What a client is told that would otherwise lose its patience.
pub(crate) fn still_waiting(id: &str) -> CallToolResult {
    let text = format!(
        "still waiting for a person to approve this call; nothing was run yet, and it runs as soon \
         as they say yes. Do not make the call again: ask for its answer with the tool `wait` and \
         {{\"id\": \"{id}\"}}"
    );
    let mut result = CallToolResult::error(vec![ContentBlock::text(text)]);
    let mut meta = MetaObject::new();
    meta.0.insert("eclusa/code".to_owned(), "waiting".into());
    meta.0.insert("eclusa/id".to_owned(), id.into());
    result.meta = Some(meta);
    result
}
