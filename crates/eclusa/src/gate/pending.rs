//! A run whose changes wait for an answer: kept before anybody who may be away is asked, so that a yes
//! applies what was shown, and nothing is run again.

use std::{sync::Arc, time::Duration};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::OnceCell;

use crate::{
    Changes, Mode, Origin, Output, Run, Stop, ToolCall, Validated, Workspace,
    approve::{PendingRef, QuestionState, QueuedQuestion},
    audit::trail::Trail,
    gate::Setup,
    reply::millis,
    stop::Decider,
    workspace::{PendingError, PendingRun, PendingTerms},
};

/// What is written of the call that ran.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct PendingCall {
    id: String,
    tool: String,
    args: Value,
    reason: Option<String>,
    origin: String,
    /// What a question about its changes is bound to.
    pub(super) question: String,
    /// Tool, revision and arguments: the same call has the same.
    binding: String,
    principal: String,
    session: String,
    client: Option<String>,
    task: Option<String>,
    turn: u64,
    mode: String,
    /// Whether it ran ahead of its question.
    #[serde(default)]
    ahead: bool,
    /// Its output, without secrets.
    text: String,
    data: Option<Value>,
    error: Option<String>,
    remarks: Vec<String>,
    sandbox: Option<String>,
    ms: u64,
}

impl PendingCall {
    /// What is written of a run; `None` where another version wrote it.
    pub(super) fn read(run: &PendingRun) -> Result<PendingCall, PendingError> {
        serde_json::from_value(run.about.clone())
            .map_err(|err| PendingError::Damaged { call: run.call, why: err.to_string() })
    }

    /// The call, as it was made.
    pub(super) fn call(&self) -> Result<ToolCall, String> {
        let origin = self.origin.parse().map_err(|err| format!("{err}"))?;
        // Another call of the log, which only applies what the first did.
        let id = format!("{}~applied", self.id);
        let call = ToolCall::new(id, self.tool.clone(), self.args.clone());
        Ok(ToolCall { reason: self.reason.clone(), ..call.from(origin) })
    }

    /// The run that it was made in: whose it is does not change with who applies it.
    pub(super) fn run(&self, now: &Run) -> Run {
        Run {
            session: self.session.as_str().into(),
            principal: self.principal.as_str().into(),
            client: self.client.as_deref().map(Into::into),
            task: self.task.as_deref().map(Into::into),
            turn: self.turn,
            mode: self.mode.parse().unwrap_or(Mode::ConfirmAll),
            ..now.clone()
        }
    }

    /// Whether it ran ahead of its question, and whether somebody must say yes to it.
    pub(super) fn ran_ahead(&self) -> Option<bool> {
        self.ahead.then_some(!self.question.is_empty())
    }

    /// What it printed, and what it would change.
    pub(super) fn output(&self, changes: Changes) -> (Output, Duration) {
        let output = Output {
            text: self.text.clone(),
            data: self.data.clone(),
            error: self.error.clone(),
            remarks: self.remarks.clone(),
            sandbox: self.sandbox.clone(),
            changes,
            ..Output::default()
        };
        (output, Duration::from_millis(self.ms))
    }
}

/// What is written of changes that a job left behind after its call: a person applies them by their number, and rules
/// that deny are asked again about the command.
pub fn kept_job(command: &str) -> Value {
    let about = PendingCall {
        id: "job".to_owned(),
        tool: "bash".to_owned(),
        args: serde_json::json!({ "command": command }),
        reason: None,
        origin: Origin::Tool.as_str().to_owned(),
        question: String::new(),
        binding: String::new(),
        principal: String::new(),
        session: String::new(),
        client: None,
        task: None,
        turn: 0,
        mode: Mode::ConfirmAll.as_str().to_owned(),
        ahead: false,
        text: String::new(),
        data: None,
        error: None,
        remarks: Vec::new(),
        sandbox: None,
        ms: 0,
    };
    serde_json::to_value(about).unwrap_or_default()
}

/// A run that is kept as soon as somebody is asked who may be away.
pub(super) struct Keeping<'a> {
    pub(super) setup: &'a Setup,
    pub(super) run: &'a Run,
    pub(super) call: &'a Validated,
    pub(super) workspace: &'a Workspace,
    pub(super) changes: &'a Arc<Changes>,
    pub(super) output: &'a Output,
    pub(super) remarks: &'a [String],
    pub(super) sandbox: Option<&'a str>,
    pub(super) time: Duration,
    pub(super) number: u64,
    kept: OnceCell<KeptReference>,
}

