//! The usual record, written straight down: the same bytes as the canonical form has, for less than
//! half of the work. Every call that runs writes two of them.

use std::io::Write as _;

use eclusa_workspace::write_canonical;

use super::body::{Body, OutputNote};
use crate::{Hash, Reason, Redactor, Text};

impl Body<'_> {
    /// The record as one line of JSON, unless it has one of the parts that few have.
    pub(super) fn usual_line(&self) -> Option<String> {
        let Body { approval: None, changes: None, reverse_thinking: None, .. } = self else {
            return None;
        };
        if !self.reviews.is_empty() || !self.warnings.is_empty() {
            return None;
        }
        let mut line = RecordText(Vec::with_capacity(1024));
        if let Some(args) = &self.args {
            line.raw(",\"args\":");
            write_canonical(&mut line.0, args).ok()?;
        }
        line.count(",\"args_redacted\":", self.args_redacted);
        if let Some(hash) = &self.args_sha256 {
            line.hash(",\"args_sha256\":\"", &hash.0);
        }
        line.number(",\"at\":", self.at);
        if let Some((reasons, redactor)) = self.because.0.filter(|(all, _)| !all.is_empty()) {
            line.reasons(reasons, redactor)?;
        }
        line.text(",\"call\":", self.call)?;
        line.maybe(",\"checkpoint\":", self.checkpoint)?;
        line.maybe(",\"class\":", self.class)?;
        line.maybe(",\"client\":", self.client)?;
        line.maybe(",\"code\":", self.code)?;
        line.text(",\"conversation\":", self.conversation)?;
        line.maybe(",\"decision\":", self.decision)?;
        line.flag(",\"destructive\":true", self.destructive);
        line.text(",\"event\":", self.event)?;
        line.maybe(",\"message\":", self.message.as_deref())?;
        line.maybe(",\"mode\":", self.mode)?;
        line.maybe_number(",\"ms\":", self.ms);
        line.flag(",\"number\":null", self.number.is_some());
        line.maybe(",\"operation\":", self.operation)?;
        line.maybe(",\"origin\":", self.origin)?;
        if let Some(output) = &self.output {
            line.output(output)?;
        }
        line.maybe_number(",\"parent\":", self.parent);
        line.maybe(",\"principal\":", Some(self.principal).filter(|it| !it.is_empty()))?;
        line.maybe(",\"reason\":", self.reason.as_deref())?;
        line.maybe(",\"sandbox\":", self.sandbox)?;
        line.maybe(",\"server\":", self.server)?;
        line.maybe(",\"stage\":", self.stage)?;
        line.maybe_number(",\"start\":", self.start);
        line.maybe(",\"taint\":", self.taint.as_deref())?;
        line.text(",\"tool\":", &self.tool)?;
        line.maybe(",\"tool_revision\":", self.tool_revision)?;
        line.maybe_number(",\"turn\":", self.turn);
        line.number(",\"v\":", u64::from(self.v));
        line.raw("}");
        // Every field has begun with a comma.
        if let Some(first) = line.0.first_mut() {
            *first = b'{';
        }
        String::from_utf8(line.0).ok()
    }
}

/// A line on its way. What cannot be written is `None`, and the derived form is tried.
struct RecordText(Vec<u8>);

impl RecordText {
    fn raw(&mut self, text: &str) {
        self.0.extend_from_slice(text.as_bytes());
    }

    /// A text, after what stands before it.
    fn text(&mut self, before: &str, text: &str) -> Option<()> {
        self.raw(before);
        if text.bytes().any(|it| it < 0x20 || it == b'"' || it == b'\\') {
            return serde_json::to_writer(&mut self.0, text).ok();
        }
        self.raw("\"");
        self.raw(text);
        self.raw("\"");
        Some(())
    }

    fn maybe(&mut self, before: &str, text: Option<&str>) -> Option<()> {
        match text {
            Some(text) => self.text(before, text),
            None => Some(()),
        }
    }

    fn number(&mut self, before: &str, number: u64) {
        self.raw(before);
        // Memory takes everything.
        let _ = write!(self.0, "{number}");
    }

    fn maybe_number(&mut self, before: &str, number: Option<u64>) {
        if let Some(number) = number {
            self.number(before, number);
        }
    }

    /// A number that is left out where it is nothing.
    fn count(&mut self, before: &str, count: usize) {
        if count > 0 {
            self.number(before, count as u64);
        }
    }

    fn flag(&mut self, text: &str, set: bool) {
        if set {
            self.raw(text);
        }
    }

    fn hash(&mut self, before: &str, hash: &Hash) {
        self.raw(before);
        self.0.extend_from_slice(&hash.hex());
        self.raw("\"");
    }

    fn reasons(&mut self, reasons: &[Reason], redactor: &Redactor) -> Option<()> {
        self.raw(",\"because\":[");
        for (number, reason) in reasons.iter().enumerate() {
            self.raw(if number == 0 { "{" } else { ",{" });
            self.text("\"decision\":", reason.decision.as_str())?;
            self.text(",\"origin\":", reason.origin.label())?;
            match &reason.text {
                Text::Static(text) => self.text(",\"text\":", text)?,
                Text::Shared(text) => self.text(",\"text\":", &redactor.text(text).0)?,
            }
            self.raw("}");
        }
        self.raw("]");
        Some(())
    }

    fn output(&mut self, it: &OutputNote<'_>) -> Option<()> {
        self.raw(",\"output\":{");
        match it.attachments {
            0 => self.number("\"bytes\":", it.bytes as u64),
            n => {
                self.number("\"attachments\":", n as u64);
                self.number(",\"bytes\":", it.bytes as u64);
            }
        }
        self.count(",\"redacted\":", it.redacted);
        self.hash(",\"sha256\":\"", &it.sha256.0);
        self.maybe(",\"spool\":", it.spool)?;
        self.flag(",\"truncated\":true", it.truncated);
        self.maybe(",\"undo\":", it.undo)?;
        self.raw("}");
        Some(())
    }
}

#[cfg(test)]
mod tests;
