//! What goes back to the model. The only file that makes a [`Reply`].

use std::{borrow::Cow, time::Duration};

use serde_json::Value;

use crate::{Attachment, CallUses, Decision, Hash, Output, Stop, Undo};

/// Proof that a record is durable, and where it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Receipt {
    /// Its number, counted from 1.
    pub seq: u64,
    /// Its hash.
    pub hash: Hash,
    /// The number of the call that it opens, where it is the first of one and the log has numbered it.
    pub call: Option<u64>,
}

impl Receipt {
    /// The number of the call that it opens. Where a log does not number calls, that of the record.
    pub(crate) fn call_number(&self) -> u64 {
        self.call.unwrap_or(self.seq)
    }
}

/// What a call released, in the form that both the record and the reply are made of.
#[derive(Debug)]
pub(crate) struct ReleasedOutput {
    pub(crate) output: Output,
    pub(crate) time: Duration,
    /// Length and digest of the whole text, before it was cut.
    pub(crate) bytes: usize,
    pub(crate) sha256: Hash,
    pub(crate) redacted: usize,
    pub(crate) truncated: bool,
    pub(crate) spool: Option<String>,
    pub(crate) unapplied: Option<Stop>,
}

impl ReleasedOutput {
    /// The text.
    pub(crate) fn text(&self) -> &str {
        &self.output.text
    }

    /// The structured result.
    pub(crate) fn data(&self) -> Option<&Value> {
        self.output.data.as_ref()
    }

    /// What goes out beside the text.
    pub(crate) fn attachments(&self) -> &[Attachment] {
        &self.output.attachments
    }

    /// Why the tool could not do it.
    pub(crate) fn error(&self) -> Option<&str> {
        self.output.error.as_deref()
    }

    /// How to take it back.
    pub(crate) fn undo(&self) -> Option<&Undo> {
        self.output.undo.as_ref()
    }

    /// Why nothing of what the tool would have changed was applied, where that is so.
    pub(crate) fn unapplied(&self) -> Option<&Stop> {
        self.unapplied.as_ref()
    }

    /// How long the tool ran.
    pub(crate) fn time(&self) -> Duration {
        self.time
    }

    /// Length of the whole text, redacted, before it was cut.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Digest of the whole text, redacted, before it was cut.
    pub(crate) fn sha256(&self) -> Hash {
        self.sha256
    }

    /// How many secrets were taken out.
    pub(crate) fn redacted(&self) -> usize {
        self.redacted
    }

    /// True when some of it was cut.
    pub(crate) fn truncated(&self) -> bool {
        self.truncated
    }

    /// Where the whole is kept, when some of it was cut.
    pub(crate) fn spool(&self) -> Option<&str> {
        self.spool.as_deref()
    }
}

/// How a call ended, in the form that both the record and the reply are made of.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: &'static str,
    pub(crate) is_error: bool,
    refused: bool,
    /// Why not, when it is an error.
    pub(crate) message: String,
    pub(crate) released: Option<ReleasedOutput>,
    stop: Option<Stop>,
}

impl Ended {
    pub(crate) fn new(outcome: Result<ReleasedOutput, Stop>) -> Ended {
        match outcome {
            Ok(released) => match released.unapplied().cloned() {
                Some(stop) => Ended::unapplied(stop, released),
                None => Ended {
                    code: if released.error().is_some() { "tool_failed" } else { "ok" },
                    is_error: released.error().is_some(),
                    refused: false,
                    message: released.error().unwrap_or_default().to_owned(),
                    released: Some(released),
                    stop: None,
                },
            },
            Err(stop) => Ended {
                code: stop.code(),
                is_error: stop.is_error(),
                refused: stop.is_refusal(),
                message: stop.message().into_owned(),
                released: None,
                stop: Some(stop),
            },
        }
    }

    /// What the record says of why: the tool's own output is not among it, a person's is.
    pub(crate) fn recorded_message(&self) -> Option<&str> {
        let answered = self.stop.as_ref().is_some_and(Stop::is_answer);
        (self.is_error || answered).then_some(self.message.as_str())
    }

    /// It ran, and nothing of what it would have changed was applied: the reason heads its output.
    fn unapplied(stop: Stop, released: ReleasedOutput) -> Ended {
        let ended = Ended::new(Err(stop));
        let message = match released.error() {
            Some(error) => format!("{}\n{error}", ended.message),
            None => ended.message,
        };
        Ended { message, released: Some(released), ..ended }
    }
}

/// What goes back to the model: exactly one for each call, on record before it leaves.
///
/// ```
/// use eclusa::prelude::*;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let gate = Gate::builder().build()?;
/// let reply = gate.pass_blocking(ToolCall::new("1", "raed", serde_json::json!({})))?;
/// assert_eq!((reply.id(), reply.code()), ("1", "unknown_tool"));
/// assert!(reply.is_error());
/// assert!(reply.receipt().is_some(), "it is on record before it leaves");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Reply {
    id: String,
    tool: String,
    /// The name that the model used, where that is another.
    asked: Option<String>,
    ended: Ended,
    time: Duration,
    number: Option<u64>,
    receipt: Option<Receipt>,
    warnings: Vec<String>,
    uses: CallUses,
}

