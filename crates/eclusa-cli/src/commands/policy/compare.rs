//! `eclusa policy compare`: where another agent's own rules about commands are looser or stricter
//! than the rules here. Commands are made from the words of both sides, in many spellings, and each is
//! judged twice: by the gate, and by a model of how the agent reads its rules.

use std::{collections::BTreeSet, path::Path};

use eclusa::{Decision, Gate, ToolCall};
use serde_json::json;

use super::{agent_rules::CommandRule, import, layers};
use crate::{
    args::{Agent, Global},
    context::AppContext,
    failure::{Exit, Failure},
    screen::{Screen, Style, note, sanitize},
};

mod their_rules;

/// How many differences of a kind are shown.
const MAX_SHOWN: usize = 15;

/// Commands that everybody meets, whatever the rules are about.
const EVERYDAY: [&str; 8] = [
    "ls -la",
    "cat .env",
    "git status",
    "git push",
    "npm install",
    "rm -rf build",
    "curl https://example.com",
    "sudo true",
];

/// A command that the two sides do not agree about.
struct Difference {
    command: String,
    here: Decision,
    /// The rule, or what else decided.
    here_by: String,
    there: Decision,
    there_by: String,
}

pub(super) fn run(
    global: &Global,
    agent: Agent,
    file: &Path,
    screen: &mut Screen,
) -> Result<Exit, Failure> {
    if agent == Agent::Gemini {
        let text = "how Gemini CLI weighs its rules is not modelled; its rules can be imported";
        return Err(Failure::usage(text));
    }
    let rules = import::read(agent, file)?.commands;
    let ctx = AppContext::open(global)?;
    let gate = ctx.judge()?;
    let commands = commands(&rules, &ctx);
    let differences: Vec<Difference> =
        commands.iter().filter_map(|it| difference(&gate, agent, &rules, it)).collect();
    let (looser, stricter): (Vec<&Difference>, Vec<&Difference>) =
        differences.iter().partition(|it| it.there < it.here);
    if global.json {
        let one = |it: &&Difference| {
            json!({
                "command": it.command, "here": it.here.as_str(), "here_by": it.here_by,
                "there": it.there.as_str(), "there_by": it.there_by,
            })
        };
        let list = |all: &[&Difference]| all.iter().map(one).collect::<Vec<_>>();
        screen.json(&json!({
            "compared": commands.len(), "looser_there": list(&looser),
            "stricter_there": list(&stricter),
        }))?;
    } else {
        let alike = commands.len() - differences.len();
        screen.line(&format!("{} commands compared, {alike} decided alike", commands.len()))?;
        for (title, style, all) in
            [("looser there", Style::Warn, &looser), ("stricter there", Style::Strong, &stricter)]
        {
            show(screen, title, style, all)?;
        }
        note(&format!("a model of {agent} was asked, not the program; files are not compared"));
    }
    Ok(if looser.is_empty() { Exit::Done } else { Exit::Failed })
}

fn show(
    screen: &mut Screen,
    title: &str,
    style: Style,
    all: &[&Difference],
) -> Result<(), Failure> {
    if all.is_empty() {
        return Ok(());
    }
    screen.styled(style, &format!("{title}: {}", all.len()))?;
    for it in all.iter().take(MAX_SHOWN) {
        let (here, there) = (it.here.as_str(), it.there.as_str());
        let line = format!(
            "  {}\n    {there} there ({}), {here} here ({})",
            it.command, it.there_by, it.here_by
        );
        screen.line(&sanitize(&line))?;
    }
    if all.len() > MAX_SHOWN {
        screen.line(&format!("  … {} more (--json lists all)", all.len() - MAX_SHOWN))?;
    }
    Ok(())
}

fn difference(
    gate: &Gate,
    agent: Agent,
    rules: &[CommandRule],
    command: &str,
) -> Option<Difference> {
    let call = ToolCall::new("compare", "bash", json!({"command": command}));
    let (here, here_by) = match gate.check(call) {
        Ok((_, verdict)) => (verdict.decision, verdict.why().into_owned()),
        Err(stop) => (Decision::Deny, stop.message().into_owned()),
    };
    let (there, there_by) = their_rules::judge(agent, rules, command);
    let differs = here != there;
    let command = command.to_owned();
    differs.then_some(Difference { command, here, here_by, there, there_by })
}

/// The commands to compare, shortest first.
fn commands(rules: &[CommandRule], ctx: &AppContext) -> Vec<String> {
    let own = layers::rules(&ctx.config);
    let ours = own.iter().filter(|it| !it.is_shipped()).filter_map(|it| it.texts("command"));
    let ours = ours.flatten().map(str::to_owned);
    let theirs = rules.iter().filter_map(CommandRule::words);
    let words: BTreeSet<String> =
        ours.chain(theirs).chain(EVERYDAY.map(str::to_owned)).filter(|it| !it.is_empty()).collect();
    let mut all: Vec<String> = words.iter().flat_map(|it| spellings(it)).collect();
    all.sort_by_key(|it| (it.len(), it.clone()));
    all.dedup();
    all
}

/// The same words, as models and people write them.
fn spellings(words: &str) -> Vec<String> {
    let quoted = words.replace('\'', r"'\''");
    vec![
        words.to_owned(),
        format!("{words} x"),
        format!("  {words}"),
        format!("{words} && true"),
        format!("true; {words}"),
        format!("true | {words}"),
        format!("{words} > out.txt"),
        format!("env {words}"),
        format!("A=1 {words}"),
        format!("timeout 5 {words}"),
        format!("nohup {words}"),
        format!("bash -c '{quoted}'"),
        format!("bash -lc '{quoted}'"),
        format!("echo $({words})"),
        format!("({words})"),
        format!("/usr/bin/{words}"),
        format!("xargs {words}"),
        format!("{words} &"),
    ]
}
