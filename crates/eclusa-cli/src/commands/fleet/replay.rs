//! `eclusa fleet replay`: what a new policy would have made of the calls that the fleet really made.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use eclusa::{Gate, audit::calls::CallRecord};
use eclusa_config::Layer;
use eclusa_fleet::{PolicyFile, PolicyPayload};
use eclusa_fleet_server::{Database, ShippedChain};
use serde_json::json;

use super::{publication, push, serve::failed};
use crate::{
    commands::policy::{log_calls, replay::ReplayTally, try_rule},
    context::AppContext,
    failure::{Exit, Failure},
    global::Global,
    screen::Screen,
};

/// Why a call says nothing about the change: it was not decided by the policy that is offered to everyone.
const OTHERWISE: &str = "were decided otherwise than the policy for everyone decides: by files of the machine, or an earlier version";

/// Show what a new policy would have made of the fleet's calls
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Judges calls that machines have shipped twice: by the policy that is offered to everyone, and by the one in the directory, \
each with the files for the labels of the machine. Calls that the first decides otherwise than it was decided there are \
counted apart. Nothing is run, asked or recorded. A pull request of the policy is the place for it.")]
pub(crate) struct ReplayArgs {
    /// The directory with the files of the new policy
    dir: PathBuf,
    /// The database
    #[arg(long, value_name = "URL", env = "ECLUSA_DATABASE", hide_env_values = true)]
    database: String,
    /// How far back: 24h, 7d
    #[arg(long, value_name = "TIME", default_value = "7d")]
    since: String,
    /// Only calls of this team
    #[arg(long)]
    team: Option<String>,
}

/// Gates of the two policies, for machines with some labels.
struct PolicyGates {
    old: Gate,
    new: Gate,
}

pub(super) async fn run(
    global: &Global,
    args: ReplayArgs,
    screen: &mut Screen,
) -> Result<Exit, Failure> {
    let payload = PolicyPayload { files: push::files(&args.dir)?, ..PolicyPayload::default() };
    let new = payload.files().map_err(Failure::usage)?;
    let database = Database::open(&args.database).map_err(failed)?;
    let since = publication::before_now(&args.since)?;
    let for_everyone = eclusa_fleet_server::offered(&database).await.map_err(failed)?;
    let version = for_everyone.last().map_or(0, |it| it.version);
    let old = eclusa_fleet_server::old_policy(&database, version).await.map_err(failed)?;
    let old = PolicyPayload::parse(&old).and_then(|it| it.files()).map_err(Failure::failed)?;
    // Calls are judged in a workspace of their own, where nothing is.
    let scratch = tempfile::tempdir().map_err(Failure::failed)?;
    let there = Global { workspace: Some(scratch.path().to_owned()), ..global.clone() };
    let ctx = AppContext::open(&there)?;
    let mut gates: BTreeMap<BTreeMap<String, String>, PolicyGates> = BTreeMap::new();
    let mut tally = ReplayTally::default();
    let team = args.team.as_deref();
    let chains = eclusa_fleet_server::shipped_chains(&database, team).await.map_err(failed)?;
    for chain in &chains {
        if !gates.contains_key(&chain.labels) {
            let gate = |files: &[PolicyFile]| try_rule::with(&ctx, &layers(files, &chain.labels));
            let both = PolicyGates { old: gate(&old)?, new: gate(&new)? };
            gates.insert(chain.labels.clone(), both);
        }
        let Some(both) = gates.get(&chain.labels) else { continue };
        let records = eclusa_fleet_server::shipped_records(&database, chain, since).await;
        let mut calls = CallRecord::gather(records.map_err(failed)?);
        calls.retain(|it| it.at() >= since);
        replay(chain, (both, &ctx.paths.workspace), calls, &mut tally);
    }
    tally.report(global.json, screen)?;
    Ok(Exit::Done)
}

fn replay(
    chain: &ShippedChain,
    (gates, workspace): (&PolicyGates, &Path),
    records: Vec<CallRecord>,
    tally: &mut ReplayTally,
) {
    let calls = log_calls::those_of(records);
    for (why, count) in calls.left {
        *tally.left.entry(why).or_default() += count;
    }
    for mut call in calls.all {
        call.move_to(&chain.workspace, &workspace.display().to_string());
        if call.again(&gates.old) != call.decision {
            *tally.left.entry(OTHERWISE).or_default() += 1;
            continue;
        }
        tally.add(&call, call.again(&gates.new), |it| {
            let ShippedChain { machine, name, workspace, .. } = chain;
            let id = json!({"machine": machine, "workspace": workspace, "call": it.number()});
            (format!("machine {machine} {name}, {}", it.line()), id)
        });
    }
}

/// The files that are for these labels, as they lie on a machine.
fn layers(files: &[PolicyFile], labels: &BTreeMap<String, String>) -> Vec<Layer> {
    let own = files.iter().filter(|it| it.is_for(labels));
    own.map(|it| Layer::of_administrator(it.name.as_str(), it.text.as_str())).collect()
}
