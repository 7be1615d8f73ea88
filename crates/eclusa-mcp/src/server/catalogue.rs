//! Tools as `tools/list` shows them, with annotations that are true; and pages of any list.

use std::sync::Arc;

use eclusa::{PermissionClass, Registry, Scene, registry::Registered};
use rmcp::{
    ErrorData,
    model::{JsonObject, PaginatedRequestParams, Tool, ToolAnnotations},
};
use serde_json::Value;

use crate::{gateway::Gateway, server::server_tools};

mod schema;

/// How many are on one page.
const PAGE_SIZE: usize = 200;

/// All tools that clients get to see, in order. `approves` for a client that knows `approve`.
pub(crate) fn tools(registry: &Registry, gateway: Option<&Gateway>, approves: bool) -> Vec<Tool> {
    let plain = gateway.is_some_and(Gateway::is_plain);
    // What is behind the gate may come up later, or be too much for one list.
    let unlisted = gateway.is_some() && !plain;
    let listed = registry.visible();
    let mut tools: Vec<Tool> = listed
        .iter()
        .filter(|it| it.server().is_some() || !server_tools::is_own(it.name()))
        .map(|it| display(it, gateway))
        .collect();
    // A wrapped server is shown as it is, but for the way to come back for an answer.
    let own = server_tools::tools().into_iter().filter(|own| match &*own.name {
        server_tools::CALL_TOOL => unlisted,
        server_tools::APPROVE => approves && !plain,
        name => !plain || tools.iter().all(|it| it.name != name),
    });
    let mut own: Vec<Tool> = own.collect();
    // Whoever misses tools finds out why in the one that is there in their place.
    let place = if unlisted { server_tools::CALL_TOOL } else { server_tools::WAIT };
    if let Some(missing) = gateway.and_then(Gateway::missing_tools)
        && let Some(tool) = own.iter_mut().find(|it| it.name == place)
    {
        let said = tool.description.take().unwrap_or_default();
        tool.description = Some(format!("{said} {missing}").into());
    }
    tools.extend(own);
    tools.sort_by(|a, b| a.name.cmp(&b.name));
    tools
}

/// The tool that clients know by this name, as they see it.
pub(crate) fn tool(registry: &Registry, gateway: Option<&Gateway>, name: &str) -> Option<Tool> {
    registry.get(name).map(|it| display(&it, gateway))
}

/// One page of a list, and where the next one begins.
pub(crate) fn page<T>(
    mut all: Vec<T>,
    name: impl Fn(&T) -> &str,
    request: Option<PaginatedRequestParams>,
) -> Result<(Vec<T>, Option<String>), ErrorData> {
    // A cursor names the last of the page before: it holds when others come and go.
    let cursor = request.and_then(|it| it.cursor);
    let after = match &cursor {
        None => None,
        Some(cursor) => Some(cursor.strip_prefix("after:").ok_or_else(|| {
            let problem = "the cursor is not one that this server gave out";
            ErrorData::invalid_params(problem, None)
        })?),
    };
    all.sort_by(|a, b| name(a).cmp(name(b)));
    let rest = all.into_iter().filter(|it| after.is_none_or(|after| name(it) > after));
    let mut page: Vec<T> = rest.take(PAGE_SIZE + 1).collect();
    let more = page.len() > PAGE_SIZE;
    page.truncate(PAGE_SIZE);
    let next = page.last().filter(|_| more).map(|last| format!("after:{}", name(last)));
    Ok((page, next))
}

fn display(tool: &Registered, gateway: Option<&Gateway>) -> Tool {
    let scene = Scene::default();
    let told = tool.server().and(gateway).and_then(|it| it.tool_display(tool.name()));
    let name = told.as_ref().and_then(|it| it.name.clone());
    let name = name.unwrap_or_else(|| tool.name().to_owned());
    let own = told.as_ref().and_then(|it| it.input.clone());
    let mut schema = own.unwrap_or_else(|| tool.schema().clone());
    if tool.server().is_none() {
        schema::shorten(&mut schema);
        schema::simplify(&mut schema);
    }
    let mut shown = Tool::new(name.clone(), tool.description(&scene), object(&schema));
    shown.output_schema = tool.output_schema().map(object);
    // What a server tells clients about its tools they get as it is: the gate does not go by it.
    // Nothing stands for the worst in the protocol.
    let Some(told) = told else {
        shown.annotations = tool.server().is_none().then(|| annotations(tool));
        return shown;
    };
    (shown.title, shown.annotations) = (told.title, told.annotations);
    (shown.icons, shown.meta) = (told.icons, told.meta);
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
    let looks = facts.read_only;
    let mut hints =
        ToolAnnotations::new().read_only(looks).destructive(facts.destructive).open_world(open);
    // Ours say what the protocol does not assume anyway: lists are read by models.
    match looks {
        true => hints.destructive_hint = None,
        false => hints.read_only_hint = None,
    }
    hints
}

fn object(schema: &Value) -> Arc<JsonObject> {
    Arc::new(schema.as_object().cloned().unwrap_or_default())
}

#[cfg(test)]
mod tests;
