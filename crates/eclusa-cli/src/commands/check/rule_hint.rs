//! The smallest rule that would change what becomes of a call. Every proposal is tried: the rule is
//! laid over the configuration as if it had been written, and the call is judged again.

use std::sync::Arc;

use eclusa::{
    Decision, Registry, Source, ToolCall, Touch,
    policy::{ExplainedCommand, ExplainedRule, Explanation},
};
use eclusa_config::RuleToml;
use serde_json::Value;

use crate::{commands::policy::try_rule, context::AppContext};

/// What would change the outcome.
pub(super) enum RuleHint {
    /// This text in the person's configuration, and what the call would come to.
    Rule {
        /// Ready to paste.
        toml: String,
        /// What it would come to.
        decision: Decision,
    },
    /// Nothing that a rule can say, and why.
    None(String),
}

/// The narrowest proposal that works.
pub(super) fn smallest(
    ctx: &AppContext,
    registry: &Arc<Registry>,
    call: &ToolCall,
    explanation: &Explanation,
) -> RuleHint {
    let now = explanation.verdict.decision;
    let proposals = match now {
        Decision::Allow => tighter(explanation),
        Decision::Stage | Decision::Ask | Decision::Deny => looser(call, explanation),
    };
    for toml in proposals {
        let Some(decision) = try_rule::decision(ctx, registry, &toml, call) else { continue };
        let changed = match now {
            Decision::Allow => decision > now,
            Decision::Stage | Decision::Ask | Decision::Deny => decision < now,
        };
        if changed {
            return RuleHint::Rule { toml, decision };
        }
    }
    RuleHint::None(why_not(explanation))
}

fn tighter(explanation: &Explanation) -> Vec<String> {
    let mut all = Vec::new();
    let commands = explanation.scripts.iter().flat_map(|it| &it.commands);
    all.extend(commands.filter_map(spelt).map(|it| RuleToml::new("ask").list("command", &[it])));
    all.extend(about_touches(RuleToml::new("ask"), explanation));
    all.push(RuleToml::new("ask").text("tool", &explanation.tool));
    all.iter().map(RuleToml::toml).collect()
}

fn looser(call: &ToolCall, explanation: &Explanation) -> Vec<String> {
    let mut rules = Vec::new();
    let commands: Vec<&ExplainedCommand> =
        explanation.scripts.iter().flat_map(|it| &it.commands).collect();
    let strict = |it: &&&ExplainedCommand| {
        it.verdict.as_ref().is_some_and(|it| it.decision > Decision::Allow)
    };
    let wanted: Vec<&&ExplainedCommand> = commands.iter().filter(strict).collect();
    let spelt: Option<Vec<String>> = wanted.iter().map(|it| spelt(it)).collect();
    if let Some(mut spelt) = spelt.filter(|it| !it.is_empty()) {
        spelt.dedup();
        rules.push(RuleToml::new("allow").list("command", &spelt));
    }
    rules.extend(about_touches(RuleToml::new("allow"), explanation));
    let named = RuleToml::new("allow").text("tool", &explanation.tool);
    let runs = explanation.touches.iter().any(|it| matches!(it, Touch::Run(_)));
    if let (Value::Object(args), false) = (&call.args, runs) {
        let flat = args.values().all(|it| !it.is_array() && !it.is_object() && !it.is_null());
        if flat && !args.is_empty() {
            let each =
                |rule: RuleToml, (name, value): (&String, &Value)| rule.argument(name, value);
            rules.push(args.iter().fold(named.clone(), each));
        }
    }
    if !runs {
        rules.push(named);
    }
    let mut all: Vec<String> = rules.iter().map(RuleToml::toml).collect();
    let named = tightening(explanation, |_| true);
    let excepting: Vec<String> = match named.is_empty() {
        true => Vec::new(),
        false => rules.iter().map(|it| it.clone().list("except", &named).toml()).collect(),
    };
    // Shipped rules can be left out by name; others are changed where they are written.
    let without = tightening(explanation, |rule| rule.shipped);
    if without.iter().any(|it| it == "secret-files") {
        let paths = explanation.touches.iter().filter_map(|it| match it {
            Touch::Read(path) | Touch::Write(path) => exactly(path).map(|it| format!("!{it}")),
            Touch::Run(_) | Touch::Fetch(_) | Touch::Unknown | Touch::Unheld(_) => None,
        });
        let paths: Vec<String> = paths.collect();
        all.push(format!("[files]\nblocked = {}", RuleToml::strings(&paths)));
    }
    all.extend(excepting);
    if !without.is_empty() {
        let line = format!("without = {}", RuleToml::strings(&without));
        let more: Vec<String> = all.iter().map(|it| format!("{line}\n\n{it}")).collect();
        all.push(line);
        all.extend(more);
    }
    all
}

