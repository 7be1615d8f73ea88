//! The decision path of one call: for people, and as JSON.

use std::io;

use eclusa::{
    Decision, Reason, Source, Touch,
    policy::{ExplainedCommand, ExplainedScript, ExplainedWord, Explanation},
};
use serde_json::{Value, json};

use super::rule_hint::RuleHint;
use crate::screen::{Screen, Style, sanitize};

/// Prints it: the decision and why, who must answer, what is hidden, and what would change it. `whole` adds each
/// command as it was read, and what does not apply.
pub(super) fn print(
    explanation: &Explanation,
    change: &RuleHint,
    whole: bool,
    screen: &mut Screen,
) -> io::Result<()> {
    let verdict = &explanation.verdict;
    let decision = painted(verdict.decision, screen);
    screen.line(&format!("{decision} (class {})", explanation.class.as_str()))?;
    for reason in &verdict.because {
        let lost = reason.decision < verdict.decision;
        if lost && !whole {
            continue;
        }
        let lost = match lost {
            true => format!(", overruled by {}", verdict.decision),
            false => String::new(),
        };
        let head = format!("  {:5}  ", reason.decision.as_str());
        screen.hanging(&head, &sanitize(&format!("{reason}{lost}")))?;
    }
    for needed in verdict.requirements() {
        screen.hanging("  needs  ", &sanitize(&needed.to_string()))?;
    }
    for hidden in &explanation.hidden {
        screen.hanging("  hides  ", &sanitize(hidden))?;
    }
    if whole {
        for script in &explanation.scripts {
            of_script(script, screen)?;
        }
        let silent = explanation.rules.iter().filter(|it| !it.applies).count();
        if silent > 0 {
            screen.styled(Style::Faint, &format!("{silent} other rules do not apply"))?;
        }
    }
    match change {
        RuleHint::Rule { toml, decision } => {
            screen.line(&format!("with this rule it would be {decision}:"))?;
            // To be copied: it is not broken.
            let line = |it: &str| sanitize(&format!("  {it}"));
            toml.lines().try_for_each(|it| screen.verbatim(Style::Plain, &line(it)))
        }
        RuleHint::None(_) if !whole && verdict.decision == Decision::Allow => Ok(()),
        RuleHint::None(why) => screen.line(&sanitize(&format!("no rule changes this: {why}"))),
    }
}

fn painted(decision: Decision, screen: &Screen) -> String {
    let style = match decision {
        Decision::Allow | Decision::Stage => Style::Good,
        Decision::Ask => Style::Warn,
        Decision::Deny => Style::Bad,
    };
    screen.paint.text(style, decision.as_str()).into_owned()
}

fn of_script(script: &ExplainedScript, screen: &mut Screen) -> io::Result<()> {
    let mut line = |text: String| screen.line(&sanitize(&text));
    let count = script.commands.len();
    line(format!("{count} command{} in it", if count == 1 { "" } else { "s" }))?;
    for (number, command) in (1..).zip(&script.commands) {
        let reached = match command.via.is_empty() {
            true => String::new(),
            false => format!(", reached by {}", command.via.join(" > ")),
        };
        let decision = command.verdict.as_ref().map_or("allow", |it| it.decision.as_str());
        line(format!("  {number}. {} -> {decision}{reached}", command.text))?;
        for text in of_command(command) {
            line(format!("       {text}"))?;
        }
    }
    let refused = script.refused.iter().map(|it| format!("  not read: {it}"));
    let doubts = script.doubts.iter().map(|it| format!("  in doubt: {it}"));
    refused.chain(doubts).try_for_each(line)
}

fn of_command(command: &ExplainedCommand) -> Vec<String> {
    let mut lines = Vec::new();
    let words: Vec<String> = command.words.iter().map(of_word).collect();
    if !words.is_empty() {
        lines.push(format!("words: {}", words.join(" | ")));
    }
    for (name, value) in &command.assignments {
        lines.push(format!("sets: {name} = {}", of_word(value)));
    }
    for (kind, target) in &command.redirects {
        lines.push(format!("redirection ({kind}): {}", of_word(target)));
    }
    if command.background {
        lines.push("runs in the background".to_owned());
    }
    let moved: Vec<String> = command.moved.iter().map(of_word).collect();
    if !moved.is_empty() {
        lines.push(format!("may run in: {}", moved.join(", ")));
    }
    if !command.words.is_empty() {
        let classes = match command.classes.is_empty() {
            true => "read-only".to_owned(),
            false => command.classes.join(", "),
        };
        let mut why: Vec<&str> = command.why.iter().map(|(_, what)| what.as_str()).collect();
        why.dedup();
        lines.push(match why.is_empty() {
            true => format!("does: {classes}"),
            false => format!("does: {classes} ({})", why.join("; ")),
        });
    }
    let reasons = command.verdict.iter().flat_map(|it| &it.because);
    // Which command it is about stands above.
    let name = format!("`{}`", command.text);
    let short = |it: &Reason| {
        let text = it.text.strip_prefix(name.as_str()).unwrap_or(&it.text);
        format!("{}: {} ({})", it.decision, text.trim_start_matches(':').trim_start(), it.origin)
    };
    lines.extend(reasons.map(short));
    lines
}

