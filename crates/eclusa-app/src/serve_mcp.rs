//! The gate that an MCP client is served: opened when the client comes, ended with it.

use std::{sync::Arc, time::Duration};

use eclusa::{Files, settings::ServerSettings};
use eclusa_mcp::{Startup, ThroughClient};

use crate::{
    context::AppContext, examples, failure::Failure, gates::GateParts, global::Global, servers,
    surface::Surface, terminal::Terminal,
};

/// Which servers stand behind the gate.
#[derive(Debug)]
pub enum ServersBehind {
    /// Those of the configuration.
    Configured,
    /// This one, and no tools of our own.
    Alone {
        /// What it is.
        server: Box<ServerSettings>,
        /// Whether `eclusa install` put it there.
        installed: bool,
    },
}

/// Whether a client may answer questions about its own calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientAnswers {
    /// It is the only one, at the other end of a pipe: the person's own, and asks them.
    Piped,
    /// It is the person's own, and asks them.
    Trusted,
    /// Nobody knows who answers there.
    Refused,
}

/// The gate, with the client as the first who can ask a person, where it is theirs. `adjust` has
/// the last word on who else is asked.
pub fn open(
    global: &Global,
    behind: impl FnOnce() -> Result<ServersBehind, Failure>,
    answers: ClientAnswers,
    adjust: impl FnOnce(&mut GateParts),
) -> Result<eclusa_mcp::StartedGate, Failure> {
    let ctx = AppContext::open(global)?;
    let store = match answers {
        ClientAnswers::Piped => ctx.store_for_one_client()?,
        ClientAnswers::Trusted | ClientAnswers::Refused => ctx.store()?,
    };
    // Stdin is the client's: a terminal is no place to ask here.
    let terminal = Terminal::new(false, ctx.paths.always_files());
    let mut parts = GateParts::asking(&store, terminal);
    if answers != ClientAnswers::Refused {
        parts.people.insert(0, Arc::new(ThroughClient));
    }
    adjust(&mut parts);
    let gate = ctx.gate(Surface::Mcp, parts)?;
    let registry = gate.registry();
    let (servers, plain, installed) = match behind()? {
        ServersBehind::Alone { server, installed } => (vec![*server], true, installed),
        ServersBehind::Configured => (ctx.config.servers.clone(), false, false),
    };
    if plain {
        registry.clear();
    } else if ctx.example_tools {
        let files = Files::open(&ctx.paths.workspace, ctx.config.blocked.clone());
        let files = files.map_err(Failure::failed)?;
        let configured = |name: &str| ctx.config.tools.iter().any(|it| it.name == name);
        examples::unlist(registry, files, configured).map_err(Failure::usage)?;
    }
    for server in servers.iter().filter(|_| installed) {
        // An error means that hooks ask about its calls too.
        let _ = servers::gateway_lease::hold(&ctx.paths, &server.name);
    }
    let gateway = servers::open(&ctx, servers, registry.clone(), plain)?;
    Ok(eclusa_mcp::StartedGate { gate, gateway })
}

/// Ends what was started behind the gate, servers and jobs: nothing of it outlives the command.
pub async fn end(opening: &Startup) {
    // A workspace that is still being opened has started none, or ends them with the process.
    let opened = tokio::time::timeout(Duration::from_secs(5), opening.wait()).await;
    let Ok(Ok(opened)) = opened else { return };
    if let Some(gateway) = opened.gateway {
        gateway.close().await;
    }
    // With the tools go the jobs of `bash`, and the layers of its commands.
    opened.gate.registry().clear();
}
