//! VS Code, from its manual: not tried with the real program. It also runs hooks in the settings of
//! Claude Code and of Copilot CLI, with events and tools of its own.

use eclusa_tools::web::Address;
use serde_json::{Value, json};

use super::{
    event::{HookEvent, HookEventKind, ToolResult, unknown_event},
    json_form::JsonForm,
    result::{replacement, result_text},
    spec::{AgentSpec, Caveats, HookSpec, RewrittenAsk, ServerSpec, SwitchSpec},
};
use crate::{
    answer::{HookOutput, HookVerdict, ResultNote, context, decided, specific},
    entries::{EntryFile, InstallFacts, SettingsEntry},
    fields::Fields,
    mapped::{self, EclusaCall, InternalTool, MappedCall, Mapping},
};

/// A file of our own that only VS Code reads: what it shares with Copilot CLI that would run, too.
const HOOKS: &str = ".config/eclusa/vscode-hooks/eclusa.json";

pub(super) static VSCODE: AgentSpec = AgentSpec {
    name: "vscode",
    aliases: &[],
    title: "VS Code",
    program: "code",
    hooks: Some(HookSpec {
        tried: false,
        gates: &["PreToolUse"],
        root_variable: None,
        in_shell: true,
        // Whether a yes runs what we put there is untried.
        can_rewrite: false,
        json: JsonForm::Commented,
        keeps_directory: false,
        asks_rewritten: RewrittenAsk::Never,
        can_ask: |_, _| true,
        read,
        sender: |_| None,
        map,
        verdict,
        result,
    }),
    entries,
    servers: ServerSpec {
        lists: &[&["servers"]],
        files: &[
            EntryFile::Settings("XDG_CONFIG_HOME", ".config", "Code/User/mcp.json"),
            EntryFile::Project(".vscode/mcp.json"),
        ],
        ours: |facts| Some(json!({"type": "stdio", "command": facts.program, "args": ["mcp"]})),
    },
    trust: None,
    switches: SwitchSpec::NONE,
    caveats: Caveats {
        open: &[
            "taken from its manual: not tried with the real program",
            "`chat.useHooks` and `chat.hookFilesLocations` of a workspace or an organization switch hooks off",
        ],
        open_unmanaged: &[],
        confirm: Some("restart it, and look at `/hooks` in its chat"),
        confirm_unmanaged: None,
    },
    denials: None,
    launch: None,
    past: None,
    import_rules: None,
};

/// Hooks for a person alone: those of a project stand where Copilot CLI runs them too.
fn entries(facts: &InstallFacts) -> Vec<SettingsEntry> {
    if facts.project || facts.managed {
        return Vec::new();
    }
    let file = EntryFile::Home(HOOKS);
    let entry = json!({"type": "command", "command": VSCODE.hook_line(facts), "timeout": 900});
    let mut all: Vec<SettingsEntry> =
        ["PreToolUse", "PostToolUse"].map(|it| VSCODE.hook(file, it, entry.clone())).to_vec();
    let settings = EntryFile::Settings("XDG_CONFIG_HOME", ".config", "Code/User/settings.json");
    let path = vec!["chat.hookFilesLocations", "~/.config/eclusa/vscode-hooks"];
    all.push(SettingsEntry::value(settings, "has it read our hooks", path, json!(true)));
    all
}

