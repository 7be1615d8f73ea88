//! opencode: `permission` of opencode.json. The last pattern that fits decides there; here the
//! strictest does, so what comes first and is stricter stays stricter.

use eclusa_config::{RuleToml, jsonc};
use serde_json::{Map, Value};

use crate::imported_rules::{ImportedRules, ShellPattern};

pub(super) fn read(text: &str) -> Result<ImportedRules, String> {
    let settings = jsonc::read(text).map_err(|err| err.to_string())?;
    let mut brought = ImportedRules::default();
    match settings.get("permission") {
        Some(Value::String(decision)) => everything(&mut brought, decision),
        Some(Value::Object(tools)) => {
            for (tool, value) in tools {
                match value {
                    Value::String(decision) if tool == "*" && tools.len() > 1 => {
                        others_than(&mut brought, tools, decision);
                    }
                    Value::String(decision) => of_tool(&mut brought, tool, decision),
                    Value::Object(patterns) => of_patterns(&mut brought, tool, patterns),
                    _ => return Err(format!("`permission.{tool}` must be a text or an object")),
                }
            }
        }
        _ => return Err("there is no `permission` in it".to_owned()),
    }
    Ok(brought)
}

fn everything(brought: &mut ImportedRules, decision: &str) {
    match decision {
        "allow" => brought.left("permission allow", "allow", "nothing here allows everything"),
        decision => brought.rule(&format!("permission {decision}"), RuleToml::new(decision)),
    }
}

/// What holds for every tool that is not named: there the name is heard last, and here the strictest
/// would be.
fn others_than(brought: &mut ImportedRules, named: &Map<String, Value>, decision: &str) {
    let from = format!("* {decision}");
    if decision == "allow" {
        return brought.left(from, "allow", "nothing here allows everything");
    }
    for tool in ["bash", "edit", "read", "webfetch"] {
        if !named.contains_key(tool) {
            of_tool(brought, tool, decision);
        }
    }
    brought.rule(&from, RuleToml::new(decision).text("class", "generic"));
}

fn of_tool(brought: &mut ImportedRules, tool: &str, decision: &str) {
    let from = format!("{tool} {decision}");
    match tool {
        "*" => everything(brought, decision),
        "bash" => brought.shell(&from, decision, ShellPattern::All),
        "edit" | "write" => brought.files(&from, decision, "write", None),
        "read" | "list" | "glob" | "grep" => brought.files(&from, decision, "read", None),
        "webfetch" => brought.web(&from, decision, None),
        "external_directory" => {
            let why = "nothing outside the workspace can be touched";
            brought.left(from, if decision == "allow" { "allow" } else { "none" }, why);
        }
        _ => brought.left(from, "none", "no tool here is like it"),
    }
}

fn of_patterns(brought: &mut ImportedRules, tool: &str, patterns: &Map<String, Value>) {
    let pairs: Vec<(&str, &str)> =
        patterns.iter().filter_map(|(it, value)| Some((it.as_str(), value.as_str()?))).collect();
    for (pattern, value) in patterns.iter().filter(|(_, value)| !value.is_string()) {
        brought.left(format!("{tool} {pattern}: {value}"), "deny", "it is not a text");
    }
    let allowed: Vec<&str> =
        pairs.iter().filter(|(_, it)| *it == "allow").map(|(pattern, _)| *pattern).collect();
    for (pattern, decision) in &pairs {
        let from = format!("{tool} {pattern} {decision}");
        let all = *pattern == "*";
        match (tool, *decision) {
            ("bash", "ask" | "deny") if all && !allowed.is_empty() => {
                // Whatever is not made of the beginnings that are allowed, and plain words.
                let regex = others(&allowed);
                brought.rule(&from, RuleToml::new(decision).unless("command", &regex));
            }
            ("bash", _) if all => brought.shell(&from, decision, ShellPattern::All),
            ("bash", _) => brought.shell(&from, decision, commands(pattern)),
            ("edit" | "write", "ask" | "deny") if all => {
                let mut globs = vec!["*".to_owned()];
                globs.extend(allowed.iter().filter(|it| **it != "*").map(|it| format!("!{it}")));
                let rule = RuleToml::new(decision).text("access", "write");
                brought.rule(&from, rule.list("path", &globs));
            }
            ("edit" | "write", _) => {
                brought.files(&from, decision, "write", glob(pattern, decision).as_deref())
            }
            ("read", _) if all => brought.files(&from, decision, "read", None),
            ("read", _) => {
                brought.files(&from, decision, "read", glob(pattern, decision).as_deref())
            }
            ("webfetch", _) if all => brought.web(&from, decision, None),
            _ => brought.left(from, decision, "such a pattern cannot be imported"),
        }
    }
}

fn commands(pattern: &str) -> ShellPattern<'_> {
    match pattern.strip_suffix(" *") {
        Some(begins) if !begins.contains(['*', '?']) => {
            ShellPattern::Begins(begins.split_whitespace().map(str::to_owned).collect())
        }
        _ if pattern.contains(['*', '?']) => ShellPattern::Glob(pattern),
        _ => ShellPattern::Exact(pattern),
    }
}

/// There a star fits slashes too: a rule that tightens must, a rule that allows need not.
fn glob(pattern: &str, decision: &str) -> Option<String> {
    if pattern == "*" {
        return None;
    }
    match decision {
        "allow" => Some(pattern.to_owned()),
        _ => Some(pattern.replace("**", "*").replace("/*", "/**")),
    }
}

/// A text that is one of these beginnings and then plain words.
fn others(allowed: &[&str]) -> String {
    let begins = allowed.iter().filter(|it| **it != "*").map(|it| {
        let words = it.trim_end_matches('*').trim_end();
        words
            .chars()
            .flat_map(|it| {
                let special = !it.is_alphanumeric() && it != ' ' && it != '_';
                special.then_some('\\').into_iter().chain([it])
            })
            .collect::<String>()
    });
    format!(r"^({})( [\w./=:@%+,-]+)*$", begins.collect::<Vec<_>>().join("|"))
}
