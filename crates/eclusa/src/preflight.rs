//! The two passes that a tool can ask for before it runs: checkpoint and reverse thinking.
//!
//! ```
//! use std::sync::Arc;
//! use eclusa::{*, preflight::{Advice, Checkpoint, PreflightError, ReverseThinker, ReverseThinkingReport}};
//! use futures::future::BoxFuture;
//! use serde_json::{Value, json};
//!
//! /// Opens in the morning.
//! struct Morning(u32);
//!
//! impl Checkpoint for Morning {
//!     fn open<'a>(&'a self, _: &'a Validated) -> BoxFuture<'a, Result<(), PreflightError>> {
//!         let opens = if self.0 < 12 { Ok(()) } else { Err(PreflightError("come back in the morning".to_owned())) };
//!         Box::pin(async { opens })
//!     }
//! }
//!
//! /// Stops what names no reason.
//! struct Doubter;
//!
//! impl ReverseThinker for Doubter {
//!     fn think<'a>(
//!         &'a self,
//!         call: &'a Validated,
//!         _: &'a Verdict,
//!     ) -> BoxFuture<'a, Result<ReverseThinkingReport, PreflightError>> {
//!         let verdict = if call.args()["why"] == "" { Advice::Stop } else { Advice::Proceed };
//!         Box::pin(async move {
//!             Ok(ReverseThinkingReport {
//!                 hidden_assumptions: vec!["somebody wants it now".to_owned()],
//!                 failure_scenarios: Vec::new(),
//!                 verdict,
//!                 verdict_reason: "it must have a reason".to_owned(),
//!             })
//!         })
//!     }
//! }
//!
//! # let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
//! # runtime.block_on(async {
//! let schema = json!({"properties": {"why": {"type": "string"}}, "required": ["why"]});
//! let deploy = FnTool::with_schema("deploy", "Deploys.", schema, |_: &Value| async { Ok(Output::text("deployed")) })
//!     .facts(Facts { needs_checkpoint: true, needs_reverse_thinking: true, ..Facts::default() });
//! let gate = Gate::builder()
//!     .tool(deploy)
//!     .rule(Rule::new(Decision::Allow).tool(["deploy"])?)
//!     .checkpoint(Arc::new(Morning(9)))
//!     .reverse_thinker(Arc::new(Doubter))
//!     .build()?;
//! let reply = gate.pass(ToolCall::new("1", "deploy", json!({"why": "a fix"}))).await;
//! assert_eq!(reply.code(), "ok");
//! let reply = gate.pass(ToolCall::new("2", "deploy", json!({"why": ""}))).await;
//! assert_eq!(reply.code(), "denied_by_reverse_thinking");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use futures::future::BoxFuture;

pub use crate::errors::PreflightError;
use crate::{Validated, Verdict};

/// A gate of the embedding program, for what cannot be taken back: sending, deleting, deploying,
/// paying.
pub trait Checkpoint: Send + Sync {
    /// Opens, or says why not. An error, a panic or silence keeps it closed.
    fn open<'a>(&'a self, call: &'a Validated) -> BoxFuture<'a, Result<(), PreflightError>>;
}

/// Someone who argues the other side of a call before it runs.
///
/// It suits calls that choose between strategies, fail in ways that are not plain, or rest on
/// systems whose schema may shift. It does not suit what is mechanical: reading a file, arithmetic,
/// well-defined records made, read, changed and deleted (S3.37). A tool asks for it
/// ([`Facts::needs_reverse_thinking`](crate::Facts::needs_reverse_thinking)).
pub trait ReverseThinker: Send + Sync {
    /// True where whoever runs the machine has set it up: what it asks no mode and no setting answers.
    fn is_administrators(&self) -> bool {
        false
    }

    /// Thinks it through. An error, a panic or silence stops the call.
    fn think<'a>(
        &'a self,
        call: &'a Validated,
        verdict: &'a Verdict,
    ) -> BoxFuture<'a, Result<ReverseThinkingReport, PreflightError>>;
}

/// What came of arguing the other side. Kept with the call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReverseThinkingReport {
    /// What the call takes for granted.
    pub hidden_assumptions: Vec<String>,
    /// How it could go wrong.
    pub failure_scenarios: Vec<String>,
    /// Whether it should go ahead.
    pub verdict: Advice,
    /// Why.
    pub verdict_reason: String,
}

/// Whether a call should go ahead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Advice {
    /// It should.
    Proceed,
    /// A person should look first, whatever the rules say.
    Ask,
    /// It should not.
    Stop,
}

impl Advice {
    /// The word for it in records.
    pub fn as_str(self) -> &'static str {
        match self {
            Advice::Proceed => "proceed",
            Advice::Ask => "ask",
            Advice::Stop => "stop",
        }
    }
}

/// The passes between the verdict and the permit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PreflightStep {
    /// Someone argues the other side.
    ReverseThinking,
    /// A person is asked, where the verdict says so.
    Approval,
    /// The embedding program's own gate.
    Checkpoint,
}

impl PreflightStep {
    /// The order unless configured otherwise.
    pub const ORDER: [PreflightStep; 3] =
        [PreflightStep::ReverseThinking, PreflightStep::Approval, PreflightStep::Checkpoint];
}
