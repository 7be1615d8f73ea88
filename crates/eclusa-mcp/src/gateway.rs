//! The gateway: other people's servers, their tools as ours, behind the gate.
//!
//! ```text
//! gateway.rs     all servers                       names.rs  what their tools are called here
//!   │
//! upstream.rs    one server: started, watched, started again
//!   │
//! wire.rs        its pipe        remote.rs  its address        heard.rs  what it says by the way
//!   │
//! wish.rs        what a call wants of it          asked.rs, asks.rs  what it asks meanwhile
//!   │
//! listing.rs     its tools, as it tells them      foreign.rs  one of them, as the gate sees it
//! definition.rs  what one says about itself       icons.rs  its pictures
//! stock.rs       its resources and prompts        unlisted.rs  having one, as the gate sees it
//! watching.rs    its news                         pins.rs  what its tools said at first use
//! words.rs       its words, as people are shown them
//! ```
//!
//! A server is not trusted. What it says about its tools is pinned; what it sends is bounded; when
//! it crashes, hangs or talks nonsense its own tools fail, and say whose they are.

use std::{io, sync::Arc, time::Instant};

use eclusa::{Registry, ServerSettings};
use futures::future::{BoxFuture, join_all};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

pub use about::About;
pub use definition::{Definition, Flag};
pub use listing::ToolSeen;
pub use names::{LONGEST as LONGEST_NAME, tool_name};
pub use pins::{Difference, Pinned, Pins};
pub use remote::{Keys, Login, Terms};
pub use upstream::Condition;

mod about;
mod asked;
mod asks;
mod bounded;
mod definition;
mod door;
mod foreign;
mod heard;
mod hindered;
mod icons;
mod listing;
mod names;
mod pins;
mod piped;
mod remote;
mod result;
mod stock;
mod unlisted;
mod upstream;
mod watching;
mod wire;
mod wish;
mod words;

pub(crate) use listing::Shown;
use upstream::Upstream;
use watching::Spread;
pub(crate) use watching::{News, Watch};

/// The servers behind the gate.
pub struct Gateway {
    servers: Vec<Arc<Upstream>>,
    spread: Spread,
    plain: bool,
    /// Cancelled when the servers must go.
    ending: CancellationToken,
}

/// What the gateway works with.
pub struct World {
    /// Where the servers' tools are registered.
    pub registry: Arc<Registry>,
    /// Who starts their programs.
    pub launcher: Arc<dyn Launcher>,
    /// What servers at an address are shown.
    pub keys: Arc<dyn Keys>,
    /// What their tools said about themselves before.
    pub pins: Arc<dyn Pins>,
    /// The names of all servers that there are, whether they are started or not.
    pub names: Vec<String>,
    /// Whether clients know tools by the names that the server gave them. For a gate with one
    /// server behind it and no tools of its own.
    pub plain: bool,
}

/// Starts the programs of servers: in sandboxes, where the machine has them.
pub trait Launcher: Send + Sync + 'static {
    /// Starts one. The error says what is wrong and how to mend it.
    fn launch<'a>(&'a self, server: &'a ServerSettings) -> BoxFuture<'a, io::Result<Launched>>;
}

/// A server's program that runs.
pub struct Launched {
    /// Its standard input.
    pub input: Box<dyn AsyncWrite + Send + Unpin>,
    /// Its standard output.
    pub output: Box<dyn AsyncRead + Send + Unpin>,
    /// The program. Dropping it ends it, with everything that it started.
    pub process: Box<dyn Process>,
    /// What holds it: `full`, or `partial` and what is missing. Goes on record with every call.
    pub sandbox: Option<String>,
    /// What its sandbox kept it from, where it is in one.
    pub hindered: Option<Arc<dyn Hindered>>,
}

/// Knows what a program was kept from.
pub trait Hindered: Send + Sync + 'static {
    /// The hosts that it was not let reach since then, as `hosts` would have to name them.
    fn hosts(&self, since: Instant) -> Vec<String>;
}

/// A program that runs.
pub trait Process: Send + 'static {
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
    pub fn open(servers: Vec<ServerSettings>, world: World) -> Arc<Gateway> {
        let (world, ending) = (Arc::new(world), CancellationToken::new());
        let (spread, plain) = (Spread::default(), world.plain);
        let start =
            |settings| Upstream::start(settings, world.clone(), spread.clone(), ending.clone());
        let servers = servers.into_iter().map(start).collect();
        Arc::new(Gateway { servers, spread, plain, ending })
    }

    /// Waits until every server has told its tools, or has failed to in its time.
    pub async fn ready(&self) {
        join_all(self.servers.iter().map(|it| it.settled())).await;
    }

    /// Why there is no tool of this name, if it would be one of a server that is down.
    pub(crate) fn excuse(&self, tool: &str) -> Option<String> {
        let down = self.servers.iter().filter(|it| it.would_have(tool));
        down.filter_map(|it| it.excuse()).next()
    }

    /// How each server is.
    pub fn conditions(&self) -> Vec<Condition> {
        let condition = |it: &Arc<Upstream>| {
            let mut condition = it.condition();
            let other = |uri| format!("`{uri}` is another server's: nobody gets it from this one");
            condition.remarks.extend(self.doubled(it).into_iter().map(other));
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
