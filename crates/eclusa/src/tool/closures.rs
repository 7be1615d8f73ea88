//! Tools made of closures, for the many cases where a type of its own would be noise.

use std::future::Future;

use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{Facts, Job, Output, Scene, Tool, ToolError, Touch};

type RunFn = dyn Fn(&Value) -> BoxFuture<'static, Result<Output, ToolError>> + Send + Sync;
type Touches = dyn Fn(&Value) -> Vec<Touch> + Send + Sync;

/// A tool made of an asynchronous function. The schema comes from the type of its arguments.
///
/// What no rule allows is asked about. A tool that touches files, hosts or a shell says so with
/// [`touches`](FnTool::touches): that is what rules are written over.
///
/// ```
/// use eclusa::prelude::*;
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Pick { from: Vec<String> }
///
/// let first = FnTool::new("first", "Picks the first.", |it: Pick| async move {
///     it.from.into_iter().next().ok_or_else(|| ToolError::new("there is none"))
/// })
/// .read_only();
/// # let _ = first;
/// ```
pub struct FnTool {
    name: String,
    description: String,
    schema: Value,
    facts: Facts,
    touches: Option<Box<Touches>>,
    run: Box<RunFn>,
}

impl FnTool {
    /// A tool that runs this function. Its result is text, or anything else that is an [`Output`].
    pub fn new<A, F, O>(
        name: impl Into<String>,
        description: impl Into<String>,
        run: impl Fn(A) -> F + Send + Sync + 'static,
    ) -> FnTool
    where
        A: DeserializeOwned + JsonSchema,
        F: Future<Output = Result<O, ToolError>> + Send + 'static,
        O: Into<Output>,
    {
        let schema = schemars::schema_for!(A).to_value();
        FnTool::with_schema(name, description, schema, move |args| {
            let args = A::deserialize(args).map_err(|err| {
                ToolError::new(format!(
                    "the arguments fit the schema, but the tool cannot read them: {err}"
                ))
            });
            let running = args.map(&run);
            async move { Ok(running?.await?.into()) }
        })
    }

    /// A tool whose schema is known only at run time.
    pub fn with_schema<F>(
        name: impl Into<String>,
        description: impl Into<String>,
        schema: Value,
        run: impl Fn(&Value) -> F + Send + Sync + 'static,
    ) -> FnTool
    where
        F: Future<Output = Result<Output, ToolError>> + Send + 'static,
    {
        FnTool {
            name: name.into(),
            description: description.into(),
            schema,
            facts: Facts::default(),
            touches: None,
            run: Box::new(move |args| Box::pin(run(args))),
        }
    }

    /// The same tool with these facts.
    pub fn facts(self, facts: Facts) -> FnTool {
        FnTool { facts, ..self }
    }

    /// The same tool, which only looks at what the program itself holds: it needs no permission.
    pub fn read_only(self) -> FnTool {
        let class = Some(crate::PermissionClass::ReadOnly);
        let facts = Facts { class, read_only: true, concurrent: true, ..self.facts };
        FnTool { facts, ..self }
    }

    /// The same tool, which says what each call touches. One that cannot tell says
    /// [`Touch::Unknown`], which is judged as the worst.
    pub fn touches(self, touches: impl Fn(&Value) -> Vec<Touch> + Send + Sync + 'static) -> FnTool {
        FnTool { touches: Some(Box::new(touches)), ..self }
    }
}

impl Tool for FnTool {
    fn name(&self) -> &str {
        &self.name
    }

    fn description(&self, _: &Scene) -> String {
        self.description.clone()
    }

    fn input_schema(&self) -> Value {
        self.schema.clone()
    }

    fn facts(&self) -> Facts {
        self.facts.clone()
    }

    fn touches(&self, args: &Value) -> Vec<Touch> {
        match &self.touches {
            Some(touches) => touches(args),
            None => Vec::new(),
        }
    }

    fn run<'a>(&'a self, job: &'a Job) -> BoxFuture<'a, Result<Output, ToolError>> {
        (self.run)(job.args())
    }
}
