//! `eclusa policy lint`: rules that never decide anything, and rules that decide too much.

use std::sync::Arc;

use eclusa::{PermissionClass, Registry, registry::Registered};
use serde_json::{Value, json};
use toml_edit::Item;

use super::layers::{self, SourceRule};
use crate::{
    context::AppContext,
    failure::{Exit, Failure},
    global::Global,
    screen::{Screen, Style, sanitize},
};

/// One thing to look at.
pub(in crate::commands) struct LintFinding {
    origin: String,
    kind: &'static str,
    text: String,
}

impl LintFinding {
    pub(in crate::commands) fn as_json(&self) -> Value {
        json!({"origin": self.origin, "kind": self.kind, "text": self.text})
    }
}

impl std::fmt::Display for LintFinding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let LintFinding { origin, kind, text } = self;
        write!(f, "{origin}: {kind}: {text}")
    }
}

pub(super) fn run(global: &Global, screen: &mut Screen) -> Result<Exit, Failure> {
    let (own, found) = lint(&AppContext::open(global)?)?;
    for finding in &found {
        match global.json {
            true => screen.json(&finding.as_json())?,
            false => screen.styled(Style::Warn, &sanitize(&finding.to_string()))?,
        }
    }
    if !global.json {
        let rules = if own == 1 { "rule" } else { "rules" };
        screen.line(&match (own, found.len()) {
            (0, 0) => "no rules of yours".to_owned(),
            (_, 0) => format!("{own} {rules} of yours, no findings"),
            (_, 1) => format!("{own} {rules} of yours, 1 finding"),
            (_, count) => format!("{own} {rules} of yours, {count} findings"),
        })?;
    }
    Ok(if found.is_empty() { Exit::Done } else { Exit::Failed })
}

/// How many rules are not shipped, and what is to be looked at of them.
pub(in crate::commands) fn lint(ctx: &AppContext) -> Result<(usize, Vec<LintFinding>), Failure> {
    let registry = ctx.registry()?;
    let rules = layers::rules(&ctx.config);
    let mut found: Vec<LintFinding> = Vec::new();
    for unknown in ctx.config.unknown_tools(&registry) {
        let near = unknown.nearest.first().map(|it| format!("; did you mean `{it}`?"));
        let text = format!("no tool is called `{}`{}", unknown.name, near.unwrap_or_default());
        found.push(LintFinding { origin: unknown.origin, kind: "unknown tool", text });
    }
    for (at, rule) in rules.iter().enumerate().filter(|(_, it)| !it.is_shipped()) {
        let mut add =
            |kind, text| found.push(LintFinding { origin: rule.origin.clone(), kind, text });
        if let Some(text) = unreachable(rule, &registry) {
            add("unreachable", text);
        } else if let Some((kind, text)) = shadowed(rule, at, &rules) {
            add(kind, text);
        }
        if let Some(text) = broad(rule) {
            add("broad", text);
        }
    }
    Ok((rules.iter().filter(|it| !it.is_shipped()).count(), found))
}

/// Why no call can meet its conditions.
fn unreachable(rule: &SourceRule, registry: &Registry) -> Option<String> {
    let tools = rule.texts("tool")?;
    let globs = || tools.iter().filter(|it| it.contains(['*', '?']));
    let all = registry.list();
    let fitting: Vec<_> = all
        .into_iter()
        .filter(|it| {
            let mut names =
                std::iter::once(it.name()).chain(it.facts().aliases.iter().map(String::as_str));
            names.any(|name| tools.iter().any(|glob| fits(glob, name)))
        })
        .collect();
    if fitting.is_empty() && rule.keys.get("server").is_none() {
        let glob = globs().next()?;
        return Some(format!("no tool fits `{glob}`"));
    }
    if let Some(text) = without_such_argument(rule, &fitting) {
        return Some(text);
    }
    let classes = rule.texts("class")?;
    match fitting.iter().any(|it| classes.contains(&it.class().as_str())) {
        true => None,
        false => fitting.first().map(|it| {
            format!(
                "`{}` is of class {}, not {}",
                it.name(),
                it.class().as_str(),
                classes.join(" or ")
            )
        }),
    }
}

/// Why none of the tools that a rule names can meet its other conditions: they run no commands, or
/// have no argument of that name. Tools of servers may change, and are not judged by what they take.
fn without_such_argument(rule: &SourceRule, fitting: &[Arc<Registered>]) -> Option<String> {
    let first = fitting.first()?.name();
    let ours = fitting.iter().all(|it| it.server().is_none());
    let runs = |it: &Arc<Registered>| it.class() == PermissionClass::Shell;
    if rule.keys.get("command").is_some() && ours && !fitting.iter().any(runs) {
        return Some(format!("`{first}` runs no commands, so `command` is never met"));
    }
    let takes = |tool: &Arc<Registered>, name: &str| {
        let schema = tool.schema();
        let closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
        !closed || schema.get("properties").is_some_and(|it| it.get(name).is_some())
    };
    let pointers = rule.keys.get("arg").and_then(Item::as_table_like)?;
    let names = pointers.iter().filter_map(|(it, _)| it.strip_prefix('/')?.split('/').next());
    let mut unknown = names.filter(|name| !fitting.iter().any(|it| takes(it, name)));
    let name = unknown.next()?;
    // Names of other programs are rewritten before anybody judges the call.
    let aliases = || fitting.iter().flat_map(|it| &it.facts().arg_aliases);
    let own = aliases().find(|it| it.0 == name).map(|it| format!(" (it is `{}` here)", it.1));
    let own = own.unwrap_or_default();
    Some(format!("`{first}` has no argument `{name}`{own}, so `arg` is never met"))
}

