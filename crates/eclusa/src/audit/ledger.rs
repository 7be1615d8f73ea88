//! The way in and the way out: every call has an entry, and every entry ends on record before
//! its answer leaves. The only file that makes a [`Reply`].

use std::{
    borrow::Cow,
    sync::Arc,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use serde_json::Value;

use super::{
    Appending, ArgsInLog, AuditError, AuditSink, Draft, Hash, Receipt,
    body::{Approval, Because, Body, OutputNote, ReviewNote, args_for_log},
};
use crate::{
    Asked, Deliverable, Permit, Redactor, Released, Run, Stage, Stop, ToolCall, Undo, Verdict,
    registry::Registered,
};

/// Tells the time for records.
pub trait Clock: Send + Sync {
    /// Milliseconds since 1970.
    fn unix_ms(&self) -> u64;
}

/// The clock of the machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn unix_ms(&self) -> u64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    }
}

/// The log, as the gate uses it.
pub(crate) struct Ledger {
    pub(crate) sink: Arc<dyn AuditSink>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) redactor: Arc<Redactor>,
    pub(crate) args: ArgsInLog,
    /// How long a record may take to become durable.
    pub(crate) time: Duration,
}

impl Ledger {
    /// Opens the entry of a call.
    pub(crate) fn open<'a>(&'a self, run: &'a Run, asked: Asked) -> (Entry<'a>, Result<(), Stop>) {
        let (call, readable) = match asked {
            Asked::Call(call) => (call, Ok(())),
            Asked::Malformed(bad) => {
                let tool = bad.tool.unwrap_or_default();
                let call = ToolCall::new(bad.id, tool, Value::Null).from(bad.origin);
                (call, Err(Stop::Malformed(bad.problem)))
            }
        };
        let entry = Entry {
            ledger: self,
            run,
            trail: Trail::new(call),
            stage: Stage::Received,
            start: None,
            began: Instant::now(),
            closed: false,
        };
        (entry, readable)
    }

    async fn settled(&self, appending: Appending) -> Result<Receipt, AuditError> {
        match appending {
            Appending::Done(result) => result,
            waiting => tokio::time::timeout(self.time, waiting)
                .await
                .unwrap_or_else(|_| Err(AuditError::new("it does not answer"))),
        }
    }
}

/// What is known of a call so far: everything that its records will say.
pub(crate) struct Trail {
    pub(crate) call: Arc<ToolCall>,
    /// The tool, once it is found.
    pub(crate) tool: Option<Arc<Registered>>,
    /// The arguments, where they are no longer those of the call.
    pub(crate) args: Option<Arc<Value>>,
    pub(crate) digest: Option<Hash>,
    pub(crate) reviews: Vec<ReviewNote>,
    pub(crate) verdict: Option<Verdict>,
    pub(crate) approval: Option<Approval>,
    pub(crate) deliverable: Option<Deliverable>,
    pub(crate) checkpoint: Option<String>,
    pub(crate) warnings: Vec<String>,
}

impl Trail {
    fn new(call: ToolCall) -> Trail {
        Trail {
            call: Arc::new(call),
            tool: None,
            args: None,
            digest: None,
            reviews: Vec::new(),
            verdict: None,
            approval: None,
            deliverable: None,
            checkpoint: None,
            warnings: Vec::new(),
        }
    }

    /// The arguments as they stand now.
    pub(crate) fn args(&self) -> &Value {
        self.args.as_deref().unwrap_or(&self.call.args)
    }

    /// The tool's own name once it is known, the model's word for it before.
    pub(crate) fn name(&self) -> &str {
        self.tool.as_ref().map_or(&self.call.tool, |tool| tool.name())
    }
}

/// Proof that the start is on record. The tool is not run without it.
pub(crate) struct Started(());

/// The open entry of one call. Closing it gives the [`Reply`]; dropping it open, because the
/// caller went away, is recorded too, with the stage it had reached.
#[must_use]
pub(crate) struct Entry<'a> {
    ledger: &'a Ledger,
    run: &'a Run,
    pub(crate) trail: Trail,
    stage: Stage,
    start: Option<u64>,
    began: Instant,
    closed: bool,
}

