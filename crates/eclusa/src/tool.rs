//! What a tool is, and what it says about itself.

use std::{any::Any, fmt, sync::Arc, time::Duration};

use futures::future::BoxFuture;
use serde_json::Value;

use crate::{Attachment, Changes, Job, WholeOutput, words};

/// One thing a model may ask to have done.
///
/// A tool states facts and does work. It never decides whether it may run: by the time
/// [`run`](Tool::run) is called the decision has been made, and the [`Job`] is the proof of it.
/// [`TypedTool`](crate::TypedTool) is the pleasant way to write one.
pub trait Tool: Send + Sync + 'static {
    /// The name the model uses.
    fn name(&self) -> &str;

    /// What it does, for the model. May depend on where the conversation takes place.
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

    /// The arguments with what the call leaves to its conversation, such as the directory that an
    /// earlier call went to. `None`: as they are. Called before the call is judged, so that what is
    /// judged, approved and recorded is what runs; [`run`](Tool::run) gets it in the arguments and
    /// has no need to look again.
    fn completed(&self, _args: &Value, _conversation: &str) -> Option<Value> {
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

    /// A conversation is over: what the tool keeps or runs for it ends.
    fn conversation_ended(&self, _conversation: &str) {}

    /// Does the work. `job` holds the arguments that were permitted and the only way out to the
    /// machine.
    fn run<'a>(&'a self, job: &'a Job) -> BoxFuture<'a, Result<Output, ToolError>>;
}

/// Where a conversation takes place, for descriptions that depend on it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Scene {
    /// The workspace, as people call it.
    pub workspace: String,
    /// The model that will read the description, if known.
    pub model: Option<String>,
    /// The program the model speaks through, if known.
    pub client: Option<String>,
}

/// What holds for every call of a tool: facts, never decisions.
///
/// `read_only` and `destructive` are labels for people and reports, and no rule reads them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts {
    /// May run beside other concurrent tools.
    pub concurrent: bool,
    /// Label: only looks. A call of a tool that is [`PermissionClass::ReadOnly`] as well has one
    /// record in the log, its end; it has no number before that, so calls that it makes have no
    /// parent on record.
    pub read_only: bool,
    /// Label: what it does is hard to take back.
    pub destructive: bool,
    /// Other names that lead to this tool.
    pub aliases: Vec<String>,
    /// Other names of arguments, and which argument each means: models know tools of other programs.
    /// A call that uses one is rewritten before anybody judges it.
    pub arg_aliases: Vec<(String, String)>,
    /// Three to ten words that a search should find it by.
    pub search_hint: String,
    /// Which rules apply. `None` is judged like [`PermissionClass::Generic`].
    pub class: Option<PermissionClass>,
    /// The word for what it does in the audit log; empty means: guess from the name.
    pub audit_operation: String,
    /// A checkpoint must open before each call; without one the call is denied.
    pub needs_checkpoint: bool,
    /// Someone must argue the other side before each call; without anyone the call is denied.
    pub needs_reverse_thinking: bool,
    /// Ask about it even where its class would not be asked about.
    pub sensitive: bool,
    /// Changes nothing in the workspace by itself: what it would change is in
    /// [`Output::changes`], and the gate makes it real or does not.
    pub stages: bool,
    /// Runs nothing: it says whether another program may run what the call is about. Shell text
    /// that a rule allows command by command is allowed, although no sandbox of ours holds it.
    pub only_judges: bool,
    /// Its run has no effect here: another program does the work once it is told that it may. One
    /// record says all of it, its end, before anybody is told.
    pub runs_elsewhere: bool,
}

/// Which rules apply to a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PermissionClass {
    /// Runs shell text.
    Shell,
    /// Reads or writes files.
    File,
    /// Talks to hosts.
    Web,
    /// Only looks, inside the workspace.
    ReadOnly,
    /// Anything else: rules, otherwise ask.
    Generic,
}