/// The rule because of which it never changes an outcome.
fn shadowed(rule: &SourceRule, at: usize, rules: &[SourceRule]) -> Option<(&'static str, String)> {
    for (other_at, other) in rules.iter().enumerate().filter(|(it, _)| *it != at) {
        let (mine, others) = (rank(rule.decision()), rank(other.decision()));
        let id = other.keys.get("id").and_then(Item::as_str);
        let excepted = rule.texts("except").is_some_and(|it| id.is_some_and(|id| it.contains(&id)));
        if excepted || !covers(other, rule) || others < mine {
            continue;
        }
        if others > mine {
            let text = format!(
                "{} decides {} wherever this one decides {}",
                other.name(),
                other.decision(),
                rule.decision()
            );
            return Some(("shadowed", text));
        }
        // Of two that are the same, the later one is told.
        if !covers(rule, other) || other_at < at {
            return Some(("redundant", format!("{} says the same of more calls", other.name())));
        }
    }
    None
}

fn rank(decision: &str) -> usize {
    ["allow", "stage", "ask", "deny"].iter().position(|it| *it == decision).unwrap_or_default()
}

/// True when every call that meets the conditions of `narrow` certainly meets those of `wide`.
fn covers(wide: &SourceRule, narrow: &SourceRule) -> bool {
    wide.conditions().all(|(key, wide)| {
        let Some(narrow) = narrow.keys.get(key) else { return false };
        if same(wide, narrow) {
            return true;
        }
        match (key, layers::texts(wide), layers::texts(narrow)) {
            ("tool" | "server" | "class", Some(wide), Some(narrow)) => narrow
                .iter()
                .all(|it| wide.iter().any(|wide| wide == it || (!is_glob(it) && fits(wide, it)))),
            ("command", Some(wide), Some(narrow)) => {
                narrow.iter().all(|it| wide.iter().any(|wide| begins(wide, it)))
            }
            // Globs of paths and hosts with exceptions are more than lists.
            ("path" | "domain", Some(wide), Some(narrow)) => {
                let exact = |it: &&str| !it.starts_with('!');
                wide.iter().all(exact) && narrow.iter().all(|it| exact(it) && wide.contains(it))
            }
            _ => false,
        }
    })
}

fn same(a: &Item, b: &Item) -> bool {
    let plain = |it: &Item| it.to_string().split_whitespace().collect::<String>();
    plain(a) == plain(b)
}

/// Word by word; `*` is any one word.
fn begins(wide: &str, narrow: &str) -> bool {
    let mut narrow = narrow.split_whitespace();
    wide.split_whitespace().all(|it| narrow.next().is_some_and(|other| it == "*" || it == other))
}

fn is_glob(text: &str) -> bool {
    text.contains(['*', '?'])
}

/// Programs that run whatever they are given: to allow them is to allow everything.
const RUNNERS: [&str; 27] = [
    "sh", "bash", "zsh", "dash", "ksh", "fish", "env", "sudo", "doas", "xargs", "eval", "exec",
    "nohup", "timeout", "find", "python", "python3", "node", "perl", "ruby", "php", "ssh",
    "docker", "podman", "npx", "make", "awk",
];

/// What it allows beyond what its author can have looked at.
fn broad(rule: &SourceRule) -> Option<String> {
    if rule.decision() != "allow" {
        return None;
    }
    let conditions: Vec<&str> = rule.conditions().map(|(key, _)| key).collect();
    let has = |key: &str, wild: &[&str]| {
        rule.texts(key).is_some_and(|it| it.iter().any(|it| wild.contains(it)))
    };
    if let Some(commands) = rule.texts("command") {
        let runner = commands.iter().find(|it| RUNNERS.contains(it));
        return runner.map(|it| format!("`{it}` runs whatever it is given"));
    }
    if has("tool", &["*", "**"]) && conditions == ["tool"] {
        return Some("it allows every tool, also those that come later".to_owned());
    }
    if conditions == ["class"] {
        return Some("it allows every tool of a class, also those that come later".to_owned());
    }
    if conditions == ["server"] {
        return Some("it allows every tool of a server, also those that come later".to_owned());
    }
    if has("domain", &["*"]) {
        return Some("it allows every host".to_owned());
    }
    if has("path", &["**", "*", "**/*"]) && !conditions.contains(&"access") {
        return Some("it allows writing everywhere in the workspace".to_owned());
    }
    (!conditions.contains(&"tool") && conditions.contains(&"arg"))
        .then(|| "it allows any tool that takes such an argument".to_owned())
}

/// True when the whole text fits a glob.
fn fits(glob: &str, text: &str) -> bool {
    match glob.chars().next() {
        None => text.is_empty(),
        Some('*') => {
            let rest = glob.get(1..).unwrap_or_default();
            (0..=text.len()).any(|at| text.get(at..).is_some_and(|text| fits(rest, text)))
        }
        Some(first) => {
            let mut chars = text.chars();
            let next = chars.next();
            let rest = glob.get(first.len_utf8()..).unwrap_or_default();
            next.is_some_and(|it| first == '?' || it == first) && fits(rest, chars.as_str())
        }
    }
}
