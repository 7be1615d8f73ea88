//! Codex, as seen with 0.166. Its hooks run in the directory of the session; `cwd` of an event is
//! where the model wants the command to start.

use std::path::Path;

use serde_json::{Value, json};
use toml_edit::DocumentMut;

use super::{
    claude_code,
    event::{HookEvent, HookEventKind},
    json_form::JsonForm,
    past_calls,
    result::replacement,
    spec::{AgentSpec, Caveats, HookSpec, RewrittenAsk, ServerSpec, SwitchSpec, TrustSpec},
};
use crate::{
    answer::{HookOutput, HookVerdict, ResultNote, context, decided, specific},
    entries::{EntryChange, EntryFile, InstallFacts, SettingsEntry},
    fields::Fields,
    mapped::{self, InternalTool, MappedCall, Mapping},
};

mod launch;
mod rules;
mod starlark;

const USER_CONFIG: EntryFile = EntryFile::Settings("CODEX_HOME", ".codex", "config.toml");
const PROJECT_CONFIG: EntryFile = EntryFile::Project(".codex/config.toml");
const OWN_RULES: EntryFile = EntryFile::Settings("CODEX_HOME", ".codex", "rules/eclusa.rules");

pub(super) static CODEX: AgentSpec = AgentSpec {
    name: "codex",
    aliases: &[],
    title: "Codex",
    program: "codex",
    hooks: Some(HookSpec {
        tried: true,
        gates: &["PreToolUse"],
        root_variable: None,
        in_shell: true,
        can_rewrite: true,
        json: JsonForm::Unmarked,
        keeps_directory: false,
        asks_rewritten: RewrittenAsk::OwnRule(OWN_RULES),
        can_ask: |_, _| false,
        read,
        sender: |_| None,
        map,
        verdict,
        result,
    }),
    entries,
    servers: ServerSpec {
        lists: &[&["mcp_servers"]],
        files: &[USER_CONFIG, PROJECT_CONFIG],
        ours: |_| None,
    },
    trust: Some(TrustSpec { file: USER_CONFIG, is_trusted }),
    switches: SwitchSpec {
        files: &[USER_CONFIG, PROJECT_CONFIG],
        switched_off_by: |text, managed| {
            let hooks =
                || text.parse::<DocumentMut>().ok()?.get("features")?.get("hooks")?.as_bool();
            (!managed && hooks() == Some(false)).then_some("features.hooks = false")
        },
        variable_files: &[".codex/config.toml"],
        // What it gives to the shells of its commands, which run our tickets.
        variables: |text| {
            let settings: DocumentMut = text.parse().map_err(|err| format!("{err}"))?;
            let given = settings.get("shell_environment_policy").and_then(|it| it.get("set"));
            let given = given.and_then(|it| it.as_table_like());
            Ok(given.into_iter().flat_map(|it| it.iter()).map(|it| it.0.to_owned()).collect())
        },
        looks_above: true,
    },
    caveats: Caveats {
        open: &[
            "a hook that is stopped until its time is up lets the call pass",
            "text typed into a running command and web search come to no hook",
        ],
        open_unmanaged: &[
            "`features.hooks = false` and `--disable hooks` switch hooks off; `--managed` closes that",
        ],
        confirm: None,
        confirm_unmanaged: Some(
            "start `codex` once and trust the hooks (`/hooks`): until then it runs none of them",
        ),
    },
    denials: None,
    launch: Some(launch::LAUNCH),
    past: Some(past_calls::CODEX),
    import_rules: Some(rules::read),
};

/// Codex keeps a digest of each hook that its person has trusted, under the file, event and place of it.
fn is_trusted(text: &str, hooks: &Path) -> bool {
    let Ok(config) = text.parse::<DocumentMut>() else { return false };
    let state = config.get("hooks").and_then(|it| it.get("state"));
    let state = state.and_then(|it| it.as_table_like());
    let names = [Some(hooks.to_owned()), hooks.canonicalize().ok()];
    let ours = |key: &str| {
        let mut files = names.iter().flatten();
        files.any(|it| key.starts_with(&format!("{}:pre_tool_use:", it.display())))
    };
    let mut all = state.into_iter().flat_map(|it| it.iter());
    all.any(|(key, hook)| {
        let digest = hook.get("trusted_hash").and_then(|it| it.as_str());
        let off = hook.get("enabled").and_then(|it| it.as_bool()) == Some(false);
        ours(key) && digest.is_some() && !off
    })
}

const EVENTS: [&str; 5] =
    ["PreToolUse", "PermissionRequest", "PostToolUse", "SessionStart", "SessionEnd"];
/// The event before its own prompt.
const ASKED: &str = "PermissionRequest";

