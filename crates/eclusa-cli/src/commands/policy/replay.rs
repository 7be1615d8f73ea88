//! `eclusa policy replay`: what a changed policy would have made of the calls in the log.

use std::{collections::BTreeMap, path::Path};

use eclusa_config::Layer;
use eclusa_connect::AgentSpec;
use serde_json::json;

use super::{
    args::ReplacedLayer,
    log_calls::{self, LoggedCall},
    past_sessions, try_rule,
};
use crate::{
    config_layers,
    context::AppContext,
    failure::{Exit, Failure},
    global::Global,
    screen::{Screen, Style, sanitize},
    since::Since,
};

/// How many examples are shown of each difference.
const SHOWN: usize = 3;

/// A file, and what it stands in for.
pub(super) type ChangedFile<'a> = (&'a Path, ReplacedLayer);

pub(super) fn run(
    global: &Global,
    changed: Option<ChangedFile<'_>>,
    from: Option<&AgentSpec>,
    since: Option<Since>,
    screen: &mut Screen,
) -> Result<Exit, Failure> {
    let gate = |ctx: &AppContext| match changed {
        Some(changed) => try_rule::with(ctx, &layers(ctx, changed)?),
        None => ctx.judge(),
    };
    if let Some(agent) = from {
        return past_sessions::run(global, agent, since, gate, screen);
    }
    let ctx = AppContext::open(global)?;
    let calls = log_calls::calls(&*ctx.paths.log()?, since)?;
    let gate = gate(&ctx)?;
    let mut differences: BTreeMap<(&str, &str), Vec<&LoggedCall>> = BTreeMap::new();
    for call in &calls.all {
        let (then, now) = (call.decision, call.again(&gate));
        if now != then {
            differences.entry((then.as_str(), now.as_str())).or_default().push(call);
        }
    }
    let same = calls.all.len() - differences.values().map(Vec::len).sum::<usize>();
    if global.json {
        for ((then, now), calls) in &differences {
            let numbers: Vec<u64> = calls.iter().map(|it| it.number()).collect();
            screen.json(&json!({"then": then, "now": now, "calls": numbers}))?;
        }
        screen.json(&json!({"same": same, "not_replayed": calls.left}))?;
        return Ok(Exit::Done);
    }
    let all = match calls.all.len() {
        1 => "1 call".to_owned(),
        count => format!("{count} calls"),
    };
    screen.line(&format!("{all} judged again, {same} as before"))?;
    for ((then, now), calls) in &differences {
        let count = calls.len();
        let looser = calls.first().is_some_and(|it| it.again(&gate) < it.decision);
        let style = if looser { Style::Warn } else { Style::Strong };
        screen.styled(style, &format!("{then} -> {now}: {count}"))?;
        for call in calls.iter().take(SHOWN) {
            let answer = call.record.approval().map(|it| {
                if it.had_nobody() {
                    " (nobody could be asked)".to_owned()
                } else {
                    format!(" (answered {})", it.answer())
                }
            });
            let line = format!("  {}{}", call.line(), answer.unwrap_or_default());
            screen.line(&sanitize(&line))?;
        }
        if count > SHOWN {
            screen.line(&format!("  and {} more", count - SHOWN))?;
        }
    }
    for (why, count) in &calls.left {
        screen.styled(Style::Faint, &format!("{count} not replayed: they {why}"))?;
    }
    Ok(Exit::Done)
}

/// The layers, with the file in the place of another.
fn layers(ctx: &AppContext, (file, stands_for): ChangedFile<'_>) -> Result<Vec<Layer>, Failure> {
    let text = crate::read_text::read_text(file).map_err(|err| {
        Failure::usage(format!("the policy `{}` cannot be read: {err}", file.display()))
    })?;
    let replaced = match stands_for {
        ReplacedLayer::Own => ctx.paths.config.clone(),
        ReplacedLayer::Project => Some(ctx.paths.project()),
    };
    let replaced = replaced.map(|it| it.display().to_string());
    let mut layers = config_layers::layers(&ctx.paths)?;
    let at = layers.iter().position(|it| Some(&it.name) == replaced.as_ref());
    layers.retain(|it| Some(&it.name) != replaced.as_ref());
    layers.insert(at.unwrap_or(0), Layer::of_person(file.display().to_string(), text));
    Ok(layers)
}
