//! Tests of digest.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{digest, write_canonical};

fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[\\PC\\n\\t\u{1}\"\\\\]{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map("\\PC{0,3}", inner, 0..6)
                .prop_map(|it| Value::Object(it.into_iter().collect())),
        ]
    })
}

fn canonical(value: &Value) -> String {
    let mut text = Vec::new();
    write_canonical(&mut text, value).unwrap();
    String::from_utf8(text).unwrap()
}

/// Integers that a double holds exactly, for the comparison with the RFC.
fn small(value: Value) -> Value {
    match value {
        Value::Number(number) => match number.as_i64() {
            Some(n) => Value::from(n % (1 << 53)),
            None => Value::Number(number),
        },
        Value::Array(items) => items.into_iter().map(small).collect(),
        Value::Object(fields) => fields.into_iter().map(|(k, v)| (k, small(v))).collect(),
        other => other,
    }
}

proptest! {
    #[test]
    fn the_form_is_that_of_the_rfc(value in json()) {
        let value = small(value);
        prop_assert_eq!(canonical(&value), serde_json_canonicalizer::to_string(&value).unwrap());
    }

    #[test]
    fn different_values_have_different_forms(a in json(), b in json()) {
        if canonical(&a) == canonical(&b) {
            // Only a float that is whole may be spelt like an integer.
            prop_assert!(a == b || canonical(&small(a)) == canonical(&small(b)));
        }
    }
}

#[test]
fn large_integers_are_not_rounded() {
    // Two calls that differ never share an approval.
    assert_ne!(digest(&json!(9007199254740992u64)), digest(&json!(9007199254740993u64)));
    assert_ne!(digest(&json!(u64::MAX)), digest(&json!(u64::MAX - 1)));
    assert_ne!(digest(&json!(i64::MIN)), digest(&json!(i64::MIN + 1)));
}

#[test]
fn spelling_does_not_matter() {
    let a: Value = serde_json::from_str(r#"{"a": 1.0, "b": [1e2]}"#).unwrap();
    let b: Value = serde_json::from_str(r#"{"b": [100], "a": 1}"#).unwrap();
    assert_eq!(digest(&a), digest(&b));
    assert_ne!(digest(&a), digest(&json!({"a": 1, "b": [101]})));
}
