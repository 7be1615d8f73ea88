//! `eclusa policy suggest`: rules that would have saved questions, from what people answered.
//!
//! A rule is proposed only where it would have let through nothing but what a person said yes to
//! and what then went well. Everything in the log that can be judged again is tried.

use std::collections::BTreeSet;

use eclusa::{Decision, Touch, policy::Explanation};
use eclusa_config::RuleToml;
use serde_json::json;

use super::{
    log_calls::{self, LoggedCall},
    try_rule,
};
use crate::{
    context::AppContext,
    failure::{Exit, Failure},
    global::Global,
    screen::{Screen, Style, sanitize},
    since::Since,
};

/// A rule, and the calls about which nobody would have been asked.
struct Proposal {
    toml: String,
    saved: Vec<u64>,
    /// How many of them nobody was asked about, because their agent was only watched.
    watched: usize,
    example: String,
}

pub(super) fn run(
    global: &Global,
    since: Option<Since>,
    count: usize,
    screen: &mut Screen,
) -> Result<Exit, Failure> {
    let ctx = AppContext::open(global)?;
    let calls = log_calls::calls(&*ctx.paths.log()?, since)?;
    let proposals = proposals(&ctx, &calls.all, count)?;
    for Proposal { toml, saved, watched, example } in &proposals {
        if global.json {
            screen.json(&json!({
                "rule": toml, "questions": saved.len(), "calls": saved, "watched": watched,
            }))?;
            continue;
        }
        let questions = if saved.len() == 1 { "question" } else { "questions" };
        let title = format!("{} {questions} fewer, as {example}", saved.len());
        screen.styled(Style::Strong, &sanitize(&format!("# {title}")))?;
        if *watched > 0 {
            let text = format!(
                "# {watched} of these were only watched, not approved: read before you add it"
            );
            screen.styled(Style::Warn, &text)?;
        }
        screen.line(&sanitize(toml))?;
        screen.line("")?;
    }
    if proposals.is_empty() && !global.json {
        let asked = calls.all.iter().filter(|it| it.record.was_asked()).count();
        screen.line(&format!(
            "nothing to suggest: questions so far: {asked}, and no rule would avoid one without \
             also allowing calls that nobody approved"
        ))?;
    }
    Ok(Exit::Done)
}

/// Rules of the last days for a page: the rule, how many questions it saves, and one of them.
pub(super) fn recent(
    ctx: &AppContext,
    since: Since,
    count: usize,
) -> Result<Vec<(String, usize, String)>, Failure> {
    let calls = log_calls::calls(&*ctx.paths.log()?, Some(since))?;
    let found = proposals(ctx, &calls.all, count)?;
    Ok(found.into_iter().map(|it| (it.toml, it.saved.len(), it.example)).collect())
}

/// The rules that save most, each with something that those before it leave.
fn proposals(
    ctx: &AppContext,
    calls: &[LoggedCall],
    count: usize,
) -> Result<Vec<Proposal>, Failure> {
    let gate = ctx.judge()?;
    let now: Vec<Decision> = calls.iter().map(|it| it.again(&gate)).collect();
    let mut candidates = BTreeSet::new();
    for (call, now) in calls.iter().zip(&now) {
        if [Decision::Ask, Decision::Stage].contains(now)
            && (call.was_welcome() || call.was_watched())
            && let Ok(explanation) = gate.explain(call.call())
        {
            candidates.extend(rules(&explanation));
        }
    }
    let mut proposals = Vec::new();
    for toml in candidates {
        if let Some(proposal) = tried(ctx, toml, calls, &now) {
            proposals.push(proposal);
        }
    }
    proposals.sort_by_key(|it| std::cmp::Reverse(it.saved.len()));
    // A rule that saves no question which an earlier one leaves is no news.
    let mut covered: BTreeSet<u64> = BTreeSet::new();
    proposals.retain(|it| {
        let news = it.saved.iter().any(|call| !covered.contains(call));
        covered.extend(&it.saved);
        news
    });
    proposals.truncate(count);
    Ok(proposals)
}

/// The proposal, if it saves a question and loosens nothing but what was answered with yes.
fn tried(
    ctx: &AppContext,
    toml: String,
    calls: &[LoggedCall],
    now: &[Decision],
) -> Option<Proposal> {
    let gate = try_rule::gate(ctx, &toml).ok()?;
    let (mut saved, mut watched) = (Vec::new(), 0);
    let mut example = None;
    for (call, now) in calls.iter().zip(now) {
        let then = call.again(&gate);
        if then == *now {
            continue;
        }
        match (call.was_welcome(), call.was_watched()) {
            (true, _) => {}
            (false, true) => watched += 1,
            (false, false) => return None,
        }
        saved.push(call.number());
        example.get_or_insert_with(|| call.line());
    }
    Some(Proposal { toml, saved, watched, example: example? })
}

/// Rules that would let such a call run, from narrow to wide.
fn rules(explanation: &Explanation) -> Vec<String> {
    let mut rules = Vec::new();
    let allow = || RuleToml::new("allow");
    let commands = explanation.scripts.iter().flat_map(|it| &it.commands);
    let strict =
        commands.filter(|it| it.verdict.as_ref().is_some_and(|it| it.decision > Decision::Allow));
    let (mut whole, mut programs) = (BTreeSet::new(), BTreeSet::new());
    for command in strict {
        let words: Option<Vec<&str>> = command.words.iter().map(|it| it.text.as_deref()).collect();
        whole.insert(words.unwrap_or_default().join(" "));
        programs.insert(command.program.clone());
    }
    for commands in [programs, whole] {
        let commands: Vec<String> = commands.into_iter().filter(|it| !it.is_empty()).collect();
        if !commands.is_empty() {
            rules.push(allow().list("command", &commands));
        }
    }
    let named = allow().text("tool", &explanation.tool);
    let (mut directories, mut hosts) = (BTreeSet::new(), BTreeSet::new());
    for touch in &explanation.touches {
        match touch {
            Touch::Read(path) | Touch::Write(path) => {
                let parent = path.rsplit_once('/').map(|(parent, _)| format!("{parent}/**"));
                directories.insert(parent.unwrap_or_else(|| format!("/{path}")));
            }
            Touch::Fetch(host) => {
                hosts.insert(host.clone());
            }
            Touch::Run(_) | Touch::Unknown | Touch::Unheld(_) => {
                return rules.iter().map(RuleToml::toml).collect();
            }
        }
    }
    let list = |it: BTreeSet<String>| it.into_iter().collect::<Vec<String>>();
    match (directories.is_empty(), hosts.is_empty()) {
        (true, true) if explanation.scripts.is_empty() => rules.push(named),
        (true, true) => {}
        (false, true) => rules.push(named.list("path", &list(directories))),
        (true, false) => rules.push(named.list("domain", &list(hosts))),
        (false, false) => {
            rules.push(named.list("path", &list(directories)).list("domain", &list(hosts)));
        }
    }
    rules.iter().map(RuleToml::toml).collect()
}
