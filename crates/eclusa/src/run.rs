//! What holds for one run: who, in which conversation, how carefully, until when.

use std::{sync::Arc, time::Instant};

use tokio_util::sync::CancellationToken;

use crate::{Decision, Reason, Source, Verdict, words};

/// What holds for one run of an agent. Two runs in one process can differ in all of it.
#[derive(Debug, Clone)]
pub struct Run {
    /// The conversation: answers "for this conversation" hold within it.
    pub conversation: Arc<str>,
    /// Which turn of the conversation it is, counted from 1 by whoever holds the conversation;
    /// 0 says that nobody counts. What one turn changed can be undone together.
    pub turn: u64,
    /// On whose behalf.
    pub principal: Arc<str>,
    /// The program that makes the calls, as it calls itself: name and version. Goes on record.
    pub client: Option<Arc<str>>,
    /// When people are asked.
    pub mode: Mode,
    /// Judge everything, do nothing, ask nobody.
    pub dry_run: bool,
    /// Cancels every call of the run.
    pub cancel: CancellationToken,
    /// The only tools there are, by their own names; `None`: all of the registry. What a run is
    /// kept to, the calls that its tools make are kept to as well.
    pub tools: Option<Arc<[String]>>,
    /// Says why calls are cancelled: where this is cancelled too, whoever asks goes away and may
    /// come back, so questions stay in the approval queue. Otherwise they are withdrawn.
    pub leave: CancellationToken,
    /// Never wait for a person: a question goes into the approval queue, and the call ends as
    /// parked. Asked again once somebody has said yes, it runs.
    pub park: bool,
    /// Wait for people who are here, never for those who are not: a question that goes into the
    /// approval queue is left there, and the call ends as parked.
    pub park_absent: bool,
    /// The task that makes the calls, where a model works inside a call: questions name it.
    pub task: Option<Arc<str>>,
    /// No tool starts after this.
    pub deadline: Option<Instant>,
    /// From inside which call it was made. Only the gate fills it in.
    pub nesting: CallNesting,
}

/// From inside which call another was made: nowhere, unless the gate says so.
#[derive(Debug, Clone, Copy, Default)]
pub struct CallNesting {
    /// The number of that call in the log.
    pub(crate) parent: Option<u64>,
    /// How many tools called each other to get here.
    pub(crate) depth: usize,
}

impl Default for Run {
    fn default() -> Run {
        Run {
            conversation: "default".into(),
            turn: 0,
            principal: "".into(),
            client: None,
            mode: Mode::default(),
            dry_run: false,
            cancel: CancellationToken::new(),
            tools: None,
            leave: CancellationToken::new(),
            park: false,
            park_absent: false,
            task: None,
            deadline: None,
            nesting: CallNesting::default(),
        }
    }
}

/// When people are asked. No mode loosens a denial, a path rule or a checkpoint.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Mode {
    /// About every call.
    ConfirmAll,
    /// About what rules, class or sensitivity say.
    #[default]
    ConfirmSensitive,
    /// Only where somebody wrote a rule that says `ask`: the profile for unattended runs.
    AutoApprove,
    /// Never.
    Yolo,
}

impl Mode {
    /// The more careful of the two.
    pub fn more_careful(self, other: Mode) -> Mode {
        let careful = |mode: Mode| Mode::ALL.iter().position(|it| *it == mode);
        if careful(self) < careful(other) { self } else { other }
    }

    /// What becomes of a verdict in this mode.
    pub fn apply(self, mut verdict: Verdict) -> Verdict {
        let asked_by = |source| {
            let ask = |it: &Reason| it.decision == Decision::Ask && it.source == source;
            verdict.because.iter().any(ask)
        };
        let (decision, text) = match (self, verdict.decision) {
            (_, Decision::Deny) => return verdict,
            (Mode::ConfirmAll, Decision::Allow | Decision::Stage) => {
                (Decision::Ask, "the mode confirm-all asks about every call")
            }
            (Mode::AutoApprove | Mode::Yolo, Decision::Ask) if asked_by(Source::Administrator) => {
                return verdict;
            }
            (Mode::AutoApprove, Decision::Ask) if !asked_by(Source::Rule) => {
                (Decision::Allow, "the profile auto-approve answers for a person")
            }
            (Mode::Yolo, Decision::Ask) => (Decision::Allow, "the mode yolo never asks"),
            _ => return verdict,
        };
        let reason =
            Reason { decision, source: Source::Mode, origin: "mode".into(), text: text.into() };
        verdict.because.insert(0, reason);
        Verdict { decision, ..verdict }
    }
}

// From careful to careless.
words! {
    Mode, "a mode":
    ConfirmAll = "confirm-all",
    ConfirmSensitive = "confirm-sensitive",
    AutoApprove = "auto-approve",
    Yolo = "yolo",
}
