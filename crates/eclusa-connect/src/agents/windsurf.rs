//! Windsurf, from its manual: not tried with the real program.

use serde_json::json;

use super::{
    event::{HookEvent, HookEventKind, ToolResult, unknown_event},
    json_form::JsonForm,
    spec::{AgentSpec, Caveats, HookSpec, RewrittenAsk, ServerSpec, SwitchSpec},
};
use crate::{
    answer::{by_exit_code, to_stderr},
    entries::{EntryFile, InstallFacts, SettingsEntry},
    fields::Fields,
    mapped::{self, Mapping},
};

const GATES: [&str; 4] = ["pre_run_command", "pre_read_code", "pre_write_code", "pre_mcp_tool_use"];

pub(super) static WINDSURF: AgentSpec = AgentSpec {
    name: "windsurf",
    aliases: &[],
    title: "Windsurf",
    program: "windsurf",
    hooks: Some(HookSpec {
        tried: false,
        gates: &GATES,
        root_variable: None,
        in_shell: true,
        can_rewrite: false,
        json: JsonForm::Commented,
        keeps_directory: false,
        asks_rewritten: RewrittenAsk::Never,
        can_ask: |_, _| false,
        read,
        sender: |_| None,
        map,
        verdict: by_exit_code,
        result: |_, note| to_stderr(note),
    }),
    entries,
    servers: ServerSpec {
        lists: &[&["mcpServers"]],
        files: &[EntryFile::Home(".codeium/windsurf/mcp_config.json")],
        ours: |facts| Some(json!({"command": facts.program, "args": ["mcp"]})),
    },
    trust: None,
    switches: SwitchSpec::NONE,
    caveats: Caveats {
        open: &["taken from its manual: not tried with the real program"],
        open_unmanaged: &[],
        confirm: Some("restart it, so that it reads the hooks"),
        confirm_unmanaged: None,
    },
    denials: None,
    launch: None,
    past: None,
    import_rules: None,
};

fn entries(facts: &InstallFacts) -> Vec<SettingsEntry> {
    let file = facts.file(
        EntryFile::Home(".codeium/windsurf/hooks.json"),
        EntryFile::Project(".windsurf/hooks.json"),
        Some(EntryFile::Machine("/etc/windsurf/hooks.json")),
    );
    let entry = json!({"command": WINDSURF.hook_line(facts), "show_output": true});
    GATES.map(|event| WINDSURF.hook(file, event, entry.clone())).to_vec()
}

fn read(fields: Fields<'_>) -> Result<HookEvent, String> {
    let name = fields.text("agent_action_name")?;
    let kind = match name {
        _ if GATES.contains(&name) => HookEventKind::Before,
        "post_run_command" | "post_read_code" | "post_write_code" | "post_mcp_tool_use" => {
            HookEventKind::After
        }
        _ if name.starts_with("pre_") && name != "pre_user_prompt" => {
            return Err(unknown_event(name));
        }
        _ => HookEventKind::Other,
    };
    let mut event = HookEvent::new(&WINDSURF, kind, name, fields.text("trajectory_id")?);
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

fn map(event: &HookEvent, input: Fields<'_>) -> Mapping {
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