/// The word as the program will get it, or as it was written and why that is not it.
fn of_word(word: &ExplainedWord) -> String {
    match &word.text {
        Some(text) => text.clone(),
        None => {
            let mut why = word.unknown.clone();
            why.dedup();
            format!("{} ({})", word.source, why.join(", "))
        }
    }
}

/// The whole path, for programs. Fields are only ever added.
pub(super) fn as_json(explanation: &Explanation, change: &RuleHint) -> Value {
    let verdict = &explanation.verdict;
    let change = match change {
        RuleHint::Rule { toml, decision } => json!({"rule": toml, "decision": decision.as_str()}),
        RuleHint::None(why) => json!({"rule": null, "why": why}),
    };
    json!({
        "id": null,
        "decision": verdict.decision.as_str(),
        "tool": explanation.tool,
        "class": explanation.class.as_str(),
        "because": because(&verdict.because, verdict.decision),
        "touches": explanation.touches.iter().map(touch).collect::<Vec<_>>(),
        "scripts": explanation.scripts.iter().map(script).collect::<Vec<_>>(),
        "rules": explanation.rules.iter().map(|it| json!({
            "id": it.id,
            "decision": it.decision.as_str(),
            "origin": it.origin,
            "text": it.text,
            "applies": it.applies,
        })).collect::<Vec<_>>(),
        "needs": verdict.requirements().map(ToString::to_string).collect::<Vec<_>>(),
        "hidden": explanation.hidden,
        "change": change,
    })
}

fn because(reasons: &[Reason], decided: Decision) -> Vec<Value> {
    let one = |it: &Reason| {
        json!({
            "decision": it.decision.as_str(),
            "source": match it.source {
                Source::Rule => "rule",
                Source::Administrator => "administrator",
                Source::Default => "default",
                Source::Floor => "floor",
                Source::Mode => "mode",
            },
            "origin": it.origin.label(),
            "text": &*it.text,
            "overruled": it.decision < decided,
        })
    };
    reasons.iter().map(one).collect()
}

fn touch(touch: &Touch) -> Value {
    match touch {
        Touch::Run(text) => json!({"run": text}),
        Touch::Read(path) => json!({"read": path}),
        Touch::Write(path) => json!({"write": path}),
        Touch::Fetch(host) => json!({"fetch": host}),
        Touch::Unknown => json!("unknown"),
        Touch::Unheld(lacking) => json!({"unheld": lacking}),
    }
}

fn script(it: &ExplainedScript) -> Value {
    json!({
        "text": it.text,
        "commands": it.commands.iter().map(command).collect::<Vec<_>>(),
        "doubts": it.doubts,
        "refused": it.refused,
        "fork_bomb": it.fork_bomb,
    })
}

fn command(it: &ExplainedCommand) -> Value {
    let pairs = |pairs: &[(&'static str, ExplainedWord)], key: &str| -> Vec<Value> {
        pairs.iter().map(|(what, it)| json!({key: what, "word": word(it)})).collect()
    };
    json!({
        "text": it.text,
        "via": it.via,
        "words": it.words.iter().map(word).collect::<Vec<_>>(),
        "assignments": it.assignments.iter()
            .map(|(name, value)| json!({"name": name, "word": word(value)})).collect::<Vec<_>>(),
        "redirects": pairs(&it.redirects, "kind"),
        "background": it.background,
        "moved": it.moved.iter().map(word).collect::<Vec<_>>(),
        "program": it.program,
        "classes": it.classes,
        "why": it.why.iter()
            .map(|(class, what)| json!({"class": class, "what": what})).collect::<Vec<_>>(),
        "paths": pairs(&it.paths, "how"),
        "hosts": it.hosts.iter().map(word).collect::<Vec<_>>(),
        "decision": it.verdict.as_ref().map(|it| it.decision.as_str()),
        "because": it.verdict.as_ref().map(|it| because(&it.because, it.decision)),
    })
}

fn word(it: &ExplainedWord) -> Value {
    json!({"source": it.source, "text": it.text, "unknown": it.unknown})
}
