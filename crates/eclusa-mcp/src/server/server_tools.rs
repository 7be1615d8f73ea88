//! The tools that are part of this door and of no other: `wait`, `call_tool`, and `approve` for
//! Claude Code.

use std::sync::Arc;

use eclusa::{Facts, Job, Output, Reply, Scene, ToolError, Touch, one_line};
use futures::future::BoxFuture;
use rmcp::{
    ErrorData,
    model::{CallToolResult, ContentBlock, JsonObject, Tool, ToolAnnotations},
};
use serde_json::{Map, Value, json};

use crate::client::CLIENT;

/// The tool that collects a call which a person took long over.
pub(crate) const WAIT: &str = "wait";
/// The tool that Claude Code asks for permission (`--permission-prompt-tool`).
pub(crate) const APPROVE: &str = "approve";

/// The tool that calls another by its name, for clients that read the list of tools once.
pub(crate) const CALL_TOOL: &str = "call_tool";

/// The tools that this server has besides those of the gate.
pub const SERVER_TOOLS: [&str; 3] = [WAIT, APPROVE, CALL_TOOL];

/// How Claude Code calls the tools of this server, where it is connected under its own name.
const OWN_PREFIX: &str = "mcp__eclusa__";

/// True for the tools of this door.
pub(crate) fn is_own(name: &str) -> bool {
    matches!(name, WAIT | APPROVE | CALL_TOOL)
}

/// True for a client that knows what `approve` is for.
pub(crate) fn approves(client: &str) -> bool {
    client.to_ascii_lowercase().contains("claude")
}

/// The call that a call of `call_tool` stands for. From there on it is judged, shown and recorded as
/// the call that it is.
pub(crate) fn meant_call(args: Option<JsonObject>) -> Result<(String, JsonObject), ErrorData> {
    let invalid = |problem: &str| ErrorData::invalid_params(problem.to_owned(), None);
    let mut args = args.unwrap_or_default();
    let name = match args.remove("name") {
        Some(Value::String(name)) => name,
        _ => return Err(invalid("`call_tool` needs the argument `name`: the tool to call")),
    };
    let inner = match args.remove("arguments") {
        Some(Value::Object(inner)) => inner,
        None | Some(Value::Null) => JsonObject::new(),
        Some(_) => return Err(invalid("`arguments` of `call_tool` must be an object")),
    };
    if let Some(other) = args.keys().next() {
        let problem = format!("`call_tool` has no argument `{}`", one_line(other));
        return Err(invalid(&problem));
    }
    let name = name.strip_prefix(OWN_PREFIX).unwrap_or(&name).to_owned();
    match is_own(&name) {
        true => Err(invalid(&format!("call `{name}` directly"))),
        false => Ok((name, inner)),
    }
}

/// The tool and the input of a call that is put to `approve` under the name of our server. Where we
/// have that tool it is let on to us: the gate judges it when it comes. Otherwise it is another server's,
/// whose name begins like ours.
pub(crate) fn own_call(args: Option<&JsonObject>) -> Option<(String, Value)> {
    let args = args?;
    let tool = args.get("tool_name")?.as_str()?.strip_prefix(OWN_PREFIX)?;
    let input = args.get("input").filter(|it| it.is_object())?;
    Some((tool.to_owned(), input.clone()))
}

/// The answer of `approve` to such a call.
pub(crate) fn let_on(input: Value) -> CallToolResult {
    let said = json!({"behavior": "allow", "updatedInput": input});
    CallToolResult::success(vec![ContentBlock::text(said.to_string())])
}

/// How they are listed.
pub(crate) fn tools() -> Vec<Tool> {
    let wait = "Gets the answer of a call that was still waiting for a person when it was answered. \
                Give the id that the answer named.";
    let calls = "Calls a tool that is not in the list: one that `tool_search` found, or one of a \
                 server that started after the list was read.";
    let mut tools = vec![
        Tool::new(WAIT, wait, object(wait_schema())),
        Tool::new(APPROVE, APPROVES, object(approve_schema())),
        Tool::new(CALL_TOOL, calls, object(call_schema())),
    ];
    for tool in &mut tools {
        let looks = tool.name != CALL_TOOL;
        let hints = ToolAnnotations::new().read_only(looks).destructive(!looks);
        tool.annotations = Some(hints.idempotent(looks).open_world(!looks));
    }
    tools
}

fn call_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "The tool."},
            "arguments": {"type": "object", "description": "Its arguments."},
        },
        "required": ["name"],
    })
}

