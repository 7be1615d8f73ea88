//! Gemini CLI, as seen with 0.61. Its events have no id for the call.

use eclusa::one_line;
use eclusa_config::jsonc;
use eclusa_tools::web::Address;
use serde_json::{Value, json};

use super::{
    claude_code,
    event::HookEvent,
    json_form::JsonForm,
    result::replacement,
    spec::{AgentSpec, Caveats, HookSpec, RewrittenAsk, ServerSpec, SwitchSpec},
};
use crate::{
    answer::{HookOutput, HookVerdict, ResultNote, context, reason, specific},
    entries::{EntryFile, InstallFacts, SettingsEntry, second_hook_line},
    fields::Fields,
    mapped::{self, EclusaCall, InternalTool, MappedCall, Mapping},
};

mod launch;
mod rules;

const USER_SETTINGS: EntryFile = EntryFile::Home(".gemini/settings.json");
const PROJECT_SETTINGS: EntryFile = EntryFile::Project(".gemini/settings.json");
const MACHINE_SETTINGS: EntryFile = EntryFile::Machine("/etc/gemini-cli/settings.json");

/// How the names of our hooks begin. A repository can switch hooks off by name, so nobody may guess
/// the rest.
const HOOK_NAME: &str = "eclusa-";

/// What ends a line of an `.env` file for one reader or another.
const LINE_ENDS: [char; 4] = ['\n', '\r', '\u{2028}', '\u{2029}'];

pub(super) static GEMINI: AgentSpec = AgentSpec {
    name: "gemini",
    aliases: &["gemini-cli"],
    title: "Gemini CLI",
    program: "gemini",
    hooks: Some(HookSpec {
        tried: true,
        gates: &["BeforeTool"],
        root_variable: Some("GEMINI_PROJECT_DIR"),
        in_shell: true,
        can_rewrite: true,
        json: JsonForm::Commented,
        keeps_directory: false,
        asks_rewritten: RewrittenAsk::Message,
        can_ask: |_, _| false,
        read,
        sender: |_| None,
        map,
        verdict,
        result,
    }),
    entries,
    servers: ServerSpec {
        lists: &[&["mcpServers"]],
        files: &[USER_SETTINGS, PROJECT_SETTINGS, MACHINE_SETTINGS],
        ours: |facts| Some(json!({"command": facts.program, "args": ["mcp"], "trust": true})),
    },
    trust: None,
    switches: SwitchSpec {
        files: &[USER_SETTINGS, PROJECT_SETTINGS],
        switched_off_by,
        variable_files: &[".env", ".gemini/.env"],
        variables: |text| Ok(text.split(LINE_ENDS).filter_map(assigned).collect()),
        looks_above: true,
    },
    caveats: Caveats {
        open: &["a folder that is not trusted runs no hooks"],
        open_unmanaged: &[],
        confirm: Some("trust the folder when Gemini CLI asks: elsewhere it runs no hooks"),
        confirm_unmanaged: None,
    },
    denials: None,
    launch: Some(launch::LAUNCH),
    past: None,
    import_rules: Some(rules::read),
};

fn entries(facts: &InstallFacts) -> Vec<SettingsEntry> {
    let settings = facts.file(USER_SETTINGS, PROJECT_SETTINGS, Some(MACHINE_SETTINGS));
    let name = format!("{HOOK_NAME}{}", facts.nonce);
    let command = json!({
        "type": "command", "command": GEMINI.hook_line(facts), "name": name, "timeout": 900_000,
    });
    // It runs a call whose hook ran out of time, unless another one says no. One after the other, so
    // that the second sees what the first made of the input.
    let second = json!({
        "type": "command", "command": second_hook_line(GEMINI.name, facts),
        "name": format!("{name}-second"), "timeout": 60_000,
    });
    let before = json!({"matcher": "*", "sequential": true, "hooks": [command, second]});
    let after = json!({"matcher": "*", "hooks": [command]});
    let mut all = vec![
        GEMINI.hook(settings, "BeforeTool", before),
        GEMINI.hook(settings, "AfterTool", after),
    ];
    let (purpose, path) = ("switches hooks on", vec!["hooksConfig", "enabled"]);
    all.push(SettingsEntry::value(settings, purpose, path, json!(true)));
    all
}

fn switched_off_by(text: &str, managed: bool) -> Option<&'static str> {
    let settings = jsonc::read(text).ok()?;
    let hooks = settings.get("hooksConfig")?;
    let disabled = hooks.get("disabled").and_then(Value::as_array);
    let mut named = disabled.into_iter().flatten().filter_map(Value::as_str);
    if named.any(|it| it.starts_with(HOOK_NAME)) {
        return Some("hooksConfig.disabled");
    }
    let off = !managed && hooks.get("enabled") == Some(&Value::Bool(false));
    off.then_some("hooksConfig.enabled = false")
}

/// The variable that a line of an `.env` file may set: the name before its first `=` or `:`, whatever
/// stands before that. Readers of such files differ in what blanks and line ends are.
fn assigned(line: &str) -> Option<String> {
    let before = line.split(['=', ':']).next()?.trim_end();
    let name: String =
        before.chars().rev().take_while(|it| it.is_ascii_alphanumeric() || *it == '_').collect();
    let comment = line.trim_start().starts_with('#');
    (!comment).then(|| name.chars().rev().collect())
}