impl Entry<'_> {
    /// Notes how far the call has come.
    pub(crate) fn reached(&mut self, stage: Stage) {
        self.stage = stage;
    }

    /// For questions about a call that is not being made: no record, whatever becomes of it.
    pub(crate) fn leave_unrecorded(&mut self) {
        self.closed = true;
    }

    pub(crate) fn stage(&self) -> Stage {
        self.stage
    }

    /// The number of the record that holds the start, once there is one.
    pub(crate) fn start_seq(&self) -> Option<u64> {
        self.start
    }

    /// Puts it on record that side effects are about to begin.
    pub(crate) async fn start(&mut self, _permit: &Permit) -> Result<Started, Stop> {
        let draft = Draft { start: None, body: self.render("started", None) };
        let receipt = self.ledger.settled(self.ledger.sink.append(draft)).await;
        let receipt = receipt.map_err(|err| Stop::Unrecorded(err.to_string()))?;
        self.start = Some(receipt.seq);
        self.reached(Stage::Running);
        Ok(Started(()))
    }

    /// The one way out.
    pub(crate) async fn close(mut self, outcome: Result<Released, Stop>) -> Reply {
        let ended = Ended::of(outcome);
        let draft = Draft { start: self.start, body: self.render("ended", Some(&ended)) };
        let appending = self.ledger.sink.append(draft);
        self.closed = true; // handed over: whatever happens now, it is not abandoned
        let receipt = self.ledger.settled(appending).await;
        let ended = match &receipt {
            Ok(_) => ended,
            Err(err) => Ended::of(Err(match self.start {
                None => Stop::Unrecorded(err.to_string()),
                Some(_) => Stop::EndUnrecorded(err.to_string()),
            })),
        };
        Reply {
            id: self.trail.call.id.clone(),
            tool: self.trail.name().to_owned(),
            ended,
            time: self.began.elapsed(),
            start: self.start,
            receipt: receipt.ok(),
            warnings: std::mem::take(&mut self.trail.warnings),
        }
    }

    /// One line of JSON that says what is known.
    fn render(&self, event: &'static str, ended: Option<&Ended>) -> String {
        let trail = &self.trail;
        let redactor = &*self.ledger.redactor;
        // What the start has said, the end does not repeat.
        let first = self.start.is_none();
        let hex = trail.digest.map(|digest| digest.hex());
        let mut body = Body {
            at: self.ledger.clock.unix_ms(),
            call: &trail.call.id,
            conversation: &self.run.conversation,
            event,
            start: self.start,
            tool: trail.name().into(),
            v: 1,
            warnings: &trail.warnings,
            ..Body::default()
        };
        if first {
            let (args, args_redacted) = args_for_log(trail.args(), self.ledger.args, redactor);
            body.args = args;
            body.args_redacted = args_redacted;
            body.args_sha256 = hex.as_ref().and_then(|hex| std::str::from_utf8(hex).ok());
            body.approval = trail.approval.as_ref();
            body.because = Because::all(trail.verdict.as_ref());
            body.checkpoint = trail.checkpoint.as_deref();
            body.decision = trail.verdict.as_ref().map(|it| it.decision.as_str());
            body.mode = Some(self.run.mode.as_str());
            body.origin = Some(trail.call.origin.as_str());
            body.parent = self.run.parent;
            body.principal = &self.run.principal;
            body.reason = trail.call.reason.as_deref().map(|it| redactor.text(it).0);
            body.reverse_thinking = trail.deliverable.as_ref().map(Into::into);
            body.reviews = &trail.reviews;
            if let Some(tool) = &trail.tool {
                body.class = Some(tool.class().as_str());
                body.destructive = tool.facts().destructive;
                body.operation = Some(tool.operation());
                body.server = tool.server();
                body.tool_revision = Some(tool.revision());
            }
        } else {
            let after = trail.reviews.iter().position(|it| it.on == "output");
            body.reviews = after.and_then(|at| trail.reviews.get(at..)).unwrap_or_default();
        }
        match ended {
            Some(ended) => {
                body.code = Some(ended.code);
                body.ms = Some(millis(self.began.elapsed()));
                body.stage = Some(self.stage.as_str());
                body.message = ended.is_error.then(|| redactor.text(&ended.message).0);
                body.output = ended.released.as_ref().map(OutputNote::of);
            }
            None if event == "abandoned" => body.stage = Some(self.stage.as_str()),
            None => {}
        }
        let mut line = Vec::with_capacity(640);
        match serde_json::to_writer(&mut line, &body) {
            Ok(()) => String::from_utf8(line).unwrap_or_default(),
            Err(err) => format!(r#"{{"event":"{event}","error":"{err}","v":1}}"#),
        }
    }
}

