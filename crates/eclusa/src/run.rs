//! What holds for one run: who, in which session, how carefully, until when.

use std::{sync::Arc, time::Instant};

use tokio_util::sync::CancellationToken;

use crate::{Decision, Reason, Source, Verdict, words};

/// What holds for one run of an agent. Two runs in one process can differ in all of it.
///
/// ```
/// use eclusa::prelude::*;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let gate = Gate::builder().build()?;
/// // The same gate for somebody else, who only wants to know.
/// let run = Run { session: "talk-2".into(), dry_run: true, ..Run::default() };
/// assert!(gate.for_run(run).run().dry_run);
/// assert!(!gate.run().dry_run);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Run {
    /// The session: answers "for this session" hold within it.
    pub session: Arc<str>,
    /// Which turn of the session it is, counted from 1 by whoever holds the session;
    /// 0 says that nobody counts. What one turn changed can be undone together.
    pub turn: u64,
    /// On whose behalf.
    pub principal: Arc<str>,
    /// The program that makes the calls, as it calls itself: name and version. Goes on record.
    pub client: Option<Arc<str>>,
    /// When people are asked, unless the gate has a [`ModeRule`](crate::ModeRule) about this run:
    /// [`mode_in_force`](Run::mode_in_force) says what holds.
    pub mode: Mode,
    /// Nobody is asked less than in this mode, whatever else is said: what a persona or a preview
    /// holds itself to. `None`: no such bound.
    pub no_looser_than: Option<Mode>,
    /// The mode that holds. Only the gate fills it in.
    pub resolved: ResolvedMode,
    /// Judge everything, do nothing, ask nobody.
    pub dry_run: bool,
    /// Judge and record what somebody else does, and do nothing: calls are not held, so no reply stops one.
    pub watched: bool,
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
    /// Run ahead of the question: no host is open, and what the call changes is kept and not applied.
    /// Whoever has the answer takes it ([`TakeYes::Ahead`](crate::TakeYes)).
    pub ahead: bool,
    /// Changes are reviewed even where somebody let the call run: whoever typed a command has not said
    /// yes to what it changes.
    pub review_changes: bool,
    /// The task that makes the calls, where a model works inside a call: questions name it.
    pub task: Option<Arc<str>>,
    /// No tool starts after this.
    pub deadline: Option<Instant>,
    /// What an earlier judgement of the same call has used up, where one process judges a call and
    /// another runs it: it is not counted twice. `None`: nothing.
    pub judged_before: Option<Arc<CallUses>>,
    /// From inside which call it was made. Only the gate fills it in.
    pub nesting: CallNesting,
}

/// What it took to let a call pass: what is good for so many calls, and was used by this one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallUses {
    /// The rules with a number of uses that let it pass, by their ids.
    pub rules: Vec<String>,
    /// The allowance that let it pass.
    pub allowance: Option<u64>,
    /// Whether a person said yes to the call as it stands, now or before.
    pub approved: bool,
    /// The digest of the files that the yes is bound to, where it names some.
    pub files: Option<String>,
}

/// From inside which call another was made: nowhere, unless the gate says so.
#[derive(Debug, Clone, Copy, Default)]
pub struct CallNesting {
    /// The number of that call in the log.
    pub(crate) parent: Option<u64>,
    /// How many tools called each other to get here.
    pub(crate) depth: usize,
}

/// The mode that holds for a run, worked out from its own mode and the rules about modes: nothing,
/// unless the gate says so.
#[derive(Debug, Clone, Copy, Default)]
pub struct ResolvedMode(pub(crate) Option<Mode>);

impl Run {
    /// The mode that holds: what rules about modes say of this run, or its own, and never less
    /// careful than [`no_looser_than`](Run::no_looser_than).
    pub fn mode_in_force(&self) -> Mode {
        self.at_least_as_careful(self.resolved.0.unwrap_or(self.mode))
    }

    pub(crate) fn at_least_as_careful(&self, mode: Mode) -> Mode {
        self.no_looser_than.map_or(mode, |it| it.more_careful(mode))
    }

    /// The same run, in which nobody is asked less than in this mode.
    #[must_use]
    pub fn held_to(mut self, mode: Option<Mode>) -> Run {
        self.no_looser_than = match (self.no_looser_than, mode) {
            (Some(one), Some(other)) => Some(one.more_careful(other)),
            (one, other) => one.or(other),
        };
        self
    }
}

impl Default for Run {
    fn default() -> Run {
        Run {
            session: "default".into(),
            turn: 0,
            principal: "".into(),
            client: None,
            mode: Mode::default(),
            no_looser_than: None,
            resolved: ResolvedMode::default(),
            dry_run: false,
            watched: false,
            cancel: CancellationToken::new(),
            tools: None,
            leave: CancellationToken::new(),
            park: false,
            park_absent: false,
            ahead: false,
            review_changes: false,
            task: None,
            deadline: None,
            judged_before: None,
            nesting: CallNesting::default(),
        }
    }
}

/// When people are asked. No mode loosens a denial, a path rule or a checkpoint.
///
/// ```
/// use eclusa::prelude::*;
///
/// assert_eq!("auto-approve".parse(), Ok(Mode::AutoApprove));
/// assert_eq!(Mode::Yolo.more_careful(Mode::ConfirmAll), Mode::ConfirmAll);
/// // No mode loosens a denial.
/// let denied = Verdict::from_reasons(Vec::new());
/// assert_eq!(Mode::Yolo.apply(denied).decision, Decision::Deny);
/// ```
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
                (Decision::Allow, "the mode auto-approve answers for a person")
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
