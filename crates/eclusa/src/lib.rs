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
//!   │  audit/ledger.rs
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

mod approve;
mod attachment;
mod audit;
mod call;
pub mod catalogue;
mod closures;
mod event;
mod gate;
mod metrics;
pub mod parse;
mod policy;
mod preflight;
pub mod prelude;
mod redact;
mod registry;
mod repository;
mod result;
mod review;
mod run;
mod schedule;
pub mod settings;
mod spool;
mod stop;
mod tool;
mod typed;
mod verdict;
mod whole_output;

pub use approve::{
    Answer, Approver, GivenAnswer, GivenVote, Grant, GrantScope, Line, NO_COVERS, NotAsked,
    OnNoApprover, Preview, Proof, Question, QuestionEvent, QuestionPage, QuestionState,
    QuestionTimes, Questions, QueueError, QueuedQuestion, Remember, Rendered, Requirement, Role,
    RuleUse, Said, SignedAnswer, SignerDirectory, Statement, Tally, Vote, YES_VALID, render,
};
pub use attachment::{Attachment, Body, Media};
pub use audit::{
    Appending, ArgsInLog, AuditError, AuditSink, Broken, Clock, Draft, Head, Log, MemoryLog,
    Receipt, Record, Reply, SentRequest, SystemClock, Verifier,
};
pub use call::{Incoming, Malformed, Origin, Stage, ToolCall};
pub use closures::{AsyncFnApprover, FnApprover, FnTool};
pub use eclusa_workspace::{
    Beneath, Blocked, Bounds, Change, ChangedBy, Changes, Clash, CommitError, Committed, Compacted,
    Conflict, Content, ContentDigest, ContentKind, Contents, Diff, DroppedUndo, Durability,
    FileError, FileNode, Files, Hash, HashBuilder, InlineContents, IoFailure, KeepStrategy, Node,
    Opened, OpenedDirectory, Recovered, Retention, Side, Stamp, Summary, UndoConflict, UndoEntry,
    UndoError, UndoStatus, Undone, Unrestored, Workspace, digest, files, is_hidden, is_ignorable,
    one_line, visible,
};
pub use event::{Event, Events};
pub use gate::{
    BuildError, Cut, Delegate, Gate, GateBuilder, GateSetup, Limits,
    execute::{Asking, Job, Raw},
    permit::Permit,
    release::Released,
    review::Reviewed,
    settle::Settled,
    validate::Validated,
};
pub use metrics::{Counts, Metrics};
pub use policy::{
    Access, Amount, Author, Budget, ChangeTotals, ConditionError, ContextNeeds, CountedRule,
    EffectConditions, EffectGroup, EffectKind, EffectKinds, EffectLimits, Effects, ExampleCall,
    ExplainedCommand, ExplainedRule, ExplainedScript, ExplainedWord, Explanation, FoldedChanges,
    GitAction, GitActionKind, GitFile, HiddenPaths, JudgeContext, Matcher, Names, NewCommit,
    PathFacts, Pointer, RefChange, RepositoryFacts, Rule, Rules, Tracked, Validity,
    only_reads_files,
};
pub use preflight::{Advice, Checkpoint, PreflightStep, ReverseThinker, ReverseThinkingReport};
pub use redact::{Loaded, Redactor, RuleError, SecretRule};
pub use registry::{
    ExtraArgs, MANY_TOOLS, Registered, Registration, Registry, RegistryError, SchemaError,
    SearchHit, Shape, WhichTools, check_lazy_schema, check_schema, check_tool_name,
};
pub use result::{CallResult, ResultShape};
pub use review::{
    FnReviewer, Review, ReviewCache, ReviewConfig, ReviewError, ReviewResult, Reviewer,
};
pub use run::{CallNesting, Mode, ModeRule, Run};
pub use settings::{
    CheckSettings, Endpoint, RequiredEnforcement, ServerNameError, ServerPermission,
    ServerSettings, WorkspaceAccess, check_server_name,
};
pub use spool::{MemorySpool, Spool, TextPieces};
pub use stop::{Decider, Stop};
pub use tool::{
    Facts, Output, PermissionClass, Scene, Staged, Tool, ToolError, Touch, Undo, UnknownWord,
};
pub use typed::TypedTool;
pub use verdict::{Decision, Policy, Reason, ReasonId, Source, Text, Verdict};
pub use whole_output::{OutputSource, WholeOutput};