/// Rules over exactly what the call touches.
fn about_touches(rule: RuleToml, explanation: &Explanation) -> Option<RuleToml> {
    let rule = rule.text("tool", &explanation.tool);
    let (mut paths, mut hosts) = (Vec::new(), Vec::new());
    for touch in &explanation.touches {
        match touch {
            Touch::Read(path) | Touch::Write(path) => paths.push(exactly(path)?),
            Touch::Fetch(host) => hosts.push(host.clone()),
            Touch::Run(_) | Touch::Unknown | Touch::Unheld(_) => return None,
        }
    }
    // What is read and written is named once.
    let mut seen = std::collections::HashSet::new();
    paths.retain(|it| seen.insert(it.clone()));
    match (paths.is_empty(), hosts.is_empty()) {
        (true, true) => None,
        (false, true) => Some(rule.list("path", &paths)),
        (true, false) => Some(rule.list("domain", &hosts)),
        (false, false) => Some(rule.list("path", &paths).list("domain", &hosts)),
    }
}

/// A glob that fits this path of the workspace and no other.
fn exactly(path: &str) -> Option<String> {
    let plain = !path.starts_with(['/', '~', '!', '#'])
        && !path.contains(['*', '?', '[', ']', '{', '}', '\\', '$'])
        && !path.split('/').any(|it| it == "..");
    let path = path.trim_start_matches("./");
    let placed = if path.contains('/') { path.to_owned() } else { format!("/{path}") };
    (plain && !path.is_empty() && path != ".").then_some(placed)
}

/// A command as a rule writes it, where all its words are known and need no quotes.
fn spelt(command: &ExplainedCommand) -> Option<String> {
    let plain = |text: &String| {
        let odd = |it: char| it.is_whitespace() || it.is_control() || "\"'\\$`|;&<>*".contains(it);
        !text.is_empty() && !text.contains(odd)
    };
    let words: Option<Vec<String>> =
        command.words.iter().map(|it| it.text.clone().filter(plain)).collect();
    words.filter(|it| !it.is_empty()).map(|it| it.join(" "))
}

/// The rules that tighten the verdict and have a name, among these.
fn tightening(explanation: &Explanation, which: impl Fn(&ExplainedRule) -> bool) -> Vec<String> {
    let applies = |it: &&ExplainedRule| it.applies && it.decision > Decision::Allow && which(it);
    explanation.rules.iter().filter(applies).filter_map(|it| it.id.clone()).collect()
}

/// What stands in the way.
fn why_not(explanation: &Explanation) -> String {
    let verdict = &explanation.verdict;
    let deciding = verdict.because.iter().filter(|it| it.decision == verdict.decision);
    let deciding: Vec<_> = deciding.collect();
    if let Some(floor) = deciding.iter().find(|it| it.source == Source::Floor) {
        return format!("{}, whatever rules say", floor.text);
    }
    if let Some(rule) =
        deciding.iter().find(|it| matches!(it.source, Source::Rule | Source::Administrator))
    {
        return format!("the rule at {} decides; change it there", rule.origin);
    }
    if let Some(mode) = deciding.iter().find(|it| it.source == Source::Mode) {
        return format!("{}", mode.text);
    }
    "it cannot be written as a rule about this call alone".to_owned()
}
