//! `eclusa log`: what was decided and done in this workspace, and that nobody changed it since.

use std::{io::Write, time::Duration};

use eclusa::{
    Record,
    audit::calls::{self, CallRecord},
};
use eclusa_store::Store;
use serde_json::Value;

use super::call_record;
use crate::{
    args::{LogCommand, LogList},
    failure::{Exit, Failure},
    paths::Paths,
    screen::{Screen, Style, sanitize},
    timestamp::Timestamp,
};

mod filter;
mod stats;
mod verify;

pub(super) use verify::said;

/// How many records are read at a time.
const PAGE: usize = 1_000;

/// How often new records are looked for.
const LOOK: Duration = Duration::from_millis(200);

pub(super) async fn run(
    paths: &Paths,
    wanted: LogList,
    what: Option<LogCommand>,
    json: bool,
) -> Result<Exit, Failure> {
    let store = paths.log()?;
    let mut screen = Screen::stdout();
    match what.unwrap_or(LogCommand::List(wanted)) {
        LogCommand::List(wanted) => list(&store, &wanted, json, &mut screen)?,
        LogCommand::Stats { html: Some(_), .. } => return Err(stats::no_page()),
        LogCommand::Stats { since, html: None } => stats::run(&store, since, json, &mut screen)?,
        LogCommand::Show { call } => show(&store, &call, json, &mut screen)?,
        LogCommand::Tail { count, follow } => {
            let shown = if json { record_json } else { record_line };
            tail(&store, count, follow, shown, &mut screen).await?;
        }
        LogCommand::Export => export(&store, &mut screen)?,
        LogCommand::Verify { after: Some(after), .. } => {
            verify::run_after(&store, &after, json, &mut screen)?;
        }
        LogCommand::Verify { head, .. } => verify::run(&store, head.as_deref(), json, &mut screen)?,
    }
    screen.flush()?;
    Ok(Exit::Done)
}

fn list(store: &Store, wanted: &LogList, json: bool, screen: &mut Screen) -> Result<(), Failure> {
    let calls = if wanted.is_filtered() {
        filter::calls(store, wanted)?
    } else {
        calls::last_calls(store, wanted.count).map_err(Failure::failed)?
    };
    if json {
        return Ok(calls.iter().try_for_each(|it| screen.json(&it.as_json()))?);
    }
    if calls.is_empty() && wanted.is_filtered() {
        return Ok(screen.line("no call matches")?);
    }
    let mut rows = vec![call_record::headings(screen)];
    rows.extend(calls.iter().map(|it| call_record::row(it, screen)));
    Ok(screen.headed_table(&rows)?)
}

fn show(store: &Store, call: &str, json: bool, screen: &mut Screen) -> Result<(), Failure> {
    let calls = find(store, call)?;
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
fn find(store: &Store, call: &str) -> Result<Vec<CallRecord>, Failure> {
    if let Ok(number) = call.parse::<u64>() {
        let found = calls::call_with(store, number).map_err(Failure::failed)?;
        if let Some(found) = found {
            return Ok(vec![found]);
        }
    }
    Ok(CallRecord::gather(store.find_call(call).map_err(Failure::failed)?))
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
    store: &Store,
    count: usize,
    follow: bool,
    shown: fn(&Record) -> String,
    screen: &mut Screen,
) -> Result<(), Failure> {
    let mut records = store.last(count).map_err(Failure::failed)?;
    let mut next = match records.last() {
        Some(last) => last.seq + 1,
        None => store.head().map_err(Failure::failed)?.seq + 1,
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
        records = store.records(next, PAGE).map_err(Failure::failed)?;
    }
}

fn export(store: &Store, screen: &mut Screen) -> Result<(), Failure> {
    let mut next = 1;
    loop {
        let records = store.records(next, PAGE).map_err(Failure::failed)?;
        for record in &records {
            writeln!(screen, "{}", record_json(record))?;
        }
        match records.last() {
            Some(last) => next = last.seq + 1,
            None => return Ok(()),
        }
    }
}
