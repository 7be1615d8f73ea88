//! A permit being used: what a tool gets when it runs, and the way from there to the gate.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures::future::BoxFuture;
use serde_json::Value;
use tokio::{
    sync::watch,
    time::{Instant, sleep_until},
};

pub use asking::Asking;

use super::{Validated, registry::Registry};
use crate::{
    CallNesting, Changes, Decision, Event, Events, HiddenPaths, Mode, Origin, Output, Policy,
    Reply, Run, SessionError, ToolCall, ToolError,
    policy::{BoundFile, plainly, read_named},
    tool::{OpenedHosts, SignatureRequest, SignatureYes},
};

mod asking;
mod hosts;

/// What a call that runs may ask of the gate that let it through. The gate knows tools, and tools
/// know this.
pub(crate) trait Chamber: Send + Sync {
    /// The run that the call is part of.
    fn run(&self) -> &Run;

    /// The rules in force.
    fn policy(&self) -> Arc<Box<dyn Policy>>;

    /// Whether nothing is to be real.
    fn is_rehearsal(&self) -> bool;

    /// Where the workspace is.
    fn root(&self) -> Option<&Path>;

    /// The tools there are.
    fn registry(&self) -> &Registry;

    /// Whoever listens.
    fn events(&self) -> &Events;

    /// How long a person has to answer.
    fn time_to_answer(&self) -> Duration;

    /// Asks a person whether the call may run again with these hosts open; `None` where nobody
    /// said yes.
    fn ask_about_hosts<'a>(
        &'a self,
        call: &'a Validated,
        hosts: &'a [String],
        beside: Option<&'a str>,
    ) -> BoxFuture<'a, Option<OpenedHosts>>;

    /// Asks a person whether this may be signed with their key; `None` where nobody said yes.
    fn ask_to_sign<'a>(
        &'a self,
        call: &'a Validated,
        request: &'a SignatureRequest,
        changes: &'a Changes,
    ) -> BoxFuture<'a, Option<SignatureYes>>;

    /// Whether there is text from outside in the session by now.
    fn is_tainted(&self) -> bool;

    /// Notes that text from outside has come into the session, and how. The error says why that
    /// cannot be kept.
    fn mark_tainted(&self, how: &str) -> Result<(), SessionError>;

    /// Applies what rules let pass unasked of a run that is kept. `None`: nothing is applied here.
    fn take_unasked(&self, call: u64) -> Option<BoxFuture<'static, Reply>>;

    /// Takes another call through the whole gate, in this run.
    fn pass(&self, run: Run, call: ToolCall) -> BoxFuture<'static, Reply>;
}

/// A permit being used. Tools get this and nothing else.
///
/// ```
/// use eclusa::prelude::*;
/// use futures::future::BoxFuture;
/// use serde_json::{Value, json};
///
/// struct WhoAmI;
///
/// impl Tool for WhoAmI {
/// #     fn description(&self, _: &eclusa::Scene) -> String { "Tells the session.".to_owned() }
/// #     fn input_schema(&self) -> Value { json!({"type": "object"}) }
/// #     fn touches(&self, _: &Value) -> Vec<Touch> { Vec::new() }
///     fn name(&self) -> &str {
///         "who_am_i"
///     }
///     fn run<'a>(&'a self, job: &'a Job) -> BoxFuture<'a, Result<Output, ToolError>> {
///         Box::pin(async { Ok(Output::text(job.session())) })
///     }
///     // …
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let rule = Rule::new(Decision::Allow).tool(["who_am_i"])?;
/// let gate = Gate::builder().tool(WhoAmI).rule(rule).build()?;
/// let call = ToolCall::new("1", "who_am_i", json!({}));
/// assert_eq!(gate.pass_blocking(call)?.content(), "default");
/// # Ok(())
/// # }
/// ```
pub struct Job {
    call: Validated,
    /// Whether a person said yes to the call.
    approved: bool,
    /// The digest of the files that the yes is bound to.
    files: Option<String>,
    gate: Box<dyn Chamber>,
    start: Option<u64>,
    until: watch::Sender<Instant>,
    /// A person ended the turn at a call that the tool made.
    aborted: AtomicBool,
    /// Text from outside came in, and that could not be kept.
    unmarked: AtomicBool,
}

