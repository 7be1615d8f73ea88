//! Claude Code, as seen with 2.1.325.

use eclusa_config::jsonc;
use serde_json::{Value, json};

use super::{
    cursor,
    event::{HookEvent, HookEventKind, ToolResult, unknown_event},
    json_form::JsonForm,
    past_calls,
    result::{reshaped, result_text, withheld},
    spec::{AgentSpec, Caveats, DenialSpec, HookSpec, RewrittenAsk, ServerSpec, SwitchSpec},
    vscode,
};
use crate::{
    answer::{HookOutput, HookVerdict, ResultNote, context, decided, specific},
    entries::{EntryChange, EntryFile, InstallFacts, SettingsEntry},
    fields::Fields,
    mapped::{self, InternalTool, MappedCall, Mapping},
};

mod denials;
mod launch;
mod rules;

const USER_SETTINGS: EntryFile =
    EntryFile::Settings("CLAUDE_CONFIG_DIR", ".claude", "settings.json");
const PROJECT_SETTINGS: EntryFile = EntryFile::Project(".claude/settings.json");
const LOCAL_SETTINGS: EntryFile = EntryFile::Project(".claude/settings.local.json");

pub(super) static CLAUDE_CODE: AgentSpec = AgentSpec {
    name: "claude-code",
    aliases: &["claude"],
    title: "Claude Code",
    program: "claude",
    hooks: Some(HookSpec {
        tried: true,
        gates: &["PreToolUse"],
        root_variable: Some("CLAUDE_PROJECT_DIR"),
        in_shell: true,
        can_rewrite: true,
        json: JsonForm::Plain,
        keeps_directory: true,
        asks_rewritten: RewrittenAsk::Comments,
        can_ask: |event, attended| {
            attended && !matches!(event.mode.as_deref(), Some("bypassPermissions" | "dontAsk"))
        },
        read,
        sender: |fields| vscode::sent(fields).or_else(|| cursor::sent(fields)),
        map,
        verdict,
        result,
    }),
    entries,
    servers: ServerSpec {
        // Servers of single projects stand in the person's file.
        lists: &[&["mcpServers"], &["projects", "*", "mcpServers"]],
        files: &[
            // With the variable it stands in that directory, without it beside it.
            EntryFile::Settings("CLAUDE_CONFIG_DIR", "", ".claude.json"),
            EntryFile::Project(".mcp.json"),
        ],
        ours: |facts| {
            let program = &facts.program;
            Some(json!({"type": "stdio", "command": program, "args": ["mcp"], "alwaysLoad": true}))
        },
    },
    trust: None,
    switches: SwitchSpec {
        files: &[USER_SETTINGS, PROJECT_SETTINGS, LOCAL_SETTINGS],
        switched_off_by: |text, managed| {
            let off = || jsonc::read(text).ok()?.get("disableAllHooks")?.as_bool();
            (!managed && off() == Some(true)).then_some("disableAllHooks")
        },
        variable_files: &[".claude/settings.json", ".claude/settings.local.json"],
        variables: |text| {
            let settings = jsonc::read(text).map_err(|err| err.to_string())?;
            let variables = settings.get("env").and_then(Value::as_object);
            Ok(variables.into_iter().flat_map(|it| it.keys().cloned()).collect())
        },
        looks_above: false,
    },
    caveats: Caveats {
        open: &["output of its own failed calls is not redacted"],
        open_unmanaged: &[
            "another hook can change a command after eclusa has allowed it",
            "`disableAllHooks`, `--bare` and `--safe-mode` switch hooks off; `--managed` closes both",
        ],
        confirm: None,
        confirm_unmanaged: None,
    },
    denials: Some(DenialSpec {
        files: &[
            USER_SETTINGS,
            PROJECT_SETTINGS,
            LOCAL_SETTINGS,
            EntryFile::Machine("/etc/claude-code/managed-settings.json"),
        ],
        directories: &["/etc/claude-code/managed-settings.d"],
        may_concern: denials::may_concern,
    }),
    launch: Some(launch::LAUNCH),
    past: Some(past_calls::CLAUDE_CODE),
    import_rules: Some(rules::read),
};

