//! Gemini CLI: `tools` of settings.json, and the rules of its policy files.

use eclusa_config::jsonc;
use serde_json::Value;
use toml_edit::{DocumentMut, Item, Table};

use crate::imported_rules::{ImportedRules, ShellPattern};

pub(super) fn read(text: &str) -> Result<ImportedRules, String> {
    if text.trim_start().starts_with(['{', '/']) {
        return settings(&jsonc::read(text).map_err(|err| err.to_string())?);
    }
    let document: DocumentMut = text.parse().map_err(|err| format!("{err}"))?;
    let rules = document.get("rule").and_then(Item::as_array_of_tables);
    let rules = rules.ok_or("there is neither an object `tools` nor a `[[rule]]` in it")?;
    let mut brought = ImportedRules::default();
    for (number, rule) in (1..).zip(rules.iter()) {
        import_rule(&mut brought, number, rule);
    }
    Ok(brought)
}

fn settings(settings: &Value) -> Result<ImportedRules, String> {
    let mut brought = ImportedRules::default();
    let tools = settings.get("tools").and_then(Value::as_object);
    let tools = tools.ok_or("there is no object `tools` in it")?;
    for (key, value) in tools {
        let decision = match key.as_str() {
            "exclude" => "deny",
            "allowed" => "allow",
            "core" => {
                brought.left(
                    "tools.core",
                    "deny",
                    "a list of the only tools cannot be said by rules",
                );
                continue;
            }
            key => {
                brought.left(format!("tools.{key}"), "none", "it is no permission");
                continue;
            }
        };
        for name in value.as_array().into_iter().flatten().filter_map(Value::as_str) {
            let (tool, content) = match name.split_once('(') {
                Some((tool, rest)) => (tool, rest.strip_suffix(')')),
                None => (name, None),
            };
            named(&mut brought, &format!("tools.{key} {name}"), decision, tool, content);
        }
    }
    Ok(brought)
}

/// A tool, perhaps with the beginning of a command.
fn named(
    brought: &mut ImportedRules,
    from: &str,
    decision: &str,
    tool: &str,
    content: Option<&str>,
) {
    match (tool, content) {
        ("run_shell_command" | "ShellTool", None) => {
            brought.shell(from, decision, ShellPattern::All)
        }
        ("run_shell_command" | "ShellTool", Some(text)) => {
            let words = text.split_whitespace().map(str::to_owned).collect();
            brought.shell(from, decision, ShellPattern::Begins(words));
        }
        (_, Some(_)) => brought.left(from, decision, "only commands can be narrowed"),
        (
            "read_file"
            | "read_many_files"
            | "list_directory"
            | "glob"
            | "search_file_content"
            | "grep_search"
            | "ReadFileTool"
            | "LSTool"
            | "GlobTool"
            | "GrepTool",
            None,
        ) => brought.files(from, decision, "read", None),
        ("write_file" | "replace" | "WriteFileTool" | "EditTool", None) => {
            brought.files(from, decision, "write", None);
        }
        ("web_fetch" | "WebFetchTool", None) => brought.web(from, decision, None),
        (tool, None) => match tool.strip_prefix("mcp_").and_then(|it| it.split_once('_')) {
            Some((server, "*")) => brought.server(from, decision, server, None),
            _ => brought.left(from, "none", "no tool here is like it"),
        },
    }
}

fn import_rule(brought: &mut ImportedRules, number: usize, rule: &Table) {
    let text = |key: &str| rule.get(key).and_then(Item::as_str);
    let decision = match text("decision") {
        Some("allow") => "allow",
        Some("ask_user") => "ask",
        _ => "deny",
    };
    let from = format!("rule {number} ({decision})");
    let known = ["toolName", "mcpName", "decision", "priority", "commandPrefix", "commandRegex"];
    let words = ["deny_message", "denyMessage", "name", "description"];
    // What tightens in some modes may tighten in all; what allows in some may not.
    let modes = |key: &str| ["modes", "interactive"].contains(&key) && decision != "allow";
    let extra = rule
        .iter()
        .map(|(key, _)| key)
        .find(|key| !known.contains(key) && !words.contains(key) && !modes(key));
    if let Some(key) = extra {
        return brought.left(from, decision, &format!("`{key}` has no like here"));
    }
    let tools = rule.get("toolName").and_then(texts).unwrap_or_default();
    if let Some(server) = text("mcpName") {
        match tools.as_slice() {
            [] | ["*"] => brought.server(&from, decision, server, None),
            tools => tools.iter().for_each(|it| brought.server(&from, decision, server, Some(it))),
        }
        return;
    }
    if let Some(regex) = text("commandRegex") {
        return brought.shell(&from, decision, ShellPattern::Regex(regex));
    }
    if let Some(prefixes) = rule.get("commandPrefix").and_then(texts) {
        for prefix in prefixes {
            let words = prefix.split_whitespace().map(str::to_owned).collect();
            let from = format!("{decision} {prefix}");
            brought.shell(&from, decision, ShellPattern::Begins(words));
        }
        return;
    }
    if tools.is_empty() {
        return brought.left(from, decision, "it is about every tool; set `mode` instead");
    }
    for tool in tools {
        named(brought, &format!("{decision} {tool}"), decision, tool, None);
    }
}

/// The texts of a value that is one text or a list of them.
fn texts(item: &Item) -> Option<Vec<&str>> {
    match item.as_str() {
        Some(text) => Some(vec![text]),
        None => item.as_array()?.iter().map(toml_edit::Value::as_str).collect(),
    }
}