/// The id in the arguments of `wait`, which has no others.
pub(crate) fn wait_id(args: &Value) -> Result<String, ErrorData> {
    let invalid = |problem: String| ErrorData::invalid_params(problem, None);
    let others = args.as_object().into_iter().flat_map(Map::keys).find(|it| *it != "id");
    if let Some(other) = others {
        return Err(invalid(format!(
            "`wait` has no argument `{}`; it takes `id`",
            one_line(other)
        )));
    }
    let id = args.get("id").and_then(Value::as_str);
    id.map(str::to_owned).ok_or_else(|| invalid("`wait` needs the argument `id`".to_owned()))
}

fn wait_schema() -> Value {
    json!({
        "type": "object",
        "properties": {"id": {"type": "string", "description": "The id that the answer named."}},
        "required": ["id"],
        "additionalProperties": false,
    })
}

const APPROVES: &str = "For the program, not for the model: says whether a call of one of the \
                        program's own tools may run (Claude Code's permission prompt tool). Runs \
                        nothing.";

fn approve_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "tool_name": {"type": "string", "description": "The tool that would be called."},
            "input": {"type": "object", "description": "The arguments of that call."},
            "tool_use_id": {"type": "string", "description": "The id of that call."},
        },
        "required": ["tool_name", "input"],
        "additionalProperties": false,
    })
}

/// `approve`, as the gate sees it: a call that touches what the other call would touch, and does
/// nothing. Rules, people and the record work on it as on any call.
#[derive(Debug, Default, Clone, Copy)]
pub struct Approve;

/// The answer of `approve` in the one form that Claude Code takes: a single block of text that
/// holds JSON, and nothing structured beside it.
pub(crate) fn approval(reply: &Reply, permitted: Option<Value>) -> CallToolResult {
    let said = match permitted.filter(|_| !reply.is_error()) {
        Some(input) => json!({"behavior": "allow", "updatedInput": input}),
        None => json!({"behavior": "deny", "message": reply.content()}),
    };
    CallToolResult::success(vec![ContentBlock::text(said.to_string())])
}

impl eclusa::Tool for Approve {
    fn name(&self) -> &str {
        APPROVE
    }

    fn description(&self, _: &Scene) -> String {
        APPROVES.to_owned()
    }

    fn input_schema(&self) -> Value {
        approve_schema()
    }

    fn facts(&self) -> Facts {
        Facts {
            concurrent: true,
            only_judges: true,
            runs_elsewhere: true,
            search_hint: "permission prompt for another program's tools".to_owned(),
            audit_operation: "approve".to_owned(),
            ..Facts::default()
        }
    }

    fn touches(&self, args: &Value) -> Vec<Touch> {
        let none = Map::new();
        let input = args.get("input").and_then(Value::as_object).unwrap_or(&none);
        touches(args.get("tool_name").and_then(Value::as_str).unwrap_or_default(), input)
    }

    fn run<'a>(&'a self, job: &'a Job) -> BoxFuture<'a, Result<Output, ToolError>> {
        Box::pin(async move {
            let input = job.args().get("input").cloned().unwrap_or_default();
            // Not through the output, where secrets would be taken out of it. An error means that
            // the call came through another door, which does not ask for the input.
            let _ = CLIENT.try_with(|client| client.side_results.permitted.set(input));
            Ok(Output::text("allowed"))
        })
    }
}

/// What a call of one of Claude Code's tools touches. Of what is not known here, nobody can tell.
fn touches(tool: &str, input: &Map<String, Value>) -> Vec<Touch> {
    let text = |key: &str| input.get(key).and_then(Value::as_str).map(str::to_owned);
    let touch = match tool {
        "Bash" => text("command").map(Touch::Run),
        "Read" => text("file_path").map(Touch::Read),
        "Edit" | "MultiEdit" | "Write" => text("file_path").map(Touch::Write),
        "NotebookEdit" => text("notebook_path").map(Touch::Write),
        "Glob" | "Grep" | "LS" => Some(Touch::Read(text("path").unwrap_or_else(|| ".".into()))),
        "WebFetch" => text("url").map(Touch::Fetch),
        _ => None,
    };
    vec![touch.unwrap_or(Touch::Unknown)]
}

fn object(schema: Value) -> Arc<JsonObject> {
    match schema {
        Value::Object(schema) => Arc::new(schema),
        _ => Arc::default(),
    }
}
