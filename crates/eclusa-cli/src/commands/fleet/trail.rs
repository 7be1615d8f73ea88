//! `eclusa fleet log` and `export`: the trail of all machines, read from the database.

use std::io::{BufWriter, Write as _};

use eclusa_fleet::time_text;
use eclusa_fleet_server::{CallFilter, Database, FleetAct, FoundCall};
use serde_json::{Value, json};

use super::{publication, serve::failed};
use crate::{
    failure::{Exit, Failure},
    screen::{Screen, sanitize},
};

// Which trail, and what of it. (A doc comment would replace the command's own text.)
#[derive(Debug, clap::Args)]
pub(crate) struct TrailArgs {
    /// The database
    #[arg(long, value_name = "URL", env = "ECLUSA_DATABASE", hide_env_values = true)]
    database: String,
    /// Only of this machine
    #[arg(long, value_name = "NUMBER")]
    machine: Option<u32>,
    /// Only of this team
    #[arg(long)]
    team: Option<String>,
}

/// List calls of all machines, newest first
#[derive(Debug, clap::Args)]
pub(crate) struct FleetLogArgs {
    #[command(flatten)]
    trail: TrailArgs,
    /// Only of this tool
    #[arg(long)]
    tool: Option<String>,
    /// Only with this decision
    #[arg(long, value_parser = ["allow", "stage", "ask", "deny"])]
    decision: Option<String>,
    /// How far back: 24h, 7d
    #[arg(long, value_name = "TIME", default_value = "7d")]
    since: String,
    /// How many at most
    #[arg(long, default_value_t = 50)]
    limit: u32,
    /// What the server and whoever administers it did, in place of calls
    #[arg(long, conflicts_with_all = ["machine", "team", "tool", "decision", "since"])]
    acts: bool,
}

/// Write chains, seals and documents into one file, to be checked elsewhere
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Writes to stdout. `eclusa fleet verify FILE --root sha256:…` checks it without a network, trusting neither server nor \
database.")]
pub(crate) struct ExportArgs {
    #[command(flatten)]
    trail: TrailArgs,
}

pub(super) async fn log(
    args: FleetLogArgs,
    json: bool,
    screen: &mut Screen,
) -> Result<Exit, Failure> {
    let FleetLogArgs { trail, tool, decision, since, limit, acts } = args;
    let TrailArgs { database, machine, team } = trail;
    let database = Database::open(&database).map_err(failed)?;
    if acts {
        let found = eclusa_fleet_server::acts(&database, limit).await.map_err(failed)?;
        return list_acts(&found, json, screen);
    }
    let since = publication::before_now(&since)?;
    let filter = CallFilter { machine, team, tool, decision, since, limit };
    let found = eclusa_fleet_server::calls(&database, &filter).await.map_err(failed)?;
    if json {
        let call = |it: &FoundCall| {
            json!({
                "at": time_text(it.at), "machine": it.machine, "name": it.name, "workspace": it.workspace,
                "number": it.number, "tool": it.tool, "decision": it.decision, "code": it.code, "rule": it.rule,
            })
        };
        screen.json(&found.iter().map(call).collect())?;
        return Ok(Exit::Done);
    }
    let text = |it: &Option<String>| it.as_deref().map(sanitize).unwrap_or_default();
    let row = |it: &FoundCall| {
        let machine = format!("{} {}", it.machine, sanitize(&it.name));
        let (tool, decision) = (sanitize(&it.tool), text(&it.decision));
        vec![
            time_text(it.at),
            machine,
            it.number.to_string(),
            tool,
            decision,
            text(&it.code),
            text(&it.rule),
        ]
    };
    let head = ["at", "machine", "call", "tool", "decision", "outcome", "rule"].map(str::to_owned);
    let rows: Vec<Vec<String>> =
        std::iter::once(head.to_vec()).chain(found.iter().map(row)).collect();
    screen.headed_table(&rows)?;
    Ok(Exit::Done)
}

fn list_acts(found: &[FleetAct], json: bool, screen: &mut Screen) -> Result<Exit, Failure> {
    if json {
        let act = |it: &FleetAct| json!({"seq": it.seq, "record": it.body});
        screen.json(&found.iter().map(act).collect())?;
        return Ok(Exit::Done);
    }
    let row = |it: &FleetAct| {
        let at = it.body.get("at").and_then(Value::as_u64).map(time_text).unwrap_or_default();
        let act = it.body.get("act").and_then(Value::as_str).unwrap_or_default();
        vec![
            it.seq.to_string(),
            at,
            sanitize(act),
            sanitize(&it.body.get("about").map(Value::to_string).unwrap_or_default()),
        ]
    };
    let head = ["record", "at", "act", "about"].map(str::to_owned).to_vec();
    let rows: Vec<Vec<String>> = std::iter::once(head).chain(found.iter().map(row)).collect();
    screen.headed_table(&rows)?;
    Ok(Exit::Done)
}

pub(super) async fn export(args: ExportArgs) -> Result<Exit, Failure> {
    let TrailArgs { database, machine, team } = args.trail;
    let database = Database::open(&database).map_err(failed)?;
    let mut out = BufWriter::new(std::io::stdout().lock());
    let exported = eclusa_fleet_server::export(&database, machine, team.as_deref(), &mut out);
    exported.await.map_err(failed)?;
    out.flush()?;
    Ok(Exit::Done)
}
