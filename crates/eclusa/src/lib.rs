//! A lock (*eclusa*) between a model and the machine.
//!
//! A call enters as a [`ToolCall`] and leaves as a [`Reply`]. In between it changes type at every
//! gate, and **each of these types is made in exactly one file**:
//!
//! ```text
//! ToolCall   what the model wrote                                    parse/
//!   │  gate/validate.rs
//! Validated  the tool exists, the arguments fit its schema
//!   │  gate/review.rs
//! Reviewed   every reviewer let it through, or changed it (then: validated again)
//!   │  gate/permit.rs    policy, reverse thinking, person, checkpoint
//! Permit     may run, once, with exactly these arguments
//!   │  gate/execute.rs   the start is on record first
//! Raw        ran; nobody has read its output or judged its changes
//!   │  gate/settle.rs
//! Settled    its changes are committed or discarded
//!   │  gate/release.rs
//! Released   output reviewed, redacted, cut to size
//!   │  gate/ledger.rs
//! Reply      on record; the model may have it
//! ```
//!
//! What the compiler promises to code outside those files:
//!
//! * A tool cannot run without a [`Permit`], because only the gate makes a [`Job`]:
//!
//! ```compile_fail,E0063
//! # async fn f(tool: &dyn eclusa::Tool) {
//! let job = eclusa::Job {};
//! tool.run(&job).await;
//! # }
//! ```
//!
//! * A permit cannot be made by hand, nor its arguments changed after the decision:
//!
//! ```compile_fail,E0451
//! # fn f(call: eclusa::Reviewed) {
//! let permit = eclusa::Permit { call };
//! # }
//! ```
//! ```compile_fail,E0616
//! # fn f(mut permit: eclusa::Permit, other: eclusa::Reviewed) {
//! permit.call = other;
//! # }
//! ```
//!
//! * A permit is spent by running (it is neither `Clone` nor `Copy`):
//!
//! ```compile_fail,E0599
//! # fn f(permit: eclusa::Permit) {
//! let twice = permit.clone();
//! # }
//! ```
//!
//! * Nothing goes back to the model unrecorded:
//!
//! ```compile_fail,E0063
//! let reply = eclusa::Reply {};
//! ```

// No part of the library is excused from what `clippy.toml` bans.
#![cfg_attr(not(test), forbid(clippy::disallowed_methods))]

pub mod approve;
pub mod attachment;
pub mod audit;
pub mod call;
pub mod catalogue;
mod errors;
mod event;
mod facts;
mod gate;
mod json;
mod metrics;
mod output;
pub mod parse;
pub mod policy;
pub mod preflight;
pub mod prelude;
pub mod random;
pub mod redact;
mod reply;
mod repository;
mod requirement;
mod run;
mod schedule;
pub mod session;
pub mod settings;
pub mod spool;
mod stop;
pub mod store;
mod tool;
mod verdict;
mod whole_output;
mod wire;

pub use approve::{
    Answer, Approver, AsyncFnApprover, FnApprover, Grant, NotAsked, OnNoApprover, Question, render,
};
pub(crate) use approve::{
    AnswerGiven, GivenVote, Preview, QuestionState, Questions, Remember, SignedAnswer,
    SignerDirectory, Statement, Tally,
};
pub use attachment::Attachment;
pub(crate) use attachment::Body;
pub(crate) use audit::{ArgsInLog, AuditError, Clock, SentRequest, SystemClock};
pub use audit::{AuditSink, MemoryLog, Record};
pub use call::{Incoming, Origin, ToolCall};
pub(crate) use call::{Malformed, Stage};
pub use eclusa_text::UnknownWord;
pub(crate) use eclusa_text::words;
pub use eclusa_workspace as workspace;
pub use eclusa_workspace::{
    Blocked, Change, Changes, Durability, FileNode, Files, Hash, Node, Workspace, one_line,
};
pub(crate) use eclusa_workspace::{
    Bounds, CommitError, Contents, Diff, HashBuilder, Side, Summary, digest, visible,
};
pub(crate) use errors::SessionError;
pub use errors::{DelegateError, HostRefused};
pub use event::{Event, Events};
pub use facts::{Facts, PermissionClass, Touch};
pub use gate::{
    BuildError, Cut, Delegate, Gate, GateBuilder, Limits, PlannedCall, RehearsalPlan, TakeYes,
    Would, execute::Raw, kept_job, permit::Permit, release::Released, review::Reviewed,
    settle::Settled,
};
pub use metrics::{Counts, Metrics};
pub use output::{Output, Staged, ToolError, Undo};
#[cfg(feature = "shell")]
pub(crate) use policy::Access;
pub use policy::{CallView, ModeRule, Policy, Rule, Rules};
pub(crate) use policy::{
    ChangeTotals, CountedRule, EffectGroup, EffectKind, EffectKinds, EffectLimits, Effects,
    Explanation, FoldedChanges, HiddenPaths, JudgeContext, RepositoryFacts,
};
pub(crate) use preflight::{
    Advice, Checkpoint, PreflightError, PreflightStep, ReverseThinker, ReverseThinkingReport,
};
pub use redact::Redactor;
pub(crate) use reply::Receipt;
pub use reply::Reply;
pub(crate) use requirement::{Proof, Requirement, Vote};
pub use run::{CallNesting, CallUses, Mode, ResolvedMode, Run};
pub use spool::Spool;
pub use stop::{Decider, HumanDuration, Stop};
pub use tool::{
    Asking, FnTool, Job, OpenedHosts, Scene, SignatureRequest, SignatureYes, Tool, TypedTool,
    Validated,
    registry::{self, Registration, Registry},
    review::{self, FnReviewer, Review, ReviewConfig, ReviewResult, Reviewer},
};
pub(crate) use tool::{
    registry::{Registered, RegistryError},
    review::{ReviewCache, ReviewError},
};
pub use verdict::{Decision, Reason, ReasonId, Source, Text, Verdict};
pub use whole_output::{OutputSource, WholeOutput};
pub use wire::Wire;
