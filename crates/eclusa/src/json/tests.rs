//! Strict reading: the same values as the ordinary reader, or a fault at the right place.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{TextPosition, brief, read};

#[test]
fn a_fault_has_its_place() {
    for (text, at, said) in [
        ("", 0, "there is nothing in it"),
        ("{", 0, "it ends before the JSON is complete"),
        ("{\"a\": 1,\n \"a\": 2}", 12, "the key `a` is there twice"),
        ("[1, x]", 4, "expected value"),
        ("{} {}", 3, "there is something after the JSON"),
        ("\n\n\n]", 3, "expected value"),
    ] {
        let fault = read(text).unwrap_err();
        assert_eq!((fault.at, fault.what.as_str()), (at, said), "{text:?}");
    }
}

#[test]
fn places_count_lines_and_characters() {
    let text = "é\r\nab\rc\n\nd";
    for (at, line, column) in [(0, 1, 1), (2, 1, 2), (4, 2, 1), (5, 2, 2), (7, 3, 1), (99, 5, 2)] {
        assert_eq!(TextPosition::of_byte(text, at), TextPosition { line, column }, "{at}");
    }
}

#[test]
fn long_words_are_shortened_and_made_visible() {
    assert_eq!(brief("a\u{1b}[2J\n"), "a\u{FFFD}[2J\u{FFFD}");
    assert_eq!(brief(&"é".repeat(100)).chars().count(), 61);
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".*".prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 64, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
            prop::collection::btree_map(".{0,4}", inner, 0..8).prop_map(|it| json!(it)),
        ]
    })
}

proptest! {
    #[test]
    fn reads_whatever_the_ordinary_reader_reads(value in value()) {
        let text = value.to_string();
        let ordinary: Value = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(read(&text), Ok(ordinary));
    }

    #[test]
    fn faults_point_into_the_text(text in "[{}\\[\\]\",:a1 \n\r\té]{0,24}") {
        if let Err(fault) = read(&text) {
            prop_assert!(fault.at <= text.len());
            prop_assert!(!fault.what.is_empty() && !fault.what.contains(" at line "));
        }
    }
}
