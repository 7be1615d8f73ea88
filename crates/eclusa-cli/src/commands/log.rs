//! `eclusa log`: what was decided and done in this workspace, and that nobody changed it since.

use std::{io::Write, path::PathBuf, time::Duration};

use eclusa::{
    Record,
    audit::{
        Log,
        calls::{self, CallRecord},
    },
};
use serde_json::Value;

use super::call_record;
use crate::{
    failure::{Exit, Failure},
    paths::Paths,
    screen::{Screen, Style, sanitize},
    since::{Since, parse_since},
    timestamp::Timestamp,
};

mod export;
mod filter;
mod stats;
mod verify;

pub(super) use verify::said;

/// Read and verify the audit log of this workspace
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  eclusa log -n 50               the last calls
  eclusa log --tool bash --outcome denied_by_policy --since 7d
  eclusa log --grep migrations   calls that mention this
  eclusa log stats               counts, times, and the most frequent questions
  eclusa log show 12             everything about one call
  eclusa log tail -f             as it happens
  eclusa log export --follow     all records, one a line, for another system
  eclusa log verify --head HASH  the chain holds, and ends where you noted it")]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct LogArgs {
    #[command(flatten)]
    list: LogList,
    #[command(subcommand)]
    what: Option<LogCommand>,
}

// Which calls of the log to list.
#[derive(Debug, clap::Args)]
pub(crate) struct LogList {
    /// How many
    #[arg(short = 'n', long, default_value_t = 20)]
    pub(crate) count: usize,
    /// Only calls of this tool; repeatable
    #[arg(long, value_name = "TOOL")]
    pub(crate) tool: Vec<String>,
    /// Only calls with this outcome, such as `ok` or `denied_by_policy`; repeatable
    #[arg(long, value_name = "OUTCOME")]
    pub(crate) outcome: Vec<String>,
    /// Only calls since a call (`12`), a duration (`10m`) or a date (`2026-03-01 09:30`, UTC)
    #[arg(long, value_parser = parse_since, value_name = "WHEN")]
    pub(crate) since: Option<Since>,
    /// Only calls of this session
    #[arg(long, value_name = "SESSION")]
    pub(crate) session: Option<String>,
    /// Only calls whose records contain this text, in any case
    #[arg(long, value_name = "TEXT")]
    pub(crate) grep: Option<String>,
}

impl LogList {
    /// True when only some calls are wanted.
    pub(crate) fn is_filtered(&self) -> bool {
        !self.tool.is_empty()
            || !self.outcome.is_empty()
            || self.since.is_some()
            || self.session.is_some()
            || self.grep.is_some()
    }
}

#[derive(Debug, clap::Subcommand)]
pub(crate) enum LogCommand {
    /// The last calls, newest last (default)
    List(LogList),
    /// Show counts, times, and the most frequent questions
    Stats {
        /// Only calls since a call (`12`), a duration (`10m`) or a date (`2026-03-01 09:30`, UTC)
        #[arg(long, value_parser = parse_since, value_name = "WHEN")]
        since: Option<Since>,
        /// Removed; says what took its place
        #[arg(long, hide = true, value_name = "FILE")]
        html: Option<PathBuf>,
    },
    /// Show everything recorded about one call
    Show {
        /// Its number, or the model's id for it
        call: String,
    },
    /// The last records, as they are written
    Tail {
        /// How many to start with
        #[arg(short = 'n', long, default_value_t = 10)]
        count: usize,
        /// Keep printing new records until interrupted
        #[arg(short, long)]
        follow: bool,
    },
    /// All records, one JSON object a line, each with its number and its hash
    Export(export::LogExportArgs),
    /// Check that no record was changed, removed or added
    Verify {
        /// A hash that you noted earlier: it must still be in the log
        #[arg(long, value_name = "HASH")]
        head: Option<String>,
        /// Check only what came after the record with this hash: the head of an earlier check.
        /// Earlier records are not checked again
        #[arg(long, value_name = "HASH", conflicts_with = "head")]
        after: Option<String>,
    },
}

/// How many records are read at a time.
const PAGE: usize = 1_000;

/// How often new records are looked for.
const LOOK: Duration = Duration::from_millis(200);

pub(super) async fn run(paths: &Paths, args: LogArgs, json: bool) -> Result<Exit, Failure> {
    let store = paths.log()?;
    let mut screen = Screen::stdout();
    match args.what.unwrap_or(LogCommand::List(args.list)) {
        LogCommand::List(wanted) => list(&*store, &wanted, json, &mut screen)?,
        LogCommand::Stats { html: Some(_), .. } => return Err(stats::no_page()),
        LogCommand::Stats { since, html: None } => stats::run(&*store, since, json, &mut screen)?,
        LogCommand::Show { call } => show(&*store, &call, json, &mut screen)?,
        LogCommand::Tail { count, follow } => {
            let shown = if json { record_json } else { record_line };
            tail(&*store, count, follow, shown, &mut screen).await?;
        }
        LogCommand::Export(args) => export::run(&*store, &args, &mut screen).await?,
        LogCommand::Verify { after: Some(after), .. } => {
            verify::run_after(&*store, &after, json, &mut screen)?;
        }
        LogCommand::Verify { head, .. } => {
            verify::run(&*store, head.as_deref(), json, &mut screen)?
        }
    }
    screen.flush()?;
    Ok(Exit::Done)
}

