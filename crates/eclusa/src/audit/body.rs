//! What a record says: the wire form of a call's start and end, version 1.
//!
//! Fields are in alphabetical order, so that the encoding is the canonical one (RFC 8785).

use std::{borrow::Cow, collections::BTreeMap};

use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::{
    form::{RECORD_VERSION, canonical},
    trail::ChangesTrail,
};
use crate::{Hash, Reason, Redactor, ReverseThinkingReport, Text};

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
    pub(crate) args_sha256: Option<Hex>,
    pub(crate) at: u64,
    #[serde(skip_serializing_if = "Because::is_empty")]
    pub(crate) because: Because<'a>,
    pub(crate) call: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) changes: Option<ChangesNote<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) checkpoint: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) class: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) client: Option<&'a str>,
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
    /// In the first record of a call: `null`, until the log writes the number in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) number: Option<()>,
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
    pub(crate) reverse_thinking: Option<ReverseThinkingNote<'a>>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub(crate) reviews: &'a [ReviewNote],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) sandbox: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) server: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) stage: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) start: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) taint: Option<Cow<'a, str>>,
    pub(crate) tool: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tool_revision: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) turn: Option<u64>,
    pub(crate) v: u8,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub(crate) warnings: &'a [String],
}

impl Body<'_> {
    /// The record, as one line of JSON.
    pub(crate) fn line(&self) -> String {
        if let Some(line) = self.usual_line() {
            return line;
        }
        let written = serde_json::to_value(self).map(|it| canonical(&it));
        let error = match written {
            Ok(Some(line)) => return line,
            Ok(None) => "it has no canonical form".to_owned(),
            Err(err) => err.to_string(),
        };
        let (event, start, v) = (self.event, self.start, RECORD_VERSION);
        let line = json!({"error": error, "event": event, "number": null, "start": start, "v": v});
        line.to_string()
    }
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
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) question: Option<u64>,
    /// Whether the answer opened this very call: then the log takes the number once.
    #[serde(skip)]
    pub(crate) opens: bool,
}

/// Everything that led to the decision. A reason may quote the call, so secrets are taken out.
#[derive(Debug, Default)]
pub(crate) struct Because<'a>(pub(crate) Option<(&'a [Reason], &'a Redactor)>);

impl Because<'_> {
    fn is_empty(&self) -> bool {
        self.0.is_none_or(|(reasons, _)| reasons.is_empty())
    }
}

impl Serialize for Because<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct One<'a> {
            decision: &'static str,
            origin: &'a str,
            text: Cow<'a, str>,
        }
        let Some((reasons, redactor)) = self.0 else { return to.collect_seq([(); 0]) };
        to.collect_seq(reasons.iter().map(|it| One {
            decision: it.decision.as_str(),
            origin: it.origin.label(),
            text: match &it.text {
                Text::Static(text) => Cow::Borrowed(*text),
                Text::Shared(text) => redactor.text(text).0,
            },
        }))
    }
}

/// A hash, written in hexadecimal without a text of its own.
#[derive(Debug)]
pub(crate) struct Hex(pub(crate) Hash);

impl Serialize for Hex {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(std::str::from_utf8(&self.0.hex()).unwrap_or_default())
    }
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
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) attachments: usize,
    pub(crate) bytes: usize,
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) redacted: usize,
    pub(crate) sha256: Hex,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) spool: Option<&'a str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) undo: Option<&'a str>,
}

/// What the call would change, and what became of that.
#[derive(Debug, Serialize)]
pub(crate) struct ChangesNote<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    approval: Option<&'a Approval>,
    #[serde(skip_serializing_if = "Because::is_empty")]
    because: Because<'a>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    budget: &'a BTreeMap<&'static str, [u64; 2]>,
    count: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    declined: Vec<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    folded: Vec<FoldedNote<'a>>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    kinds: &'a BTreeMap<&'static str, usize>,
    outcome: &'static str,
    paths: Vec<Cow<'a, str>>,
    sha256: Hex,
}

impl<'a> ChangesNote<'a> {
    pub(crate) fn new(it: &'a ChangesTrail, redactor: &'a Redactor) -> ChangesNote<'a> {
        ChangesNote {
            approval: it.approval.as_ref(),
            because: Because(it.verdict.as_ref().map(|it| (&*it.because, redactor))),
            budget: &it.budget,
            count: it.count,
            decision: it.verdict.as_ref().map(|it| it.decision.as_str()),
            declined: it.declined.iter().map(|it| redactor.text(it).0).collect(),
            folded: it
                .folded
                .iter()
                .take(MAX_FOLDED)
                .map(|it| FoldedNote::new(it, redactor))
                .collect(),
            kinds: &it.kinds,
            outcome: it.outcome.as_str(),
            paths: it.paths.iter().map(|it| redactor.text(it).0).collect(),
            sha256: Hex(it.digest),
        }
    }
}

/// How many lines a record has for changes that are told in a line each.
const MAX_FOLDED: usize = 32;

/// Changes that are told in a line.
#[derive(Debug, Serialize)]
struct FoldedNote<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<Cow<'a, str>>,
    text: Cow<'a, str>,
}

impl<'a> FoldedNote<'a> {
    fn new((text, path): &'a (String, Option<String>), redactor: &Redactor) -> FoldedNote<'a> {
        FoldedNote {
            path: path.as_ref().map(|it| redactor.text(it).0),
            text: redactor.text(text).0,
        }
    }
}

/// What came of arguing the other side.
#[derive(Debug, Serialize)]
pub(crate) struct ReverseThinkingNote<'a> {
    failure_scenarios: Vec<Cow<'a, str>>,
    hidden_assumptions: Vec<Cow<'a, str>>,
    verdict: &'static str,
    verdict_reason: Cow<'a, str>,
}

impl<'a> ReverseThinkingNote<'a> {
    pub(crate) fn new(
        it: &'a ReverseThinkingReport,
        redactor: &Redactor,
    ) -> ReverseThinkingNote<'a> {
        let clean = |texts: &'a [String]| texts.iter().map(|it| redactor.text(it).0).collect();
        ReverseThinkingNote {
            failure_scenarios: clean(&it.failure_scenarios),
            hidden_assumptions: clean(&it.hidden_assumptions),
            verdict: it.verdict.as_str(),
            verdict_reason: redactor.text(&it.verdict_reason).0,
        }
    }
}

/// Strings longer than this are shortened in a record; the digest covers the whole.
const MAX_STRING: usize = 2_048;

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
        Value::String(text) => text.len() > MAX_STRING,
        Value::Array(items) => items.iter().any(has_long_string),
        Value::Object(fields) => fields.values().any(has_long_string),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

fn shorten(value: &mut Value) {
    match value {
        Value::String(text) if text.len() > MAX_STRING => {
            let whole = text.len();
            text.truncate(text.floor_char_boundary(MAX_STRING));
            text.push_str(&format!("… ({whole} bytes)"));
        }
        Value::Array(items) => items.iter_mut().for_each(shorten),
        Value::Object(fields) => fields.values_mut().for_each(shorten),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
