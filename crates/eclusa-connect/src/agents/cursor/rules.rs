//! Cursor: `permissions` of cli-config.json, and the allow lists of permissions.json.

use eclusa_config::jsonc;
use serde_json::Value;

use crate::imported_rules::{ImportedRules, ShellPattern};

pub(super) fn read(text: &str) -> Result<ImportedRules, String> {
    let settings = jsonc::read(text).map_err(|err| err.to_string())?;
    let mut brought = ImportedRules::default();
    let permissions = settings.get("permissions").and_then(Value::as_object);
    let lists = [("terminalAllowlist", "Shell"), ("mcpAllowlist", "Mcp")];
    if permissions.is_none() && lists.iter().all(|(key, _)| settings.get(key).is_none()) {
        return Err("there is neither an object `permissions` nor an allow list in it".to_owned());
    }
    for (key, value) in permissions.into_iter().flatten() {
        match key.as_str() {
            "allow" | "deny" => {
                let rules = value.as_array().ok_or_else(|| format!("`{key}` must be a list"))?;
                for rule in rules {
                    match rule.as_str() {
                        Some(text) => import_rule(&mut brought, key, text.trim()),
                        None => brought.left(format!("{key}: {rule}"), key, "it is not a text"),
                    }
                }
            }
            key => brought.left(key, "none", "there is nothing like it here"),
        }
    }
    for (key, tool) in lists {
        let list = settings.get(key).and_then(Value::as_array).into_iter().flatten();
        for text in list.filter_map(Value::as_str) {
            import_rule(&mut brought, "allow", &format!("{tool}({text})"));
        }
    }
    for key in ["autoRun", "sandbox", "approvalMode"] {
        if settings.get(key).is_some() {
            brought.left(key, "none", "set `mode` yourself");
        }
    }
    Ok(brought)
}

fn import_rule(brought: &mut ImportedRules, decision: &str, text: &str) {
    let from = format!("{decision} {text}");
    let parted = text.split_once('(').and_then(|(tool, it)| Some((tool, it.strip_suffix(')')?)));
    let Some((tool, content)) = parted else {
        return brought.left(from, decision, "it has no brackets");
    };
    let content = Some(content.trim()).filter(|it| !["", "*", "**"].contains(it));
    match tool {
        "Shell" => brought.shell(&from, decision, content.map_or(ShellPattern::All, commands)),
        "Read" => brought.files(&from, decision, "read", content),
        "Write" => brought.files(&from, decision, "write", content),
        "WebFetch" => brought.web(&from, decision, content),
        "Mcp" => match content.map(|it| it.split_once([':', ',']).unwrap_or((it, "*"))) {
            None => brought.left(from, decision, "it is about every server; name those you mean"),
            Some((server, tool)) => match (server.trim(), tool.trim()) {
                ("*", _) => {
                    brought.left(from, decision, "it is about every server; name those you mean");
                }
                (server, "*") => brought.server(&from, decision, server, None),
                (server, tool) => brought.server(&from, decision, server, Some(tool)),
            },
        },
        _ => brought.left(from, decision, "no tool here is like it"),
    }
}

/// `git` is every git command, `git:push*` those whose words after it fit, `npm run` a beginning.
fn commands(text: &str) -> ShellPattern<'_> {
    let words = |it: &str| it.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    match text.split_once(':') {
        Some((program, "*" | "")) if !program.contains('*') => ShellPattern::Begins(words(program)),
        Some((program, args)) if !program.contains('*') => {
            match args.strip_suffix(" *").filter(|it| !it.contains('*')) {
                Some(begins) => ShellPattern::Begins(words(&format!("{program} {begins}"))),
                None => ShellPattern::Pattern(format!("{program} {args}")),
            }
        }
        _ if text.contains('*') => ShellPattern::Glob(text),
        _ => ShellPattern::Begins(words(text)),
    }
}
