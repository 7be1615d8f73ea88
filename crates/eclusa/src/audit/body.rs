//! What a record says: the wire form of a call's start and end, version 1.
//!
//! Fields are in alphabetical order, so that the encoding is the canonical one (RFC 8785).

use std::borrow::Cow;

use serde::Serialize;
use serde_json::Value;

use crate::{Deliverable, Redactor, Verdict};

/// How much of the arguments a record holds. The digest is always there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ArgsInLog {
    /// The digest alone.
    Digest,
    /// The arguments, secrets redacted and long texts shortened.
    #[default]
    Redacted,
    /// The arguments, word for word.
    Full,
}

/// A record. Absent fields do not apply.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Body<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) approval: Option<&'a Approval>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) args: Option<Cow<'a, Value>>,
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) args_redacted: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) args_sha256: Option<&'a str>,
    pub(crate) at: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) because: Vec<Because<'a>>,
    pub(crate) call: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) checkpoint: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) class: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) code: Option<&'static str>,
    pub(crate) conversation: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) decision: Option<&'static str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) destructive: bool,
    pub(crate) event: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) message: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) mode: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) operation: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) origin: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) output: Option<OutputNote<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) parent: Option<u64>,
    #[serde(skip_serializing_if = "str::is_empty")]
    pub(crate) principal: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reverse_thinking: Option<DeliverableNote<'a>>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub(crate) reviews: &'a [ReviewNote],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) server: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) stage: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) start: Option<u64>,
    pub(crate) tool: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tool_revision: Option<&'a str>,
    pub(crate) v: u8,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub(crate) warnings: &'a [String],
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// How a question was answered.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Approval {
    pub(crate) answer: &'static str,
    pub(crate) binding: String,
    pub(crate) by: String,
}

/// One thing that led to the decision.
#[derive(Debug, Serialize)]
pub(crate) struct Because<'a> {
    pub(crate) decision: &'static str,
    pub(crate) origin: &'a str,
    pub(crate) text: &'a str,
}

/// What one reviewer said.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct ReviewNote {
    pub(crate) by: String,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) cached: bool,
    pub(crate) on: &'static str,
    pub(crate) said: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) sha256: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) why: Option<String>,
}

/// What came out: never the text itself.
#[derive(Debug, Serialize)]
pub(crate) struct OutputNote<'a> {
    pub(crate) bytes: usize,
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) redacted: usize,
    pub(crate) sha256: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) spool: Option<&'a str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) undo: Option<&'a str>,
}

/// What came of arguing the other side.
#[derive(Debug, Serialize)]
pub(crate) struct DeliverableNote<'a> {
    failure_scenarios: &'a [String],
    hidden_assumptions: &'a [String],
    verdict: &'static str,
    verdict_reason: &'a str,
}

impl<'a> From<&'a Deliverable> for DeliverableNote<'a> {
    fn from(it: &'a Deliverable) -> DeliverableNote<'a> {
        DeliverableNote {
            failure_scenarios: &it.failure_scenarios,
            hidden_assumptions: &it.hidden_assumptions,
            verdict: it.verdict.as_str(),
            verdict_reason: &it.verdict_reason,
        }
    }
}

impl<'a> Because<'a> {
    pub(crate) fn all(verdict: Option<&'a Verdict>) -> Vec<Because<'a>> {
        let because = verdict.map_or(&[][..], |it| &it.because);
        because
            .iter()
            .map(|it| Because {
                decision: it.decision.as_str(),
                origin: &it.origin,
                text: &it.text,
            })
            .collect()
    }
}

/// Strings longer than this are shortened in a record; the digest covers the whole.
const LONGEST_STRING: usize = 2_048;

/// The arguments as a record holds them, and how many secrets were taken out.
pub(crate) fn args_for_log<'a>(
    args: &'a Value,
    how: ArgsInLog,
    redactor: &Redactor,
) -> (Option<Cow<'a, Value>>, usize) {
    match how {
        ArgsInLog::Digest => (None, 0),
        ArgsInLog::Full => (Some(Cow::Borrowed(args)), 0),
        ArgsInLog::Redacted => {
            let (mut args, count) = redactor.value(args);
            if has_long_string(&args) {
                shorten(args.to_mut());
            }
            (Some(args), count)
        }
    }
}

fn has_long_string(value: &Value) -> bool {
    match value {
        Value::String(text) => text.len() > LONGEST_STRING,
        Value::Array(items) => items.iter().any(has_long_string),
        Value::Object(fields) => fields.values().any(has_long_string),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

fn shorten(value: &mut Value) {
    match value {
        Value::String(text) if text.len() > LONGEST_STRING => {
            let whole = text.len();
            text.truncate(text.floor_char_boundary(LONGEST_STRING));
            text.push_str(&format!("… ({whole} bytes)"));
        }
        Value::Array(items) => items.iter_mut().for_each(shorten),
        Value::Object(fields) => fields.values_mut().for_each(shorten),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
