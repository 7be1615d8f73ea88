//! Whether a schema of arguments can be used for a tool, for whoever wants to know beforehand.

use jsonschema::Draft;
use serde_json::Value;

use super::{
    ExtraArgs,
    arguments::{Arguments, closed, compiled},
};

/// What is wrong with a schema.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SchemaError(String);

/// Checks whether a schema of arguments can be used for a tool.
pub fn check_schema(schema: &Value) -> Result<(), SchemaError> {
    Arguments::new(schema.clone(), ExtraArgs::Refuse, &[], &[]).map(drop).map_err(SchemaError)
}

/// Checks whether a schema of arguments can be used for a tool that is registered as
/// [`lazy`](crate::Registration::lazy): it can be read, and it says nothing that draft 7 does not
/// know and would pass over.
pub fn check_lazy_schema(schema: &Value) -> Result<(), SchemaError> {
    check_schema(schema)?;
    let schema = closed(schema.clone(), ExtraArgs::Refuse).map_err(SchemaError)?;
    compiled(&schema, Draft::Draft7).map_err(SchemaError)?;
    match newer_keyword(&schema) {
        Some(keyword) => Err(SchemaError(format!("`{keyword}` is newer than draft 7"))),
        None => Ok(()),
    }
}

/// A keyword that draft 7 does not know, outside of names of arguments.
fn newer_keyword(schema: &Value) -> Option<&str> {
    const NEWER: [&str; 11] = [
        "$anchor",
        "$dynamicAnchor",
        "$dynamicRef",
        "$vocabulary",
        "dependentRequired",
        "dependentSchemas",
        "maxContains",
        "minContains",
        "prefixItems",
        "unevaluatedItems",
        "unevaluatedProperties",
    ];
    // In draft 7 nothing counts that stands beside a reference.
    let fields = match schema {
        Value::Object(fields) if fields.contains_key("$ref") && fields.len() > 1 => {
            let documented = |it: &String| matches!(it.as_str(), "$ref" | "description" | "title");
            if !fields.keys().all(|it| documented(it) || it == "default") {
                return Some("$ref");
            }
            fields
        }
        Value::Object(fields) => fields,
        Value::Array(items) => return items.iter().find_map(newer_keyword),
        _ => return None,
    };
    fields.iter().find_map(|(name, inner)| match name.as_str() {
        name if NEWER.contains(&name) => Some(name),
        "properties" | "patternProperties" | "$defs" | "definitions" => {
            inner.as_object().into_iter().flatten().find_map(|(_, it)| newer_keyword(it))
        }
        "const" | "default" | "enum" | "examples" => None,
        _ => newer_keyword(inner),
    })
}
