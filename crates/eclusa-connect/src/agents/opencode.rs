//! opencode, as seen with 1.18. It runs plugins inside itself; ours sends these events.

use serde_json::json;

use crate::{
    Agent, HookEvent, HookEventKind, MappedCall, ToolResult,
    event::unknown_event,
    fields::Fields,
    mapped::{self, AgentOwn, Mapping},
};

pub(crate) fn read(fields: Fields<'_>) -> Result<HookEvent, String> {
    let name = fields.text("event")?;
    let kind = match name {
        "before" => HookEventKind::Before,
        "after" => HookEventKind::After,
        // Our own plugin sends no other.
        _ => return Err(unknown_event(name)),
    };
    let mut event = HookEvent::new(Agent::Opencode, kind, name, fields.text("session")?);
    event.call = fields.maybe_text("call")?.map(str::to_owned);
    event.directory = fields.maybe_text("directory")?.map(str::to_owned);
    event.root = fields.maybe_text("root")?.map(str::to_owned);
    event.version = fields.maybe_text("version")?.map(str::to_owned);
    event.tool = fields.text("tool")?.to_owned();
    event.input = fields.get("args").cloned().unwrap_or_else(|| json!({}));
    if kind == HookEventKind::After {
        let text = fields.maybe_text("output")?.unwrap_or_default().to_owned();
        event.result = Some(ToolResult { text, failed: false });
    }
    Ok(event)
}

pub(crate) fn map(event: &HookEvent, input: Fields<'_>) -> Mapping {
    Ok(match event.tool.as_str() {
        "bash" => event.shell(input.text("command")?, input.maybe_text("workdir")?),
        "read" => mapped::read(input.any_text(&["filePath", "file_path"])?),
        "write" => mapped::write(input.text("filePath")?, input.text("content")?),
        "edit" => mapped::edit(
            input.text("filePath")?,
            input.text("oldString")?,
            input.text("newString")?,
            input.flag("replaceAll")?,
        ),
        "multiedit" => {
            let names = ["oldString", "newString", "replaceAll"];
            mapped::edits(input.text("filePath")?, input.list("edits")?, names)?
        }
        "patch" | "apply_patch" => mapped::patch(input, &["patchText"])?,
        "glob" => mapped::search("glob", input, &["path"])?,
        "grep" => mapped::search("grep", input, &["path"])?,
        "list" => mapped::search("list", input, &["path"])?,
        "webfetch" => mapped::one("web_fetch", json!({"url": input.text("url")?})),
        "task" => MappedCall::Own(AgentOwn::Task),
        "todowrite" | "todoread" | "question" | "skill" | "invalid" => {
            MappedCall::Own(AgentOwn::Notes)
        }
        // Tools of servers are SERVER_TOOL, and nothing tells where one name ends.
        name if name.starts_with("eclusa_") => MappedCall::OwnServer,
        _ => event.unknown(),
    })
}
