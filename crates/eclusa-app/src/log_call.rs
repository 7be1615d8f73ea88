//! Past calls, as far as undoing them asks.

use eclusa::{
    PermissionClass, Registry,
    audit::{
        Log,
        calls::{self, CallRecord},
    },
};

use crate::{
    failure::Failure,
    since::{self, Since},
};

/// The call with this number, which is known to be there.
pub fn find(log: &dyn Log, number: u64) -> Result<CallRecord, Failure> {
    calls::call_with(log, number).map_err(Failure::failed)?.ok_or_else(|| {
        Failure::failed(format!("call {number} is in the undo history, but not in the log"))
            .hint("`eclusa log verify` says whether the log is whole")
    })
}

/// Every call since then, oldest first.
pub fn since(log: &dyn Log, since: Option<Since>) -> Result<Vec<CallRecord>, Failure> {
    let first = since.map_or(Ok(1), |it| first_record(log, it))?;
    calls::calls_from(log, first).map_err(Failure::failed)
}

/// The number of the first record that is meant by "since then".
pub fn first_record(log: &dyn Log, since: Since) -> Result<u64, Failure> {
    let at = match since {
        Since::Call(number) => {
            let first = log.first_from(number).map_err(Failure::failed)?;
            return Ok(first.map_or(u64::MAX, |it| it.seq));
        }
        Since::Time(time) => time.0,
        Since::Ago(ago) => {
            let ago = u64::try_from(ago.as_millis()).unwrap_or(u64::MAX);
            since::now().saturating_sub(ago)
        }
    };
    calls::first_record_at(log, at).map_err(Failure::failed)
}

/// True when both belong to one turn of one session. Where nobody counts turns, a call and
/// those that its tool made are one.
pub fn are_of_one_turn(one: &CallRecord, other: &CallRecord) -> bool {
    let root = |it: &CallRecord| it.parent().unwrap_or(it.number());
    match (one.turn(), other.turn()) {
        (Some(a), Some(b)) => a == b && one.session() == other.session(),
        _ => root(one) == root(other),
    }
}

/// True when it may have done something of which nothing is kept: it does more than look, and what
/// it changes does not pass through the gate.
pub fn left_nothing(call: &CallRecord, registry: &Registry) -> bool {
    let known = registry.get(call.tool());
    let harmless = known.is_some_and(|it| it.facts().stages || it.facts().read_only);
    let takes_back = ["undo", "redo"].contains(&call.tool());
    call.class() != Some(PermissionClass::ReadOnly) && !harmless && !takes_back
}

#[cfg(test)]
mod tests;
