//! Those who read calls before they run, and outputs before the model has them.

use std::{future::Future, panic::AssertUnwindSafe, sync::Arc, time::Duration};

use futures::{FutureExt, future::BoxFuture};
use serde_json::Value;

pub use crate::errors::ReviewError;
use crate::{Output, Validated, stop::HumanDuration};

pub use cache::ReviewCache;

mod cache;

/// Someone (code, model, service) who reads calls and outputs before they pass.
///
/// A reviewer that fails, hangs or panics has not approved, and the call stops.
///
/// ```
/// use eclusa::{prelude::*, review::ReviewError};
/// use futures::future::BoxFuture;
/// use serde_json::Value;
///
/// /// Stops calls that mention a project that nobody may know of.
/// struct Discreet;
///
/// impl Reviewer for Discreet {
///     fn name(&self) -> &str {
///         "discreet"
///     }
///     fn input<'a>(
///         &'a self,
///         call: &'a Validated,
///     ) -> BoxFuture<'a, Result<Review<Value>, ReviewError>> {
///         let mentioned = call.args().to_string().contains("Blue Heron");
///         let said = if mentioned { Review::Deny("no such project".to_owned()) } else { Review::Approve };
///         Box::pin(async { Ok(said) })
///     }
/// }
/// # let _ = Gate::builder().reviewer(Discreet);
/// ```
pub trait Reviewer: Send + Sync {
    /// Name for the record.
    fn name(&self) -> &str;

    /// Whether it wants to read calls of this tool at all.
    fn reads(&self, _tool: &str) -> bool {
        true
    }

    /// How long it may think. `None` is the gate's own limit for reviewers.
    fn time(&self) -> Option<Duration> {
        None
    }

    /// True where whoever runs the machine has set it up: what it asks no mode and no setting answers.
    fn is_administrators(&self) -> bool {
        false
    }

    /// Looks at a call before policy does.
    fn input<'a>(&'a self, _: &'a Validated) -> BoxFuture<'a, Result<Review<Value>, ReviewError>> {
        Box::pin(std::future::ready(Ok(Review::Approve)))
    }

    /// Looks at an output before the model does. `call` holds the arguments that were used.
    fn output<'a>(
        &'a self,
        _call: &'a Validated,
        _output: &'a Output,
    ) -> BoxFuture<'a, Result<Review<Output>, ReviewError>> {
        Box::pin(std::future::ready(Ok(Review::Approve)))
    }
}

/// What a reviewer says.
///
/// ```
/// use eclusa::prelude::*;
/// use serde_json::{Value, json};
///
/// // The loose form: a truth value passes or stops, anything else takes the place of what was read.
/// assert_eq!(Review::from(json!(true)), Review::<Value>::Approve);
/// assert_eq!(Review::from(json!({"path": "a"})), Review::Modify(json!({"path": "a"})));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum Review<T> {
    /// Pass it on as it is.
    Approve,
    /// Pass it on as it is, and keep this remark with the record.
    Note(String),
    /// Pass this on instead, whole.
    Modify(T),
    /// Change it by this JSON merge patch (RFC 7396) and pass it on.
    Merge(Value),
    /// Have a person look first, whatever the rules say, and tell them why. An output that is
    /// there already is withheld.
    Ask(String),
    /// Stop it, and tell the model why.
    Deny(String),
}

/// The structured verdict of the first design: approved or not, perhaps with another value.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReviewResult {
    /// Whether it may pass.
    pub approved: bool,
    /// What is to pass instead. `None`: the original.
    pub modified_value: Option<Value>,
    /// Why not.
    pub reason: Option<String>,
}

impl From<bool> for Review<Value> {
    fn from(approved: bool) -> Review<Value> {
        ReviewResult { approved, ..ReviewResult::default() }.into()
    }
}

impl From<ReviewResult> for Review<Value> {
    fn from(said: ReviewResult) -> Review<Value> {
        match said {
            ReviewResult { approved: false, reason, .. } => {
                Review::Deny(reason.unwrap_or_else(|| "not approved".to_owned()))
            }
            ReviewResult { modified_value: Some(value), .. } => Review::Modify(value),
            ReviewResult { .. } => Review::Approve,
        }
    }
}

