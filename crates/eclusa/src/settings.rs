//! What tools, servers and sandboxes are set up with, wherever that was written: the words that
//! whoever reads a configuration and whoever acts on it have in common.

use std::{collections::BTreeMap, time::Duration};

use crate::words;

/// How a reviewer or a server is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Endpoint {
    /// A program and its arguments.
    Command(Vec<String>),
    /// A web address.
    Url {
        /// The address.
        url: String,
        /// Headers, and the environment variables that hold their values.
        headers: BTreeMap<String, String>,
    },
}

/// A check that a person has named: a program that looks at the workspace and says what is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckSettings {
    /// Its name.
    pub name: String,
    /// Program and arguments, byte for byte. No shell is involved, and the model has no part in it.
    pub command: Vec<String>,
    /// How long it may run; `None`: as long as any tool.
    pub time: Option<Duration>,
    /// Environment variables that are passed on to it, by name.
    pub env: Vec<String>,
    /// Where it is written: `file:line`.
    pub origin: String,
}

/// The least that must hold a command. Where nothing holds, none runs, whatever this says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum RequiredEnforcement {
    /// Everything; where the machine lacks something no command runs.
    Full,
    /// Everything; where the machine lacks something every command is asked about.
    #[default]
    FullOrAsk,
    /// That changes can be judged before they last: staged, or put back from a snapshot.
    Snapshot,
    /// Whatever the machine has.
    Partial,
}

/// An MCP server from the configuration. Whoever may start programs and open connections puts it
/// behind the gate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerSettings {
    /// Its name: part of the names of its tools, and what rules say `server = "…"` about.
    pub name: String,
    /// How it is reached.
    pub reach: Endpoint,
    /// Environment variables that are passed on to its program, by name.
    pub env: Vec<String>,
    /// Whether what it says about its tools is believed, and its text is not marked as coming from
    /// outside.
    pub trusted: bool,
    /// Hosts that its program may reach.
    pub hosts: Vec<String>,
    /// What its program may do with the workspace.
    pub workspace: WorkspaceAccess,
    /// Whether its program runs in a sandbox. Without one it can do whatever the person can.
    pub sandbox: bool,
    /// What it may ask of the client.
    pub may: Vec<ServerPermission>,
    /// How long it may take to start.
    pub start: Duration,
    /// Whether its tools are shown only after a search. `None`: where there are many.
    pub deferred: Option<bool>,
    /// Where it is written: `file:line`.
    pub origin: String,
}

impl ServerSettings {
    /// A server that is reached like this, with what holds where nobody says otherwise.
    pub fn new(name: impl Into<String>, reach: Endpoint) -> ServerSettings {
        ServerSettings {
            name: name.into(),
            reach,
            env: Vec::new(),
            trusted: false,
            hosts: Vec::new(),
            workspace: WorkspaceAccess::default(),
            sandbox: true,
            may: vec![ServerPermission::Elicitation, ServerPermission::Logging],
            start: Duration::from_secs(20),
            deferred: None,
            origin: String::new(),
        }
    }

    /// Whether it may ask this of the client.
    pub fn may(&self, ask: ServerPermission) -> bool {
        self.may.contains(&ask)
    }
}

/// What a server's program may do with the workspace.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum WorkspaceAccess {
    /// It does not see it.
    Hidden,
    /// It reads what is no secret.
    #[default]
    Read,
    /// It writes it at once: nothing is staged, and nothing can be undone.
    Write,
}

words! {
    WorkspaceAccess, "an access to the workspace":
    Hidden = "hidden",
    Read = "read",
    Write = "write",
}

/// Who is told of questions that wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NotificationKind {
    /// A service that takes Standard Webhooks: JSON, signed.
    Webhook,
    /// An incoming webhook of Slack, or of anything compatible.
    Slack,
    /// A topic of ntfy, or of anything compatible.
    Ntfy,
    /// A program that gets JSON on its input.
    Command,
}

words! {
    NotificationKind, "a kind of notification":
    Webhook = "webhook",
    Slack = "slack",
    Ntfy = "ntfy",
    Command = "command",
}

/// Something that a server asks of the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ServerPermission {
    /// Questions to the person.
    Elicitation,
    /// Answers of the client's model, at the person's expense.
    Sampling,
    /// Which directories the client works in.
    Roots,
    /// To have its messages shown.
    Logging,
}

words! {
    ServerPermission, "something that a server asks for":
    Elicitation = "elicitation",
    Sampling = "sampling",
    Roots = "roots",
    Logging = "logging",
}

/// The most that a server's name may have: it is a part of each of its tools' names.
const MAX_NAME: usize = 32;

/// A name that no server can have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a name for a server: use 1 to {MAX_NAME} letters, digits, `_` or `-`")]
pub struct ServerNameError(String);

/// Checks a name for a server: it is going to be a part of the names of its tools.
pub fn check_server_name(name: &str) -> Result<(), ServerNameError> {
    let fits = (1..=MAX_NAME).contains(&name.len())
        && name.bytes().all(|it| it.is_ascii_alphanumeric() || b"_-".contains(&it));
    if fits { Ok(()) } else { Err(ServerNameError(name.to_owned())) }
}

/// How much a model is asked to think.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Thinking {
    /// Not at all, or as the provider has it.
    #[default]
    Off,
    /// A little.
    Low,
    /// Some.
    Medium,
    /// Much.
    High,
}

words! {
    Thinking, "how much a model thinks":
    Off = "off",
    Low = "low",
    Medium = "medium",
    High = "high",
}
