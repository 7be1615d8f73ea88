//! `eclusa allow`: rules that people agree on beforehand, for so many calls and so long.

use std::{path::PathBuf, time::Duration};

use eclusa::{
    approve::{Allowance, Proof},
    audit::{Clock as _, SystemClock},
    one_line,
    store::ApprovalQueue,
};
use eclusa_app::values::duration;
use serde_json::json;

use super::approvals::Signer;
use crate::{
    allowances,
    context::AppContext,
    failure::{Exit, Failure},
    person,
    read_text::read_text,
    screen::{Screen, Style},
    timestamp::Timestamp,
};

/// Pre-approve calls: a rule limited by count and time
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  eclusa allow deploy.toml --times 20 --for 2h  pre-approve the next 20 of these calls
  eclusa allow                                  allowances, and how often each was used
  eclusa allow yes 3 --key ~/bo.key             agree to another person's proposal
  eclusa allow revoke 3                         revoke it, at once

deploy.toml is one rule: `[[rules]]`, decision = \"allow\", tool = \"bash\", command = \"make deploy\". \
It answers questions of your rules and of the defaults, once everybody whom those rules need has \
agreed. It never lifts a denial, nor a question of an administrator, a reviewer, a limit or the mode.")]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct AllowArgs {
    /// A file with the rule
    #[arg(value_name = "RULE.toml", requires_all = ["times", "time"])]
    pub(crate) rule: Option<PathBuf>,
    /// Maximum number of calls
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub(crate) times: Option<u64>,
    /// How long it is valid
    #[arg(long = "for", value_name = "TIME", value_parser = duration)]
    pub(crate) time: Option<Duration>,
    /// Sign with the key in this file, which `eclusa people add --new-key` made
    #[arg(long, value_name = "FILE")]
    pub(crate) key: Option<PathBuf>,
    #[command(subcommand)]
    pub(crate) what: Option<AllowCommand>,
}

#[derive(Debug, clap::Subcommand)]
pub(crate) enum AllowCommand {
    /// List allowances, and how often each was used (default)
    List,
    /// Agree to a proposed allowance
    Yes {
        /// Which one, as `list` shows it
        allowance: u64,
        /// Sign with the key in this file
        #[arg(long, value_name = "FILE")]
        key: Option<PathBuf>,
    },
    /// Revoke one, at once
    Revoke {
        /// Which one, as `list` shows it
        allowance: u64,
    },
}

/// The longest time that can be agreed on.
const MAX_TIME: Duration = Duration::from_secs(30 * 86_400);

pub(super) async fn run(ctx: &AppContext, args: AllowArgs, json: bool) -> Result<Exit, Failure> {
    let queue = ctx.store()?.approval_queue(Vec::new());
    let mut screen = Screen::stdout();
    let signer = |key| Signer::open(&ctx.paths, key);
    match (args.what, args.rule) {
        (Some(AllowCommand::Yes { allowance, key }), _) => {
            agree(&*queue, allowance, &signer(key)?).await?;
            screen.line(&format!("allowance {allowance}: yes"))?;
        }
        (Some(AllowCommand::Revoke { allowance }), _) => {
            let revoked = queue.revoke_allowance(allowance, &person::name()).await;
            if !revoked.map_err(Failure::failed)? {
                return Err(unknown(allowance, "does not exist, or was revoked before"));
            }
            screen.line(&format!("allowance {allowance}: revoked"))?;
        }
        (None, Some(file)) => {
            let signer = signer(args.key)?;
            let (times, time) = (args.times.unwrap_or(1), args.time.unwrap_or_default());
            if time.is_zero() || time > MAX_TIME {
                return Err(Failure::usage("an allowance is valid for 1 s to 30 days"));
            }
            let text = read_text(&file)
                .map_err(|err| Failure::failed(format!("`{}`: {err}", file.display())))?;
            allowances::rule(&text)?;
            let ms = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
            let until = SystemClock.unix_ms().saturating_add(ms);
            let id = queue.propose(&text, times, until, signer.person()).await;
            let id = id.map_err(Failure::failed)?;
            agree(&*queue, id, &signer).await?;
            let until = screen.time(Timestamp(until));
            screen.line(&format!("allowance {id}: {times} calls until {until}"))?;
            screen.line(&format!("`eclusa allow revoke {id}` revokes it"))?;
        }
        (Some(AllowCommand::List) | None, _) => list(&*queue, json, &mut screen).await?,
    }
    screen.flush()?;
    Ok(Exit::Done)
}

fn unknown(id: u64, what: &str) -> Failure {
    Failure::failed(format!("allowance {id} {what}")).hint("`eclusa allow` lists them")
}

async fn agree(queue: &dyn ApprovalQueue, id: u64, signer: &Signer) -> Result<(), Failure> {
    let all = queue.allowances().await.map_err(Failure::failed)?;
    let found = all.into_iter().find(|it| it.id == id);
    let found = found.ok_or_else(|| unknown(id, "is not there"))?;
    let vote = signer.agreement(queue, &found).await?;
    match queue.agree(id, vote).await.map_err(Failure::failed)? {
        true => Ok(()),
        false => Err(unknown(id, "is used up, expired or revoked")),
    }
}

async fn list(queue: &dyn ApprovalQueue, json: bool, screen: &mut Screen) -> Result<(), Failure> {
    let (all, now) = (queue.allowances().await.map_err(Failure::failed)?, SystemClock.unix_ms());
    if all.is_empty() && !json {
        screen.line("no allowances yet")?;
    }
    for it in all {
        let votes = it.votes.iter().map(|vote| {
            let proof = vote.signed.as_ref().map_or(Proof::Word, |it| it.proof);
            (one_line(&vote.by).to_string(), proof.as_str())
        });
        let votes: Vec<(String, &str)> = votes.collect();
        if json {
            screen.json(&json!({
                "id": it.id, "rule": it.rule, "times": it.times, "used": it.used,
                "until": it.until, "state": state(&it, now), "by": votes,
            }))?;
            continue;
        }
        let (used, times) = (it.used, it.times);
        let title = format!("allowance {}, {}: {used} of {times} used", it.id, state(&it, now));
        screen.styled(Style::Strong, &title)?;
        let by: Vec<String> = votes.iter().map(|it| format!("{} ({})", it.0, it.1)).collect();
        let until = screen.time(Timestamp(it.until));
        screen.line(&format!("agreed by {}, until {until}", by.join(", ")))?;
        for line in it.rule.lines().filter(|it| !it.trim().is_empty()) {
            screen.line(&format!("  {}", one_line(line)))?;
        }
    }
    Ok(())
}

/// How one stands.
fn state(it: &Allowance, now: u64) -> &'static str {
    match (&it.revoked, it.used >= it.times, it.until <= now) {
        (Some(_), _, _) => "taken back",
        (None, true, _) => "used up",
        (None, false, true) => "over",
        (None, false, false) => "live",
    }
}
