//! What leaves the machine for a model: on record before it does, because it cannot be taken back.

use serde::Serialize;

use super::{Draft, RECORD_VERSION, body::Hex};
use crate::{Hash, Run};

/// A request to a model, before it is sent: which model, where, and what exactly.
#[derive(Debug, Clone, Copy)]
pub struct SentRequest<'a> {
    /// The model's name.
    pub model: &'a str,
    /// The host that it goes to; empty where it does not leave the machine's memory.
    pub host: &'a str,
    /// How long the body is.
    pub bytes: usize,
    /// Digest of the body.
    pub sha256: Hash,
}

impl SentRequest<'_> {
    /// The record, for whoever has a log and no gate. `at` is the time, in milliseconds since 1970.
    pub fn draft(&self, run: &Run, at: u64) -> Draft {
        Draft { start: None, question: None, number_at: None, body: self.line(run, at) }
    }

    /// The record, with its fields in alphabetical order.
    fn line(&self, run: &Run, at: u64) -> String {
        #[derive(Serialize)]
        struct SentLine<'a> {
            at: u64,
            bytes: usize,
            call: &'a str,
            conversation: &'a str,
            event: &'a str,
            host: &'a str,
            model: &'a str,
            #[serde(skip_serializing_if = "Option::is_none")]
            parent: Option<u64>,
            #[serde(skip_serializing_if = "str::is_empty")]
            principal: &'a str,
            sha256: Hex,
            tool: &'a str,
            #[serde(skip_serializing_if = "Option::is_none")]
            turn: Option<u64>,
            v: u8,
        }
        let line = SentLine {
            at,
            bytes: self.bytes,
            call: "",
            conversation: &run.session,
            event: "sent",
            host: self.host,
            model: self.model,
            parent: run.nesting.parent,
            principal: &run.principal,
            sha256: Hex(self.sha256),
            tool: "",
            turn: (run.turn > 0).then_some(run.turn),
            v: RECORD_VERSION,
        };
        serde_json::to_string(&line).unwrap_or_else(|_| "{\"event\":\"sent\",\"v\":2}".to_owned())
    }
}
