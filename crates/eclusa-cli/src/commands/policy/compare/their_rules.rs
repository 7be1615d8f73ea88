//! How other agents read their own rules about commands and files, as far as it is known.

use eclusa::Decision;

use super::{
    super::agent_rules::{CommandPattern, CommandRule, FileRule},
    Judged, Subject,
};
use crate::args::Agent;

/// What an agent would decide about a command, and by which rule.
pub(super) fn command(agent: Agent, rules: &[CommandRule], command: &str) -> Judged {
    match agent {
        Agent::ClaudeCode | Agent::Cursor => by_parts(rules, command),
        Agent::Codex => codex(rules, command),
        Agent::Gemini => gemini(rules, command),
        Agent::Opencode => opencode(rules, command),
    }
}

/// Whether an agent has rules about paths.
pub(super) fn knows_files(agent: Agent) -> bool {
    matches!(agent, Agent::ClaudeCode | Agent::Cursor | Agent::Opencode)
}

/// What an agent would decide about a file, and by which rule.
pub(super) fn file(agent: Agent, rules: &[FileRule], subject: &Subject) -> Judged {
    let (path, write) = match subject {
        Subject::Write(path) => (path, true),
        Subject::Read(path) | Subject::Command(path) => (path, false),
    };
    let stars_cross = agent == Agent::Opencode;
    let fits = |it: &&FileRule| {
        let glob = it.glob.as_deref();
        it.write == write && glob.is_none_or(|glob| fits_path(glob, path, stars_cross))
    };
    let outside = path.starts_with("../");
    let mut fitting = rules.iter().filter(fits);
    let found = match agent {
        // The last that fits decides.
        Agent::Opencode => fitting.next_back(),
        _ => fitting.max_by_key(|it| it.decision),
    };
    match found {
        Some(rule) => (rule.decision, rule.from.clone()),
        None if outside => (Decision::Ask, "outside its directory".to_owned()),
        None if agent == Agent::Opencode => {
            let name = path.rsplit('/').next().unwrap_or_default();
            match !write && (name.ends_with(".env") || name.contains(".env.")) {
                true => (Decision::Ask, "no rule, and a secret by its name".to_owned()),
                false => (Decision::Allow, "no rule".to_owned()),
            }
        }
        None if write => (Decision::Ask, "no rule".to_owned()),
        None => (Decision::Allow, "no rule".to_owned()),
    }
}

fn none() -> Judged {
    (Decision::Ask, "no rule".to_owned())
}

/// Claude Code and Cursor take a line apart at its operators. Each part is decided by the strictest
/// rule that fits it, and the line by its strictest part. What no rule fits is asked about.
fn by_parts(rules: &[CommandRule], command: &str) -> Judged {
    let decided = parts(command).map(|part| {
        // What is substituted or redirected is not part of what a prefix may allow.
        let plain = !part.contains(['>', '<', '`']) && !part.contains("$(") && !part.contains('(');
        let fits =
            |it: &&CommandRule| it.pattern.fits(part) && (plain || it.decision != Decision::Allow);
        strictest(rules.iter().filter(fits)).unwrap_or_else(none)
    });
    decided.max_by_key(|(decision, _)| *decision).unwrap_or_else(none)
}

fn parts(command: &str) -> impl Iterator<Item = &str> {
    command.split(['\n', ';', '|', '&']).map(str::trim).filter(|it| !it.is_empty())
}

/// Codex compares words from the first on, of a command that is nothing but words. What no rule fits
/// is asked about.
fn codex(rules: &[CommandRule], command: &str) -> Judged {
    let plain = !command.contains(['\n', ';', '|', '&', '>', '<', '`', '(', '\'', '"', '$']);
    let fits = |it: &&CommandRule| plain && it.pattern.fits(command.trim());
    strictest(rules.iter().filter(fits)).unwrap_or_else(none)
}

/// Gemini CLI takes a line apart, also at substitutions, brackets and what a shell is given to run.
/// Each part is decided by the rule of the highest priority that fits it, and the line by its
/// strictest part; what is redirected is asked about.
fn gemini(rules: &[CommandRule], command: &str) -> Judged {
    let opened = command.replace("$(", ";").replace(['(', ')', '`'], ";");
    let mut pieces: Vec<String> = Vec::new();
    for part in parts(&opened) {
        pieces.push(part.to_owned());
        let inner = ["bash -c '", "bash -lc '", "sh -c '"]
            .iter()
            .find_map(|it| part.strip_prefix(it).and_then(|it| it.strip_suffix('\'')));
        pieces.extend(inner.map(str::to_owned));
    }
    let decided = pieces.iter().map(|part| {
        let redirected = part.contains(['>', '<']);
        let mut fitting: Vec<&CommandRule> =
            rules.iter().filter(|it| it.pattern.fits(part)).collect();
        fitting.sort_by_key(|it| it.priority);
        match fitting.last() {
            Some(rule) if redirected && rule.decision == Decision::Allow => {
                (Decision::Ask, "something is redirected".to_owned())
            }
            Some(rule) => (rule.decision, rule.from.clone()),
            None => none(),
        }
    });
    decided.max_by_key(|(decision, _)| *decision).unwrap_or_else(none)
}

/// opencode has the last pattern decide that fits the text. What none fits runs.
fn opencode(rules: &[CommandRule], command: &str) -> Judged {
    let mut fitting = rules.iter().filter(|it| it.pattern.fits(command.trim()));
    let last = fitting.next_back().map(|it| (it.decision, it.from.clone()));
    last.unwrap_or((Decision::Allow, "no rule".to_owned()))
}

fn strictest<'a>(rules: impl Iterator<Item = &'a CommandRule>) -> Option<Judged> {
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

/// A glob over paths, as ignore files have them: without a slash at any depth, `**` any number of
/// directories. Where stars cross slashes they are any text instead.
fn fits_path(glob: &str, path: &str, stars_cross: bool) -> bool {
    let glob = glob.trim_start_matches("./");
    if stars_cross {
        return fits_glob(&glob.replace("**", "*"), path);
    }
    let (anchored, glob) = match glob.strip_prefix('/') {
        Some(rest) => (true, rest),
        None => (glob.trim_end_matches('/').contains('/'), glob),
    };
    let glob: Vec<&str> = glob.split('/').filter(|it| !it.is_empty()).collect();
    let path: Vec<&str> = path.split('/').collect();
    let starts = if anchored { 1 } else { path.len() };
    (0..starts).any(|at| fits_names(&glob, path.get(at..).unwrap_or_default()))
}

/// What fits a directory fits everything below it.
fn fits_names(glob: &[&str], path: &[&str]) -> bool {
    match (glob.split_first(), path.split_first()) {
        (None, _) => true,
        (Some((&"**", rest)), _) => {
            let shorter = path.split_first().is_some_and(|(_, below)| fits_names(glob, below));
            (!rest.is_empty() && fits_names(rest, path))
                || (rest.is_empty() && !path.is_empty())
                || shorter
        }
        (Some(_), None) => false,
        (Some((name, rest)), Some((first, below))) => {
            fits_glob(name, first) && fits_names(rest, below)
        }
    }
}
