//! `eclusa fleet machines`: what is in force where, what keeps others from it, and who is shut out.

use eclusa::audit::{Clock as _, SystemClock};
use eclusa_fleet::{DEFAULT_OFFLINE, time_text};
use eclusa_fleet_server::{Database, FleetMachine, MachineStop};
use serde_json::{Value, json};

use super::serve::failed;
use crate::{
    failure::{Exit, Failure},
    screen::{Screen, sanitize},
};

/// List machines: what is in force, and what keeps others from it
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  eclusa fleet machines --database URL --behind
  eclusa fleet machines suspend 12 --why \"lost laptop\" --database URL
                                                    nothing is taken from it, and it asks about every call
  eclusa fleet machines resume 12 --database URL
  eclusa fleet machines revoke 12 --database URL    for good: it must enrol anew

What a machine has in force is what it said itself when it was last seen.")]
pub(crate) struct MachinesArgs {
    /// What becomes of a machine
    #[arg(value_enum, requires = "id")]
    action: Option<MachineAction>,
    /// Its number
    id: Option<u32>,
    /// The database
    #[arg(long, value_name = "URL", env = "ECLUSA_DATABASE", hide_env_values = true)]
    database: String,
    /// Why, as the machine is told
    #[arg(long, value_name = "TEXT", requires = "action")]
    why: Option<String>,
    /// Only those that are stale, or were not seen for a day
    #[arg(long, conflicts_with = "action")]
    stale: bool,
    /// Only those that have not what they are offered, or records to ship
    #[arg(long, conflicts_with = "action")]
    behind: bool,
    /// Only of this team
    #[arg(long, conflicts_with = "action")]
    team: Option<String>,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum MachineAction {
    Suspend,
    Resume,
    Revoke,
}

pub(super) async fn run(
    args: MachinesArgs,
    json: bool,
    screen: &mut Screen,
) -> Result<Exit, Failure> {
    let database = Database::open(&args.database).map_err(failed)?;
    if let (Some(action), Some(id)) = (args.action, args.id) {
        return stop(&database, (action, id), args.why.as_deref(), screen).await;
    }
    let now = SystemClock.unix_ms();
    let all = eclusa_fleet_server::machines(&database).await.map_err(failed)?;
    let is_wanted = |it: &&FleetMachine| {
        (!args.stale || is_stale(it, now))
            && (!args.behind || is_behind(it))
            && args.team.as_ref().is_none_or(|team| it.labels.get("team") == Some(team))
    };
    let found: Vec<&FleetMachine> = all.iter().filter(is_wanted).collect();
    if json {
        let found: Vec<Value> = found.iter().map(|it| as_json(it)).collect();
        screen.json(&json!(found))?;
        return Ok(Exit::Done);
    }
    let head = ["machine", "name", "team", "in force", "offered", "seen", "state"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    rows.extend(found.iter().map(|it| {
        vec![
            it.id.to_string(),
            sanitize(&it.name),
            it.labels.get("team").map(|it| sanitize(it)).unwrap_or_default(),
            it.in_force.map_or_else(|| "unknown".to_owned(), |it| it.to_string()),
            it.offered.to_string(),
            it.seen.map_or_else(|| "never".to_owned(), time_text),
            sanitize(&state(it, now)),
        ]
    }));
    screen.headed_table(&rows)?;
    Ok(Exit::Done)
}

async fn stop(
    database: &Database,
    (action, id): (MachineAction, u32),
    told: Option<&str>,
    screen: &mut Screen,
) -> Result<Exit, Failure> {
    let (what, done) = match action {
        MachineAction::Suspend => (
            MachineStop::Suspend,
            "is suspended: nothing is taken from it, and it asks about every call that does more than look",
        ),
        MachineAction::Resume => (MachineStop::Resume, "goes on"),
        MachineAction::Revoke => (
            MachineStop::Revoke,
            "is revoked: nothing is ever taken from it again, and it must enrol anew",
        ),
    };
    if !eclusa_fleet_server::stop(database, id, what, told).await.map_err(failed)? {
        return Err(Failure::usage(format!("there is no machine {id}, or it was revoked"))
            .hint("`eclusa fleet machines` lists them"));
    }
    screen.line(&format!("machine {id} {done}"))?;
    Ok(Exit::Done)
}

/// Whether it was not seen for longer than records may wait where the policy does not say.
fn is_away(it: &FleetMachine, now: u64) -> bool {
    it.seen.is_some_and(|it| now.saturating_sub(it) > DEFAULT_OFFLINE)
}

fn is_stale(it: &FleetMachine, now: u64) -> bool {
    let wrong =
        it.stale.is_some() || it.stopped.is_some() || it.forked || it.seal_refused.is_some();
    wrong || (is_away(it, now) && it.left.is_none())
}

fn is_behind(it: &FleetMachine) -> bool {
    it.left.is_none() && (it.in_force != Some(it.offered) || it.unshipped.0 > 0)
}

/// In a few words, what matters most first.
fn state(it: &FleetMachine, now: u64) -> String {
    let mut said: Vec<String> = it.stopped.iter().cloned().collect();
    if it.forked {
        said.push("forked: two machines write one log".to_owned());
    }
    if let Some((version, why)) = &it.cannot_load {
        said.push(format!("cannot load {version}: {why}"));
    }
    said.extend(it.stale.iter().map(|it| format!("stale: {it}")));
    said.extend(it.seal_refused.iter().map(|it| format!("takes no seal: {it}")));
    match (it.left, is_away(it, now)) {
        (Some(at), _) => said.push(format!("left at {}", time_text(at))),
        (None, true) if it.ephemeral => {
            let last = it.shipped.map(|it| format!(", its last record came at {}", time_text(it)));
            said.push(format!("ended without a word{}", last.unwrap_or_default()));
        }
        (None, true) => said.push("not seen for more than a day".to_owned()),
        (None, false) => {}
    }
    if let (count @ 1.., since) = it.unshipped {
        let since = since.map(|it| format!(", the oldest of {}", time_text(it)));
        said.push(format!("{count} records behind{}", since.unwrap_or_default()));
    }
    if said.is_empty() {
        said.push(match it.in_force {
            Some(version) if version == it.offered => "in force".to_owned(),
            _ => format!("offered {}", it.offered),
        });
    }
    said.join("; ")
}

fn as_json(it: &FleetMachine) -> Value {
    let cannot_load = it.cannot_load.as_ref();
    json!({
        "machine": it.id, "name": it.name, "labels": it.labels, "program": it.program, "in_force": it.in_force,
        "offered": it.offered, "seen": it.seen.map(time_text), "stale": it.stale, "stopped": it.stopped,
        "revoked": it.revoked, "forked": it.forked, "ephemeral": it.ephemeral, "left": it.left.map(time_text),
        "shipped": it.shipped.map(time_text), "seal_refused": it.seal_refused,
        "cannot_load": cannot_load.map(|it| json!({"version": it.0, "why": it.1})),
        "unshipped": it.unshipped.0, "unshipped_since": it.unshipped.1.map(time_text),
    })
}
