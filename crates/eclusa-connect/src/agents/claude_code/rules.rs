//! Claude Code: `permissions` of settings.json.

use eclusa_config::{RuleToml, jsonc};
use serde_json::Value;

use crate::imported_rules::{ImportedRules, ShellPattern};

pub(super) fn read(text: &str) -> Result<ImportedRules, String> {
    let settings = jsonc::read(text).map_err(|err| err.to_string())?;
    let mut brought = ImportedRules::default();
    let Some(permissions) = settings.get("permissions").and_then(Value::as_object) else {
        return Err("there is no object `permissions` in it".to_owned());
    };
    for (key, value) in permissions {
        match key.as_str() {
            "allow" | "ask" | "deny" => {
                let rules = value.as_array().ok_or_else(|| format!("`{key}` must be a list"))?;
                for rule in rules {
                    match rule.as_str() {
                        Some(text) => import_rule(&mut brought, key, text.trim()),
                        None => brought.left(format!("{key}: {rule}"), key, "it is not a text"),
                    }
                }
            }
            "defaultMode" => match value.as_str() {
                Some("default") => {}
                mode => {
                    let what = format!("defaultMode {}", mode.unwrap_or("that is no text"));
                    brought.left(what, "none", "set `mode` yourself");
                }
            },
            "disableBypassPermissionsMode" => {}
            "additionalDirectories" => {
                brought.left(key, "none", "nothing outside the workspace can be touched");
            }
            key => brought.left(key, "none", "there is nothing like it here"),
        }
    }
    if settings.get("hooks").is_some() {
        brought.left("hooks", "none", "hooks are reviewers here; see `reviewers` in eclusa.toml");
    }
    Ok(brought)
}

fn import_rule(brought: &mut ImportedRules, decision: &str, text: &str) {
    let from = format!("{decision} {text}");
    let (tool, content) = match text
        .split_once('(')
        .and_then(|(tool, rest)| rest.strip_suffix(')').map(|content| (tool, content)))
    {
        Some((tool, content)) => (tool, Some(content).filter(|it| !it.is_empty() && *it != "*")),
        None => (text, None),
    };
    match tool {
        "Bash" => {
            let shell = content.map_or(ShellPattern::All, commands);
            brought.shell(&from, decision, shell);
        }
        "Read" => brought.files(&from, decision, "read", content.map(path).as_deref()),
        "Edit" | "Write" | "MultiEdit" => {
            brought.files(&from, decision, "write", content.map(path).as_deref());
        }
        "WebFetch" => match content.map(|it| it.strip_prefix("domain:").ok_or(it)) {
            None => brought.web(&from, decision, None),
            Some(Ok(host)) => brought.web(&from, decision, Some(host)),
            Some(Err(_)) => brought.left(from, decision, "only `domain:` can be imported"),
        },
        "*" if decision != "allow" => {
            brought.rule(&from, RuleToml::new(decision));
        }
        tool => match tool.strip_prefix("mcp__") {
            Some(named) => match named.split_once("__") {
                None => brought.server(&from, decision, named, None),
                Some((server, "*")) => brought.server(&from, decision, server, None),
                Some((server, tool)) => brought.server(&from, decision, server, Some(tool)),
            },
            None => brought.left(from, "none", "no tool here is like it"),
        },
    }
}

/// `npm run test:*` and `npm run test *` are beginnings; other stars are patterns.
fn commands(text: &str) -> ShellPattern<'_> {
    let begins = text.strip_suffix(":*").or_else(|| text.strip_suffix(" *"));
    match begins {
        Some(begins) if !begins.contains('*') => {
            ShellPattern::Begins(begins.split_whitespace().map(str::to_owned).collect())
        }
        _ if text.contains('*') => ShellPattern::Glob(text),
        _ => ShellPattern::Exact(text),
    }
}

/// A leading slash is the project there as here; two are the root of the machine.
fn path(text: &str) -> String {
    match text.strip_prefix('/') {
        Some(rest) if !rest.starts_with('/') => {
            if rest.contains('/') {
                rest.to_owned()
            } else {
                format!("./{rest}")
            }
        }
        _ => text.to_owned(),
    }
}
