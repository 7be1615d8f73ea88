//! How a server is, and what one that is up says about itself, for people.

use std::time::Duration;

use rmcp::{RoleClient, service::Peer};
use serde_json::Value;

use super::{tools::ListedTool, upstream::Upstream};

/// A server that is up.
#[derive(Debug, Clone)]
pub struct ServerInfo {
    /// Its own name and version, where it tells them.
    pub server: Option<(String, String)>,
    /// The version of the protocol that is spoken with it.
    pub protocol: String,
    /// What it can do, in its own words.
    pub capabilities: Value,
    /// What holds its program.
    pub sandbox: Option<String>,
    /// How long it took from the start until it had told its tools.
    pub took: Duration,
}

impl ServerInfo {
    pub(super) fn new(
        peer: &Peer<RoleClient>,
        sandbox: Option<&str>,
        took: Duration,
    ) -> ServerInfo {
        let info = peer.peer_info();
        let said = info.as_ref().and_then(|it| it.server_info.as_ref());
        ServerInfo {
            server: said.map(|it| (it.name.clone(), it.version.clone())),
            protocol: info.as_ref().map_or_else(String::new, |it| it.protocol_version.to_string()),
            capabilities: info
                .and_then(|it| serde_json::to_value(&it.capabilities).ok())
                .unwrap_or_default(),
            sandbox: sandbox.map(str::to_owned),
            took,
        }
    }
}

/// How a server is, for people.
#[derive(Debug, Clone)]
pub struct ServerStatus {
    /// Its name.
    pub name: String,
    /// Why it is down; `None` for one that is up.
    pub down: Option<String>,
    /// What it says about itself, if it is up.
    pub about: Option<ServerInfo>,
    /// How often it was started, in either era.
    pub starts: u32,
    /// Its tools, as it last told them.
    pub tools: Vec<ListedTool>,
    /// What else a person should know, a sentence each.
    pub remarks: Vec<String>,
}

impl Upstream {
    /// What is said of a server that is down, for this reason.
    pub(super) fn down_text(&self, why: &str) -> String {
        let (name, test) = (&self.settings.name, self.command_for_people("test"));
        format!(
            "the server `{name}` is down: {why}. It is started again by itself; try later, or continue without it. {test} tells a person more"
        )
    }

    /// What models are told of tools that they do not see, in words of ours: a server's own are for
    /// people.
    pub(super) fn missing_tools(&self) -> Option<String> {
        let name = &self.settings.name;
        if self.is_down() {
            let test = self.command_for_people("test");
            return Some(format!("The server `{name}` is down; {test} tells a person why."));
        }
        if self.is_starting() {
            return Some(format!(
                "The server `{name}` has not started yet: its tools are listed once it has."
            ));
        }
        let stopped = self.tool_catalogue().tools.iter().filter(|it| it.changed.is_some()).count();
        (stopped > 0).then(|| {
            let review = self.command_for_people("review");
            format!(
                "Tools of the server `{name}` that are not listed ({stopped}) say something else \
                 than when they were first used: a person must look first, with {review}."
            )
        })
    }

    /// What a person types about this server.
    pub(super) fn command_for_people(&self, verb: &str) -> String {
        let with = if self.world.plain { " -- COMMAND" } else { "" };
        format!("`eclusa servers {verb} {}{with}`", self.settings.name)
    }
}
