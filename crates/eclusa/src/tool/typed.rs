//! The pleasant way to write a tool: typed arguments, a plain `async fn`.

use std::{future::Future, time::Duration};

use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::{Deserialize as _, de::DeserializeOwned};
use serde_json::Value;

use crate::{Facts, Job, Output, Scene, Tool, ToolError, Touch};

/// A tool whose arguments are a Rust type; the schema is made from it.
///
/// Tools that learn their schema at run time (MCP servers, configuration) implement [`Tool`].
///
/// ```
/// use eclusa::{Facts, Job, Output, PermissionClass, Scene, ToolError, Touch, TypedTool};
///
/// /// Greets somebody.
/// struct Greet;
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Who {
///     /// Whom to greet.
///     name: String,
/// }
///
/// impl TypedTool for Greet {
///     type Args = Who;
///     const NAME: &'static str = "greet";
///
///     fn description(&self, _: &Scene) -> String {
///         "Greets somebody by name.".to_owned()
///     }
///     fn facts(&self) -> Facts {
///         Facts { class: Some(PermissionClass::ReadOnly), concurrent: true, ..Facts::default() }
///     }
///     fn touches(&self, _: &Who) -> Vec<Touch> {
///         Vec::new()
///     }
///     async fn run(&self, who: Who, _: &Job) -> Result<Output, ToolError> {
///         Ok(Output::text(format!("Hello, {}!", who.name)))
///     }
/// }
/// ```
pub trait TypedTool: Send + Sync + 'static {
    /// The arguments.
    type Args: DeserializeOwned + JsonSchema + Send;

    /// The name the model uses.
    const NAME: &'static str;

    /// What it does, for the model.
    fn description(&self, scene: &Scene) -> String;

    /// JSON Schema of the structured result, where it says everything that the text says.
    fn output_schema(&self) -> Option<Value> {
        None
    }

    /// What holds for every call.
    fn facts(&self) -> Facts {
        Facts::default()
    }

    /// Changes whenever the tool does something else under the same name and schema.
    fn revision(&self) -> &str {
        ""
    }

    /// What this call would touch.
    fn touches(&self, args: &Self::Args) -> Vec<Touch>;

    /// The arguments with what the call leaves to its session: [`Tool::completed`].
    fn completed(&self, _args: &Value, _session: &str) -> Option<Value> {
        None
    }

    /// Where the relative paths in the shell text of this call start: [`Tool::directory`].
    fn directory(&self, _args: &Value) -> Option<String> {
        None
    }

    /// How long this call asks to be allowed to run; capped by the gate's limits.
    fn time(&self, _args: &Value) -> Option<Duration> {
        None
    }

    /// A session is over: [`Tool::session_ended`].
    fn session_ended(&self, _session: &str) {}

    /// Does the work.
    fn run(
        &self,
        args: Self::Args,
        job: &Job,
    ) -> impl Future<Output = Result<Output, ToolError>> + Send;
}

impl<T: TypedTool> Tool for T {
    fn name(&self) -> &str {
        T::NAME
    }

    fn description(&self, scene: &Scene) -> String {
        TypedTool::description(self, scene)
    }

    fn input_schema(&self) -> Value {
        schemars::schema_for!(T::Args).to_value()
    }

    fn output_schema(&self) -> Option<Value> {
        TypedTool::output_schema(self)
    }

    fn facts(&self) -> Facts {
        TypedTool::facts(self)
    }

    fn revision(&self) -> &str {
        TypedTool::revision(self)
    }

    fn touches(&self, args: &Value) -> Vec<Touch> {
        match T::Args::deserialize(args) {
            Ok(args) => TypedTool::touches(self, &args),
            // What cannot be read cannot be judged harmless.
            Err(_) => vec![Touch::Unknown],
        }
    }

    fn completed(&self, args: &Value, session: &str) -> Option<Value> {
        TypedTool::completed(self, args, session)
    }

    fn directory(&self, args: &Value) -> Option<String> {
        TypedTool::directory(self, args)
    }

    fn time(&self, args: &Value) -> Option<Duration> {
        TypedTool::time(self, args)
    }

    fn session_ended(&self, session: &str) {
        TypedTool::session_ended(self, session);
    }

    fn run<'a>(&'a self, job: &'a Job) -> BoxFuture<'a, Result<Output, ToolError>> {
        Box::pin(async move {
            let args = T::Args::deserialize(job.args()).map_err(|err| {
                ToolError::new(format!(
                    "the arguments fit the schema, but the tool cannot read them: {err}"
                ))
            })?;
            TypedTool::run(self, args, job).await
        })
    }
}
