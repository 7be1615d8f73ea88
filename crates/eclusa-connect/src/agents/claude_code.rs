//! Claude Code, as seen with 2.1.325.

use serde_json::{Value, json};

use crate::{
    Agent, HookEvent, HookEventKind, MappedCall, ToolResult,
    event::unknown_event,
    fields::Fields,
    mapped::{self, AgentOwn, Mapping},
};

pub(crate) fn read(fields: Fields<'_>) -> Result<HookEvent, String> {
    let mut event = read_as(Agent::ClaudeCode, fields)?;
    event.turn = fields.maybe_text("prompt_id")?.map(str::to_owned);
    event.response = fields.get("tool_response").cloned();
    if let Some(error) = fields.maybe_text("error")?.filter(|_| event.name == "PostToolUseFailure")
    {
        event.result = Some(ToolResult { text: error.to_owned(), failed: true });
    }
    Ok(event)
}

/// What Claude Code and those that took over its names send alike.
pub(crate) fn read_as(agent: Agent, fields: Fields<'_>) -> Result<HookEvent, String> {
    let name = fields.text("hook_event_name")?;
    let kind = match name {
        "PreToolUse" | "BeforeTool" => HookEventKind::Before,
        "PostToolUse" | "PostToolUseFailure" | "AfterTool" => HookEventKind::After,
        "SessionStart" => HookEventKind::SessionStart,
        "SessionEnd" => HookEventKind::SessionEnd,
        "ConfigChange" => HookEventKind::Settings,
        // Another name for the event that stops calls, as a later version may have.
        _ if fields.get("tool_input").is_some() && fields.get("tool_response").is_none() => {
            return Err(unknown_event(name));
        }
        _ => HookEventKind::Other,
    };
    let mut event = HookEvent::new(agent, kind, name, fields.text("session_id")?);
    event.directory = fields.maybe_text("cwd")?.map(str::to_owned);
    event.mode = fields.maybe_text("permission_mode")?.map(str::to_owned);
    if matches!(kind, HookEventKind::Before | HookEventKind::After) {
        event.tool = fields.text("tool_name")?.to_owned();
        event.input = fields.get("tool_input").cloned().unwrap_or_else(|| json!({}));
        event.call = fields.maybe_text("tool_use_id")?.map(str::to_owned);
    }
    if kind == HookEventKind::After {
        let text = fields.get("tool_response").map(result_text).unwrap_or_default();
        event.result = Some(ToolResult { text, failed: false });
    }
    Ok(event)
}

/// The text of a result, as far as it has one.
pub(crate) fn result_text(value: &Value) -> String {
    let text = |name: &str| value.get(name).and_then(Value::as_str).filter(|it| !it.is_empty());
    match value {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts: Vec<String> = blocks.iter().map(result_text).collect();
            texts.join("\n")
        }
        Value::Object(_) => match (text("stdout"), text("stderr")) {
            (Some(out), Some(err)) => format!("{out}\n{err}"),
            (Some(only), None) | (None, Some(only)) => only.to_owned(),
            (None, None) => {
                let named = ["llmContent", "text", "content", "output", "result", "file"];
                let found = named.iter().find_map(|it| value.get(*it)).map(result_text);
                found.unwrap_or_else(|| value.to_string())
            }
        },
        Value::Null => String::new(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

/// Texts that say what a result is, and nothing of what is in it.
const SHAPE: [&str; 5] = ["type", "filePath", "mimeType", "media_type", "mode"];

/// Where the text of a result stands, first of all.
const MAIN: [&str; 6] = ["stdout", "text", "content", "output", "result", "file"];

/// A result with this text in the place of all its own, in the same shape: one of another shape is no
/// answer for Claude Code, and the model sees what was there.
pub(crate) fn reshaped(response: Option<&Value>, text: &str) -> Value {
    let mut left = Some(text);
    let shaped = response.map(|it| filled("", it, &mut left));
    shaped.filter(|_| left.is_none()).unwrap_or_else(|| text.into())
}

fn filled(name: &str, value: &Value, left: &mut Option<&str>) -> Value {
    match value {
        Value::String(_) if !SHAPE.contains(&name) => left.take().unwrap_or_default().into(),
        Value::Array(all) => all.iter().map(|it| filled("", it, left)).collect(),
        Value::Object(fields) => {
            let (mut first, mut rest): (Vec<_>, Vec<_>) =
                fields.iter().partition(|it| MAIN.contains(&it.0.as_str()));
            first.sort_by_key(|it| MAIN.iter().position(|name| name == it.0));
            first.append(&mut rest);
            let filled = first.into_iter().map(|(name, it)| (name.clone(), filled(name, it, left)));
            Value::Object(filled.collect())
        }
        other => other.clone(),
    }
}

pub(crate) fn map(event: &HookEvent, input: Fields<'_>) -> Mapping {
    if let Some(call) = mapped::double_underscored(&event.tool, &event.input) {
        return Ok(call);
    }
    Ok(match event.tool.as_str() {
        "Bash" | "Monitor" => event.shell(input.text("command")?, None),
        "Read" => mapped::read(input.text("file_path")?),
        "LSP" => mapped::read(input.any_text(&["filePath", "file_path"])?),
        "Glob" => mapped::search("glob", input, &["path"])?,
        "Grep" => mapped::search("grep", input, &["path"])?,
        "LS" => mapped::search("list", input, &["path"])?,
        "Write" => mapped::write(input.text("file_path")?, input.text("content")?),
        "Edit" => mapped::edit(
            input.text("file_path")?,
            input.text("old_string")?,
            input.text("new_string")?,
            input.flag("replace_all")?,
        ),
        "MultiEdit" => {
            let names = ["old_string", "new_string", "replace_all"];
            mapped::edits(input.text("file_path")?, input.list("edits")?, names)?
        }
        "WebFetch" => mapped::one("web_fetch", json!({"url": input.text("url")?})),
        "Agent" | "Task" | "Workflow" | "SendMessage" => MappedCall::Own(AgentOwn::Task),
        "TodoWrite" | "TodoRead" | "TaskCreate" | "TaskGet" | "TaskList" | "TaskUpdate"
        | "TaskStop" | "TaskOutput" | "BashOutput" | "KillShell" | "Skill" | "ListAgents"
        | "AskUserQuestion" | "EnterPlanMode" | "ExitPlanMode" | "ReportFindings" | "CronList"
        | "ToolSearch" | "StructuredOutput" => MappedCall::Own(AgentOwn::Notes),
        "CronCreate" | "CronDelete" | "ScheduleWakeup" | "EnterWorktree" | "ExitWorktree" => {
            MappedCall::Own(AgentOwn::Later)
        }
        _ => event.unknown(),
    })
}
