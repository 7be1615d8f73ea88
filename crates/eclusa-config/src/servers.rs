//! `[servers.NAME]`: other people's MCP servers, and what each may reach and ask for.

use std::collections::BTreeMap;

use eclusa::settings::{ServerPermission, ServerSettings, WorkspaceAccess, check_server_name};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    error::Problem,
    reviewers::reach,
    source::{LayerReader, check_env},
    spanned::{Keyword, Spanned},
    units::positive_time,
};

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

/// The server that is meant, or nothing and what is wrong with it.
pub(super) fn read(
    source: &mut LayerReader<'_>,
    name: &str,
    it: &Spanned<Server>,
) -> Option<ServerSettings> {
    let (span, it) = (&it.span, &it.it);
    let before = source.count();
    source.keep(span, check_server_name(name).map_err(|err| err.to_string()));
    check_env(source, &it.env);
    if let (Some(_), Some(first)) = (&it.url, it.env.first()) {
        let text = "a server over HTTP has no environment";
        source.wrong(Problem::new(&first.span, text).help("`headers` names variables for it"));
    }
    let reach = reach(source, "server", span, (&it.command, &it.url, &it.headers));
    let start = it.start.as_ref().and_then(|it| positive_time(source, it));
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