/// The loose form: `true` passes, `false` stops, anything else takes the place of what was read.
///
/// It cannot say "replace the result by `true`"; [`Review::Modify`] can.
impl From<Value> for Review<Value> {
    fn from(said: Value) -> Review<Value> {
        match said {
            Value::Bool(approved) => approved.into(),
            value => Review::Modify(value),
        }
    }
}

/// The loose form for outputs: a string becomes the text, anything else the structured result.
impl From<Review<Value>> for Review<Output> {
    fn from(said: Review<Value>) -> Review<Output> {
        match said {
            Review::Approve => Review::Approve,
            Review::Note(note) => Review::Note(note),
            Review::Ask(why) => Review::Ask(why),
            Review::Deny(why) => Review::Deny(why),
            Review::Merge(patch) => Review::Merge(patch),
            Review::Modify(value) => Review::Modify(Output::from(value)),
        }
    }
}

/// A result as one JSON value: the text if it is a string, text and structure otherwise.
impl From<Value> for Output {
    fn from(value: Value) -> Output {
        match value {
            Value::String(text) => Output::text(text),
            value => Output { text: value.to_string(), data: Some(value), ..Output::default() },
        }
    }
}

/// The reviewers of one tool, part of its registration. A missing one means no review there.
///
/// ```
/// use std::sync::Arc;
/// use eclusa::*;
/// use serde_json::json;
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Booking { seat: String }
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
/// # runtime.block_on(async {
/// let book = FnTool::new("book", "Books a seat.", |it: Booking| async move {
///     let undo = Undo { description: format!("cancel seat {}", it.seat), data: json!({"seat": it.seat}) };
///     Ok(Output { data: Some(json!({"booked": it.seat})), undo: Some(undo), ..Output::text("booked") })
/// });
/// // What is asked for is brought into form, or refused; the answer says one thing more.
/// let reads = FnReviewer::input("seats", |call| {
///     Ok(match call.args()["seat"].as_str() {
///         Some("") | None => ReviewResult { approved: false, reason: Some("which seat?".to_owned()),
/// ..Default::default() },
///         Some(seat) => ReviewResult { approved: true, modified_value: Some(json!({"seat":
/// seat.to_uppercase()})), reason: None },
///     })
/// });
/// let review = ReviewConfig { input: Some(Arc::new(reads)), output: None };
/// let gate = Gate::builder()
///     .registration(Registration::new(book).review(review))
///     .rule(Rule::new(Decision::Allow).tool(["book"])?)
///     .build()?;
///
/// let reply = gate.pass(ToolCall::new("1", "book", json!({"seat": "4a"}))).await;
/// assert_eq!(reply.data(), Some(&json!({"booked": "4A"})));
/// assert_eq!(reply.undo().map(|it| it.description.as_str()), Some("cancel seat 4A"));
/// let reply = gate.pass(ToolCall::new("2", "book", json!({"seat": ""}))).await;
/// assert_eq!(reply.code(), "denied_by_review");
///
/// let dry = gate.for_run(Run { dry_run: true, ..gate.run().clone() });
/// let reply = dry.pass(ToolCall::new("3", "book", json!({"seat": "4b"}))).await;
/// assert_eq!((reply.code(), reply.data()), ("dry_run", None));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Default)]
pub struct ReviewConfig {
    /// Reads each call.
    pub input: Option<Arc<dyn Reviewer>>,
    /// Reads each output.
    pub output: Option<Arc<dyn Reviewer>>,
}

/// Listens to a reviewer. What errs, hangs or panics has not approved.
pub(crate) async fn run_reviewer<'a, T>(
    limit: Duration,
    read: impl FnOnce() -> BoxFuture<'a, Result<Review<T>, ReviewError>>,
) -> Result<Review<T>, ReviewError> {
    // The call itself may panic too, before there is a future to poll.
    let reading = AssertUnwindSafe(async { read().await }).catch_unwind();
    match tokio::time::timeout(limit, reading).await {
        Ok(Ok(said)) => said,
        Ok(Err(_panic)) => Err(ReviewError("it crashed".to_owned())),
        Err(_elapsed) => {
            Err(ReviewError(format!("it said nothing within {}", HumanDuration(limit))))
        }
    }
}