fn list(log: &dyn Log, wanted: &LogList, json: bool, screen: &mut Screen) -> Result<(), Failure> {
    let calls = if wanted.is_filtered() {
        filter::calls(log, wanted)?
    } else {
        calls::last_calls(log, wanted.count).map_err(Failure::failed)?
    };
    if json {
        return Ok(calls.iter().try_for_each(|it| screen.json(&it.as_json()))?);
    }
    if calls.is_empty() && wanted.is_filtered() {
        let known = match wanted.outcome.is_empty() {
            true => Default::default(),
            false => filter::outcomes(log)?,
        };
        let told = match wanted.outcome.iter().find(|it| !known.contains(*it)) {
            Some(never) if !known.is_empty() => {
                let known = known.into_iter().collect::<Vec<_>>().join("`, `");
                format!(
                    "no call has the outcome `{}`; those of this log are `{known}`",
                    sanitize(never)
                )
            }
            _ => "no call matches".to_owned(),
        };
        return Ok(screen.line(&told)?);
    }
    let mut rows = vec![call_record::headings(screen)];
    let shown = calls.iter().filter(|it| !has_run_since(it, &calls));
    rows.extend(shown.map(|it| call_record::row(it, screen)));
    Ok(screen.headed_table(&rows)?)
}

/// True for a command that another agent's hook allowed, and that has run in the sandbox since: the call
/// that ran says everything, and people read of it once.
fn has_run_since(call: &CallRecord, calls: &[CallRecord]) -> bool {
    let is =
        |it: &CallRecord, operation: &str| it.field("operation").is_some_and(|it| it == operation);
    let same = |it: &CallRecord| {
        ["call", "conversation", "args_sha256"].iter().all(|key| it.field(key) == call.field(key))
    };
    is(call, "delegate")
        && calls.iter().any(|it| is(it, "execute") && it.number() > call.number() && same(it))
}

fn show(log: &dyn Log, call: &str, json: bool, screen: &mut Screen) -> Result<(), Failure> {
    let calls = find(log, call)?;
    if calls.is_empty() {
        return Err(Failure::failed(format!("the log has no call `{call}`"))
            .hint("`eclusa log` lists the last calls with their numbers"));
    }
    for (number, call) in calls.iter().enumerate() {
        if json {
            screen.json(&call.as_json())?
        } else {
            if number > 0 {
                screen.line("")?;
            }
            screen.styled(Style::Strong, &call_record::title(call))?;
            screen.details(&call_record::details(call))?;
        }
    }
    Ok(())
}

/// By number, or by the model's id.
fn find(log: &dyn Log, call: &str) -> Result<Vec<CallRecord>, Failure> {
    if let Ok(number) = call.parse::<u64>() {
        let found = calls::call_with(log, number).map_err(Failure::failed)?;
        if let Some(found) = found {
            return Ok(vec![found]);
        }
    }
    Ok(CallRecord::gather(log.find(call).map_err(Failure::failed)?))
}

/// A record in one line for people: its number, when, what, and how it came out.
fn record_line(record: &Record) -> String {
    let body: Value = serde_json::from_str(&record.body).unwrap_or_default();
    let text = |key: &str| body.get(key).and_then(Value::as_str).unwrap_or_default();
    let at = Timestamp(body.get("at").and_then(Value::as_u64).unwrap_or_default());
    let result = match (text("code"), text("decision")) {
        ("", decision) => decision,
        (code, _) => code,
    };
    let line =
        format!("{:<6} {at}  {:<9} {:<12} {result}", record.seq, text("event"), text("tool"));
    let line = match text("message") {
        "" => line,
        message => format!("{line}: {message}"),
    };
    sanitize(line.trim_end())
}

/// A record as one line of JSON. The body is there byte for byte, so that its hash can be checked.
fn record_json(record: &Record) -> String {
    let Record { seq, previous, hash, body } = record;
    format!(r#"{{"seq":{seq},"previous":"{previous}","hash":"{hash}","body":{body}}}"#)
}

async fn tail(
    log: &dyn Log,
    count: usize,
    follow: bool,
    shown: fn(&Record) -> String,
    screen: &mut Screen,
) -> Result<(), Failure> {
    let mut records = log.last(count).map_err(Failure::failed)?;
    let mut next = match records.last() {
        Some(last) => last.seq + 1,
        None => log.head().map_err(Failure::failed)?.seq + 1,
    };
    let mut interrupted = std::pin::pin!(tokio::signal::ctrl_c());
    loop {
        for record in &records {
            writeln!(screen, "{}", shown(record))?;
            next = record.seq + 1;
        }
        screen.flush()?;
        if !follow {
            return Ok(());
        }
        if records.len() < PAGE {
            tokio::select! {
                _ = &mut interrupted => return Ok(()),
                () = tokio::time::sleep(LOOK) => {}
            }
        }
        records = log.records(next, PAGE).map_err(Failure::failed)?;
    }
}
