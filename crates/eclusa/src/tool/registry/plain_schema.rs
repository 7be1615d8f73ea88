//! Arguments checked against a schema as it stands. Most schemas say little, and most arguments fit:
//! then no schema has to be compiled, which takes as long as a whole short command.

use serde_json::{Map, Value};

/// True when the value certainly fits the schema, by the rules of draft 7 and of 2020-12, which agree
/// on what is understood here. False says nothing: it may fit all the same, because schemas can say
/// much more.
pub(super) fn certainly_fits(schema: &Value, value: &Value) -> bool {
    match schema {
        Value::Bool(any) => *any,
        Value::Object(schema) => schema.iter().all(|(key, said)| holds(schema, key, said, value)),
        _ => false,
    }
}

/// Whether what one keyword says certainly holds.
fn holds(schema: &Map<String, Value>, key: &str, said: &Value, value: &Value) -> bool {
    match (key, said) {
        ("$schema" | "$comment" | "$defs" | "definitions", _) => true,
        ("title" | "description" | "default" | "examples" | "format", _) => true,
        ("type", Value::String(kind)) => is_of(kind, value),
        ("type", Value::Array(kinds)) => {
            kinds.iter().filter_map(Value::as_str).any(|kind| is_of(kind, value))
        }
        ("enum", Value::Array(values)) => values.contains(value),
        ("const", only) => only == value,
        ("anyOf", Value::Array(schemas)) => schemas.iter().any(|it| certainly_fits(it, value)),
        ("allOf", Value::Array(schemas)) => schemas.iter().all(|it| certainly_fits(it, value)),
        ("minimum", least) => {
            !value.is_number() || order(value, least).is_some_and(|it| it.is_ge())
        }
        ("maximum", most) => !value.is_number() || order(value, most).is_some_and(|it| it.is_le()),
        ("minLength", least) => holds_length(value, least, |length, least| length >= least),
        ("maxLength", most) => holds_length(value, most, |length, most| length <= most),
        ("minItems", least) => holds_items(value, least, |count, least| count >= least),
        ("maxItems", most) => holds_items(value, most, |count, most| count <= most),
        ("items", items @ (Value::Object(_) | Value::Bool(_))) => match value {
            Value::Array(values) => values.iter().all(|it| certainly_fits(items, it)),
            _ => true,
        },
        ("properties", Value::Object(properties)) => match value {
            Value::Object(fields) => fields.iter().all(|(name, field)| {
                properties.get(name).is_none_or(|schema| certainly_fits(schema, field))
            }),
            _ => true,
        },
        ("required", Value::Array(names)) => match value {
            Value::Object(fields) => {
                names.iter().all(|it| it.as_str().is_some_and(|name| fields.contains_key(name)))
            }
            _ => true,
        },
        ("additionalProperties", said) => match value {
            Value::Object(fields) => {
                let properties = schema.get("properties").and_then(Value::as_object);
                let known = |name: &String| properties.is_some_and(|it| it.contains_key(name));
                fields.iter().all(|(name, field)| known(name) || certainly_fits(said, field))
            }
            _ => true,
        },
        _ => false,
    }
}

fn is_of(kind: &str, value: &Value) -> bool {
    match kind {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "number" => value.is_number(),
        // `1.0` is one too, and left to the validator.
        "integer" => value.is_i64() || value.is_u64(),
        _ => false,
    }
}

/// How two numbers compare, where both are whole and not large.
fn order(value: &Value, bound: &Value) -> Option<std::cmp::Ordering> {
    Some(value.as_i64()?.cmp(&bound.as_i64()?))
}

fn holds_length(value: &Value, bound: &Value, fits: impl Fn(u64, u64) -> bool) -> bool {
    match (value, bound.as_u64()) {
        (Value::String(text), Some(bound)) => fits(text.chars().count() as u64, bound),
        (Value::String(_), None) => false,
        _ => true,
    }
}

fn holds_items(value: &Value, bound: &Value, fits: impl Fn(u64, u64) -> bool) -> bool {
    match (value, bound.as_u64()) {
        (Value::Array(items), Some(bound)) => fits(items.len() as u64, bound),
        (Value::Array(_), None) => false,
        _ => true,
    }
}

#[cfg(test)]
mod tests;
