//! What tools say about themselves and about each of their calls: facts, never decisions.

use crate::words;

/// What holds for every call of a tool: facts, never decisions.
///
/// `read_only` and `destructive` are labels for people and reports. No default reads them, and no rule
/// that does not ask for them ([`Rule::read_only`](crate::Rule::read_only)).
///
/// ```
/// use eclusa::prelude::*;
///
/// let facts = Facts {
///     class: Some(PermissionClass::ReadOnly),
///     aliases: vec!["cat".to_owned()],
///     ..Facts::default()
/// };
/// assert!(!facts.concurrent, "what is not said is the careful answer");
/// ```
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
    /// Does nothing by itself: what it has done passes the gate, call by call.
    pub only_delegates: bool,
    /// Its run has no effect here: another program does the work once it is told that it may. One
    /// record says all of it, its end, before anybody is told.
    pub runs_elsewhere: bool,
}

/// Which rules apply to a tool.
///
/// ```
/// use eclusa::prelude::*;
///
/// assert_eq!("shell".parse(), Ok(PermissionClass::Shell));
/// // A word that nobody knows asks.
/// assert_eq!(PermissionClass::lenient("telepathy"), PermissionClass::Generic);
/// ```
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
///
/// ```
/// use eclusa::prelude::*;
///
/// # #[derive(serde::Deserialize, schemars::JsonSchema)]
/// # #[allow(dead_code)]
/// # struct Copy { from: String, to: String }
/// let path = |it: &serde_json::Value| it.as_str().unwrap_or_default().to_owned();
/// let copy = FnTool::new("copy", "Copies a file.", |_: Copy| async { Ok::<_, ToolError>("done") })
///     .touches(move |it| vec![Touch::Read(path(&it["from"])), Touch::Write(path(&it["to"]))]);
/// let args = serde_json::json!({"from": "a", "to": "b"});
/// assert_eq!(Tool::touches(&copy, &args), [Touch::Read("a".to_owned()), Touch::Write("b".to_owned())]);
/// ```
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
    /// It runs where this machine holds it to less than it should: how much that is, and what would help.
    /// Rules treat it as the worst, too.
    Unheld(String),
}
