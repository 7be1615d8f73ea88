//! Codex, as seen with 0.166. Its hooks run in the directory of the session; `cwd` of an event is
//! where the model wants the command to start.

use crate::{
    Agent, HookEvent, MappedCall,
    agents::claude_code,
    fields::Fields,
    mapped::{self, AgentOwn, Mapping},
};

pub(crate) fn read(fields: Fields<'_>) -> Result<HookEvent, String> {
    let mut event = claude_code::read_as(Agent::Codex, fields)?;
    event.turn = fields.maybe_text("turn_id")?.map(str::to_owned);
    Ok(event)
}

pub(crate) fn map(event: &HookEvent, input: Fields<'_>) -> Mapping {
    if let Some(call) = mapped::double_underscored(&event.tool, &event.input) {
        return Ok(call);
    }
    let name = event.tool.rsplit('.').next().unwrap_or_default();
    Ok(match name {
        "Bash" => event.shell(input.text("command")?, None),
        "apply_patch" => mapped::patch(input, &["command", "input", "patch"])?,
        "view_image" => mapped::read(input.text("path")?),
        "spawn_agent" | "send_input" | "wait_agent" | "close_agent" | "resume_agent" => {
            MappedCall::Own(AgentOwn::Task)
        }
        "update_plan" | "get_goal" | "create_goal" | "update_goal" | "request_user_input" => {
            MappedCall::Own(AgentOwn::Notes)
        }
        _ => event.unknown(),
    })
}
