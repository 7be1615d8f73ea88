//! Claude Code's own rules that deny or ask. They match the text of a command.

use eclusa_config::jsonc;
use serde_json::Value;

/// True when a rule in such settings may be about this command. In doubt it is.
pub(super) fn may_concern(text: &str, command: &str) -> bool {
    let Ok(settings) = jsonc::read(text) else { return true };
    let rules = |decision: &str| {
        let rules = settings.get("permissions").and_then(|it| it.get(decision));
        rules.and_then(Value::as_array).cloned().unwrap_or_default()
    };
    let mut rules = rules("deny").into_iter().chain(rules("ask"));
    rules.any(|rule| rule.as_str().is_none_or(|rule| fits(rule, command)))
}

/// True when a rule may fit a command: wherever the first word of it stands in the text as the beginning of a word.
fn fits(rule: &str, command: &str) -> bool {
    let Some(rest) = rule.trim().strip_prefix("Bash") else { return rule.trim() == "*" };
    let Some(pattern) = rest.strip_prefix('(').and_then(|it| it.strip_suffix(')')) else {
        return rest.is_empty();
    };
    let fixed = pattern.trim_end_matches(":*").split('*').next().unwrap_or_default().trim();
    // Blanks may differ, and the words may be quoted, whole or in part.
    let bare = command.replace(['\\', '\'', '"'], "");
    let stands = |word: &str| holds_word(command, word) || holds_word(&bare, word);
    fixed.split_whitespace().next().is_none_or(stands)
}

/// True when a word of a text begins so: `rm` stands in `/bin/rm`, and not in `format`.
fn holds_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let before = text.get(..at).and_then(|it| it.chars().next_back());
        !before.is_some_and(|it| it.is_alphanumeric() || it == '_')
    })
}

#[cfg(test)]
mod tests;
