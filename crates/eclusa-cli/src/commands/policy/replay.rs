//! `eclusa policy replay`: what a changed policy would have made of the calls in the log.

use std::{collections::BTreeMap, path::Path};

use eclusa::Decision;
use eclusa_config::Layer;
use eclusa_connect::AgentSpec;
use serde_json::{Value, json};

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
    let mut tally = ReplayTally { left: calls.left, ..ReplayTally::default() };
    for call in &calls.all {
        tally.add(call, call.again(&gate), |it| (it.line(), it.number().into()));
    }
    tally.report(global.json, screen)?;
    Ok(Exit::Done)
}

/// What came of judging calls again.
#[derive(Default)]
pub(in crate::commands) struct ReplayTally {
    same: usize,
    /// By what was decided then and what would be now.
    differences: BTreeMap<(Decision, Decision), Vec<ReplayedCall>>,
    /// Not judged, by why.
    pub(in crate::commands) left: BTreeMap<&'static str, usize>,
}

/// A call that would be decided otherwise.
struct ReplayedCall {
    line: String,
    /// How JSON names it.
    id: Value,
}

impl ReplayTally {
    /// Counts a call. `describe` says it in a line, and how JSON names it.
    pub(in crate::commands) fn add(
        &mut self,
        call: &LoggedCall,
        now: Decision,
        describe: impl FnOnce(&LoggedCall) -> (String, Value),
    ) {
        if now == call.decision {
            self.same += 1;
            return;
        }
        let answer = call.record.approval().map(|it| match it.had_nobody() {
            true => " (nobody could be asked)".to_owned(),
            false => format!(" (answered {})", it.answer()),
        });
        let (line, id) = describe(call);
        let line = format!("{line}{}", answer.unwrap_or_default());
        let differing = self.differences.entry((call.decision, now)).or_default();
        differing.push(ReplayedCall { line, id });
    }

    /// Says what would be otherwise, and what could not be judged.
    pub(in crate::commands) fn report(
        &self,
        json: bool,
        screen: &mut Screen,
    ) -> Result<(), Failure> {
        let mut differences: Vec<_> = self.differences.iter().collect();
        differences.sort_by_key(|((then, now), _)| (then.as_str(), now.as_str()));
        if json {
            for ((then, now), calls) in &differences {
                let ids: Vec<&Value> = calls.iter().map(|it| &it.id).collect();
                let (then, now) = (then.as_str(), now.as_str());
                screen.json(&json!({"then": then, "now": now, "calls": ids}))?;
            }
            screen.json(&json!({"same": self.same, "not_replayed": self.left}))?;
            return Ok(());
        }
        let all = match self.same + differences.iter().map(|it| it.1.len()).sum::<usize>() {
            1 => "1 call".to_owned(),
            count => format!("{count} calls"),
        };
        screen.line(&format!("{all} judged again, {} as before", self.same))?;
        for ((then, now), calls) in differences {
            let count = calls.len();
            let style = if now < then { Style::Warn } else { Style::Strong };
            let line = format!("{} -> {}: {count}", then.as_str(), now.as_str());
            screen.styled(style, &line)?;
            for call in calls.iter().take(SHOWN) {
                screen.line(&sanitize(&format!("  {}", call.line)))?;
            }
            if count > SHOWN {
                screen.line(&format!("  and {} more", count - SHOWN))?;
            }
        }
        for (why, count) in &self.left {
            screen.styled(Style::Faint, &format!("{count} not replayed: they {why}"))?;
        }
        Ok(())
    }
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