impl Drop for Entry<'_> {
    fn drop(&mut self) {
        if !self.closed {
            // Nobody is left to wait for it; the sink writes it all the same.
            let body = self.render("abandoned", None);
            drop(self.ledger.sink.append(Draft { start: self.start, body }));
        }
    }
}

impl<'a> OutputNote<'a> {
    fn of(released: &'a Released) -> OutputNote<'a> {
        OutputNote {
            bytes: released.bytes(),
            redacted: released.redacted(),
            sha256: released.sha256().to_string(),
            spool: released.spool(),
            truncated: released.truncated(),
            undo: released.undo().map(|undo| undo.description.as_str()),
        }
    }
}

pub(crate) fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// How a call ended, in the form that both the record and the reply are made of.
#[derive(Debug)]
struct Ended {
    code: &'static str,
    is_error: bool,
    refused: bool,
    /// Why not, when it is an error.
    message: String,
    released: Option<Released>,
}

impl Ended {
    fn of(outcome: Result<Released, Stop>) -> Ended {
        match outcome {
            Ok(released) => Ended {
                code: if released.error().is_some() { "tool_failed" } else { "ok" },
                is_error: released.error().is_some(),
                refused: false,
                message: released.error().unwrap_or_default().to_owned(),
                released: Some(released),
            },
            Err(stop) => Ended {
                code: stop.code(),
                is_error: stop.is_error(),
                refused: stop.is_refusal(),
                message: stop.message().into_owned(),
                released: None,
            },
        }
    }
}

/// What goes back to the model: exactly one for each call, on record before it leaves.
#[derive(Debug)]
pub struct Reply {
    id: String,
    tool: String,
    ended: Ended,
    time: Duration,
    start: Option<u64>,
    receipt: Option<Receipt>,
    warnings: Vec<String>,
}

impl Reply {
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

    /// What the tool produced, as text, or the reason it did not run.
    pub fn text(&self) -> &str {
        match &self.ended.released {
            Some(released) => released.text(),
            None => &self.ended.message,
        }
    }

    /// All that the model should read, in one text: the failure, then what was produced.
    pub fn content(&self) -> Cow<'_, str> {
        match self.error() {
            Some(error) if self.ended.released.is_some() && !self.text().is_empty() => {
                format!("{error}\n{}", self.text()).into()
            }
            Some(error) => error.into(),
            None => self.text().into(),
        }
    }

    /// What the tool produced, as structure.
    pub fn data(&self) -> Option<&Value> {
        self.ended.released.as_ref().and_then(Released::data)
    }

    /// Why the call failed or was refused, in words for the model. `None` when it did not.
    pub fn error(&self) -> Option<&str> {
        self.ended.is_error.then_some(self.ended.message.as_str())
    }

    /// True when the call did not do what was asked.
    pub fn is_error(&self) -> bool {
        self.ended.is_error
    }

    /// True when nothing was run.
    pub fn refused(&self) -> bool {
        self.ended.refused
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

    /// The number of the call in the log: that of its first record.
    pub fn number(&self) -> Option<u64> {
        self.start.or(self.receipt.map(|receipt| receipt.seq))
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
