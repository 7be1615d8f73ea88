//! Gemini CLI, as seen with 0.61. Its events have no id for the call.

use serde_json::json;

use crate::{
    Agent, HookEvent, MappedCall, OurCall,
    agents::claude_code,
    fields::Fields,
    mapped::{self, AgentOwn, Mapping},
};

pub(crate) fn read(fields: Fields<'_>) -> Result<HookEvent, String> {
    let mut event = claude_code::read_as(Agent::Gemini, fields)?;
    if let Some(server) = fields.object("mcp_context")? {
        let names = (server.text("server_name")?, server.text("tool_name")?);
        event.server = Some((names.0.to_owned(), names.1.to_owned()));
    }
    Ok(event)
}

pub(crate) fn map(event: &HookEvent, input: Fields<'_>) -> Mapping {
    const PLACES: [&str; 3] = ["dir_path", "path", "directory"];
    Ok(match event.tool.as_str() {
        "run_shell_command" => {
            let place = input.maybe_text("dir_path")?.or(input.maybe_text("directory")?);
            event.shell(input.text("command")?, place)
        }
        "read_file" => mapped::read(input.any_text(&["file_path", "absolute_path"])?),
        "read_many_files" => many(input)?,
        "list_directory" => mapped::search("list", input, &PLACES)?,
        "glob" => mapped::search("glob", input, &PLACES)?,
        "grep_search" | "search_file_content" => mapped::search("grep", input, &PLACES)?,
        "write_file" => mapped::write(input.text("file_path")?, input.text("content")?),
        "replace" => {
            let several = input.get("expected_replacements").and_then(|it| it.as_u64());
            let all = input.flag("allow_multiple")? || several.is_some_and(|it| it > 1);
            mapped::edit(
                input.text("file_path")?,
                input.text("old_string")?,
                input.text("new_string")?,
                all,
            )
        }
        "web_fetch" => match urls(input.any_text(&["prompt", "url"])?) {
            none if none.is_empty() => event.unknown(),
            all => MappedCall::Ours(all),
        },
        "invoke_agent" | "delegate_to_agent" | "codebase_investigator" | "complete_task" => {
            MappedCall::Own(AgentOwn::Task)
        }
        "write_todos" | "ask_user" | "activate_skill" | "enter_plan_mode" | "exit_plan_mode"
        | "get_internal_docs" | "update_topic" => MappedCall::Own(AgentOwn::Notes),
        name if name.starts_with("tracker_") => MappedCall::Own(AgentOwn::Notes),
        _ => event.unknown(),
    })
}

/// Each path that is named, as a read; each pattern, as a search.
fn many(input: Fields<'_>) -> Mapping {
    let mut all = Vec::new();
    for name in ["include", "paths"] {
        for it in input.list(name)? {
            let path =
                it.as_str().ok_or_else(|| format!("`{name}` holds something else than texts"))?;
            all.push(match path.contains(['*', '?', '[', '{']) {
                true => OurCall { tool: "glob", args: json!({"pattern": path}) },
                false => OurCall { tool: "read", args: json!({"path": path}) },
            });
        }
    }
    match all.is_empty() {
        true => Err("`include` is missing".to_owned()),
        false => Ok(MappedCall::Ours(all)),
    }
}

/// Every address in a text.
fn urls(text: &str) -> Vec<OurCall> {
    let words = text.split(|it: char| it.is_whitespace() || "<>\"'()[]{}`".contains(it));
    let urls = words.filter_map(|it| {
        let at = it.find("https://").or_else(|| it.find("http://"))?;
        it.get(at..).map(|it| it.trim_end_matches(['.', ',', ';', ':', '!']))
    });
    urls.map(|url| OurCall { tool: "web_fetch", args: json!({"url": url}) }).collect()
}
