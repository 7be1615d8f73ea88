//! The servers behind the gate, as this machine starts them and remembers what they said.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use eclusa::{Registry, settings::ServerSettings};
use eclusa_mcp::{Credentials, Gateway, GatewaySetup};

use crate::{
    context::AppContext,
    failure::Failure,
    paths::{Paths, whole},
    screen::note,
    token_store::TokenStore,
};

pub mod config_edit;
pub mod gateway_lease;
mod launch;
mod pins;
mod program;
mod sandboxed;
mod state_key;
mod stderr_tail;
mod unsandboxed;

pub use pins::PinFiles;
pub use state_key::key;

use launch::Launch;

/// Puts servers behind the gate whose tools are in this registry.
pub fn open(
    ctx: &AppContext,
    servers: Vec<ServerSettings>,
    registry: Arc<Registry>,
    plain: bool,
) -> Result<Option<Arc<Gateway>>, Failure> {
    if servers.is_empty() {
        return Ok(None);
    }
    let launcher = Arc::new(Launch::new(ctx, ctx.sandboxes(&[])?));
    let (pins, keys) = (Arc::new(PinFiles::new(ctx, &servers)), ctx.paths.keys());
    let names = ctx.config.servers.iter().map(|it| it.name.clone()).collect();
    Ok(Some(Gateway::open(servers, GatewaySetup { registry, launcher, keys, pins, names, plain })))
}

/// Puts the servers behind the gate that a tool of this name may be of, and waits for them. Nothing
/// is started for a tool that is here.
pub async fn wake(
    ctx: &AppContext,
    registry: &Arc<Registry>,
    tool: &str,
) -> Result<Option<Arc<Gateway>>, Failure> {
    if registry.has(tool) {
        return Ok(None);
    }
    let of = |it: &&ServerSettings| {
        let rest = tool.strip_prefix("mcp_").and_then(|rest| rest.strip_prefix(it.name.as_str()));
        rest.is_some_and(|rest| rest.starts_with('_'))
    };
    start(ctx, registry, ctx.config.servers.iter().filter(of).cloned().collect()).await
}

/// Puts all servers behind the gate, and waits for them.
pub async fn wake_all(
    ctx: &AppContext,
    registry: &Arc<Registry>,
) -> Result<Option<Arc<Gateway>>, Failure> {
    start(ctx, registry, ctx.config.servers.clone()).await
}

async fn start(
    ctx: &AppContext,
    registry: &Arc<Registry>,
    servers: Vec<ServerSettings>,
) -> Result<Option<Arc<Gateway>>, Failure> {
    let gateway = open(ctx, servers, registry.clone(), false)?;
    if let Some(gateway) = &gateway {
        gateway.ready().await;
        for condition in gateway.conditions() {
            if let Some(why) = condition.down {
                note(&format!("the server `{}` is down: {why}", condition.name));
            }
            for remark in &condition.remarks {
                note(&format!("the server `{}`: {remark}", condition.name));
            }
        }
    }
    Ok(gateway)
}

impl Paths {
    /// What servers at an address are shown, and where it is kept.
    pub fn keys(&self) -> Arc<dyn Credentials> {
        Arc::new(TokenStore { tokens: self.pins(), key: self.key() })
    }

    /// What their tokens are encrypted with.
    pub fn key(&self) -> PathBuf {
        let beside = self.config.as_deref().and_then(Path::parent);
        beside.map_or_else(|| self.pins(), |it| whole(&Path::new(".").join(it))).join("key")
    }

    /// Where everything is kept, of every workspace.
    pub fn state(&self) -> Option<&Path> {
        self.store.parent()?.parent()
    }

    /// Where it is kept what servers said about their tools: for this person, in every workspace.
    pub fn pins(&self) -> PathBuf {
        self.state().map_or_else(|| self.store.with_file_name("servers"), |it| it.join("servers"))
    }

    /// What a server may write: a directory of its own, and its home. It is beside what we keep
    /// and not in it, so that all of ours can be hidden from it.
    pub fn home_of(&self, server: &ServerSettings) -> PathBuf {
        self.homes().join(key(server))
    }

    /// Where those are.
    pub fn homes(&self) -> PathBuf {
        self.beside_state("-servers")
    }

    /// The same for guarded agents: what each keeps for itself.
    pub fn agent_homes(&self) -> PathBuf {
        self.beside_state("-agents")
    }

    fn beside_state(&self, end: &str) -> PathBuf {
        let state = self.state().unwrap_or(&self.store);
        let mut name = state.file_name().unwrap_or_default().to_owned();
        name.push(end);
        state.with_file_name(name)
    }
}