type InputFn = dyn for<'a> Fn(&'a Validated) -> BoxFuture<'a, Result<Review<Value>, ReviewError>>
    + Send
    + Sync;
type OutputFn = dyn for<'a> Fn(&'a Validated, &'a Output) -> BoxFuture<'a, Result<Review<Output>, ReviewError>>
    + Send
    + Sync;

/// A reviewer made of functions, for the many cases where a type of its own would be noise.
///
/// ```
/// use eclusa::{FnReviewer, Review};
/// use serde_json::json;
///
/// // A sanitiser: what it returns is merged into the arguments and validated again.
/// let sanitise = FnReviewer::input("sql", |call| {
///     let query = call.args().get("query").and_then(|it| it.as_str());
///     Ok(match query {
///         Some(query) => Review::Merge(json!({"query": query.replace(';', "").replace("--", "")})),
///         None => Review::Approve,
///     })
/// });
/// # let _ = sanitise;
/// ```
pub struct FnReviewer {
    name: String,
    input: Option<Box<InputFn>>,
    output: Option<Box<OutputFn>>,
}

impl FnReviewer {
    /// Reads calls with a plain function.
    pub fn input<R>(
        name: impl Into<String>,
        read: impl Fn(&Validated) -> Result<R, ReviewError> + Send + Sync + 'static,
    ) -> FnReviewer
    where
        R: Into<Review<Value>>,
    {
        FnReviewer {
            name: name.into(),
            input: Some(Box::new(move |call| {
                Box::pin(std::future::ready(read(call).map(Into::into)))
            })),
            output: None,
        }
    }

    /// Reads outputs with a plain function.
    pub fn output<R>(
        name: impl Into<String>,
        read: impl Fn(&Validated, &Output) -> Result<R, ReviewError> + Send + Sync + 'static,
    ) -> FnReviewer
    where
        R: Into<Review<Output>>,
    {
        FnReviewer {
            name: name.into(),
            input: None,
            output: Some(Box::new(move |call, output| {
                Box::pin(std::future::ready(read(call, output).map(Into::into)))
            })),
        }
    }

    /// Reads calls with an asynchronous function of the call's id, the tool's name and the
    /// arguments.
    pub fn input_async<F, R>(
        name: impl Into<String>,
        read: impl Fn(String, String, Value) -> F + Send + Sync + 'static,
    ) -> FnReviewer
    where
        F: Future<Output = Result<R, ReviewError>> + Send + 'static,
        R: Into<Review<Value>>,
    {
        FnReviewer {
            name: name.into(),
            input: Some(Box::new(move |call| {
                let said = read(call.id().to_owned(), call.name().to_owned(), call.args().clone());
                Box::pin(async move { said.await.map(Into::into) })
            })),
            output: None,
        }
    }

    /// Reads outputs with an asynchronous function of the call's id, the tool's name, the
    /// arguments that were used, and the output.
    pub fn output_async<F, R>(
        name: impl Into<String>,
        read: impl Fn(String, String, Value, Output) -> F + Send + Sync + 'static,
    ) -> FnReviewer
    where
        F: Future<Output = Result<R, ReviewError>> + Send + 'static,
        R: Into<Review<Output>>,
    {
        FnReviewer {
            name: name.into(),
            input: None,
            output: Some(Box::new(move |call, output| {
                let said = read(
                    call.id().to_owned(),
                    call.name().to_owned(),
                    call.args().clone(),
                    output.clone(),
                );
                Box::pin(async move { said.await.map(Into::into) })
            })),
        }
    }
}

impl Reviewer for FnReviewer {
    fn name(&self) -> &str {
        &self.name
    }

    fn input<'a>(
        &'a self,
        call: &'a Validated,
    ) -> BoxFuture<'a, Result<Review<Value>, ReviewError>> {
        match &self.input {
            Some(read) => read(call),
            None => Box::pin(std::future::ready(Ok(Review::Approve))),
        }
    }

    fn output<'a>(
        &'a self,
        call: &'a Validated,
        output: &'a Output,
    ) -> BoxFuture<'a, Result<Review<Output>, ReviewError>> {
        match &self.output {
            Some(read) => read(call, output),
            None => Box::pin(std::future::ready(Ok(Review::Approve))),
        }
    }
}