/// Whether this is an event of VS Code. Its manual has names in two spellings.
pub(super) fn sent(fields: Fields<'_>) -> Option<&'static AgentSpec> {
    let stamped = fields.get("timestamp").is_some_and(Value::is_string);
    let alike = fields.get("hook_event_name").is_some() && stamped;
    let own =
        fields.get("hookEventName").is_some() || alike && fields.get("permission_mode").is_none();
    own.then_some(&VSCODE)
}

fn read(fields: Fields<'_>) -> Result<HookEvent, String> {
    let name = fields.any_text(&["hookEventName", "hook_event_name"])?;
    let kind = match name {
        "PreToolUse" => HookEventKind::Before,
        "PostToolUse" => HookEventKind::After,
        "SessionStart" => HookEventKind::SessionStart,
        _ if fields.get("tool_input").is_some() && fields.get("tool_response").is_none() => {
            return Err(unknown_event(name));
        }
        _ => HookEventKind::Other,
    };
    let session = match fields.maybe_text("sessionId")? {
        Some(session) => session,
        None => fields.maybe_text("session_id")?.unwrap_or("vscode"),
    };
    let mut event = HookEvent::new(&VSCODE, kind, name, session);
    // It is where the hook runs, and not where the model wants to be.
    event.directory = fields.maybe_text("cwd")?.map(str::to_owned);
    event.root.clone_from(&event.directory);
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
    let path = ["filePath", "path"];
    Ok(match event.tool.as_str() {
        "run_in_terminal" | "runInTerminal" | "runTerminalCommand" => {
            event.shell(input.text("command")?, None)
        }
        "read_file" | "readFile" | "view_image" => mapped::read(input.any_text(&path)?),
        "create_file" | "createFile" => {
            mapped::write(input.any_text(&path)?, input.text("content")?)
        }
        "replace_string_in_file" => mapped::edit(
            input.text("filePath")?,
            input.text("oldString")?,
            input.text("newString")?,
            false,
        ),
        "multi_replace_string_in_file" => replacements(input)?,
        "apply_patch" => mapped::patch(input, &["input", "patch"])?,
        "list_dir" | "listDirectory" => mapped::search("list", input, &["path"])?,
        "file_search" | "fileSearch" => found("glob", input)?,
        "grep_search" | "textSearch" => found("grep", input)?,
        "fetch_webpage" | "fetch" => pages(input)?,
        "runSubagent" => MappedCall::Internal(InternalTool::Subagent),
        "manage_todo_list"
        | "vscode_askQuestions"
        | "get_errors"
        | "get_terminal_output"
        | "terminal_last_command"
        | "test_failure" => MappedCall::Internal(InternalTool::Bookkeeping),
        // Tools of servers are mcp_SERVER_TOOL, and nothing tells where one name ends.
        name => match name.strip_prefix("mcp_eclusa_") {
            Some(tool) => MappedCall::OwnServer { tool: tool.to_owned() },
            None => event.unknown(),
        },
    })
}

/// Its searches begin in the workspace; the pattern says where they lead.
fn found(tool: &'static str, input: Fields<'_>) -> Mapping {
    let query = input.text("query")?;
    let mut fields = json!({"pattern": query});
    if let (Some(filter), Some(fields)) =
        (input.maybe_text("includePattern")?, fields.as_object_mut())
    {
        fields.insert("glob".to_owned(), filter.into());
        if let Some(place) = mapped::beneath(None, filter)? {
            fields.insert("path".to_owned(), place.into());
        }
    }
    mapped::search(tool, Fields::new(&fields, "the input")?, &["path"])
}

fn replacements(input: Fields<'_>) -> Mapping {
    let one = |it: &Value| -> Result<EclusaCall, String> {
        let it = Fields::new(it, "a replacement")?;
        let (old, new) = (it.text("oldString")?, it.text("newString")?);
        let args = json!({"path": it.text("filePath")?, "old_string": old, "new_string": new});
        Ok(EclusaCall { tool: "edit", args })
    };
    let all = input.list("replacements")?.iter().map(one).collect::<Result<Vec<_>, _>>()?;
    match all.is_empty() {
        true => Err("`replacements` is empty".to_owned()),
        false => Ok(MappedCall::Eclusa(all)),
    }
}

fn pages(input: Fields<'_>) -> Mapping {
    let one = |it: &Value| {
        let url = it.as_str().ok_or("`urls` holds something else than texts")?;
        Address::parse(url).map_err(|err| err.to_string())?;
        Ok(EclusaCall { tool: "web_fetch", args: json!({"url": url}) })
    };
    let all = input.list("urls")?.iter().map(one).collect::<Result<Vec<_>, String>>()?;
    match all.is_empty() {
        true => Err("`urls` is empty".to_owned()),
        false => Ok(MappedCall::Eclusa(all)),
    }
}

fn verdict(event: &str, verdict: &HookVerdict, _: &Value) -> HookOutput {
    let none = ("updatedInput", None);
    match verdict {
        HookVerdict::Allow { context: it } => {
            decided(event, "allow", Some("eclusa allows it"), [none, context(it.as_ref())])
        }
        HookVerdict::Ask(why) => decided(event, "ask", Some(why), [none, context(None)]),
        HookVerdict::Deny(why) => decided(event, "deny", Some(why), [none, context(None)]),
        HookVerdict::Rewrite { .. } => {
            let why = "the command cannot be put into the sandbox";
            decided(event, "deny", Some(why), [none, context(None)])
        }
    }
}

/// It takes no other output; a reason in the place of it hides what was there from nobody, so the
/// call counts as failed.
fn result(event: &HookEvent, note: &ResultNote) -> HookOutput {
    match replacement(event, note) {
        Some(text) => HookOutput::json(&json!({"decision": "block", "reason": text})),
        None => specific(&event.name, [context(note.context.as_ref())]),
    }
}