/// What is kept.
struct KeptReference {
    reference: PendingRef,
    changes: Arc<Changes>,
    dropped: Vec<u64>,
}

/// A run and what is known of it besides its changes.
pub(super) struct Ran<'a> {
    pub(super) call: &'a Validated,
    pub(super) changes: &'a Arc<Changes>,
    pub(super) output: &'a Output,
    pub(super) remarks: &'a [String],
    pub(super) time: Duration,
    pub(super) number: u64,
}

impl<'a> Keeping<'a> {
    pub(super) fn new(
        setup: &'a Setup,
        run: &'a Run,
        workspace: &'a Workspace,
        ran: &Ran<'a>,
        sandbox: Option<&'a str>,
    ) -> Keeping<'a> {
        let Ran { call, changes, output, remarks, time, number } = *ran;
        let kept = OnceCell::new();
        Keeping {
            setup,
            run,
            call,
            workspace,
            changes,
            output,
            remarks,
            sandbox,
            time,
            number,
            kept,
        }
    }

    /// The changes, where their contents are by now.
    pub(super) fn changes(&self) -> &Arc<Changes> {
        self.kept.get().map_or(self.changes, |it| &it.changes)
    }

    /// Whether something of git's own changes.
    pub(super) fn changes_git(&self) -> bool {
        let git = |it: &crate::Change| it.path.components().any(|it| it.as_os_str() == ".git");
        self.changes.iter().any(git)
    }

    /// Whether it is kept.
    pub(super) fn is_kept(&self) -> bool {
        self.kept.initialized()
    }

    /// Keeps it for a question with this binding, once. An error refuses the changes before anybody
    /// is asked.
    pub(super) async fn keep(&self, question: &str) -> Result<PendingRef, Stop> {
        let keep = || async {
            let (keep, survives) = (self.setup.limits.keep, self.setup.durability);
            let terms = PendingTerms { asked: true, keep, survives };
            let run = self.write(question, terms).await?;
            let reference = PendingRef { call: run.call, sha256: run.sha256 };
            let dropped = run.dropped;
            Ok(KeptReference { reference, changes: Arc::new(run.changes), dropped })
        };
        Ok(self.kept.get_or_try_init(keep).await?.reference)
    }

    /// Which approval this run waits behind: where both change a file, the later one is not as it was
    /// shown once the other is applied.
    pub(super) async fn behind(&self) -> Option<String> {
        let questions = self.setup.questions.as_ref()?;
        for number in self.workspace.pending_calls() {
            let Ok(kept) = self.workspace.pending_run(number) else { continue };
            let both = kept.changes.iter().find(|it| self.changes().get(&it.path).is_some());
            let (Some(both), Ok(about)) = (both, PendingCall::read(&kept)) else { continue };
            if number == self.number || about.question.is_empty() {
                continue;
            }
            let Ok(Some(queued)) = questions.of_pending(&about.question, number).await else {
                continue;
            };
            if queued.state.is_open() {
                return Some(format!(
                    "waits behind approval {}: both change `{}`, so that this is refused once that \
                     is applied; make the call again then",
                    queued.id,
                    crate::one_line(&both.path.to_string_lossy())
                ));
            }
        }
        None
    }

    /// Keeps changes that nobody is asked about any more, unless they are kept. What cannot be kept is
    /// gone, as is said anyway. What had to go to make room is told.
    pub(super) async fn end(&self, discarded: bool, trail: &mut Trail) {
        let mut dropped = self.kept.get().map_or_else(Vec::new, |it| it.dropped.clone());
        if discarded && !self.is_kept() {
            match self.write("", PendingTerms::DISCARDED).await {
                Ok(run) => dropped = run.dropped,
                Err(stop) => {
                    tracing::debug!(why = %stop.message(), "discarded changes were not kept");
                }
            }
        }
        if !dropped.is_empty() {
            let calls: Vec<String> = dropped.iter().map(u64::to_string).collect();
            trail.warnings.push(format!(
                "dropped to make room, the oldest first: discarded changes of calls {}",
                calls.join(", ")
            ));
        }
    }

    async fn write(&self, question: &str, terms: PendingTerms) -> Result<PendingRun, Stop> {
        let redactor = &self.setup.redactor;
        let clean = |text: &str| redactor.text(text).0.into_owned();
        let (call, run) = (self.call, self.run);
        let about = PendingCall {
            id: call.id().to_owned(),
            tool: call.name().to_owned(),
            args: call.args().clone(),
            reason: call.reason().map(str::to_owned),
            origin: call.origin().as_str().to_owned(),
            question: question.to_owned(),
            binding: call.binding().to_string(),
            principal: run.principal.to_string(),
            session: run.session.to_string(),
            client: run.client.as_deref().map(str::to_owned),
            task: run.task.as_deref().map(str::to_owned),
            turn: run.turn,
            mode: run.mode_in_force().as_str().to_owned(),
            ahead: run.ahead,
            text: clean(&self.output.text),
            data: self.output.data.as_ref().map(|it| redactor.value(it).0.into_owned()),
            error: self.output.error.as_deref().map(clean),
            remarks: self.remarks.to_vec(),
            sandbox: self.sandbox.map(str::to_owned),
            ms: millis(self.time),
        };
        let refused = |why: String| Stop::denied(Decider::Gate, why);
        let about = serde_json::to_value(about).map_err(|err| refused(err.to_string()))?;
        let (workspace, changes, number) =
            (self.workspace.clone(), self.changes.clone(), self.number);
        let keeping = move || workspace.keep_pending(number, about, &changes, terms);
        match tokio::task::spawn_blocking(keeping).await {
            Ok(kept) => kept.map_err(|err| refused(err.to_string())),
            Err(_panic) => Err(refused("keeping the changes crashed".to_owned())),
        }
    }
}