fn entries(facts: &InstallFacts) -> Vec<SettingsEntry> {
    let machine = EntryFile::Machine("/etc/claude-code/managed-settings.d/50-eclusa.json");
    let settings = facts.file(USER_SETTINGS, PROJECT_SETTINGS, Some(machine));
    let command = json!({
        "type": "command", "command": CLAUDE_CODE.hook_line(facts), "timeout": 900,
        "onFailure": "block",
    });
    let mut all = Vec::new();
    // The last one refuses to lose the others while a session runs.
    let events = ["PreToolUse", "PostToolUse", "PostToolUseFailure", "SessionEnd", "ConfigChange"];
    for event in events {
        let entry = match event.contains("ToolUse") {
            true => json!({"matcher": "*", "hooks": [command]}),
            false => json!({"hooks": [command]}),
        };
        all.push(CLAUDE_CODE.hook(settings, event, entry));
    }
    if facts.managed {
        let (purpose, path) = ("switches hooks of others off", vec!["allowManagedHooksOnly"]);
        all.push(SettingsEntry::value(settings, purpose, path, json!(true)));
    }
    all.push(SettingsEntry {
        file: settings,
        purpose: "lets eclusa's tools run without a question of the agent's own",
        is_gate: false,
        change: EntryChange::JsonListed {
            path: vec!["permissions", "allow"],
            value: "mcp__eclusa",
        },
    });
    all
}

fn read(fields: Fields<'_>) -> Result<HookEvent, String> {
    let mut event = read_as(&CLAUDE_CODE, fields)?;
    event.turn = fields.maybe_text("prompt_id")?.map(str::to_owned);
    event.subagent = fields.maybe_text("agent_id")?.map(str::to_owned);
    if let Some(error) = fields.maybe_text("error")?.filter(|_| event.name == "PostToolUseFailure")
    {
        event.result = Some(ToolResult { text: error.to_owned(), failed: true });
    }
    Ok(event)
}

/// What Claude Code and those that took over its names send alike.
pub(super) fn read_as(agent: &'static AgentSpec, fields: Fields<'_>) -> Result<HookEvent, String> {
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
        event.response = fields.get("tool_response").cloned();
    }
    Ok(event)
}

fn map(event: &HookEvent, input: Fields<'_>) -> Mapping {
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
        "WebFetch" => mapped::fetch(input.text("url")?)?,
        "Agent" | "Task" | "Workflow" | "SendMessage" => {
            MappedCall::Internal(InternalTool::Subagent)
        }
        "TodoWrite" | "TodoRead" | "TaskCreate" | "TaskGet" | "TaskList" | "TaskUpdate"
        | "TaskStop" | "TaskOutput" | "BashOutput" | "KillShell" | "Skill" | "ListAgents"
        | "AskUserQuestion" | "EnterPlanMode" | "ExitPlanMode" | "ReportFindings" | "CronList"
        | "ToolSearch" | "StructuredOutput" => MappedCall::Internal(InternalTool::Bookkeeping),
        "CronCreate" | "CronDelete" | "ScheduleWakeup" | "EnterWorktree" | "ExitWorktree" => {
            MappedCall::Internal(InternalTool::Scheduled)
        }
        _ => event.unknown(),
    })
}

fn verdict(event: &str, verdict: &HookVerdict, _: &Value) -> HookOutput {
    let none = ("updatedInput", None);
    match verdict {
        HookVerdict::Allow { context: it } => {
            decided(event, "allow", Some("eclusa allows it"), [none, context(it.as_ref())])
        }
        HookVerdict::Deny(why) => decided(event, "deny", Some(why), [none, context(None)]),
        HookVerdict::Ask(why) => decided(event, "ask", Some(why), [none, context(None)]),
        HookVerdict::Rewrite { input, context: it, ask } => {
            let input = ("updatedInput", Some(input.clone()));
            let (decision, why) = match ask {
                Some(why) => ("ask", why.as_str()),
                None => ("allow", "it runs in eclusa's sandbox"),
            };
            decided(event, decision, Some(why), [input, context(it.as_ref())])
        }
    }
}

fn result(event: &HookEvent, note: &ResultNote) -> HookOutput {
    let output = note.replacement.as_deref();
    let shape = if note.withheld { withheld } else { reshaped };
    let output = output.map(|it| shape(event.response.as_ref(), it));
    specific(&event.name, [("updatedToolOutput", output), context(note.context.as_ref())])
}