fn entries(facts: &InstallFacts) -> Vec<SettingsEntry> {
    let command = json!({"type": "command", "command": CODEX.hook_line(facts), "timeout": 900});
    if facts.managed {
        return managed(&command);
    }
    let hooks = facts.file(
        EntryFile::Settings("CODEX_HOME", ".codex", "hooks.json"),
        EntryFile::Project(".codex/hooks.json"),
        None,
    );
    let hook = |event: &'static str| {
        let entry = match event.contains("ToolUse") || event == ASKED {
            true => json!({"matcher": ".*", "hooks": [command]}),
            false => json!({"hooks": [command]}),
        };
        CODEX.hook(hooks, event, entry)
    };
    let mut all: Vec<SettingsEntry> = EVENTS.into_iter().map(hook).collect();
    all.push(SettingsEntry {
        file: facts.file(USER_CONFIG, PROJECT_CONFIG, None),
        purpose: "connects eclusa's tools, without a question of the agent's own",
        is_gate: false,
        change: EntryChange::TomlTable {
            path: vec!["mcp_servers", "eclusa"],
            fields: vec![
                ("command", json!(facts.program)),
                ("args", json!(["mcp"])),
                ("default_tools_approval_mode", json!("approve")),
            ],
        },
    });
    if !facts.project {
        all.push(SettingsEntry {
            file: OWN_RULES,
            purpose: "has Codex ask about a command's changes, and lets our tickets write the log",
            is_gate: false,
            change: EntryChange::Whole { text: own_rules(&facts.program) },
        });
    }
    all
}

/// Rules of its own: what must be asked is a prompt of Codex's, and a ticket that needs no answer runs outside its
/// sandbox, in ours.
fn own_rules(program: &str) -> String {
    let program = Value::from(program);
    format!(
        "# Written by `eclusa install codex`; `eclusa uninstall codex` takes it away.\n\
         prefix_rule(pattern=[{program}, \"exec\", \"--ask\"], decision=\"prompt\", \
         justification=\"apply the changes shown above? (eclusa)\")\n\
         prefix_rule(pattern=[{program}, \"exec\", \"--ticket\"], decision=\"allow\")\n"
    )
}

/// What an administrator requires of everybody on the machine.
fn managed(command: &Value) -> Vec<SettingsEntry> {
    let table = |is_gate, path, fields| SettingsEntry {
        file: EntryFile::Machine("/etc/codex/requirements.toml"),
        purpose: "asks eclusa before its own tools run; other hooks are off",
        is_gate,
        change: EntryChange::TomlTable { path, fields },
    };
    let hooks = EVENTS.map(|it| (it, json!([{"matcher": ".*", "hooks": [command]}])));
    vec![
        table(false, vec![], vec![("allow_managed_hooks_only", json!(true))]),
        table(false, vec!["features"], vec![("hooks", json!(true))]),
        table(true, vec!["hooks"], hooks.to_vec()),
    ]
}

fn read(fields: Fields<'_>) -> Result<HookEvent, String> {
    let mut event = match fields.text("hook_event_name")? {
        ASKED => asked(fields)?,
        _ => claude_code::read_as(&CODEX, fields)?,
    };
    event.turn = fields.maybe_text("turn_id")?.map(str::to_owned);
    // A no ends the turn.
    event.asked_with.clone_from(&event.turn);
    Ok(event)
}

/// It asks its person at this moment.
fn asked(fields: Fields<'_>) -> Result<HookEvent, String> {
    let session = fields.text("session_id")?;
    let mut event = HookEvent::new(&CODEX, HookEventKind::Asked, ASKED, session);
    event.directory = fields.maybe_text("cwd")?.map(str::to_owned);
    event.mode = fields.maybe_text("permission_mode")?.map(str::to_owned);
    event.tool = fields.text("tool_name")?.to_owned();
    event.input = fields.get("tool_input").cloned().unwrap_or_else(|| json!({}));
    Ok(event)
}

fn map(event: &HookEvent, input: Fields<'_>) -> Mapping {
    if let Some(call) = mapped::double_underscored(&event.tool, &event.input) {
        return Ok(call);
    }
    let name = event.tool.rsplit('.').next().unwrap_or_default();
    Ok(match name {
        "Bash" => event.shell(input.text("command")?, None),
        "apply_patch" => mapped::patch(input, &["command", "input", "patch"])?,
        "view_image" => mapped::read(input.text("path")?),
        "spawn_agent" | "send_input" | "wait_agent" | "close_agent" | "resume_agent" => {
            MappedCall::Internal(InternalTool::Subagent)
        }
        "update_plan" | "get_goal" | "create_goal" | "update_goal" | "request_user_input" => {
            MappedCall::Internal(InternalTool::Bookkeeping)
        }
        _ => event.unknown(),
    })
}

/// Codex knows a denial and a rewritten input; whatever else is said, it runs the call. So a
/// question is a denial here, but for a command that has run ahead.
fn verdict(event: &str, verdict: &HookVerdict, _: &Value) -> HookOutput {
    let none = ("updatedInput", None);
    match verdict {
        HookVerdict::Allow { context: None } => HookOutput::nothing(),
        HookVerdict::Allow { context: it } => specific(event, [context(it.as_ref())]),
        HookVerdict::Deny(why) | HookVerdict::Ask(why) => {
            decided(event, "deny", Some(why), [none, context(None)])
        }
        // Its own rule asks about this command; the message stands above the prompt.
        HookVerdict::Rewrite { input, ask: Some(why), .. } => {
            let specific = json!({
                "hookEventName": event, "permissionDecision": "allow", "updatedInput": input,
            });
            HookOutput::json(&json!({"systemMessage": why, "hookSpecificOutput": specific}))
        }
        HookVerdict::Rewrite { input, context: it, ask: None } => {
            let input = ("updatedInput", Some(input.clone()));
            decided(event, "allow", None, [input, context(it.as_ref())])
        }
    }
}

fn result(event: &HookEvent, note: &ResultNote) -> HookOutput {
    match &replacement(event, note) {
        Some(text) => HookOutput::json(&json!({"decision": "block", "reason": text})),
        None => specific(&event.name, [context(note.context.as_ref())]),
    }
}
