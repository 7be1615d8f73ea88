//! The tools as `tools/list` shows them: in order, in pages, with annotations that are true.

use std::sync::Arc;

use eclusa::{PermissionClass, Registered, Registry, Scene};
use rmcp::{
    ErrorData,
    model::{JsonObject, Tool, ToolAnnotations},
};
use serde_json::Value;

use crate::own;

/// How many tools are on one page.
const PAGE: usize = 200;

/// One page of tools, and where the next one begins.
pub(crate) fn page(
    registry: &Registry,
    scene: &Scene,
    cursor: Option<&str>,
) -> Result<(Vec<Tool>, Option<String>), ErrorData> {
    // A cursor names the last tool of the page before: it holds when tools come and go.
    let after = match cursor {
        None => None,
        Some(cursor) => Some(cursor.strip_prefix("after:").ok_or_else(|| {
            let problem = "the cursor is not one that this server gave out";
            ErrorData::invalid_params(problem, None)
        })?),
    };
    let mut tools: Vec<Tool> = registry
        .shown()
        .iter()
        .filter(|it| !own::is_own(it.name()))
        .map(|it| shown(it, scene))
        .chain(own::tools())
        .collect();
    tools.sort_by(|a, b| a.name.cmp(&b.name));
    let rest = tools.into_iter().filter(|it| after.is_none_or(|after| *it.name > *after));
    let mut page: Vec<Tool> = rest.take(PAGE + 1).collect();
    let more = page.len() > PAGE;
    page.truncate(PAGE);
    let next = page.last().filter(|_| more).map(|last| format!("after:{}", last.name));
    Ok((page, next))
}

fn shown(tool: &Registered, scene: &Scene) -> Tool {
    let mut shown =
        Tool::new(tool.name().to_owned(), tool.description(scene), object(tool.schema()));
    shown.title = Some(title(tool.name()));
    shown.output_schema = tool.output_schema().map(object);
    shown.annotations = Some(annotations(tool));
    shown
}

/// What the facts say. Clients decide by these whether they ask a person themselves, on top of
/// whatever the gate asks; a hint that is too dark makes every call ask twice.
fn annotations(tool: &Registered) -> ToolAnnotations {
    let facts = tool.facts();
    let open = match tool.class() {
        PermissionClass::Shell | PermissionClass::Web => true,
        PermissionClass::File | PermissionClass::ReadOnly => false,
        // Nobody knows what it reaches, unless it only looks.
        PermissionClass::Generic => !facts.read_only,
    };
    // What another server says of its tool is not believed.
    let foreign = !tool.is_trusted();
    ToolAnnotations::with_title(title(tool.name()))
        .read_only(facts.read_only && !foreign)
        .destructive(facts.destructive || foreign)
        .idempotent(facts.read_only && !foreign)
        .open_world(open || foreign)
}

/// `read_file` is "Read file".
pub(crate) fn title(name: &str) -> String {
    let words = name.replace(['_', '-', '.'], " ");
    let mut letters = words.chars();
    letters.next().map(|it| it.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

fn object(schema: &Value) -> Arc<JsonObject> {
    Arc::new(schema.as_object().cloned().unwrap_or_default())
}

#[cfg(test)]
mod tests;
