//! Counts and times of past calls: what "asked" and "refused" mean is said once, here.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{
    Record,
    calls::{CallRecord, OutcomeKind},
};

/// Counts of the calls of a log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogStats {
    /// How many calls there are.
    pub calls: usize,
    /// About how many a person was to answer, see [`CallRecord::was_asked`].
    pub asked: usize,
    /// How many were refused.
    pub refused: usize,
    /// How many ran whose tool is labelled destructive.
    pub destructive: usize,
    /// How many are of each tool.
    pub tools: BTreeMap<String, usize>,
    /// How many ended in each way.
    pub outcomes: BTreeMap<String, usize>,
    /// What people were asked about: tool and subject.
    pub questions: BTreeMap<(String, String), usize>,
    /// How long calls took, by tool, in milliseconds, sorted.
    pub times: BTreeMap<String, Vec<u64>>,
}

impl LogStats {
    /// Counts these calls.
    pub fn count<'a>(calls: impl IntoIterator<Item = &'a CallRecord>) -> LogStats {
        let mut stats = LogStats::default();
        for call in calls {
            let tool = call.tool().to_owned();
            stats.calls += 1;
            stats.refused += usize::from(call.outcome_kind() == OutcomeKind::Refused);
            stats.destructive += usize::from(call.was_destructive());
            *stats.tools.entry(tool.clone()).or_default() += 1;
            *stats.outcomes.entry(call.outcome().to_owned()).or_default() += 1;
            if call.was_asked() {
                stats.asked += 1;
                *stats.questions.entry((tool.clone(), call.subject())).or_default() += 1;
            }
            if let Some(ms) = call.took() {
                stats.times.entry(tool).or_default().push(ms);
            }
        }
        stats.times.values_mut().for_each(|it| it.sort_unstable());
        stats
    }
}

/// When questions in the approval queue were answered, and how long each had waited, both in
/// milliseconds.
pub fn waits(records: &[Record]) -> Vec<(u64, u64)> {
    let wait = |record: &Record| {
        let body: Value = serde_json::from_str(&record.body).ok()?;
        let answered = body.get("event")?.as_str()? == "answered";
        let number = |key: &str| body.get(key).and_then(Value::as_u64);
        number("at").zip(number("ms")).filter(|_| answered)
    };
    records.iter().filter_map(wait).collect()
}

/// The value below which so many percent of these sorted values are: one that was measured.
pub fn percentile(sorted: &[u64], percent: usize) -> Option<u64> {
    let at = (sorted.len() * percent).div_ceil(100).saturating_sub(1);
    sorted.get(at).copied()
}

#[cfg(test)]
mod tests;
