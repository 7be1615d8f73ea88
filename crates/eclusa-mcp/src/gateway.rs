//! The gateway: other people's servers, their tools as ours, behind the gate.
//!
//! ```text
//! gateway.rs     all servers                       names.rs  what their tools are called here
//! api.rs         what the server room asks of it
//!   │
//! upstream.rs    one server: started, watched, started again
//!   │
//! process.rs     its program     remote.rs  its address
//! pipe_transport.rs, bounded_http.rs, ordered_transport.rs    how messages come and go
//!   │
//! request.rs     a request to it                  client_handler.rs, server_requests.rs  its own
//! server_tasks.rs  what it answers later
//!   │
//! tools.rs       its tools                        proxy_tool.rs  one of them, as the gate sees it
//! definition.rs  what one says about itself       icons.rs  its pictures
//! resources.rs   its resources and prompts        resource_tool.rs  having one, as a call
//! notifications.rs  what it tells                 pins.rs  what its tools said at first use
//! sanitize.rs    its words, as people are shown them
//! ```
//!
//! A server is not trusted. What it says about its tools is pinned; what it sends is bounded; when
//! it crashes, hangs or talks nonsense its own tools fail, and say whose they are.

use std::{io, sync::Arc, time::Instant};

use eclusa::{Registry, settings::ServerSettings};
use futures::future::{BoxFuture, join_all};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

pub use definition::{DefinitionFlag, ToolDefinition};
pub use names::{MAX_NAME_LENGTH, tool_name};
pub use pins::{DefinitionChange, PinStore, PinnedDefinitions};
pub use remote::{Credentials, Login, LoginOptions};
pub use server_info::{ServerInfo, ServerStatus};
pub use tools::ListedTool;

mod api;
mod bounded_http;
mod client_handler;
mod definition;
mod denied_access;
mod era_choice;
mod icons;
mod names;
mod notifications;
mod ordered_transport;
mod pins;
mod pipe_transport;
mod process;
mod proxy_tool;
mod remote;
mod request;
mod resource_tool;
mod resources;
mod result;
mod sanitize;
mod server_info;
mod server_requests;
mod server_tasks;
mod tools;
mod upstream;

use notifications::Broadcaster;
pub(crate) use notifications::{Notification, ResourceWatch};
pub(crate) use tools::ToolDisplay;
use upstream::Upstream;

/// The servers behind the gate.
pub struct Gateway {
    servers: Vec<Arc<Upstream>>,
    spread: Broadcaster,
    plain: bool,
    /// Cancelled when the servers must go.
    ending: CancellationToken,
}

/// What the gateway works with.
pub struct GatewaySetup {
    /// Where the servers' tools are registered.
    pub registry: Arc<Registry>,
    /// Who starts their programs.
    pub launcher: Arc<dyn Launcher>,
    /// What servers at an address are shown.
    pub keys: Arc<dyn Credentials>,
    /// What their tools said about themselves before.
    pub pins: Arc<dyn PinStore>,
    /// The names of all servers that there are, whether they are started or not.
    pub names: Vec<String>,
    /// Whether clients know tools by the names that the server gave them. For a gate with one
    /// server behind it and no tools of its own.
    pub plain: bool,
}

/// Starts the programs of servers: in sandboxes, where the machine has them.
pub trait Launcher: Send + Sync + 'static {
    /// Starts one. The error says what is wrong and how to fix it.
    fn launch<'a>(
        &'a self,
        server: &'a ServerSettings,
    ) -> BoxFuture<'a, io::Result<LaunchedServer>>;
}

/// A server's program that runs.
pub struct LaunchedServer {
    /// Its standard input.
    pub input: Box<dyn AsyncWrite + Send + Unpin>,
    /// Its standard output.
    pub output: Box<dyn AsyncRead + Send + Unpin>,
    /// The program. Dropping it ends it, with everything that it started.
    pub process: Box<dyn ServerProcess>,
    /// What holds it: `full`, or `partial` and what is missing. Goes on record with every call.
    pub sandbox: Option<String>,
    /// What its sandbox kept it from, where it is in one.
    pub denied_access: Option<Arc<dyn DeniedAccess>>,
}

/// Knows what a program was kept from.
pub trait DeniedAccess: Send + Sync + 'static {
    /// The hosts that it was not let reach since then, as `hosts` would have to name them.
    fn hosts(&self, since: Instant) -> Vec<String>;
}

/// A program that runs.
pub trait ServerProcess: Send + 'static {
    /// Waits for its end, and says how it ended and what it said last, in a few words.
    fn ended(&mut self) -> BoxFuture<'_, String>;

    /// What it said last, while it runs.
    fn told(&self) -> Option<String> {
        None
    }
}

impl Gateway {
    /// Puts servers behind the gate. They start in the background; their tools are in the registry
    /// as soon as they have told them.
    pub fn open(servers: Vec<ServerSettings>, world: GatewaySetup) -> Arc<Gateway> {
        let (world, ending) = (Arc::new(world), CancellationToken::new());
        let (spread, plain) = (Broadcaster::default(), world.plain);
        let start =
            |settings| Upstream::start(settings, world.clone(), spread.clone(), ending.clone());
        let servers = servers.into_iter().map(start).collect();
        let gateway = Arc::new(Gateway { servers, spread, plain, ending });
        let weak = Arc::downgrade(&gateway);
        world.registry.explain_missing(move |tool| weak.upgrade()?.down_message(tool));
        gateway
    }

    /// Waits until every server has told its tools, or has failed to in its time.
    pub async fn ready(&self) {
        join_all(self.servers.iter().map(|it| it.wait_started())).await;
    }

    /// Waits for the servers that a tool of this name could be of.
    pub(crate) async fn ready_for(&self, tool: &str) {
        let owners = self.servers.iter().filter(|it| it.owns_name(tool));
        join_all(owners.map(|it| it.wait_started())).await;
    }

    /// Waits for servers that have not started yet, unless what is looked for is there already.
    pub(crate) async fn ready_until(&self, found: impl Fn(&Gateway) -> bool) {
        if !found(self) {
            self.ready().await;
        }
    }

    /// Why there is no tool of this name, if it would be one of a server that is down.
    fn down_message(&self, tool: &str) -> Option<String> {
        let down = self.servers.iter().filter(|it| it.owns_name(tool));
        down.filter_map(|it| it.down_message()).next()
    }

    /// How each server is.
    pub fn conditions(&self) -> Vec<ServerStatus> {
        let condition = |it: &Arc<Upstream>| {
            let mut condition = it.condition();
            let other = |uri| format!("`{uri}` belongs to another server");
            condition.remarks.extend(self.shadowed_uris(it).into_iter().map(other));
            condition.remarks.extend(it.withheld());
            condition
        };
        self.servers.iter().map(condition).collect()
    }

    /// Ends every server, and waits for it.
    pub async fn close(&self) {
        self.ending.cancel();
        join_all(self.servers.iter().map(|it| it.gone())).await;
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.ending.cancel();
    }
}

#[cfg(test)]
mod tests;
