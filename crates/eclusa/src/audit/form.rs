//! The form of a record: one record has one encoding, so that no two readers take it for two things.
//!
//! From version 2 on a body is canonical: keys in order, no spaces, numbers and texts written in one
//! way. Bodies of version 1 were written in an order of their own; no key may stand in them twice.

use std::fmt;

use eclusa_workspace::write_canonical;
use serde::{
    Deserialize, Deserializer,
    de::{self, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Value};

/// The version of the format that is written.
pub const RECORD_VERSION: u8 = 2;

/// True where the body is written in the form of its version.
pub(super) fn is_well_formed(body: &str) -> bool {
    let Ok(Unambiguous(value)) = serde_json::from_str(body) else { return false };
    let version = value.get("v").and_then(Value::as_u64);
    match version {
        // Records that say nothing of their version are told by what they are.
        None | Some(0 | 1) => true,
        Some(_) => canonical(&value).is_some_and(|it| it == body),
    }
}

/// A value in its canonical form.
pub(super) fn canonical(value: &Value) -> Option<String> {
    let mut bytes = Vec::with_capacity(1024);
    write_canonical(&mut bytes, value).ok()?;
    String::from_utf8(bytes).ok()
}

/// A value in which no object has a key twice.
struct Unambiguous(Value);

impl<'de> Deserialize<'de> for Unambiguous {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Unambiguous, D::Error> {
        from.deserialize_any(UnambiguousReader).map(Unambiguous)
    }
}

struct UnambiguousReader;

impl<'de> Visitor<'de> for UnambiguousReader {
    type Value = Value;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("JSON without a key twice in one object")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: de::Error>(self, it: bool) -> Result<Value, E> {
        Ok(it.into())
    }

    fn visit_u64<E: de::Error>(self, it: u64) -> Result<Value, E> {
        Ok(it.into())
    }

    fn visit_i64<E: de::Error>(self, it: i64) -> Result<Value, E> {
        Ok(it.into())
    }

    fn visit_f64<E: de::Error>(self, it: f64) -> Result<Value, E> {
        Ok(it.into())
    }

    fn visit_str<E: de::Error>(self, it: &str) -> Result<Value, E> {
        Ok(it.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(Unambiguous(item)) = from.next_element()? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Value, A::Error> {
        let mut fields = Map::new();
        while let Some((name, Unambiguous(value))) = from.next_entry::<String, _>()? {
            if fields.insert(name, value).is_some() {
                return Err(de::Error::custom("a key occurs twice in one object"));
            }
        }
        Ok(Value::Object(fields))
    }
}

#[cfg(test)]
mod tests;
