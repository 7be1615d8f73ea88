//! Which calls are meant: named, the last, those of a turn, or all since some time.

use eclusa::{
    Registry, Workspace,
    audit::{
        Log,
        calls::{self, CallRecord},
    },
    workspace::{UndoEntry, UndoError, UndoStatus},
};

use super::{
    by_command::undo_name,
    edits_since::{edited_by_hand, edits_since},
};
use crate::{failure::Failure, log_call, since::Since};

/// Which calls, as typed.
#[derive(Debug)]
pub(super) enum Selection {
    /// These.
    Calls(Vec<u64>),
    /// The latest, of this session where one is named, if it can be undone.
    Last(Option<String>),
    /// All of the turn that the last one belongs to.
    Turn,
    /// All since then.
    Since(Since),
}

/// The calls that are meant.
#[derive(Debug, Default)]
pub(super) struct Selected {
    pub(super) calls: Vec<u64>,
    /// Calls in between that did something of which nothing is kept, and what is known of that.
    pub(super) beyond: Vec<(u64, String)>,
}

/// Finds them.
pub(super) fn find(
    which: Selection,
    workspace: &Workspace,
    log: &dyn Log,
    registry: &Registry,
) -> Result<Selected, Failure> {
    let latest = || workspace.latest_entries().map_err(Failure::failed);
    let none = || Ok::<_, Failure>(nothing(latest()?.find(stands).as_ref()));
    let undoable = |calls: Vec<u64>| undoable(workspace, calls);
    let beyond = |from: u64, belongs: &dyn Fn(&CallRecord) -> bool| {
        let all = latest()?.calls();
        let mut beyond = Vec::new();
        let calls = calls::calls_from(log, from).map_err(Failure::failed)?;
        for past in calls.iter().filter(|it| it.was_started() && belongs(it)) {
            if registry.has(&undo_name(past.tool())) && past.outcome() == "ok" {
                let what = format!(
                    "`{}` acted outside the workspace; `eclusa undo {}` undoes that",
                    past.tool(),
                    past.number()
                );
                beyond.push((past.number(), what));
            } else if !all.contains(&past.number()) && log_call::left_nothing(past, registry) {
                let what = format!("`{}` has no undo data", past.tool());
                beyond.push((past.number(), what));
            }
        }
        Ok::<_, Failure>(beyond)
    };
    Ok(match which {
        Selection::Calls(calls) => Selected { calls, beyond: Vec::new() },
        Selection::Last(session) => last(workspace, log, session.as_deref())?,
        Selection::Turn => {
            let committed = latest()?.find(|it| stands(it) && it.status == UndoStatus::Committed);
            let Some(last) = committed else { return Err(none()?) };
            let last = log_call::find(log, last.call)?;
            // Where nobody counts turns, all of one have the number of its first call or a higher one.
            let root = last.parent().unwrap_or(last.number());
            let least = if last.turn().is_none() { root } else { 0 };
            let belongs = |it: &CallRecord| log_call::are_of_one_turn(it, &last);
            let mut calls = Vec::new();
            for entry in latest()?.filter(|it| stands(it) && it.call >= least) {
                if belongs(&log_call::find(log, entry.call)?) {
                    calls.push(entry.call);
                }
            }
            let first = calls.iter().min().copied().unwrap_or(last.number());
            let first = log_call::find(log, first)?.first_record();
            let (calls, mut passed) = undoable(calls);
            passed.extend(beyond(first, &belongs)?);
            Selected { calls, beyond: passed }
        }
        Selection::Since(when) => {
            let from = log_call::first_record(log, when)?;
            let mut calls = Vec::new();
            // Numbers rise with the records.
            for entry in latest()?.filter(stands) {
                if log_call::find(log, entry.call)?.first_record() < from {
                    break;
                }
                calls.push(entry.call);
            }
            if calls.is_empty() {
                return Err(none()?);
            }
            let (calls, mut passed) = undoable(calls);
            passed.extend(beyond(from, &|_| true)?);
            Selected { calls, beyond: passed }
        }
    })
}

fn stands(entry: &UndoEntry) -> bool {
    !matches!(entry.status, UndoStatus::Undone { .. }) && entry.undoes.is_empty()
}

