//! The digest of a JSON value: SHA-256 of its canonical form (RFC 8785).

use std::io;

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::Hash;

/// The digest of a JSON value: the same however its keys were ordered and its numbers written.
pub fn digest(value: &Value) -> Hash {
    let mut hasher = Hashing(Sha256::new());
    let written = if is_canonical_as_written(value) {
        serde_json::to_writer(&mut hasher, value)
    } else {
        serde_json_canonicalizer::to_writer(value, &mut hasher)
    };
    match written {
        Ok(()) => Hash::from(<[u8; 32]>::from(hasher.0.finalize())),
        // A value made by `serde_json` always has a canonical form; if ever one had not, a
        // digest that nothing else has binds to nothing, which is the safe side.
        Err(_) => Hash::of(format!("not canonical: {value:?}").as_bytes()),
    }
}

/// True when plain serialisation *is* the canonical form, which spares a copy of the value: keys
/// in order and no number whose canonical spelling differs from the plain one.
fn is_canonical_as_written(value: &Value) -> bool {
    const EXACT: u64 = 1 << 53;
    match value {
        Value::Null | Value::Bool(_) | Value::String(_) => true,
        Value::Number(number) => match (number.as_u64(), number.as_i64()) {
            (Some(n), _) => n <= EXACT,
            (None, Some(n)) => n.unsigned_abs() <= EXACT,
            (None, None) => false,
        },
        Value::Array(items) => items.iter().all(is_canonical_as_written),
        Value::Object(fields) => {
            let ordered = fields.keys().zip(fields.keys().skip(1)).all(|(a, b)| {
                if a.is_ascii() && b.is_ascii() {
                    a < b
                } else {
                    a.encode_utf16().lt(b.encode_utf16())
                }
            });
            ordered && fields.values().all(is_canonical_as_written)
        }
    }
}

struct Hashing(Sha256);

impl io::Write for Hashing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::{digest, is_canonical_as_written};

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

    proptest! {
        #[test]
        fn the_short_way_is_the_canonical_way(value in json()) {
            if is_canonical_as_written(&value) {
                let canonical = serde_json_canonicalizer::to_string(&value).unwrap();
                prop_assert_eq!(value.to_string(), canonical);
            }
        }
    }

    #[test]
    fn spelling_does_not_matter() {
        let a: Value = serde_json::from_str(r#"{"a": 1.0, "b": [1e2]}"#).unwrap();
        let b: Value = serde_json::from_str(r#"{"b": [100], "a": 1}"#).unwrap();
        assert_eq!(digest(&a), digest(&b));
        assert_ne!(digest(&a), digest(&json!({"a": 1, "b": [101]})));
    }
}
