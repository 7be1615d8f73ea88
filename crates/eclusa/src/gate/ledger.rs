//! The way in and the way out: every call has an entry, and every entry ends on record before
//! its answer leaves. The only file that makes a [`Started`] and asks for a [`Reply`].

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::{
    ArgsInLog, AuditError, AuditSink, Clock, Incoming, Permit, Receipt, Redactor, Released, Reply,
    Run, SentRequest, Stage, Stop, ToolCall,
    audit::{
        Appending, Draft, RECORD_VERSION,
        body::{Because, Body, ChangesNote, Hex, OutputNote, ReverseThinkingNote, args_for_log},
        trail::Trail,
    },
    reply::{Ended, ReleasedOutput, millis},
};

/// The log, as the gate uses it.
pub(crate) struct Ledger {
    pub(crate) log: Arc<dyn AuditSink>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) redactor: Arc<Redactor>,
    pub(crate) args: ArgsInLog,
    /// How long a record may take to become durable.
    pub(crate) time: Duration,
}

impl Ledger {
    /// Opens the entry of a call.
    pub(crate) fn open<'a>(
        &'a self,
        run: &'a Run,
        incoming: Incoming,
    ) -> (Entry<'a>, Result<(), Stop>) {
        let (call, readable) = match incoming {
            Incoming::Call(call) => (call, Ok(())),
            Incoming::Malformed(bad) => {
                let tool = bad.tool.unwrap_or_default();
                let call = ToolCall::new(bad.id, tool, Value::Null).from(bad.origin);
                (call, Err(Stop::Malformed(bad.problem)))
            }
        };
        let entry = Entry {
            ledger: self,
            run,
            trail: Trail::new(call, run.session.clone()),
            stage: Stage::Received,
            start: None,
            number: None,
            began: Instant::now(),
            closed: false,
        };
        (entry, readable)
    }

    /// Puts it on record that something is about to leave for a model.
    pub(crate) async fn record_sent(
        &self,
        run: &Run,
        sent: &SentRequest<'_>,
    ) -> Result<Receipt, AuditError> {
        self.settled(self.append(sent.draft(run, self.now()))).await
    }

    /// Hands a draft to the sink. A sink that crashes has not taken it.
    fn append(&self, draft: Draft) -> Appending {
        if let Err(err) = draft.fits() {
            return Appending::Done(Err(err));
        }
        let appended = catch_unwind(AssertUnwindSafe(|| self.log.append(draft)));
        appended.unwrap_or_else(|_panic| Appending::Done(Err(AuditError::new("it crashed"))))
    }

    /// The time for a record. A clock that crashes says zero: the order of records is their
    /// number, and a call is not lost for want of a time.
    fn now(&self) -> u64 {
        catch_unwind(AssertUnwindSafe(|| self.clock.unix_ms())).unwrap_or_default()
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

/// Proof that the start is on record, where the run has effects. The tool is not run without it.
pub(crate) struct Started(());

/// The open entry of one call. Closing it gives the [`Reply`]; dropping it open, because the
/// caller went away, is recorded too, with the stage it had reached.
#[must_use]
pub(crate) struct Entry<'a> {
    ledger: &'a Ledger,
    run: &'a Run,
    pub(crate) trail: Trail,
    stage: Stage,
    /// The number of the record that holds the start, if there is one.
    start: Option<u64>,
    /// The number of the call, once it is known.
    number: Option<u64>,
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

    /// The number of the call, once its start is on record.
    pub(crate) fn number(&self) -> Option<u64> {
        self.number
    }

    /// Puts it on record that side effects are about to begin. A call that only looks has none, nor
    /// one that is run elsewhere: one record says all of it, its end, before anybody learns what it
    /// saw or that it may run.
    pub(crate) async fn start(&mut self, permit: &Permit) -> Result<Started, Stop> {
        if permit.call().is_read_only_call() || self.runs_elsewhere() {
            self.reached(Stage::Running);
            return Ok(Started(()));
        }
        let appending = self.ledger.append(self.render("started", None));
        let receipt = self.ledger.settled(appending).await;
        let receipt = receipt.map_err(|err| Stop::Unrecorded(err.to_string()))?;
        self.start = Some(receipt.seq);
        self.number = Some(receipt.call_number());
        self.reached(Stage::Running);
        Ok(Started(()))
    }

    /// Whether another program does the work, once it is told that it may.
    pub(crate) fn runs_elsewhere(&self) -> bool {
        self.trail.tool.as_ref().is_some_and(|it| it.facts().runs_elsewhere)
    }

    /// Tells the span of the call how it went: the verdict, every review, and the outcome.
    fn trace(&self, ended: &Ended) {
        let span = tracing::Span::current();
        if span.is_disabled() {
            return;
        }
        if let Some(verdict) = &self.trail.verdict {
            span.record("eclusa.decision", verdict.decision.as_str());
        }
        for review in &self.trail.reviews {
            let (by, on, said, why) = (&review.by, review.on, review.said, &review.why);
            tracing::info!(by, on, said, why, sha256 = review.sha256, "review");
        }
        span.record("eclusa.outcome", ended.code);
        if ended.is_error {
            span.record("error.type", ended.code);
            tracing::info!(
                why = &*self.ledger.redactor.text(&ended.message).0,
                "refused or failed"
            );
        } else {
            let ms = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
            tracing::info!(ms, "done");
        }
    }

    /// The one way out.
    pub(crate) async fn close(mut self, outcome: Result<Released, Stop>) -> Reply {
        let ended = Ended::new(outcome.map(Released::unseal_for_reply));
        self.trace(&ended);
        let took = self.began.elapsed();
        let appending = self.ledger.append(self.render("ended", Some((&ended, took))));
        self.closed = true; // handed over: whatever happens now, it is not abandoned
        let receipt = self.ledger.settled(appending).await;
        let ended = match &receipt {
            Ok(_) => ended,
            Err(err) => {
                Ended::new(Err(match self.stage < Stage::Running || self.runs_elsewhere() {
                    true => Stop::Unrecorded(err.to_string()),
                    false => Stop::EndUnrecorded(err.to_string()),
                }))
            }
        };
        let (name, asked) = (self.trail.name(), &self.trail.call.tool);
        let asked = (asked != name).then(|| asked.clone());
        let names = (self.trail.call.id.clone(), name.to_owned(), asked);
        let warnings = std::mem::take(&mut self.trail.warnings);
        let uses = std::mem::take(&mut self.trail.uses);
        Reply::new(names, ended, took, self.number, receipt.ok(), (warnings, uses))
    }

    /// One line of JSON that says what is known.
    fn render(&self, event: &'static str, ended: Option<(&Ended, Duration)>) -> Draft {
        let trail = &self.trail;
        let redactor = &*self.ledger.redactor;
        // What the start has said, the end does not repeat.
        let first = self.start.is_none();
        let mut body = Body {
            at: self.ledger.now(),
            call: &trail.call.id,
            conversation: &self.run.session,
            event,
            start: self.start,
            tool: trail.name().into(),
            v: RECORD_VERSION,
            warnings: &trail.warnings,
            ..Body::default()
        };
        if first {
            body.number = Some(());
            let (args, args_redacted) = args_for_log(trail.args(), self.ledger.args, redactor);
            body.args = args;
            body.args_redacted = args_redacted;
            body.args_sha256 = trail.digest.map(Hex);
            body.approval = trail.approval.as_ref();
            body.because = Because(trail.verdict.as_ref().map(|it| (&*it.because, redactor)));
            body.checkpoint = trail.checkpoint.as_deref();
            body.client = self.run.client.as_deref();
            body.decision = trail.verdict.as_ref().map(|it| it.decision.as_str());
            body.mode = Some(self.run.mode_in_force().as_str());
            body.origin = Some(trail.call.origin.as_str());
            body.parent = self.run.nesting.parent;
            body.principal = &self.run.principal;
            body.turn = (self.run.turn > 0).then_some(self.run.turn);
            body.reason = trail.call.reason.as_deref().map(|it| redactor.text(it).0);
            body.reverse_thinking =
                trail.reverse_thinking.as_ref().map(|it| ReverseThinkingNote::new(it, redactor));
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
        body.sandbox = trail.sandbox.as_deref();
        body.changes = trail.changes.as_ref().map(|it| ChangesNote::new(it, redactor));
        match ended {
            Some((ended, took)) => {
                body.code = Some(ended.code);
                body.ms = Some(millis(took));
                body.stage = Some(self.stage.as_str());
                body.message = ended.recorded_message().map(|it| redactor.text(it).0);
                body.output = ended.released.as_ref().map(OutputNote::new);
                body.taint = trail.taint.as_deref().map(|it| redactor.text(it).0);
            }
            None if event == "abandoned" => body.stage = Some(self.stage.as_str()),
            None => {}
        }
        let opened = trail.approval.as_ref().filter(|it| first && it.opens);
        let question = opened.and_then(|it| it.question);
        Draft::of_call(self.start, question, body.line())
    }
}

impl Drop for Entry<'_> {
    fn drop(&mut self) {
        if !self.closed {
            // Nobody is left to wait for it; the sink writes it all the same.
            drop(self.ledger.append(self.render("abandoned", None)));
        }
    }
}

impl<'a> OutputNote<'a> {
    fn new(released: &'a ReleasedOutput) -> OutputNote<'a> {
        OutputNote {
            bytes: released.bytes(),
            attachments: released.attachments().len(),
            redacted: released.redacted(),
            sha256: Hex(released.sha256()),
            spool: released.spool(),
            truncated: released.truncated(),
            undo: released.undo().map(|undo| undo.description.as_str()),
        }
    }
}