/// What is left of a job whose tool has run.
pub(crate) struct FinishedJob {
    pub(crate) call: Validated,
    /// A person ended the turn meanwhile.
    pub(crate) aborted: bool,
    /// Text from outside came in, and that could not be kept.
    pub(crate) unmarked: bool,
}

impl Job {
    /// A call that may run now; whether a person said yes to it, and to which files. Visible to the crate,
    /// called by `execute.rs` alone (tidy holds that).
    pub(crate) fn new(
        call: Validated,
        (approved, files): (bool, Option<String>),
        gate: Box<dyn Chamber>,
        start: Option<u64>,
        until: Instant,
    ) -> Job {
        let (aborted, unmarked) = (AtomicBool::default(), AtomicBool::default());
        let until = watch::Sender::new(until);
        Job { call, approved, files, gate, start, until, aborted, unmarked }
    }

    /// Does the work of its tool.
    pub(crate) async fn work(&self) -> Result<Output, ToolError> {
        self.call.tool().tool().run(self).await
    }

    /// What is left once its tool has run.
    pub(crate) fn finish(self) -> FinishedJob {
        let (aborted, unmarked) = (self.aborted.into_inner(), self.unmarked.into_inner());
        FinishedJob { call: self.call, aborted, unmarked }
    }

    /// The run that the call is part of.
    pub(crate) fn run(&self) -> &Run {
        self.gate.run()
    }

    /// The model's id for the call.
    pub fn id(&self) -> &str {
        self.call.id()
    }

    /// The session that the call is part of.
    pub fn session(&self) -> &str {
        &self.gate.run().session
    }

    /// Whether a person is asked in this run, and about what.
    pub fn mode(&self) -> Mode {
        self.gate.run().mode_in_force()
    }

    /// The number of the call in the log; a call that only looks gets one when it ends.
    pub fn number(&self) -> Option<u64> {
        self.start
    }

    /// What this call may not look at: a rule denies it, or wants a person asked first. For tools
    /// that come upon paths nobody named, such as a search; it can go to other threads.
    pub fn hidden(&self) -> HiddenPaths {
        let policy = self.gate.policy();
        // A policy that panics has hidden everything.
        let hidden = catch_unwind(AssertUnwindSafe(|| policy.hidden(&self.call.view())));
        let hidden = hidden.unwrap_or_else(|_panic| HiddenPaths::everything());
        match self.gate.run().mode_in_force() {
            // Nobody is asked, so what would be asked about is not hidden either.
            Mode::Yolo => hidden.from(Decision::Deny),
            Mode::ConfirmAll | Mode::ConfirmSensitive | Mode::AutoApprove => hidden,
        }
    }

    /// True when this call may not look at this path of the workspace. Whoever asks about many
    /// paths asks [`hidden`](Job::hidden) once.
    pub fn is_hidden(&self, path: &Path) -> bool {
        self.hidden().hides(path)
    }

    /// True when a person said yes to this call, now or before.
    pub fn is_approved(&self) -> bool {
        self.approved
    }

    /// The files that a person's yes to this call is bound to, with exactly what they said yes to: for a
    /// sandbox, which shows the command these. The error: one has changed since.
    pub fn bound_files(&self) -> Result<Vec<BoundFile>, ToolError> {
        let (Some(bound), Some(root)) = (&self.files, self.gate.root()) else {
            return Ok(Vec::new());
        };
        let (now, files) = read_named(root, self.call.scripts());
        match now.is_some_and(|it| it.to_string() == *bound) {
            true => Ok(files),
            false => Err(ToolError::new(
                "not run: a file that the command names has changed since it was approved; make the call again",
            )),
        }
    }

