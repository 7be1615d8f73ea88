//! Copilot CLI, from its manual: not tried with the real program.

use serde_json::{Value, json};

use super::{
    claude_code::result_text,
    cursor::unpacked,
    event::{HookEvent, HookEventKind, ToolResult},
    spec::{AgentSpec, Caveats, HookSpec, ServerSpec, SwitchSpec},
};
use crate::{
    answer::{HookOutput, HookVerdict, reason, to_stderr},
    entries::{EntryFile, InstallFacts, SettingsEntry},
    fields::Fields,
    mapped::{self, InternalTool, MappedCall, Mapping},
};

pub(super) static COPILOT: AgentSpec = AgentSpec {
    name: "copilot",
    aliases: &[],
    title: "Copilot CLI",
    hooks: Some(HookSpec {
        tried: false,
        gates: &["preToolUse"],
        root_variable: None,
        in_shell: true,
        can_rewrite: true,
        can_ask: |_, _| false,
        read,
        map,
        verdict,
        result: |_, note| to_stderr(note),
    }),
    entries,
    servers: ServerSpec {
        lists: &[&["mcpServers"]],
        files: &[
            EntryFile::Home(".copilot/mcp-config.json"),
            EntryFile::Project(".github/mcp.json"),
        ],
        // Nobody has seen it start our server for a project.
        ours: |facts| {
            (!facts.project).then(|| {
                json!({"type": "local", "command": facts.program, "args": ["mcp"], "tools": ["*"]})
            })
        },
    },
    switches: SwitchSpec::NONE,
    caveats: Caveats {
        open: &[
            "taken from its manual: not tried with the real program",
            "`disableAllHooks` switches hooks off",
        ],
        open_unmanaged: &[],
        confirm: None,
        confirm_unmanaged: None,
    },
    denials: None,
    launch: None,
    import_rules: None,
};

fn entries(facts: &InstallFacts) -> Vec<SettingsEntry> {
    let file = facts.file(
        EntryFile::Home(".copilot/hooks/eclusa.json"),
        EntryFile::Project(".github/hooks/eclusa.json"),
        None,
    );
    let entry = json!({"type": "command", "bash": COPILOT.hook_line(facts), "timeoutSec": 900});
    let (purpose, path) = ("the version of the file", vec!["version"]);
    let mut all = vec![SettingsEntry::value(file, purpose, path, json!(1))];
    for event in ["preToolUse", "postToolUse"] {
        all.push(COPILOT.hook(file, event, entry.clone()));
    }
    all
}

/// Its events have no name: one with a result is an event after the call.
fn read(fields: Fields<'_>) -> Result<HookEvent, String> {
    let result = fields.get("toolResult");
    let (kind, name) = match result {
        None => (HookEventKind::Before, "preToolUse"),
        Some(_) => (HookEventKind::After, "postToolUse"),
    };
    let session = fields.maybe_text("sessionId")?.unwrap_or("copilot");
    let mut event = HookEvent::new(&COPILOT, kind, name, session);
    event.directory = fields.maybe_text("cwd")?.map(str::to_owned);
    event.tool = fields.text("toolName")?.to_owned();
    event.input = unpacked(fields.get("toolArgs"))?;
    event.result = result.map(|it| ToolResult {
        text: it.get("textResultForLlm").map(result_text).unwrap_or_default(),
        failed: it.get("resultType").is_some_and(|it| it == "failure"),
    });
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
        "task" => MappedCall::Internal(InternalTool::Subagent),
        "update_todo" | "ask_user" | "report_intent" => {
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

fn verdict(_: &str, verdict: &HookVerdict, old: &Value) -> HookOutput {
    let deny =
        |why: &str| json!({"permissionDecision": "deny", "permissionDecisionReason": reason(why)});
    HookOutput::json(&match verdict {
        HookVerdict::Allow { .. } => return HookOutput::nothing(),
        HookVerdict::Deny(why) | HookVerdict::Ask(why) => deny(why),
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
