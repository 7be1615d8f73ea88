//! The digest of a JSON value: SHA-256 of its canonical form.
//!
//! The form is RFC 8785 with one difference: integers are written exactly. The RFC rounds them to
//! doubles, and two calls that differ must not have one digest.

use std::io::{self, Write};

use serde_json::{Map, Number, Value};
use sha2::{Digest, Sha256};

use crate::Hash;

/// The digest of a JSON value: the same however its keys were ordered and its numbers written.
pub fn digest(value: &Value) -> Hash {
    let mut hasher = Hashing(Sha256::new());
    match write(&mut hasher, value) {
        Ok(()) => Hash::from(<[u8; 32]>::from(hasher.0.finalize())),
        // A value made by `serde_json` always has a canonical form; if ever one had not, a
        // digest that nothing else has binds to nothing, which is the safe side.
        Err(_) => Hash::sha256(format!("not canonical: {value:?}").as_bytes()),
    }
}

/// Writes the canonical form, without copying the value.
fn write(to: &mut impl Write, value: &Value) -> io::Result<()> {
    match value {
        Value::Null | Value::Bool(_) | Value::String(_) => Ok(serde_json::to_writer(to, value)?),
        Value::Number(number) => write_number(to, number),
        Value::Array(items) => {
            to.write_all(b"[")?;
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    to.write_all(b",")?;
                }
                write(to, item)?;
            }
            to.write_all(b"]")
        }
        Value::Object(fields) => write_object(to, fields),
    }
}

fn write_number(to: &mut impl Write, number: &Number) -> io::Result<()> {
    match (number.as_f64(), number.is_f64()) {
        (Some(float), true) => Ok(serde_json_canonicalizer::to_writer(&float, to)?),
        _ => Ok(serde_json::to_writer(to, number)?),
    }
}

fn write_object(to: &mut impl Write, fields: &Map<String, Value>) -> io::Result<()> {
    let in_order = fields.keys().zip(fields.keys().skip(1)).all(|(a, b)| before(a, b));
    to.write_all(b"{")?;
    if in_order {
        write_fields(to, fields.iter())?;
    } else {
        let mut sorted: Vec<(&String, &Value)> = fields.iter().collect();
        sorted.sort_by(|(a, _), (b, _)| a.encode_utf16().cmp(b.encode_utf16()));
        write_fields(to, sorted.into_iter())?;
    }
    to.write_all(b"}")
}

fn write_fields<'a>(
    to: &mut impl Write,
    fields: impl Iterator<Item = (&'a String, &'a Value)>,
) -> io::Result<()> {
    for (index, (name, value)) in fields.enumerate() {
        if index > 0 {
            to.write_all(b",")?;
        }
        serde_json::to_writer(&mut *to, name)?;
        to.write_all(b":")?;
        write(to, value)?;
    }
    Ok(())
}

/// The order of the RFC: by UTF-16 code units.
fn before(a: &str, b: &str) -> bool {
    match a.is_ascii() && b.is_ascii() {
        true => a < b,
        false => a.encode_utf16().lt(b.encode_utf16()),
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

    use super::{digest, write};

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
        write(&mut text, value).unwrap();
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
}
