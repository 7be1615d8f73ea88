//! Copilot CLI, as seen with 1.0.102. Its events have no id for the call.

use serde_json::{Value, json};

use super::{
    cursor::unpacked,
    event::{HookEvent, HookEventKind, ToolResult},
    json_form::JsonForm,
    result::result_text,
    spec::{AgentSpec, Caveats, HookSpec, RewrittenAsk, ServerSpec, SwitchSpec},
    vscode,
};
use crate::{
    answer::{HookOutput, HookVerdict, ResultNote, reason},
    entries::{EntryFile, InstallFacts, SettingsEntry, second_hook_line},
    fields::Fields,
    mapped::{self, InternalTool, MappedCall, Mapping},
};

mod launch;

/// A file of a person's settings.
const fn user(name: &'static str) -> EntryFile {
    EntryFile::Settings("COPILOT_HOME", ".copilot", name)
}

pub(super) static COPILOT: AgentSpec = AgentSpec {
    name: "copilot",
    aliases: &[],
    title: "Copilot CLI",
    program: "copilot",
    hooks: Some(HookSpec {
        tried: true,
        gates: &["preToolUse"],
        root_variable: None,
        in_shell: true,
        can_rewrite: true,
        json: JsonForm::Unmarked,
        keeps_directory: false,
        asks_rewritten: RewrittenAsk::SecondHook,
        // After a yes to a command that we have rewritten it runs the one that was there before.
        can_ask: |_, _| true,
        read,
        sender: vscode::sent,
        map,
        verdict,
        result,
    }),
    entries,
    servers: ServerSpec {
        lists: &[&["mcpServers"]],
        files: &[user("mcp-config.json"), EntryFile::Project(".github/mcp.json")],
        // Nobody has seen it start our server for a project.
        ours: |facts| {
            (!facts.project).then(|| {
                json!({"type": "local", "command": facts.program, "args": ["mcp"], "tools": ["*"]})
            })
        },
    },
    trust: None,
    switches: SwitchSpec::NONE,
    caveats: Caveats {
        open: &["output of its own failed calls is not redacted"],
        open_unmanaged: &["`disableAllHooks` switches hooks off; `--managed` closes that"],
        confirm: None,
        confirm_unmanaged: None,
    },
    denials: None,
    launch: Some(launch::LAUNCH),
    past: None,
    import_rules: None,
};

fn entries(facts: &InstallFacts) -> Vec<SettingsEntry> {
    let file = facts.file(
        user("hooks/eclusa.json"),
        EntryFile::Project(".github/hooks/eclusa.json"),
        Some(EntryFile::Machine("/etc/github-copilot/policy.d/50-eclusa.json")),
    );
    let entry = json!({"type": "command", "bash": COPILOT.hook_line(facts), "timeoutSec": 900});
    // It runs a call whose hook ran out of time, unless another one says no. They run one after the
    // other, and the second sees what the first made of the arguments.
    let line = second_hook_line(COPILOT.name, facts);
    let second = json!({"type": "command", "bash": line, "timeoutSec": 60});
    let (purpose, path) = ("the version of the file", vec!["version"]);
    let mut all = vec![SettingsEntry::value(file, purpose, path, json!(1))];
    all.push(COPILOT.hook(file, "preToolUse", entry.clone()));
    all.push(COPILOT.second_hook(file, "preToolUse", second));
    for event in ["postToolUse", "postToolUseFailure", "sessionEnd"] {
        all.push(COPILOT.hook(file, event, entry.clone()));
    }
    all
}

