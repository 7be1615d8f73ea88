//! Tools: what one is, how one is kept and called, and what it gets when it runs.

use std::time::Duration;

use futures::future::BoxFuture;
use serde_json::Value;

use crate::{Facts, Output, ToolError, Touch};

pub use closures::FnTool;
pub use job::{Asking, Job};
pub use opened_hosts::OpenedHosts;
pub use signature::{SignatureRequest, SignatureYes};
pub use typed::TypedTool;
pub use validated::Validated;

pub(crate) use job::{Chamber, FinishedJob};

mod closures;
mod job;
mod opened_hosts;
pub mod registry;
pub mod review;
mod signature;
mod typed;
mod validated;

/// One thing a model may ask to have done.
///
/// A tool states facts and does work. It never decides whether it may run: by the time
/// [`run`](Tool::run) is called the decision has been made, and the [`Job`] is the proof of it.
/// [`TypedTool`](crate::TypedTool) is the pleasant way to write one.
///
/// ```
/// use eclusa::{Scene, prelude::*};
/// use futures::future::BoxFuture;
/// use serde_json::{Value, json};
///
/// /// A tool that learns its schema when the program starts.
/// struct Remote {
///     schema: Value,
/// }
///
/// impl Tool for Remote {
///     fn name(&self) -> &str {
///         "remote"
///     }
///     fn description(&self, _: &Scene) -> String {
///         "Does what somebody else describes.".to_owned()
///     }
///     fn input_schema(&self) -> Value {
///         self.schema.clone()
///     }
///     fn touches(&self, _: &Value) -> Vec<Touch> {
///         vec![Touch::Unknown]
///     }
///     fn run<'a>(&'a self, job: &'a Job) -> BoxFuture<'a, Result<Output, ToolError>> {
///         Box::pin(async { Ok(Output::text(job.args().to_string())) })
///     }
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let gate = Gate::builder().tool(Remote { schema: json!({"type": "object"}) }).build()?;
/// assert!(gate.registry().has("remote"));
/// # Ok(())
/// # }
/// ```
pub trait Tool: Send + Sync + 'static {
    /// The name the model uses.
    fn name(&self) -> &str;

    /// What it does, for the model. May depend on where the session takes place.
    fn description(&self, scene: &Scene) -> String;

    /// JSON Schema (2020-12) of the arguments. Read once, when the tool is registered.
    fn input_schema(&self) -> Value;

    /// JSON Schema of [`Output::data`], for a tool whose structured result says everything that
    /// its text says. Programs that find one show a model the structure *instead of* the text.
    fn output_schema(&self) -> Option<Value> {
        None
    }

    /// What holds for every call of this tool. Read once, when the tool is registered. The
    /// default assumes the worst.
    fn facts(&self) -> Facts {
        Facts::default()
    }

    /// Changes whenever the tool does something else under the same name and schema. Approvals
    /// and cached reviews are bound to it.
    fn revision(&self) -> &str {
        ""
    }

    /// What *this* call would touch. Rules are written over these. A tool that cannot tell says
    /// [`Touch::Unknown`], which rules treat as the worst.
    fn touches(&self, args: &Value) -> Vec<Touch>;

    /// The arguments with what the call leaves to its session, such as the directory that an
    /// earlier call went to. `None`: as they are. Called before the call is judged, so that what is
    /// judged, approved and recorded is what runs; [`run`](Tool::run) gets it in the arguments and
    /// has no need to look again.
    fn completed(&self, _args: &Value, _session: &str) -> Option<Value> {
        None
    }

    /// Where the relative paths in the shell text of this call start, if that is not the
    /// workspace: a path in it.
    fn directory(&self, _args: &Value) -> Option<String> {
        None
    }

    /// How long this call asks to be allowed to run; capped by the gate's limits.
    fn time(&self, _args: &Value) -> Option<Duration> {
        None
    }

    /// A session is over: what the tool keeps or runs for it ends.
    fn session_ended(&self, _session: &str) {}

    /// Does the work. `job` holds the arguments that were permitted and the only way out to the
    /// machine.
    fn run<'a>(&'a self, job: &'a Job) -> BoxFuture<'a, Result<Output, ToolError>>;
}

/// Where a session takes place, for descriptions that depend on it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Scene {
    /// The workspace, as people call it.
    pub workspace: String,
    /// The model that will read the description, if known.
    pub model: Option<String>,
    /// The program the model speaks through, if known.
    pub client: Option<String>,
}
