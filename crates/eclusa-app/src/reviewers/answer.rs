//! What a reviewer outside this process answers: our own words, those of hooks for other agents,
//! and the loose forms. What is no decision is no approval.

use eclusa::{
    Output, Review,
    review::{ReviewError, ReviewResult},
};
use serde_json::{Map, Value};

/// What it said.
#[derive(Debug, Clone, PartialEq)]
pub enum ReviewerAnswer {
    /// Pass it on.
    Approve,
    /// Pass it on, and keep this remark.
    Note(String),
    /// Have a person look first.
    Ask(String),
    /// Stop it.
    Deny(String),
    /// Pass this on instead.
    Modify(Value),
    /// Change it by this merge patch.
    Merge(Value),
}

/// Reads an answer, which is JSON. What is no decision is no approval: the caller denies.
pub fn read(text: &str) -> Result<ReviewerAnswer, String> {
    if text.trim().is_empty() {
        return Err("it gave no answer; true, or an object such as {\"decision\": \"approve\"}, lets a call pass".to_owned());
    }
    let value = serde_json::from_str(text)
        .map_err(|err| format!("its answer is not JSON that can be read: {err}"))?;
    of_value(value)
}

fn of_value(value: Value) -> Result<ReviewerAnswer, String> {
    match value {
        Value::Bool(_) => Ok(loose(value.into())),
        Value::Object(fields) => of_object(fields),
        Value::Null | Value::Number(_) | Value::String(_) | Value::Array(_) => Err(format!(
            "its answer is not a decision but {}; use true, false or an object such as {{\"decision\": \"approve\"}}",
            kind(&value)
        )),
    }
}

fn of_object(mut fields: Map<String, Value>) -> Result<ReviewerAnswer, String> {
    if let Some(Value::Object(hook)) = fields.remove("hookSpecificOutput") {
        return of_hook(hook);
    }
    if fields.get("continue") == Some(&Value::Bool(false)) {
        return Ok(ReviewerAnswer::Deny(text(&mut fields, "stopReason")));
    }
    if let Some(decision) = fields.remove("decision") {
        return decided(decision.as_str().unwrap_or_default(), fields);
    }
    match fields.get("approved") {
        Some(Value::Bool(approved)) => {
            let approved = *approved;
            let modified_value = fields.remove("modified_value").filter(|it| !it.is_null());
            let reason = fields.remove("reason").and_then(|it| it.as_str().map(str::to_owned));
            Ok(loose(ReviewResult { approved, modified_value, reason }.into()))
        }
        Some(_) => Err("`approved` must be true or false".to_owned()),
        None => match fields.remove("updatedInput") {
            Some(value) => Ok(ReviewerAnswer::Modify(value)),
            None => Ok(ReviewerAnswer::Modify(Value::Object(fields))),
        },
    }
}

/// Our own words.
fn decided(decision: &str, mut fields: Map<String, Value>) -> Result<ReviewerAnswer, String> {
    let value = fields.remove("value");
    let need = |value: Option<Value>| value.ok_or(format!("`{decision}` needs a `value`"));
    match decision {
        "approve" | "allow" => Ok(ReviewerAnswer::Approve),
        "ask" => Ok(ReviewerAnswer::Ask(text(&mut fields, "reason"))),
        "deny" | "block" => Ok(ReviewerAnswer::Deny(text(&mut fields, "reason"))),
        "modify" => need(value).map(ReviewerAnswer::Modify),
        "merge" => need(value).map(ReviewerAnswer::Merge),
        other => {
            Err(format!("`{other}` is not a decision; use approve, ask, deny, modify or merge"))
        }
    }
}

/// The words of hooks.
fn of_hook(mut hook: Map<String, Value>) -> Result<ReviewerAnswer, String> {
    let decision = hook.remove("permissionDecision");
    let updated = hook.remove("updatedInput");
    match (decision.as_ref().map(|it| it.as_str().unwrap_or_default()), updated) {
        (Some("deny"), _) => Ok(ReviewerAnswer::Deny(text(&mut hook, "permissionDecisionReason"))),
        (Some("ask"), _) => Ok(ReviewerAnswer::Ask(text(&mut hook, "permissionDecisionReason"))),
        (Some("allow") | None, Some(value)) => Ok(ReviewerAnswer::Modify(value)),
        (Some("allow"), None) => Ok(ReviewerAnswer::Approve),
        (None, None) => Ok(match hook.remove("additionalContext") {
            Some(Value::String(context)) => ReviewerAnswer::Note(context),
            _ => return Err("its answer has no `permissionDecision`".to_owned()),
        }),
        (Some(other), _) => {
            Err(format!("`{other}` is not a permission decision here; use allow, ask or deny"))
        }
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a truth value",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

fn text(fields: &mut Map<String, Value>, name: &str) -> String {
    match fields.remove(name) {
        Some(Value::String(text)) if !text.is_empty() => text,
        _ => "not approved".to_owned(),
    }
}

fn loose(said: Review<Value>) -> ReviewerAnswer {
    match said {
        Review::Approve => ReviewerAnswer::Approve,
        Review::Modify(value) => ReviewerAnswer::Modify(value),
        Review::Merge(patch) => ReviewerAnswer::Merge(patch),
        Review::Ask(why) => ReviewerAnswer::Ask(why),
        Review::Deny(why) => ReviewerAnswer::Deny(why),
        Review::Note(note) => ReviewerAnswer::Note(note),
    }
}

impl ReviewerAnswer {
    /// What it means for a call: arguments are an object and nothing else.
    pub fn about_input(self) -> Result<Review<Value>, ReviewError> {
        Ok(match self {
            ReviewerAnswer::Approve => Review::Approve,
            ReviewerAnswer::Note(note) => Review::Note(note),
            ReviewerAnswer::Ask(why) => Review::Ask(why),
            ReviewerAnswer::Deny(why) => Review::Deny(why),
            ReviewerAnswer::Modify(value) | ReviewerAnswer::Merge(value) if !value.is_object() => {
                return Err("its answer is neither a decision nor an object of arguments".into());
            }
            ReviewerAnswer::Modify(args) => Review::Modify(args),
            ReviewerAnswer::Merge(patch) => Review::Merge(patch),
        })
    }

    /// What it means for an output: anything can take its place.
    pub fn about_output(self) -> Result<Review<Output>, ReviewError> {
        Ok(match self {
            ReviewerAnswer::Approve => Review::Approve,
            ReviewerAnswer::Note(note) => Review::Note(note),
            ReviewerAnswer::Ask(why) => Review::Ask(why),
            ReviewerAnswer::Deny(why) => Review::Deny(why),
            ReviewerAnswer::Modify(value) => Review::Modify(Output::from(value)),
            ReviewerAnswer::Merge(patch) => Review::Merge(patch),
        })
    }
}

#[cfg(test)]
mod tests;