    /// True when this call runs shell text of which no command does more than read, as far as the
    /// text tells: as it was read when the call was judged.
    pub fn only_reads_files(&self) -> bool {
        self.call.only_reads_files()
    }

    /// True when its shell text runs one of these programs, as far as the text tells.
    pub fn runs_any(&self, programs: &[&str]) -> bool {
        self.call.runs_any(programs)
    }

    /// What is said of a call whose shell text needs a service that no sandbox has.
    pub fn needs_service(&self) -> Option<String> {
        self.call.needs_service()
    }

    /// True when the call was let through to be tried without a network, and a person may be asked
    /// about the hosts that it turns out to want. No mode answers for one.
    pub fn is_tried(&self) -> bool {
        self.asks_a_person() && !self.approved && self.call.only_fetches()
    }

    /// True where no mode answers for a person: whatever fails for want of a host may ask for it.
    pub fn asks_a_person(&self) -> bool {
        let mode = self.gate.run().mode_in_force();
        matches!(mode, Mode::ConfirmAll | Mode::ConfirmSensitive)
    }

    /// Another machine was reached: text from outside has come into the session. Where that
    /// cannot be kept, nobody gets to see what came.
    pub fn reached_outside(&self) {
        let how = format!("came from the web (`{}`)", plainly(self.call.name()));
        if let Err(why) = self.gate.mark_tainted(&how) {
            tracing::warn!("that text from outside came in cannot be kept: {why}");
            self.unmarked.store(true, Ordering::Release);
        }
    }

    /// The arguments that were permitted.
    pub fn args(&self) -> &Value {
        self.call.args()
    }

    /// When the time of the run is up.
    pub fn deadline(&self) -> std::time::Instant {
        self.until.borrow().into_std()
    }

    /// Resolves when the time of the run is up.
    pub(crate) async fn late(&self) {
        let mut until = self.until.subscribe();
        loop {
            let now = *until.borrow_and_update();
            tokio::select! {
                () = sleep_until(now) => return,
                // It cannot close: it is the job's own.
                _ = until.changed() => {}
            }
        }
    }

    /// Resolves when the caller takes the call back. A tool with something to clean up watches
    /// it; any other is simply dropped.
    pub async fn cancelled(&self) {
        self.gate.run().cancel.cancelled().await;
    }

    /// Tells whoever is listening how far the work has come (0 to 1), and what it is at.
    pub fn progress(&self, fraction: f64, detail: &str) {
        self.gate.events().send(|| Event::Progress {
            session: self.gate.run().session.clone(),
            call: self.call.id().to_owned(),
            tool: self.call.name().to_owned(),
            fraction: fraction.clamp(0.0, 1.0),
            detail: detail.to_owned(),
        });
    }

    /// Calls another tool: through the whole gate, like any call. Its id is made from this one's.
    pub async fn pass(&self, call: ToolCall) -> Reply {
        let run = Run {
            nesting: CallNesting { parent: self.start, depth: self.gate.run().nesting.depth + 1 },
            deadline: Some(self.deadline()),
            judged_before: None,
            ..self.gate.run().clone()
        };
        let call = ToolCall { id: format!("{}/{}", self.id(), call.id), ..call };
        let reply = self.gate.pass(run, call.from(Origin::Tool)).await;
        if reply.aborted() {
            self.end_turn();
        }
        reply
    }

    /// Applies what rules let pass unasked of a run that is kept under this number, as a call of its own. Nobody is
    /// asked. `None`: nothing is applied in this run.
    pub async fn take_unasked(&self, call: u64) -> Option<Reply> {
        Some(self.gate.take_unasked(call)?.await)
    }

    /// The tools that a model is shown in this run, by name.
    pub fn visible_tools(&self) -> Vec<String> {
        let visible = self.gate.registry().visible();
        visible.iter().map(|it| it.name().to_owned()).collect()
    }

    /// A person ended the whole turn at a call that was made inside this one.
    pub fn end_turn(&self) {
        self.aborted.store(true, Ordering::Release);
    }
}