/// The latest call that stands, of this session where one is named. Entries and the log are read from the end, as
/// far as need be.
fn last(workspace: &Workspace, log: &dyn Log, session: Option<&str>) -> Result<Selected, Failure> {
    let latest = workspace.latest_entries().map_err(Failure::failed)?;
    let record = |it: &UndoEntry| log_call::find(log, it.call);
    let is_of_session = |it: &UndoEntry| {
        session.is_none_or(|session| record(it).is_ok_and(|it| it.session() == session))
    };
    let mut standing = latest.filter(|it| stands(it) && is_of_session(it)).peekable();
    // What a job wrote by itself is nobody's latest change, unless there is no other.
    let by_job = |it: &UndoEntry| record(it).is_ok_and(|it| it.is_unasked());
    let mut of_jobs = Vec::new();
    while let Some(it) = standing.next_if(by_job) {
        of_jobs.push(it);
    }
    let only_jobs = standing.peek().is_none();
    let mut standing: Box<dyn Iterator<Item = UndoEntry>> = match only_jobs {
        true => Box::new(of_jobs.into_iter()),
        false => Box::new(standing.filter(|it| !by_job(it))),
    };
    let entry = standing.next().ok_or_else(|| nothing(None))?;
    let reason = match (&entry.status, workspace.would_undo(&[entry.call])) {
        (UndoStatus::Committed, Ok(_)) => {
            return Ok(Selected { calls: vec![entry.call], beyond: Vec::new() });
        }
        (UndoStatus::Committed, Err(err)) => {
            let edits = edits_since(workspace, &[entry.call], &edited_by_hand(&err));
            format!("{}{edits}", in_the_way(&err))
        }
        _ => why(&entry),
    };
    // It never walks on by itself: another change than the latest is not what was meant.
    let call = entry.call;
    let failure = Failure::failed(format!("call {call} cannot be undone: {reason}"));
    Err(match standing.find(|it| it.status == UndoStatus::Committed) {
        Some(before) => failure.hint(format!(
            "`eclusa undo {}` undoes the one before; `eclusa undo {call} --keep-mine` undoes \
            what it can and leaves files that were edited by hand",
            before.call
        )),
        None => failure.hint(format!(
            "`eclusa undo {call} --keep-mine` undoes what it can and leaves files that were edited by hand"
        )),
    })
}

/// Of these calls, the latest first, those that can be undone together; and the others, with what
/// is in their way. All of them where none can be: then the undo itself says why.
fn undoable(workspace: &Workspace, calls: Vec<u64>) -> (Vec<u64>, Vec<(u64, String)>) {
    let conflicts = |calls: &[u64]| match workspace.would_undo(calls) {
        Err(err @ UndoError::Conflicts(_)) => Some(in_the_way(&err)),
        _ => None,
    };
    if conflicts(&calls).is_none() {
        return (calls, Vec::new());
    }
    let (mut good, mut passed) = (Vec::new(), Vec::new());
    for call in &calls {
        good.push(*call);
        if let Some(why) = conflicts(&good) {
            good.pop();
            passed.push((*call, why));
        }
    }
    if good.is_empty() { (calls, Vec::new()) } else { (good, passed) }
}

/// What is in the way of an undo, as the reason for passing it over.
fn in_the_way(err: &UndoError) -> String {
    let text = err.to_string();
    text.strip_prefix("nothing was undone, because ").map_or(text.clone(), str::to_owned)
}

/// The undo that brings something back when it is taken back: this one, that of this call, or the
/// latest that stands.
pub(super) fn undo_of(call: Option<u64>, workspace: &Workspace) -> Result<u64, Failure> {
    let Some(call) = call else {
        let latest = workspace.latest_undo().map_err(Failure::failed)?;
        let none = || Failure::failed("nothing was undone, so there is nothing to redo");
        return latest.map(|it| it.call).ok_or_else(none);
    };
    match workspace.entry(call).map_err(Failure::failed)? {
        Some(entry) if !entry.undoes.is_empty() => Ok(call),
        Some(UndoEntry { status: UndoStatus::Undone { by }, .. }) => Ok(by),
        Some(_) => {
            Err(Failure::failed(format!("call {call} was not undone, so there is nothing to redo")))
        }
        None => Err(unknown(call)),
    }
}

/// A call that changed nothing here.
pub fn unknown(call: u64) -> Failure {
    Failure::failed(format!("call {call} changed nothing in this workspace"))
        .hint("`eclusa changes` lists the calls that did")
}

fn nothing(last: Option<&UndoEntry>) -> Failure {
    match last {
        Some(entry) if entry.status != UndoStatus::Committed => Failure::failed(format!(
            "there is nothing to undo: call {} cannot be undone ({})",
            entry.call,
            why(entry)
        )),
        _ => Failure::failed("there is nothing to undo").hint("`eclusa changes` lists the changes"),
    }
}

fn why(entry: &UndoEntry) -> String {
    match &entry.status {
        UndoStatus::Irreversible(why) => why.clone(),
        UndoStatus::Evicted => "its undo history was dropped to save space".to_owned(),
        UndoStatus::Committed | UndoStatus::Undone { .. } => String::new(),
    }
}
