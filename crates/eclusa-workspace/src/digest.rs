//! The digest of a JSON value: SHA-256 of its canonical form.
//!
//! The form is RFC 8785 with one difference: integers are written exactly. The RFC rounds them to
//! doubles, and two calls that differ must not have one digest.

use std::io::{self, Write};

use serde_json::{Map, Number, Value};

use crate::{Hash, HashBuilder};

/// The digest of a JSON value: the same however its keys were ordered and its numbers written.
pub fn digest(value: &Value) -> Hash {
    let mut hasher = Hashing(HashBuilder::default());
    match write_canonical(&mut hasher, value) {
        Ok(()) => hasher.0.finish(),
        // A value made by `serde_json` always has a canonical form; if ever one had not, a
        // digest that nothing else has binds to nothing, which is the safe side.
        Err(_) => Hash::sha256(format!("not canonical: {value:?}").as_bytes()),
    }
}

/// Writes the canonical form, without copying the value.
pub fn write_canonical(to: &mut impl Write, value: &Value) -> io::Result<()> {
    match value {
        Value::Null | Value::Bool(_) | Value::String(_) => Ok(serde_json::to_writer(to, value)?),
        Value::Number(number) => write_number(to, number),
        Value::Array(items) => {
            to.write_all(b"[")?;
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    to.write_all(b",")?;
                }
                write_canonical(to, item)?;
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
        write_canonical(to, value)?;
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

struct Hashing(HashBuilder);

impl io::Write for Hashing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.add(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests;
