//! Schemas of our own tools as clients get them: short, and in words that every client reads.

use rmcp::model::JsonObject;
use serde_json::{Value, json};

/// Leaves out what tells a model nothing: every model pays for the list with every turn. The gate
/// judges by the whole schema.
pub(super) fn shorten(schema: &mut Value) {
    if let Value::Object(root) = schema {
        for name in ["$schema", "title", "description", "additionalProperties"] {
            root.remove(name);
        }
    }
    shorten_within(schema);
}

fn shorten_within(schema: &mut Value) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(shorten_within),
        Value::Object(fields) => {
            if fields.get("default").is_some_and(Value::is_null) {
                fields.remove("default");
            }
            if fields.get("minimum").is_some_and(|it| *it == json!(0)) {
                fields.remove("minimum");
            }
            list_constants(fields);
            for (name, value) in fields {
                if !matches!(name.as_str(), "const" | "default" | "enum" | "examples") {
                    shorten_within(value);
                }
            }
        }
        _ => {}
    }
}

/// A choice between texts is a list of them; the field that has it says what they mean.
fn list_constants(fields: &mut JsonObject) {
    let Some(Value::Array(choices)) = fields.get("oneOf") else { return };
    let texts: Option<Vec<Value>> =
        choices.iter().map(|it| it.get("const").filter(|it| it.is_string()).cloned()).collect();
    if let Some(texts) = texts {
        fields.remove("oneOf");
        fields.remove("description");
        fields.insert("type".to_owned(), "string".into());
        fields.insert("enum".to_owned(), Value::Array(texts));
    }
}

/// Puts a schema of our own into words that every client reads: number formats that JSON Schema
/// does not know make some warn with every call, and "or null" makes others refuse the tool. What
/// may be null may be left out, and the gate takes both.
pub(super) fn simplify(schema: &mut Value) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(simplify),
        Value::Object(fields) => {
            let number = |it: &Value| {
                let kinds = ["int", "uint", "float", "double"];
                it.as_str().is_some_and(|it| kinds.iter().any(|kind| it.starts_with(kind)))
            };
            if fields.get("format").is_some_and(number) {
                fields.remove("format");
            }
            if let Some(Value::Array(types)) = fields.get_mut("type") {
                types.retain(|it| it != "null");
                if let [only] = types.as_slice() {
                    let only = only.clone();
                    fields.insert("type".to_owned(), only);
                }
            }
            if let Some(Value::Array(values)) = fields.get_mut("enum") {
                values.retain(|it| !it.is_null());
            }
            inline_nullable(fields);
            for (name, value) in fields {
                if !matches!(name.as_str(), "const" | "default" | "enum" | "examples") {
                    simplify(value);
                }
            }
        }
        _ => {}
    }
}

/// `anyOf` of one schema and null is that schema.
fn inline_nullable(fields: &mut JsonObject) {
    let null = |it: &Value| it.get("type").is_some_and(|it| it == "null");
    let Some(Value::Array(choices)) = fields.get("anyOf") else { return };
    let mut left = choices.iter().filter(|it| !null(it));
    let (Some(Value::Object(only)), None) = (left.next().cloned(), left.next()) else { return };
    fields.remove("anyOf");
    for (name, value) in only {
        fields.entry(name).or_insert(value);
    }
}