/// Its events have no name: they are told by what they bring.
fn read(fields: Fields<'_>) -> Result<HookEvent, String> {
    let (result, error) = (fields.get("toolResult"), fields.get("error"));
    let (kind, name) = match (fields.get("toolName"), result, error) {
        (Some(_), None, None) => (HookEventKind::Before, "preToolUse"),
        (Some(_), Some(_), _) => (HookEventKind::After, "postToolUse"),
        (Some(_), None, Some(_)) => (HookEventKind::After, "postToolUseFailure"),
        (None, ..) if fields.get("toolArgs").is_some() => {
            return Err("`toolName` is missing".to_owned());
        }
        (None, ..) if fields.get("reason").is_some() => (HookEventKind::SessionEnd, "sessionEnd"),
        (None, ..) if fields.get("sessionId").is_some() => (HookEventKind::Other, "other"),
        (None, ..) => return Err("`toolName` is missing".to_owned()),
    };
    let session = fields.maybe_text("sessionId")?.unwrap_or("copilot");
    let mut event = HookEvent::new(&COPILOT, kind, name, session);
    event.directory = fields.maybe_text("cwd")?.map(str::to_owned);
    event.sent_at = fields.get("timestamp").and_then(Value::as_u64);
    if !matches!(kind, HookEventKind::Before | HookEventKind::After) {
        return Ok(event);
    }
    event.tool = fields.text("toolName")?.to_owned();
    event.input = unpacked(fields.get("toolArgs"))?;
    if kind == HookEventKind::After {
        let text = result.and_then(|it| it.get("textResultForLlm")).or(error);
        event.result = Some(ToolResult {
            text: text.map(result_text).unwrap_or_default(),
            failed: result.is_none_or(|it| it.get("resultType").is_some_and(|it| it == "failure")),
        });
        event.response = result.cloned();
    }
    Ok(event)
}

fn map(event: &HookEvent, input: Fields<'_>) -> Mapping {
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
        "web_fetch" => mapped::fetch(input.text("url")?)?,
        "task" | "write_agent" => MappedCall::Internal(InternalTool::Subagent),
        "update_todo"
        | "ask_user"
        | "report_intent"
        | "read_bash"
        | "list_bash"
        | "stop_bash"
        | "read_agent"
        | "list_agents"
        | "skill"
        | "fetch_copilot_cli_documentation" => MappedCall::Internal(InternalTool::Bookkeeping),
        // The database of its session, as long as the query stays in it.
        "sql" if !leaves_database(input.text("query")?) => {
            MappedCall::Internal(InternalTool::Bookkeeping)
        }
        // Tools of servers are SERVER-TOOL, and nothing tells where one name ends.
        name => match name.strip_prefix("eclusa-") {
            Some(tool) => MappedCall::OwnServer { tool: tool.to_owned() },
            // `write_bash` types into a shell that runs: nobody can tell what that does.
            None => event.unknown(),
        },
    })
}

/// Whether a query could reach other files than its database.
fn leaves_database(query: &str) -> bool {
    let query = query.to_ascii_lowercase();
    let mut words = query.split(|it: char| !it.is_ascii_alphanumeric() && it != '_');
    words.any(|it| {
        ["attach", "vacuum", "load_extension", "pragma", "readfile", "writefile", "edit"]
            .contains(&it)
    })
}

fn verdict(_: &str, verdict: &HookVerdict, old: &Value) -> HookOutput {
    let deny =
        |why: &str| json!({"permissionDecision": "deny", "permissionDecisionReason": reason(why)});
    HookOutput::json(&match verdict {
        HookVerdict::Allow { .. } => return HookOutput::nothing(),
        HookVerdict::Deny(why) => deny(why),
        HookVerdict::Ask(why) => {
            json!({"permissionDecision": "ask", "permissionDecisionReason": reason(why)})
        }
        HookVerdict::Rewrite { ask: Some(why), .. } => deny(why),
        HookVerdict::Rewrite { input, .. } => {
            let mut args = old.clone();
            if let (Some(args), Some(input)) = (args.as_object_mut(), input.as_object()) {
                args.extend(input.clone());
            }
            json!({"permissionDecision": "allow", "modifiedArgs": args})
        }
    })
}

/// The result with another text in it. Of one that nobody may see nothing else is left.
fn result(event: &HookEvent, note: &ResultNote) -> HookOutput {
    let context = note.context.as_ref().map(|it| format!("eclusa: {it}"));
    let (Some(text), Some(response)) = (&note.replacement, &event.response) else {
        let said = note.replacement.iter().chain(&context);
        let stderr = said.map(|it| format!("{it}\n")).collect();
        return HookOutput { stderr, ..HookOutput::default() };
    };
    let text = context.iter().fold(text.clone(), |text, it| format!("{text}\n{it}"));
    let mut result = json!({"resultType": "success"});
    if let (false, Some(_)) = (note.withheld, response.as_object()) {
        result = response.clone();
    }
    if let Some(fields) = result.as_object_mut() {
        fields.insert("textResultForLlm".to_owned(), text.into());
    }
    HookOutput::json(&json!({"modifiedResult": result}))
}