impl Reply {
    /// The reply to a call whose end was handed to the log. INVARIANT: `receipt` is there, or
    /// `ended` says that the log is broken.
    pub(crate) fn new(
        (id, tool, asked): (String, String, Option<String>),
        ended: Ended,
        time: Duration,
        number: Option<u64>,
        receipt: Option<Receipt>,
        (warnings, uses): (Vec<String>, CallUses),
    ) -> Reply {
        Reply { id, tool, asked, ended, time, number, receipt, warnings, uses }
    }

    /// What it took to let the call pass: for whoever has another process run what was judged here
    /// ([`Run::judged_before`](crate::Run::judged_before)).
    pub fn uses(&self) -> &CallUses {
        &self.uses
    }

    /// The model's id for the call.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The tool's canonical name, or the model's word for a tool that is not there.
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// The tool by the name that the model used, which its API may pair answers by.
    pub fn asked_tool(&self) -> &str {
        self.asked.as_deref().unwrap_or(&self.tool)
    }

    /// The stable code of the outcome: `ok`, `tool_failed`, or that of a [`Stop`].
    pub fn code(&self) -> &'static str {
        self.ended.code
    }

    /// The number of the pending approval that the call waits for, where nobody waits with it.
    pub fn parked(&self) -> Option<u64> {
        match self.ended.stop.as_ref()? {
            Stop::Parked(id) => Some(*id),
            Stop::Discarded(because) => match **because {
                Stop::Parked(id) => Some(id),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether the tool ran and nothing of what it would change was applied, or not yet.
    pub fn is_unapplied(&self) -> bool {
        matches!(self.ended.stop, Some(Stop::Discarded(_)))
    }

    /// What the tool produced, as text, or the reason it did not run. Where the tool ran and its
    /// changes were discarded this is its output; [`error`](Reply::error) says why.
    pub fn text(&self) -> &str {
        self.output().unwrap_or(&self.ended.message)
    }

    /// What the tool produced, as text. `None` where it did not run, where its output is withheld,
    /// and where its changes were discarded and it had nothing else to say.
    pub fn output(&self) -> Option<&str> {
        let released = self.ended.released.as_ref()?;
        let nothing = released.unapplied().is_some() && released.text().is_empty();
        (!nothing).then(|| released.text())
    }

    /// All that the model should read, in one text: the failure, then what was produced.
    pub fn content(&self) -> Cow<'_, str> {
        match self.error() {
            Some(error) => match self.output().filter(|it| !it.is_empty()) {
                Some(output) => format!("{error}\n{output}").into(),
                None => error.into(),
            },
            None => self.text().into(),
        }
    }

    /// What the tool produced, as structure.
    pub fn data(&self) -> Option<&Value> {
        self.ended.released.as_ref().and_then(ReleasedOutput::data)
    }

    /// The pictures that the tool produced.
    pub fn attachments(&self) -> &[Attachment] {
        self.ended.released.as_ref().map_or(&[], ReleasedOutput::attachments)
    }

    /// Why the call failed or was refused, in words for the model. `None` when it did not.
    pub fn error(&self) -> Option<&str> {
        self.ended.is_error.then_some(self.ended.message.as_str())
    }

    /// True when the call did not do what was asked.
    pub fn is_error(&self) -> bool {
        self.ended.is_error
    }

    /// True when somebody or something said no: nothing was run, or nothing of what it changed
    /// is real.
    pub fn refused(&self) -> bool {
        self.ended.refused
    }

    /// True when a person ended the whole turn at this call.
    pub fn aborted(&self) -> bool {
        match self.stop() {
            Some(Stop::Aborted { .. }) => true,
            Some(Stop::Discarded(because) | Stop::Unapplied(because)) => {
                matches!(**because, Stop::Aborted { .. })
            }
            Some(_) | None => false,
        }
    }

    /// Why it ended without doing what was asked, as a value. `None`: the tool ran, and whatever it
    /// changed was applied.
    pub fn stop(&self) -> Option<&Stop> {
        self.ended.stop.as_ref()
    }

    /// True when the text is not the whole output.
    pub fn truncated(&self) -> bool {
        self.ended.released.as_ref().is_some_and(ReleasedOutput::truncated)
    }

    /// Where the whole output is kept, when it was cut.
    pub fn spool(&self) -> Option<&str> {
        self.ended.released.as_ref().and_then(ReleasedOutput::spool)
    }

    /// How to take the call back.
    pub fn undo(&self) -> Option<&Undo> {
        self.ended.released.as_ref().and_then(ReleasedOutput::undo)
    }

    /// How long the call took, from the model's side: waiting for people included.
    pub fn time(&self) -> Duration {
        self.time
    }

    /// How long the tool ran.
    pub fn run_time(&self) -> Duration {
        self.ended.released.as_ref().map_or(Duration::ZERO, ReleasedOutput::time)
    }

    /// For a dry run, and for a call that is only watched: what would have been decided.
    pub fn would(&self) -> Option<Decision> {
        let stop = match self.ended.stop.as_ref()? {
            Stop::Watched(judged) => judged,
            stop => stop,
        };
        match stop {
            Stop::DryRun { verdict, .. } => Some(verdict.decision),
            _ => None,
        }
    }

    /// The number of the call in the log, which counts calls from 1.
    pub fn number(&self) -> Option<u64> {
        self.number.or(self.receipt.map(|receipt| receipt.call_number()))
    }

    /// Where its end is on record. `None` only when the log itself is broken, which the text
    /// then says.
    pub fn receipt(&self) -> Option<Receipt> {
        self.receipt
    }

    /// What people should know about how it was decided.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }
}

/// A time in whole milliseconds, as records and results have it.
pub(crate) fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
