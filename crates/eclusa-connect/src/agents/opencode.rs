//! opencode, as seen with 1.18. It runs plugins inside itself; ours sends these events, also from
//! opencode 2, whose form of plugins is taken from its manual.

use serde_json::{Value, json};

use super::{
    event::{HookEvent, HookEventKind, ToolResult, unknown_event},
    json_form::JsonForm,
    spec::{AgentSpec, Caveats, HookSpec, RewrittenAsk, ServerSpec, SwitchSpec},
};
use crate::{
    answer::{HookOutput, HookVerdict, ResultNote, reason},
    entries::{EntryChange, EntryFile, InstallFacts, SettingsEntry},
    fields::Fields,
    mapped::{self, InternalTool, MappedCall, Mapping},
};

mod launch;
mod rules;

/// A file of a person's settings.
const fn user(name: &'static str) -> EntryFile {
    EntryFile::Settings("XDG_CONFIG_HOME", ".config", name)
}

pub(super) static OPENCODE: AgentSpec = AgentSpec {
    name: "opencode",
    aliases: &[],
    title: "opencode",
    program: "opencode",
    hooks: Some(HookSpec {
        tried: true,
        gates: &["before"],
        root_variable: None,
        // Its plugin starts us without a shell.
        in_shell: false,
        can_rewrite: true,
        json: JsonForm::Commented,
        keeps_directory: false,
        asks_rewritten: RewrittenAsk::Never,
        can_ask: |_, _| false,
        read,
        sender: |_| None,
        map,
        verdict,
        result,
    }),
    entries,
    servers: ServerSpec {
        lists: &[&["mcp"]],
        files: &[
            user("opencode/opencode.json"),
            user("opencode/opencode.jsonc"),
            EntryFile::Project("opencode.json"),
            EntryFile::Project("opencode.jsonc"),
            EntryFile::Project(".opencode/opencode.json"),
            EntryFile::Project(".opencode/opencode.jsonc"),
        ],
        ours: |facts| {
            Some(json!({"type": "local", "command": [facts.program, "mcp"], "enabled": true}))
        },
    },
    trust: None,
    switches: SwitchSpec::NONE,
    caveats: Caveats {
        open: &[
            "`--pure` and OPENCODE_PURE=1 load no plugins",
            "another plugin can change a call after eclusa has allowed it",
        ],
        open_unmanaged: &[],
        confirm: Some(
            "start `opencode` once with a network: it fetches a package that plugins need",
        ),
        confirm_unmanaged: None,
    },
    denials: None,
    launch: Some(launch::LAUNCH),
    past: None,
    import_rules: Some(rules::read),
};

fn entries(facts: &InstallFacts) -> Vec<SettingsEntry> {
    let program = Value::from(facts.program.as_str()).to_string();
    let text = include_str!("opencode_plugin.js").replace("\"ECLUSA\"", &program);
    let plugin = EntryFile::Project(".opencode/plugins/eclusa.js");
    vec![SettingsEntry {
        file: facts.file(user("opencode/plugins/eclusa.js"), plugin, None),
        purpose: "asks eclusa before its own tools run",
        is_gate: true,
        change: EntryChange::Whole { text },
    }]
}

fn read(fields: Fields<'_>) -> Result<HookEvent, String> {
    let name = fields.text("event")?;
    let kind = match name {
        "before" => HookEventKind::Before,
        "after" => HookEventKind::After,
        // Our own plugin sends no other.
        _ => return Err(unknown_event(name)),
    };
    let mut event = HookEvent::new(&OPENCODE, kind, name, fields.text("session")?);
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

fn map(event: &HookEvent, input: Fields<'_>) -> Mapping {
    Ok(match event.tool.as_str() {
        // The second is what opencode 2 calls it.
        "bash" | "shell" => event.shell(input.text("command")?, input.maybe_text("workdir")?),
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
        "webfetch" => mapped::fetch(input.text("url")?)?,
        "task" | "subagent" => MappedCall::Internal(InternalTool::Subagent),
        "todowrite" | "todoread" | "question" | "skill" | "invalid" => {
            MappedCall::Internal(InternalTool::Bookkeeping)
        }
        // Tools of servers are SERVER_TOOL, and nothing tells where one name ends.
        name => match name.strip_prefix("eclusa_") {
            Some(tool) => MappedCall::OwnServer { tool: tool.to_owned() },
            None => event.unknown(),
        },
    })
}

/// The words of our own plugin.
fn verdict(_: &str, verdict: &HookVerdict, _: &Value) -> HookOutput {
    HookOutput::json(&match verdict {
        HookVerdict::Allow { .. } => json!({"decision": "allow"}),
        HookVerdict::Deny(why) | HookVerdict::Ask(why) => {
            json!({"decision": "deny", "reason": reason(why)})
        }
        HookVerdict::Rewrite { ask: Some(why), .. } => {
            json!({"decision": "deny", "reason": reason(why)})
        }
        HookVerdict::Rewrite { input, ask: None, .. } => {
            json!({"decision": "allow", "args": input})
        }
    })
}

fn result(_: &HookEvent, note: &ResultNote) -> HookOutput {
    match (&note.replacement, &note.context) {
        (Some(text), _) => HookOutput::json(&json!({"output": text})),
        (None, Some(text)) => HookOutput::json(&json!({"context": text})),
        (None, None) => HookOutput::nothing(),
    }
}
