//! Allocations against the committed budget, `bench/budget.json`: counts, not times, so that they are
//! the same on a loaded machine.

#[path = "../src/counts.rs"]
mod counts;
#[path = "../src/gate.rs"]
#[expect(dead_code, reason = "only the setup and its tool are needed here")]
mod gate;
#[path = "../src/judge.rs"]
#[expect(dead_code, reason = "only the gate and the cases are needed here")]
mod judge;
#[path = "../src/measure.rs"]
#[expect(dead_code, reason = "nothing is timed here")]
mod measure;

use std::collections::BTreeMap;

/// So much more than the budget is not worth a word.
const ROOM: f64 = 1.1;

#[test]
fn nothing_allocates_more_than_its_budget() {
    let budget: BTreeMap<String, u64> =
        serde_json::from_str(include_str!("../budget.json")).unwrap();
    let counts: BTreeMap<&str, u64> = counts::all().unwrap().into_iter().collect();
    let names: Vec<&str> = budget.keys().map(String::as_str).collect();
    assert_eq!(names, counts.keys().copied().collect::<Vec<_>>(), "{counts:#?}");
    let over: Vec<String> = counts
        .iter()
        .filter(|(name, count)| **count as f64 > budget[**name] as f64 * ROOM)
        .map(|(name, count)| format!("{name}: {count} allocations, budget {}", budget[*name]))
        .collect();
    let how = "find out why, or write the new number into bench/budget.json and say why there";
    assert!(over.is_empty(), "{how}: {over:#?}");
}