impl PermissionClass {
    /// Reads a class as a tool declares it. What nobody knows is [`Generic`], which asks; it is
    /// never something looser (S3.45).
    ///
    /// [`Generic`]: PermissionClass::Generic
    pub fn lenient(word: &str) -> PermissionClass {
        word.parse().unwrap_or(PermissionClass::Generic)
    }
}

// The other spellings are the words of the seeds.
words! {
    PermissionClass, "a class":
    Shell = "shell" | "bash",
    File = "file",
    Web = "web" | "webfetch",
    ReadOnly = "read-only" | "readonly",
    Generic = "generic",
}

/// Something on the machine that a call would touch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Touch {
    /// Runs this shell text.
    Run(String),
    /// Reads this path.
    Read(String),
    /// Makes, alters or deletes this path.
    Write(String),
    /// Talks to this host or address.
    Fetch(String),
    /// Nobody can tell; rules treat it as the worst.
    Unknown,
}

/// What a tool produced.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Output {
    /// Text for the model.
    pub text: String,
    /// The same as structure, for programs and other tools.
    pub data: Option<Value>,
    /// What the model gets besides the text.
    pub attachments: Vec<Attachment>,
    /// What it would change in the workspace. Nothing of it is real yet: the gate judges it, and
    /// commits or discards it.
    pub changes: Changes,
    /// What holds staged contents of the changes, let go once they are settled.
    pub staged: Option<Staged>,
    /// How to take it back, if it can be. For [`changes`](Output::changes) the gate fills it in.
    pub undo: Option<Undo>,
    /// Set when the tool could not do it: one sentence that says why. The text is kept.
    pub error: Option<String>,
    /// What a person who is asked about the changes must know besides them, a line each: whom the
    /// program talked to, what was left out.
    pub remarks: Vec<String>,
    /// What held the program that did it, if one ran: `full`, or `partial` and what was missing.
    /// It goes on record with the call.
    pub sandbox: Option<String>,
    /// All of it, where the text is only the beginning and the end.
    pub whole: Option<WholeOutput>,
}

impl Output {
    /// Plain text and nothing else.
    pub fn text(text: impl Into<String>) -> Output {
        Output { text: text.into(), ..Output::default() }
    }
}

impl From<String> for Output {
    fn from(text: String) -> Output {
        Output::text(text)
    }
}

impl From<&str> for Output {
    fn from(text: &str) -> Output {
        Output::text(text)
    }
}

/// Holds the place where staged contents lie. Once the changes are committed or discarded it is
/// dropped, and whatever it holds cleans up after itself.
#[derive(Clone)]
pub struct Staged(Arc<dyn Any + Send + Sync>);

impl Staged {
    /// Keeps this until the changes are settled.
    pub fn new(place: impl Any + Send + Sync) -> Staged {
        Staged(Arc::new(place))
    }
}

impl fmt::Debug for Staged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("staged")
    }
}

impl PartialEq for Staged {
    fn eq(&self, other: &Staged) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// How to take a call back, told by the tool that did it.
#[derive(Debug, Clone, PartialEq)]
pub struct Undo {
    /// What taking it back would do, for people.
    pub description: String,
    /// What the tool needs to do it.
    pub data: Value,
}

/// The tool ran and could not do it.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolError {
    /// Why, in one sentence.
    pub message: String,
    /// What it had produced by then; kept for the model.
    pub output: String,
    /// The same as structure.
    pub data: Option<Value>,
}

impl ToolError {
    /// A failure without output.
    pub fn new(message: impl Into<String>) -> ToolError {
        ToolError { message: message.into(), output: String::new(), data: None }
    }
}

impl From<String> for ToolError {
    fn from(message: String) -> ToolError {
        ToolError::new(message)
    }
}

impl From<&str> for ToolError {
    fn from(message: &str) -> ToolError {
        ToolError::new(message)
    }
}
