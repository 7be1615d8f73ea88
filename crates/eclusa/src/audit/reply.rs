//! What goes back to the model. The only file that makes a [`Reply`].

use std::{borrow::Cow, time::Duration};

use serde_json::Value;

use super::{Receipt, trail::Trail};
use crate::{Attachment, CallUses, Decision, Released, Stop, Undo};

/// How a call ended, in the form that both the record and the reply are made of.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) code: &'static str,
    pub(super) is_error: bool,
    refused: bool,
    /// Why not, when it is an error.
    pub(super) message: String,
    pub(super) released: Option<Released>,
    stop: Option<Stop>,
}

impl Ended {
    pub(super) fn new(outcome: Result<Released, Stop>) -> Ended {
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

    /// It ran, and nothing of what it would have changed was applied: the reason heads its output.
    fn unapplied(stop: Stop, released: Released) -> Ended {
        let ended = Ended::new(Err(stop));
        let message = match released.error() {
            Some(error) => format!("{}\n{error}", ended.message),
            None => ended.message,
        };
        Ended { message, released: Some(released), ..ended }
    }
}

/// What goes back to the model: exactly one for each call, on record before it leaves.
#[derive(Debug)]
pub struct Reply {
    id: String,
    tool: String,
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
    pub(super) fn new(
        trail: &mut Trail,
        ended: Ended,
        time: Duration,
        number: Option<u64>,
        receipt: Option<Receipt>,
    ) -> Reply {
        Reply {
            id: trail.call.id.clone(),
            tool: trail.name().to_owned(),
            ended,
            time,
            number,
            receipt,
            warnings: std::mem::take(&mut trail.warnings),
            uses: std::mem::take(&mut trail.uses),
        }
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
        self.ended.released.as_ref().and_then(Released::data)
    }

    /// The pictures that the tool produced.
    pub fn attachments(&self) -> &[Attachment] {
        self.ended.released.as_ref().map_or(&[], Released::attachments)
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
            Some(Stop::Discarded(because)) => matches!(**because, Stop::Aborted { .. }),
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
        self.ended.released.as_ref().is_some_and(Released::truncated)
    }

    /// Where the whole output is kept, when it was cut.
    pub fn spool(&self) -> Option<&str> {
        self.ended.released.as_ref().and_then(Released::spool)
    }

    /// How to take the call back.
    pub fn undo(&self) -> Option<&Undo> {
        self.ended.released.as_ref().and_then(Released::undo)
    }

    /// How long the call took, from the model's side: waiting for people included.
    pub fn time(&self) -> Duration {
        self.time
    }

    /// How long the tool ran.
    pub fn run_time(&self) -> Duration {
        self.ended.released.as_ref().map_or(Duration::ZERO, Released::time)
    }

    /// For a dry run: what would have been decided.
    pub fn would(&self) -> Option<Decision> {
        match &self.ended.stop {
            Some(Stop::DryRun { verdict, .. }) => Some(verdict.decision),
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
