//! Windsurf, from its manual: not tried with the real program.

use serde_json::json;

use crate::{
    Agent, HookEvent, HookEventKind, ToolResult,
    event::unknown_event,
    fields::Fields,
    mapped::{self, Mapping},
};

pub(crate) fn read(fields: Fields<'_>) -> Result<HookEvent, String> {
    let name = fields.text("agent_action_name")?;
    let kind = match name {
        "pre_run_command" | "pre_read_code" | "pre_write_code" | "pre_mcp_tool_use" => {
            HookEventKind::Before
        }
        "post_run_command" | "post_read_code" | "post_write_code" | "post_mcp_tool_use" => {
            HookEventKind::After
        }
        _ if name.starts_with("pre_") && name != "pre_user_prompt" => {
            return Err(unknown_event(name));
        }
        _ => HookEventKind::Other,
    };
    let mut event = HookEvent::new(Agent::Windsurf, kind, name, fields.text("trajectory_id")?);
    event.turn = fields.maybe_text("execution_id")?.map(str::to_owned);
    event.tool = name.split_once('_').map_or(name, |(_, rest)| rest).to_owned();
    event.input = fields.get("tool_info").cloned().unwrap_or_else(|| json!({}));
    let info = Fields::new(&event.input, "`tool_info`")?;
    event.directory = info.maybe_text("cwd")?.map(str::to_owned);
    if event.tool == "mcp_tool_use" {
        let names = (info.text("mcp_server_name")?, info.text("mcp_tool_name")?);
        event.server = Some((names.0.to_owned(), names.1.to_owned()));
        event.input = info.get("mcp_tool_arguments").cloned().unwrap_or_else(|| json!({}));
    }
    if kind == HookEventKind::After {
        event.result = Some(ToolResult { text: String::new(), failed: false });
    }
    Ok(event)
}

pub(crate) fn map(event: &HookEvent, input: Fields<'_>) -> Mapping {
    Ok(match event.tool.as_str() {
        "run_command" => event.shell(input.text("command_line")?, None),
        "read_code" => mapped::read(input.text("file_path")?),
        "write_code" => {
            let names = ["old_string", "new_string", "replace_all"];
            mapped::edits(input.text("file_path")?, input.list("edits")?, names)?
        }
        _ => event.unknown(),
    })
}
