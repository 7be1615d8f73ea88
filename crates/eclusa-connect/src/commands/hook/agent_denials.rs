//! An agent's own rules that deny or ask. They match the text of a command, and do not see one that
//! we have rewritten: such a command is left as it is, and the agent's rules decide about it too.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
};

use eclusa_config::jsonc;
use serde_json::Value;

use crate::Agent;

/// True when a rule of the agent's own may be about this command. In doubt it is.
pub(super) fn may_concern(agent: Agent, root: &Path, command: &str) -> bool {
    match agent {
        Agent::ClaudeCode => files(root).iter().any(|it| concerns(it, command)),
        _ => false,
    }
}

/// Every file in which Claude Code keeps rules.
fn files(root: &Path) -> Vec<PathBuf> {
    let home = env::var_os("HOME").map(|it| PathBuf::from(it).join(".claude"));
    let own = env::var_os("CLAUDE_CONFIG_DIR").map(PathBuf::from).or(home);
    let mut files: Vec<PathBuf> = own.into_iter().map(|it| it.join("settings.json")).collect();
    files.extend(["settings.json", "settings.local.json"].map(|it| root.join(".claude").join(it)));
    files.push(PathBuf::from("/etc/claude-code/managed-settings.json"));
    let managed = fs::read_dir("/etc/claude-code/managed-settings.d").into_iter().flatten();
    files.extend(managed.flatten().map(|it| it.path()));
    files
}

fn concerns(file: &Path, command: &str) -> bool {
    let text = match fs::read_to_string(file) {
        Ok(text) => text,
        Err(err) if err.kind() == io::ErrorKind::NotFound => return false,
        Err(_) => return true,
    };
    let Ok(settings) = jsonc::read(&text) else { return true };
    let rules = |decision: &str| {
        let rules = settings.get("permissions").and_then(|it| it.get(decision));
        rules.and_then(Value::as_array).cloned().unwrap_or_default()
    };
    let mut rules = rules("deny").into_iter().chain(rules("ask"));
    rules.any(|rule| rule.as_str().is_none_or(|rule| fits(rule, command)))
}

/// True when a rule may fit a command: wherever the first fixed part of it stands in the text.
fn fits(rule: &str, command: &str) -> bool {
    let Some(rest) = rule.trim().strip_prefix("Bash") else { return rule.trim() == "*" };
    let Some(pattern) = rest.strip_prefix('(').and_then(|it| it.strip_suffix(')')) else {
        return rest.is_empty();
    };
    let fixed = pattern.trim_end_matches(":*").split('*').next().unwrap_or_default().trim();
    // Blanks may differ, and the words may be quoted, whole or in part.
    let bare = command.replace(['\\', '\'', '"'], "");
    let stands = |word: &str| command.contains(word) || bare.contains(word);
    fixed.split_whitespace().next().is_none_or(stands)
}

#[cfg(test)]
mod tests;
