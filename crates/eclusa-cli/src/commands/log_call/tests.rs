//! Tests of log call.

use super::*;
use serde_json::json;

fn past(number: u64, fields: Value) -> LogCall {
    let mut head = eclusa::audit::Head { seq: number - 1, ..Default::default() };
    LogCall::read(&Record::chain(fields.to_string(), &mut head))
}

#[test]
fn a_turn_is_what_was_counted_as_one_and_a_call_with_its_own_where_nobody_counts() {
    let of = |number, conversation: &str, turn: u64| {
        past(number, json!({"conversation": conversation, "turn": turn}))
    };
    assert!(of(5, "a", 2).is_of_the_turn(&of(1, "a", 2)));
    assert!(!of(5, "a", 2).is_of_the_turn(&of(1, "a", 1)));
    assert!(!of(5, "a", 2).is_of_the_turn(&of(1, "b", 2)));
    let (outer, inner) = (past(3, json!({})), past(4, json!({"parent": 3})));
    assert!(inner.is_of_the_turn(&outer) && outer.is_of_the_turn(&inner));
    assert!(!past(6, json!({})).is_of_the_turn(&outer));
    assert!(!past(6, json!({})).is_of_the_turn(&of(1, "a", 2)));
}
