//! Cursor, from its manual: not tried with the real program.

use serde_json::{Value, json};

use super::{
    event::{HookEvent, HookEventKind, ToolResult, unknown_event},
    json_form::JsonForm,
    result::result_text,
    spec::{AgentSpec, Caveats, HookSpec, RewrittenAsk, ServerSpec, SwitchSpec},
};
use crate::{
    answer::{HookOutput, HookVerdict, reason, to_stderr},
    entries::{EntryFile, InstallFacts, SettingsEntry},
    fields::Fields,
    mapped::{self, InternalTool, MappedCall, Mapping},
};

mod rules;

/// The events that stop calls.
const GATES: [&str; 4] =
    ["beforeShellExecution", "beforeMCPExecution", "beforeReadFile", "preToolUse"];

pub(super) static CURSOR: AgentSpec = AgentSpec {
    name: "cursor",
    aliases: &[],
    title: "Cursor",
    program: "cursor",
    hooks: Some(HookSpec {
        tried: false,
        gates: &GATES,
        root_variable: Some("CURSOR_PROJECT_DIR"),
        in_shell: true,
        can_rewrite: false,
        json: JsonForm::Commented,
        keeps_directory: false,
        asks_rewritten: RewrittenAsk::Never,
        can_ask: |event, _| {
            let asks = ["beforeShellExecution", "beforeMCPExecution"];
            !event.is_foreign && asks.contains(&event.name.as_str())
        },
        read,
        sender: |_| None,
        map,
        verdict,
        result: |_, note| to_stderr(note),
    }),
    entries,
    servers: ServerSpec {
        lists: &[&["mcpServers"]],
        files: &[EntryFile::Home(".cursor/mcp.json"), EntryFile::Project(".cursor/mcp.json")],
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
    import_rules: Some(rules::read),
};

fn entries(facts: &InstallFacts) -> Vec<SettingsEntry> {
    let name = ".cursor/hooks.json";
    let hooks = facts.file(EntryFile::Home(name), EntryFile::Project(name), None);
    let entry = json!({"command": CURSOR.hook_line(facts), "timeout": 900, "failClosed": true});
    let (purpose, path) = ("the version of the file", vec!["version"]);
    let mut all = vec![SettingsEntry::value(hooks, purpose, path, json!(1))];
    all.extend(GATES.map(|event| CURSOR.hook(hooks, event, entry.clone())));
    all
}

/// Whether this is an event of Cursor, which runs hooks in the settings of Claude Code too.
pub(super) fn sent(fields: Fields<'_>) -> Option<&'static AgentSpec> {
    let own = ["cursor_version", "conversation_id"];
    own.iter().any(|it| fields.get(it).is_some()).then_some(&CURSOR)
}

fn read(fields: Fields<'_>) -> Result<HookEvent, String> {
    let name = fields.text("hook_event_name")?;
    let kind = match name {
        _ if GATES.contains(&name) => HookEventKind::Before,
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
    let mut event = HookEvent::new(&CURSOR, kind, name, session);
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
pub(super) fn unpacked(value: Option<&Value>) -> Result<Value, String> {
    match value {
        None => Ok(json!({})),
        Some(Value::String(text)) => {
            serde_json::from_str(text).map_err(|err| format!("the arguments are not JSON: {err}"))
        }
        Some(value) => Ok(value.clone()),
    }
}

fn map(event: &HookEvent, input: Fields<'_>) -> Mapping {
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
        "Delete" => mapped::call("delete", json!({"path": input.any_text(&path)?})),
        "WebFetch" => mapped::fetch(input.text("url")?)?,
        "Task" => MappedCall::Internal(InternalTool::Subagent),
        "TodoWrite" | "AskQuestion" => MappedCall::Internal(InternalTool::Bookkeeping),
        _ => event.unknown(),
    })
}

fn verdict(_: &str, verdict: &HookVerdict, _: &Value) -> HookOutput {
    let say = |permission: &str, why: &str| {
        let why = reason(why);
        json!({"permission": permission, "user_message": why, "agent_message": why})
    };
    HookOutput::json(&match verdict {
        HookVerdict::Allow { .. } => json!({"permission": "allow"}),
        HookVerdict::Deny(why) => say("deny", why),
        HookVerdict::Ask(why) => say("ask", why),
        // Whether it takes another command is untried.
        HookVerdict::Rewrite { .. } => say("deny", "the command cannot be put into the sandbox"),
    })
}