/// Takes hold of a run to apply it.
pub(super) async fn claim(workspace: &Workspace, call: u64) -> Result<PendingRun, PendingError> {
    let workspace = workspace.clone();
    let claiming = tokio::task::spawn_blocking(move || workspace.claim_pending(call));
    claiming.await.unwrap_or_else(|_panic| {
        Err(PendingError::Damaged { call, why: "reading it crashed".to_owned() })
    })
}

/// Notes why a run was not applied. It stays: a person may apply it after all.
pub(super) fn note_refused(workspace: &Workspace, call: u64, stop: &Stop) {
    workspace.refuse_pending(call, &stop.message());
}

/// What became of runs of this session whose yes could not be applied: told once, at the next call.
pub(super) fn tell_refusals(setup: &Setup, run: &Run, trail: &mut Trail) {
    let Some(workspace) = &setup.workspace else { return };
    for (kept, why) in workspace.untold_refusals() {
        let ours = |it: &PendingCall| !it.question.is_empty() && *it.session == *run.session;
        if PendingCall::read(&kept).is_ok_and(|it| ours(&it)) {
            workspace.note_told(kept.call);
            trail.warnings.push(format!(
                "the changes of call {} were approved but could not be applied: {why}; make the call \
                again if you still need it",
                kept.call
            ));
        }
    }
}

/// A run of the same call that waits for an answer, and its question.
pub(super) struct SameCall {
    pub(super) call: u64,
    pub(super) queued: QueuedQuestion,
    /// Whether nothing was applied in the workspace since it ran.
    pub(super) current: bool,
}

/// The latest run of the same call, by the same principal, whose question is open and whose asker
/// has gone away.
pub(super) async fn same_call(setup: &Setup, run: &Run, call: &Validated) -> Option<SameCall> {
    let workspace = setup.workspace.as_ref()?;
    let questions = setup.questions.as_ref()?;
    if setup.delegate.is_some() || call.is_read_only_call() {
        return None;
    }
    let binding = call.binding().to_string();
    for number in workspace.pending_calls().into_iter().rev() {
        let Ok(kept) = workspace.pending_run(number) else { continue };
        let Ok(about) = PendingCall::read(&kept) else { continue };
        if about.binding != binding || *about.principal != *run.principal {
            continue;
        }
        let Ok(Some(queued)) = questions.of_pending(&about.question, number).await else {
            continue;
        };
        if queued.state.is_open() && queued.asker_away {
            let current = kept.sequence == workspace.last_sequence();
            return Some(SameCall { call: number, queued, current });
        }
    }
    None
}

/// A run of the same call that was made anew stands for the one before: nobody is asked about that
/// any more.
pub(super) fn replace(setup: &Setup, same: SameCall, trail: &mut Trail) {
    if same.queued.state != QuestionState::Pending {
        return;
    }
    if let Some(queue) = &setup.approval_queue {
        queue.withdraw(&same.queued.question);
    }
    if let Some(workspace) = &setup.workspace {
        workspace.forget_pending(same.call);
    }
    trail.warnings.push(format!(
        "the workspace has changed since call {}: approval {} was withdrawn, and the call ran again",
        same.call, same.queued.id
    ));
}