fn read(fields: Fields<'_>) -> Result<HookEvent, String> {
    let mut event = claude_code::read_as(&GEMINI, fields)?;
    event.sent_at = fields.get("timestamp").and_then(Value::as_str).and_then(unix_ms);
    if let Some(server) = fields.object("mcp_context")? {
        let names = (server.text("server_name")?, server.text("tool_name")?);
        event.server = Some((names.0.to_owned(), names.1.to_owned()));
    }
    Ok(event)
}

/// A moment as it writes it, `2026-11-19T11:41:14.487Z`, in milliseconds since 1970.
fn unix_ms(text: &str) -> Option<u64> {
    let (date, time) = text.strip_suffix('Z')?.split_once('T')?;
    let [year, month, day] = numbers(date, '-')?;
    let (time, ms) = time.split_once('.')?;
    let [hours, minutes, seconds] = numbers(time, ':')?;
    let ms: u64 = ms.parse().ok().filter(|it| *it < 1000)?;
    if !(1970..10_000).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    if hours > 23 || minutes > 59 || seconds > 60 {
        return None;
    }
    // Years begin in March, so that the day that is there in some of them is their last.
    let (year, month) = if month < 3 { (year - 1, month + 9) } else { (year, month - 3) };
    let days = year * 365 + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1;
    let days = days.checked_sub(719_468)?;
    Some((((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1000 + ms)
}

/// Three numbers with this between them.
fn numbers(text: &str, between: char) -> Option<[u64; 3]> {
    let all: Option<Vec<u64>> = text.split(between).map(|it| it.parse().ok()).collect();
    all?.try_into().ok()
}

fn map(event: &HookEvent, input: Fields<'_>) -> Mapping {
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
        "web_fetch" => match urls(input.any_text(&["prompt", "url"])?)? {
            none if none.is_empty() => event.unknown(),
            all => MappedCall::Eclusa(all),
        },
        "invoke_agent" | "delegate_to_agent" | "codebase_investigator" | "complete_task" => {
            MappedCall::Internal(InternalTool::Subagent)
        }
        "write_todos"
        | "ask_user"
        | "activate_skill"
        | "enter_plan_mode"
        | "exit_plan_mode"
        | "get_internal_docs"
        | "update_topic"
        | "list_background_processes"
        | "read_background_output" => MappedCall::Internal(InternalTool::Bookkeeping),
        name if name.starts_with("tracker_") => MappedCall::Internal(InternalTool::Bookkeeping),
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
            all.push(match path.contains(['*', '?', '[', '{', '(', '!']) {
                // What fits is read.
                true => {
                    let place = mapped::beneath(None, path)?.unwrap_or_else(|| ".".to_owned());
                    let args = json!({"pattern": ".", "glob": path, "path": place});
                    EclusaCall { tool: "grep", args }
                }
                false => EclusaCall { tool: "read", args: json!({"path": path}) },
            });
        }
    }
    match all.is_empty() {
        true => Err("`include` is missing".to_owned()),
        false => Ok(MappedCall::Eclusa(all)),
    }
}

/// Every address in a text: Gemini CLI takes each word that is one, and a word may hold several. What
/// begins like one and is none is an error.
fn urls(text: &str) -> Result<Vec<EclusaCall>, String> {
    let mut all = Vec::new();
    for word in text.split(|it: char| it.is_whitespace() || "<>\"'`".contains(it)) {
        let lower = word.to_ascii_lowercase();
        let begins = lower.match_indices("http").map(|it| it.0);
        for at in begins.filter(|at| {
            let rest = lower.get(*at..).unwrap_or_default();
            rest.starts_with("http:") || rest.starts_with("https:")
        }) {
            let url = word.get(at..).unwrap_or_default();
            let url = url.trim_end_matches(['.', ',', ';', ':', '!', ')', '}']);
            // A bracket at the end is the text's, unless it closes an address in brackets.
            let url = if url.contains('[') { url } else { url.trim_end_matches(']') };
            Address::parse(url).map_err(|err| format!("`{}`: {err}", one_line(url)))?;
            all.push(EclusaCall { tool: "web_fetch", args: json!({"url": url}) });
        }
    }
    Ok(all)
}

/// A question hangs where nobody looks, so it is a denial, but for a command that has run ahead.
fn verdict(_: &str, verdict: &HookVerdict, _: &Value) -> HookOutput {
    let deny = |why: &str| HookOutput::json(&json!({"decision": "deny", "reason": reason(why)}));
    match verdict {
        HookVerdict::Allow { .. } => HookOutput::nothing(),
        HookVerdict::Deny(why) | HookVerdict::Ask(why) => deny(why),
        HookVerdict::Rewrite { input, ask, .. } => {
            let specific = json!({"hookEventName": "BeforeTool", "tool_input": input});
            HookOutput::json(&match ask {
                None => json!({"decision": "allow", "hookSpecificOutput": specific}),
                // Only where somebody was seen to sit in front of it.
                Some(why) => {
                    json!({"decision": "ask", "systemMessage": why, "hookSpecificOutput": specific})
                }
            })
        }
    }
}

fn result(event: &HookEvent, note: &ResultNote) -> HookOutput {
    match &replacement(event, note) {
        Some(text) => HookOutput::json(&json!({"decision": "deny", "reason": text})),
        None => specific(&event.name, [context(note.context.as_ref())]),
    }
}
