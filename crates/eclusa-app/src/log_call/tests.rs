//! Tests of log call.

use eclusa::{Record, audit::Head};
use serde_json::{Value, json};

use super::*;

fn past(number: u64, mut fields: Value) -> CallRecord {
    fields["event"] = "started".into();
    let mut head = Head { seq: number - 1, ..Default::default() };
    CallRecord::gather([Record::chain(fields.to_string(), &mut head)]).remove(0)
}

#[test]
fn a_turn_is_what_was_counted_as_one_and_a_call_with_its_own_where_nobody_counts() {
    let of = |number, session: &str, turn: u64| {
        past(number, json!({"conversation": session, "turn": turn}))
    };
    assert!(are_of_one_turn(&of(5, "a", 2), &of(1, "a", 2)));
    assert!(!are_of_one_turn(&of(5, "a", 2), &of(1, "a", 1)));
    assert!(!are_of_one_turn(&of(5, "a", 2), &of(1, "b", 2)));
    let (outer, inner) = (past(3, json!({})), past(4, json!({"parent": 3})));
    assert!(are_of_one_turn(&inner, &outer) && are_of_one_turn(&outer, &inner));
    assert!(!are_of_one_turn(&past(6, json!({})), &outer));
    assert!(!are_of_one_turn(&past(6, json!({})), &of(1, "a", 2)));
}
