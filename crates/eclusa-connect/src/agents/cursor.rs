//! Cursor, from its manual: not tried with the real program.

use serde_json::{Value, json};

use crate::{
    Agent, HookEvent, HookEventKind, MappedCall, ToolResult,
    agents::claude_code::result_text,
    event::unknown_event,
    fields::Fields,
    mapped::{self, AgentOwn, Mapping},
};

pub(crate) fn read(fields: Fields<'_>) -> Result<HookEvent, String> {
    let name = fields.text("hook_event_name")?;
    let kind = match name {
        "beforeShellExecution" | "beforeMCPExecution" | "beforeReadFile" | "preToolUse" => {
            HookEventKind::Before
        }
        "afterShellExecution" | "afterMCPExecution" | "afterFileEdit" | "postToolUse" => {
            HookEventKind::After
        }
        "sessionStart" => HookEventKind::SessionStart,
        "sessionEnd" => HookEventKind::SessionEnd,
        _ if ["command", "tool_name", "file_path"].iter().any(|it| fields.get(it).is_some())
            && !name.starts_with("after") =>
        {
            return Err(unknown_event(name));
        }
        _ => HookEventKind::Other,
    };
    let session = fields.text("conversation_id")?;
    let mut event = HookEvent::new(Agent::Cursor, kind, name, session);
    event.turn = fields.maybe_text("generation_id")?.map(str::to_owned);
    event.version = fields.maybe_text("cursor_version")?.map(str::to_owned);
    event.directory = fields.maybe_text("cwd")?.map(str::to_owned);
    event.call = fields.maybe_text("tool_use_id")?.map(str::to_owned);
    event.root = match fields.list("workspace_roots")?.first() {
        Some(root) => Some(root.as_str().ok_or("`workspace_roots` holds no text")?.to_owned()),
        None => None,
    };
    match name {
        "beforeShellExecution" | "afterShellExecution" => {
            event.tool = "Shell".to_owned();
            event.input = json!({"command": fields.text("command")?});
        }
        "beforeReadFile" => {
            event.tool = "Read".to_owned();
            event.input = json!({"path": fields.text("file_path")?});
        }
        "afterFileEdit" => {
            event.tool = "Write".to_owned();
            event.input = json!({"path": fields.text("file_path")?});
        }
        "beforeMCPExecution" | "afterMCPExecution" => {
            let tool = fields.text("tool_name")?.to_owned();
            event.input = unpacked(fields.get("tool_input"))?;
            let server = fields.maybe_text("server")?.or(fields.maybe_text("server_name")?);
            event.server = Some((server.unwrap_or("cursor").to_owned(), tool.clone()));
            event.tool = tool;
        }
        "preToolUse" | "postToolUse" => {
            event.tool = fields.text("tool_name")?.to_owned();
            event.input = unpacked(fields.get("tool_input"))?;
        }
        _ => {}
    }
    if kind == HookEventKind::After {
        let named = ["output", "result_json", "tool_output"];
        let text = named.iter().find_map(|it| fields.get(it)).map(result_text);
        event.result = Some(ToolResult { text: text.unwrap_or_default(), failed: false });
    }
    Ok(event)
}

/// Arguments, which may come as JSON in a text.
pub(crate) fn unpacked(value: Option<&Value>) -> Result<Value, String> {
    match value {
        None => Ok(json!({})),
        Some(Value::String(text)) => {
            serde_json::from_str(text).map_err(|err| format!("the arguments are not JSON: {err}"))
        }
        Some(value) => Ok(value.clone()),
    }
}

pub(crate) fn map(event: &HookEvent, input: Fields<'_>) -> Mapping {
    let path = ["path", "file_path", "target_file"];
    Ok(match event.tool.as_str() {
        "Shell" => event.shell(input.text("command")?, input.maybe_text("working_directory")?),
        "Read" => mapped::read(input.any_text(&path)?),
        "Grep" => mapped::search("grep", input, &["path"])?,
        "Glob" => mapped::search("glob", input, &["path", "target_directory"])?,
        "ListDir" => mapped::search("list", input, &["path", "target_directory"])?,
        "Write" => mapped::write(input.any_text(&path)?, input.any_text(&["content", "contents"])?),
        "StrReplace" => mapped::edit(
            input.any_text(&path)?,
            input.text("old_string")?,
            input.text("new_string")?,
            input.flag("replace_all")?,
        ),
        "ApplyPatch" => mapped::patch(input, &["patch", "input"])?,
        "Delete" => mapped::one("delete", json!({"path": input.any_text(&path)?})),
        "WebFetch" => mapped::one("web_fetch", json!({"url": input.text("url")?})),
        "Task" => MappedCall::Own(AgentOwn::Task),
        "TodoWrite" | "AskQuestion" => MappedCall::Own(AgentOwn::Notes),
        _ => event.unknown(),
    })
}
