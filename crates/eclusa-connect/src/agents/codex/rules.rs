//! Codex: rules files with `prefix_rule()`, and the approval policy of config.toml.

use eclusa_config::RuleToml;
use toml_edit::{DocumentMut, Item};

use super::starlark::{self, StarlarkCall, StarlarkValue};
use crate::imported_rules::{ImportedRules, ShellPattern};

pub(super) fn read(text: &str) -> Result<ImportedRules, String> {
    if let Ok(config) = text.parse::<DocumentMut>() {
        return Ok(settings(&config));
    }
    let mut brought = ImportedRules::default();
    for call in starlark::calls(text)? {
        match call.name.as_str() {
            "prefix_rule" => prefix_rule(&mut brought, &call)?,
            name => {
                let what = format!("line {}: {name}(…)", call.line);
                brought.left(what, decision(&call), "only prefix_rule can be imported");
            }
        }
    }
    Ok(brought)
}

/// What a call decides, in our words. Nothing said is `allow` there.
fn decision(call: &StarlarkCall) -> &'static str {
    let said = call.args.iter().find(|(key, _)| key == "decision").map(|(_, value)| value);
    match said {
        None => "allow",
        Some(StarlarkValue::Text(text)) => match text.as_str() {
            "allow" => "allow",
            "prompt" => "ask",
            _ => "deny",
        },
        Some(_) => "deny",
    }
}

fn prefix_rule(brought: &mut ImportedRules, call: &StarlarkCall) -> Result<(), String> {
    let at = |key: &str| call.args.iter().find(|(it, _)| it == key).map(|(_, value)| value);
    let Some(StarlarkValue::List(pattern)) = at("pattern") else {
        return Err(format!("line {}: prefix_rule needs a list `pattern`", call.line));
    };
    let decision = decision(call);
    let mut all: Vec<Vec<String>> = vec![Vec::new()];
    for word in pattern {
        let choices: Vec<String> = match word {
            StarlarkValue::Text(text) => vec![text.clone()],
            StarlarkValue::List(words) => words
                .iter()
                .filter_map(|it| match it {
                    StarlarkValue::Text(text) => Some(text.clone()),
                    StarlarkValue::List(_) | StarlarkValue::Other(_) => None,
                })
                .collect(),
            StarlarkValue::Other(_) => Vec::new(),
        };
        let longer = all.iter().flat_map(|words| {
            choices.iter().map(|it| words.iter().cloned().chain([it.clone()]).collect())
        });
        all = longer.collect();
    }
    let what = format!("line {}: prefix_rule", call.line);
    if all.is_empty() || all.len() > 200 {
        brought.left(what, decision, "its pattern is not made of texts, or of too many");
        return Ok(());
    }
    for words in all {
        let from = format!("{decision} {}", words.join(" "));
        brought.shell(&from, decision, ShellPattern::Begins(words));
    }
    Ok(())
}

fn settings(config: &DocumentMut) -> ImportedRules {
    let mut brought = ImportedRules::default();
    let text = |key: &str| config.get(key).and_then(Item::as_str);
    match text("approval_policy") {
        None | Some("on-request") => {}
        Some("untrusted") => {
            brought.rule("approval_policy untrusted", RuleToml::new("ask").text("access", "write"));
        }
        Some(other) => brought.left(
            format!("approval_policy {other}"),
            "none",
            "rules and `mode` say what may run without a question",
        ),
    }
    match text("sandbox_mode") {
        None | Some("workspace-write") => {}
        Some("read-only") => {
            brought.rule("sandbox_mode read-only", RuleToml::new("ask").text("access", "write"));
        }
        Some(other) => {
            brought.left(format!("sandbox_mode {other}"), "none", "nothing here is that loose");
        }
    }
    brought
}
