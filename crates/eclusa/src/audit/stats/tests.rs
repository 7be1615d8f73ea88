//! Tests of counts and times.

use serde_json::json;

use super::*;
use crate::audit::calls::tests::records;

#[test]
fn percentiles_are_values_that_were_measured() {
    let all: Vec<u64> = (1..=100).collect();
    assert_eq!([50, 95, 100].map(|it| percentile(&all, it)), [50, 95, 100].map(Some));
    assert_eq!((percentile(&[7], 50), percentile(&[], 50)), (Some(7), None));
}

#[test]
fn calls_are_counted_by_tool_outcome_and_question() {
    let all = records(&[
        json!({"event": "ended", "tool": "read", "code": "ok", "ms": 3}),
        json!({"event": "ended", "tool": "bash", "code": "rejected", "ms": 9,
               "args": {"command": "ls"}, "approval": {"answer": "no"}}),
        json!({"event": "ended", "tool": "bash", "code": "ok", "ms": 1,
               "approval": {"answer": "remembered"}}),
        json!({"event": "answered", "at": 5, "ms": 700}),
    ]);
    assert_eq!(waits(&all), [(5, 700)]);
    let stats = LogStats::count(&CallRecord::gather(all));
    assert_eq!((stats.calls, stats.asked, stats.refused), (3, 1, 1));
    assert_eq!((stats.tools["bash"], stats.outcomes["ok"]), (2, 2));
    assert_eq!(stats.questions[&("bash".to_owned(), "ls".to_owned())], 1);
    assert_eq!(stats.times["bash"], [1, 9]);
}
