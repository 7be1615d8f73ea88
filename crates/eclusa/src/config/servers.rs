//! `[servers.NAME]`: other people's MCP servers, and what each may reach and ask for.

use std::{collections::BTreeMap, time::Duration};

use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    error::Problem,
    reviewers::{Endpoint, reach},
    source::Source,
    spanned::{Keyword, KeywordSet, Spanned},
    tools,
};

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

impl KeywordSet for WorkspaceAccess {
    const WORDS: &'static [(&'static str, WorkspaceAccess)] = &[
        ("hidden", WorkspaceAccess::Hidden),
        ("read", WorkspaceAccess::Read),
        ("write", WorkspaceAccess::Write),
    ];
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

impl KeywordSet for ServerPermission {
    const WORDS: &'static [(&'static str, ServerPermission)] = &[
        ("elicitation", ServerPermission::Elicitation),
        ("sampling", ServerPermission::Sampling),
        ("roots", ServerPermission::Roots),
        ("logging", ServerPermission::Logging),
    ];
}

/// An MCP server behind the gate.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub(super) struct Server {
    /// Program and arguments of a server on standard input and output. No shell is involved.
    pub(super) command: Option<Spanned<Vec<String>>>,
    /// Address of a server over HTTP.
    pub(super) url: Option<Spanned<String>>,
    /// Headers for the address, and the environment variables that hold their values.
    pub(super) headers: Option<Spanned<BTreeMap<String, String>>>,
    /// Environment variables that are passed on to the program, by name.
    #[serde(default)]
    pub(super) env: Vec<Spanned<String>>,
    /// Whether what the server says about its tools is believed; false unless said.
    #[serde(default)]
    pub(super) trusted: bool,
    /// Hosts that the program may reach: "example.org", "*.example.org", "example.org:8080".
    #[serde(default)]
    pub(super) hosts: Vec<String>,
    /// What the program may do with the workspace: hidden, read or write; read unless said. What
    /// it writes is real at once, and cannot be undone.
    pub(super) workspace: Option<Keyword<WorkspaceAccess>>,
    /// Whether the program runs in a sandbox; true unless said. Without one it can do whatever you
    /// can.
    #[serde(alias = "cell")]
    pub(super) sandbox: Option<bool>,
    /// What the server may ask of the client: elicitation, sampling, roots, logging. Elicitation
    /// and logging unless said.
    pub(super) may: Option<Vec<Keyword<ServerPermission>>>,
    /// How long it may take to start; "20s" unless said.
    pub(super) start: Option<Spanned<String>>,
    /// Whether its tools are shown only after a search; where there are many unless said.
    pub(super) deferred: Option<bool>,
}

/// The most that a server's name may have: it is a part of each of its tools' names.
const MAX_NAME: usize = 32;

/// The server that is meant, or nothing and what is wrong with it.
pub(super) fn read(
    source: &mut Source<'_>,
    name: &str,
    it: &Spanned<Server>,
) -> Option<ServerSettings> {
    let (span, it) = (&it.span, &it.it);
    let before = source.count();
    source.keep(span, check_server_name(name));
    tools::check_env(source, &it.env);
    if let (Some(_), Some(first)) = (&it.url, it.env.first()) {
        let text = "a server over HTTP has no environment";
        source.wrong(Problem::new(&first.span, text).help("`headers` names variables for it"));
    }
    let reach = reach(source, "server", span, (&it.command, &it.url, &it.headers));
    let start = it.start.as_ref().and_then(|it| tools::time(source, it));
    let plain = ServerSettings::new(name, reach?);
    let server = ServerSettings {
        env: it.env.iter().map(|it| it.it.clone()).collect(),
        trusted: it.trusted,
        hosts: it.hosts.clone(),
        workspace: it.workspace.map(|it| it.0).unwrap_or_default(),
        sandbox: it.sandbox.unwrap_or(true),
        may: it.may.as_ref().map_or(plain.may, |may| may.iter().map(|it| it.0).collect()),
        start: start.unwrap_or(plain.start),
        deferred: it.deferred,
        origin: source.origin(span),
        ..plain
    };
    (source.count() == before).then_some(server)
}

/// Checks a name for a server: it is going to be a part of the names of its tools.
pub fn check_server_name(name: &str) -> Result<(), String> {
    let fits = (1..=MAX_NAME).contains(&name.len())
        && name.bytes().all(|it| it.is_ascii_alphanumeric() || b"_-".contains(&it));
    match fits {
        true => Ok(()),
        false => Err(format!(
            "`{name}` is not a name for a server: use 1 to {MAX_NAME} letters, digits, `_` or `-`"
        )),
    }
}
