//! The undo history: recovered after a crash, shrunk when it is too large.

use std::sync::Arc;

use eclusa::{
    AuditSink, Workspace,
    audit::{Appending, Draft, RECORD_VERSION},
    one_line,
    workspace::{Compacted, Recovered, Retention},
};
use serde::Serialize;

use crate::{
    failure::Failure,
    screen::{self, sanitize},
    since,
};

/// Takes back or finishes what died in the middle. What was done is told and recorded.
pub fn recover(workspace: &Workspace, log: &dyn AuditSink) -> Result<(), Failure> {
    if !workspace.is_unfinished() {
        return Ok(());
    }
    let recovered = workspace.recover().map_err(Failure::failed)?;
    if recovered.is_nothing() {
        return Ok(());
    }
    let message = put_right(&recovered);
    screen::note(&sanitize(&message));
    let calls: Vec<u64> = recovered.reverted.iter().chain(&recovered.finished).copied().collect();
    record(log, "recovered", &calls, &message)
}

fn put_right(recovered: &Recovered) -> String {
    let mut told = Vec::new();
    if !recovered.reverted.is_empty() {
        let calls = calls(&recovered.reverted);
        told.push(format!("{calls} died while changing the workspace; the changes were undone"));
    }
    if !recovered.finished.is_empty() {
        let calls = calls(&recovered.finished);
        told.push(format!("{calls} died after changing the workspace; the changes were completed"));
    }
    for left in &recovered.left {
        told.push(format!(
            "`{}` has changed since and was left alone; its old content is in `{}`",
            one_line(&left.path.to_string_lossy()),
            one_line(&left.kept.to_string_lossy())
        ));
    }
    if let Some(rescued) = &recovered.rescued {
        let kept = rescued.kept.as_ref().map_or_else(String::new, |kept| {
            format!("; its own version is in `{}`", one_line(&kept.to_string_lossy()))
        });
        let paths = rescued.paths;
        told.push(format!(
            "a command died while it ran on the real files; they were put back ({paths} paths){kept}"
        ));
    }
    told.join("; ")
}

/// A workspace that keeps within its bounds by itself, whoever changes it. What can no longer be
/// undone is told and recorded.
pub fn within_bounds(workspace: Workspace, keep: Retention, log: Arc<dyn AuditSink>) -> Workspace {
    workspace.compacting(keep, move |compacted| {
        let told = match compacted {
            Ok(compacted) => tell_evicted(&compacted, keep, &*log),
            Err(err) => Err(Failure::failed(err)),
        };
        if let Err(failure) = told {
            screen::error(&failure.lines());
        }
    })
}

/// Makes what is kept smaller, now.
pub fn compact(
    workspace: &Workspace,
    keep: Retention,
    log: &dyn AuditSink,
) -> Result<Compacted, Failure> {
    let compacted = workspace.compact(keep).map_err(Failure::failed)?;
    tell_evicted(&compacted, keep, log)?;
    Ok(compacted)
}

fn tell_evicted(
    compacted: &Compacted,
    keep: Retention,
    store: &dyn AuditSink,
) -> Result<(), Failure> {
    if compacted.evicted.is_empty() {
        return Ok(());
    }
    let evicted: Vec<u64> = compacted.evicted.iter().map(|it| it.call).collect();
    let message = format!(
        "{} can no longer be undone: the undo history was larger than {} bytes",
        calls(&evicted),
        keep.bytes
    );
    screen::note(&message);
    record(store, "undo-evicted", &evicted, &message)
}

/// Several calls in a few words.
pub fn calls(calls: &[u64]) -> String {
    let numbers: Vec<String> = calls.iter().map(u64::to_string).collect();
    let word = if calls.len() == 1 { "call" } else { "calls" };
    format!("{word} {}", numbers.join(", "))
}

/// A record of something that no call did. Fields are in alphabetical order, as in all records.
#[derive(Serialize)]
struct RetentionNote<'a> {
    at: u64,
    call: &'a str,
    calls: &'a [u64],
    conversation: &'a str,
    event: &'a str,
    message: &'a str,
    tool: &'a str,
    v: u8,
}

fn record(store: &dyn AuditSink, event: &str, calls: &[u64], message: &str) -> Result<(), Failure> {
    let (at, none) = (since::now(), "");
    let note = RetentionNote {
        at,
        call: none,
        calls,
        conversation: none,
        event,
        message,
        tool: none,
        v: RECORD_VERSION,
    };
    let body = serde_json::to_string(&note).map_err(Failure::failed)?;
    let appending = store.append(Draft::new(body).map_err(Failure::failed)?);
    match appending {
        Appending::Done(written) => written.map(|_| ()).map_err(Failure::failed),
        // It is written by whoever writes for all, at the latest when the store is closed.
        Appending::Waiting(_) => Ok(()),
    }
}
