//! Copilot CLI, from its manual: not tried with the real program.

use serde_json::json;

use crate::{
    Agent, HookEvent, HookEventKind, MappedCall, ToolResult,
    agents::{claude_code::result_text, cursor::unpacked},
    fields::Fields,
    mapped::{self, AgentOwn, Mapping},
};

/// Its events have no name: one with a result is an event after the call.
pub(crate) fn read(fields: Fields<'_>) -> Result<HookEvent, String> {
    let result = fields.get("toolResult");
    let (kind, name) = match result {
        None => (HookEventKind::Before, "preToolUse"),
        Some(_) => (HookEventKind::After, "postToolUse"),
    };
    let session = fields.maybe_text("sessionId")?.unwrap_or("copilot");
    let mut event = HookEvent::new(Agent::Copilot, kind, name, session);
    event.directory = fields.maybe_text("cwd")?.map(str::to_owned);
    event.tool = fields.text("toolName")?.to_owned();
    event.input = unpacked(fields.get("toolArgs"))?;
    event.result = result.map(|it| ToolResult {
        text: it.get("textResultForLlm").map(result_text).unwrap_or_default(),
        failed: it.get("resultType").is_some_and(|it| it == "failure"),
    });
    Ok(event)
}

pub(crate) fn map(event: &HookEvent, input: Fields<'_>) -> Mapping {
    Ok(match event.tool.as_str() {
        "bash" | "local_shell" => event.shell(input.text("command")?, None),
        "view" => mapped::read(input.text("path")?),
        "glob" => mapped::search("glob", input, &["path", "paths"])?,
        "rg" | "grep" => mapped::search("grep", input, &["path", "paths"])?,
        "create" => mapped::write(input.text("path")?, input.text("file_text")?),
        "edit" | "str_replace" => {
            mapped::edit(input.text("path")?, input.text("old_str")?, input.text("new_str")?, false)
        }
        "apply_patch" => mapped::patch(input, &["input", "patch"])?,
        "web_fetch" => mapped::one("web_fetch", json!({"url": input.text("url")?})),
        "task" => MappedCall::Own(AgentOwn::Task),
        "update_todo" | "ask_user" | "report_intent" => MappedCall::Own(AgentOwn::Notes),
        // Tools of servers are SERVER-TOOL, and nothing tells where one name ends.
        name if name.starts_with("eclusa-") => MappedCall::OwnServer,
        // `write_bash` types into a shell that runs: nobody can tell what that does.
        _ => event.unknown(),
    })
}
