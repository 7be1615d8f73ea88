//! Records that the store writes itself, in the format of all others.
//!
//! Fields are in alphabetical order, so that the encoding is the canonical one (RFC 8785).

use serde::Serialize;

/// What happened in the store. Fields that do not apply are left out, except those that every
/// record has.
#[derive(Debug, Default, Serialize)]
pub(crate) struct StoreRecord<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) approval: Option<Approval<'a>>,
    pub(crate) at: u64,
    pub(crate) call: &'a str,
    pub(crate) conversation: &'a str,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub(crate) dropped: &'a [String],
    pub(crate) event: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ms: Option<u64>,
    #[serde(skip_serializing_if = "str::is_empty")]
    pub(crate) principal: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<&'a str>,
    pub(crate) tool: &'a str,
    pub(crate) v: u8,
}

/// Who answered what, and what the answer is bound to.
#[derive(Debug, Serialize)]
pub(crate) struct Approval<'a> {
    pub(crate) answer: &'static str,
    pub(crate) binding: &'a str,
    pub(crate) by: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) proof: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) question: Option<u64>,
}

impl StoreRecord<'_> {
    pub(crate) fn body(&self) -> String {
        serde_json::to_string(self).unwrap_or_else(|_| "{}".to_owned())
    }
}
