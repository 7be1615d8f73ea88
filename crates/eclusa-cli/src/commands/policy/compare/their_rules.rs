//! How other agents read their own rules about commands, as far as it is known.

use eclusa::Decision;

use super::super::agent_rules::{CommandPattern, CommandRule};
use crate::args::Agent;

/// What an agent would decide about a command, and by which rule.
pub(super) fn judge(agent: Agent, rules: &[CommandRule], command: &str) -> (Decision, String) {
    match agent {
        Agent::ClaudeCode => claude_code(rules, command),
        Agent::Codex => codex(rules, command),
        Agent::Opencode | Agent::Gemini => opencode(rules, command),
    }
}

/// Claude Code takes a line apart at its operators. Each part is decided by the strictest rule that
/// fits it, and the line by its strictest part. What no rule fits is asked about.
fn claude_code(rules: &[CommandRule], command: &str) -> (Decision, String) {
    let parts = command.split(['\n', ';', '|', '&']).map(str::trim).filter(|it| !it.is_empty());
    let decided = parts.map(|part| {
        // What is substituted or redirected is not part of what a prefix may allow.
        let plain = !part.contains(['>', '<', '`']) && !part.contains("$(") && !part.contains('(');
        let fits =
            |it: &&CommandRule| it.pattern.fits(part) && (plain || it.decision != Decision::Allow);
        strictest(rules.iter().filter(fits)).unwrap_or((Decision::Ask, "no rule".to_owned()))
    });
    let strict = decided.max_by_key(|(decision, _)| *decision);
    strict.unwrap_or((Decision::Ask, "no rule".to_owned()))
}

/// Codex compares words from the first on, of a command that is nothing but words. What no rule fits
/// is asked about.
fn codex(rules: &[CommandRule], command: &str) -> (Decision, String) {
    let plain = !command.contains(['\n', ';', '|', '&', '>', '<', '`', '(', '\'', '"', '$']);
    let fits = |it: &&CommandRule| plain && it.pattern.fits(command.trim());
    strictest(rules.iter().filter(fits)).unwrap_or((Decision::Ask, "no rule".to_owned()))
}

/// opencode has the last pattern decide that fits the text. What none fits runs.
fn opencode(rules: &[CommandRule], command: &str) -> (Decision, String) {
    let mut fitting = rules.iter().filter(|it| it.pattern.fits(command.trim()));
    let last = fitting.next_back().map(|it| (it.decision, it.from.clone()));
    last.unwrap_or((Decision::Allow, "no rule".to_owned()))
}

fn strictest<'a>(rules: impl Iterator<Item = &'a CommandRule>) -> Option<(Decision, String)> {
    rules.max_by_key(|it| it.decision).map(|it| (it.decision, it.from.clone()))
}

impl CommandPattern {
    /// True when it fits this text.
    fn fits(&self, text: &str) -> bool {
        match self {
            CommandPattern::All => true,
            CommandPattern::Begins(words) => {
                let mut given = text.split_whitespace();
                words.iter().all(|word| given.next() == Some(word))
            }
            CommandPattern::Exact(exact) => text == exact,
            CommandPattern::Glob(glob) => fits_glob(glob, text),
        }
    }
}

/// `*` is any text.
fn fits_glob(glob: &str, text: &str) -> bool {
    match glob.split_once('*') {
        None => glob == text,
        Some((fixed, rest)) => match text.strip_prefix(fixed) {
            None => false,
            Some(_) if rest.is_empty() => true,
            Some(left) => {
                let starts = left.char_indices().map(|(at, _)| at).chain([left.len()]);
                starts.filter_map(|at| left.get(at..)).any(|it| fits_glob(rest, it))
            }
        },
    }
}
