//! `eclusa mcp`: the tools for an agent that speaks MCP, on stdin and stdout.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use eclusa::Files;
use eclusa_mcp::{Startup, ThroughClient, WaitLimits, serve_stdio};

use crate::{
    args::{Global, McpArgs, WrapArgs},
    context::AppContext,
    examples,
    failure::{Exit, Failure},
    gates::GateParts,
    servers,
    surface::Surface,
    terminal::Terminal,
};

pub(super) async fn run(global: Global, args: McpArgs) -> Result<Exit, Failure> {
    // The person who put this command into an agent's configuration has made it theirs.
    let (opening, opened) = opening(global, &args, ClientAnswers::Piped);
    let served = serve_stdio(opening.clone(), patience(&args), super::run::asked_to_end()).await;
    end(&opening).await;
    served?;
    opened.ended()
}

/// Ends what was started behind the gate, servers and jobs: nothing of it outlives the command.
pub(super) async fn end(opening: &Startup) {
    // A workspace that is still being opened has started none, or ends them with the process.
    let opened = tokio::time::timeout(Duration::from_secs(5), opening.wait()).await;
    let Ok(Ok(opened)) = opened else { return };
    if let Some(gateway) = opened.gateway {
        gateway.close().await;
    }
    // With the tools go the jobs of `bash`, and the layers of its commands.
    opened.gate.setup().registry.clear();
}

pub(super) fn patience(args: &McpArgs) -> WaitLimits {
    let all = |time| WaitLimits { elsewhere: time, asking: time };
    args.patience.map_or_else(WaitLimits::default, all)
}

/// Why the workspace could not be opened, if it could not.
#[derive(Clone, Default)]
pub(super) struct OpeningFailure(Arc<Mutex<Option<Failure>>>);

impl OpeningFailure {
    /// How the command ends.
    pub(super) fn ended(self) -> Result<Exit, Failure> {
        match self.0.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(failure) => Err(failure),
            None => Ok(Exit::Done),
        }
    }
}

/// Opens the workspace while the first answers go out. What is wrong with it is told to whoever
/// asks for something, and at the end.
pub(super) fn opening(
    global: Global,
    args: &McpArgs,
    answers: ClientAnswers,
) -> (Startup, OpeningFailure) {
    let wrap = Some(args.wrap.clone()).filter(|it| it.wrap);
    let opened = OpeningFailure::default();
    let told = opened.clone();
    let opening = Startup::start(move || {
        open(&global, wrap, answers, |_| {}).map_err(|failure| {
            let why = failure.lines().join("; ");
            *told.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(failure);
            why.trim_start_matches("error: ").to_owned()
        })
    });
    (opening, opened)
}

/// Whether a client may answer questions about its own calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ClientAnswers {
    /// It is the only one, at the other end of a pipe: the person's own, and asks them.
    Piped,
    /// It is the person's own, and asks them.
    Trusted,
    /// Nobody knows who answers there.
    Refused,
}

/// The gate, with the client as the first who can ask a person, where it is theirs. `adjust` has
/// the last word on who else is asked.
pub(super) fn open(
    global: &Global,
    wrap: Option<WrapArgs>,
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
    let registry = &gate.setup().registry;
    let plain = wrap.is_some();
    let installed = wrap.as_ref().is_some_and(|it| it.installed);
    let servers = match wrap {
        Some(wrap) => vec![servers::wrapped(wrap)?],
        None => ctx.config.servers.clone(),
    };
    match plain {
        true => registry.clear(),
        false => {
            let files = Files::open(&ctx.paths.workspace, ctx.config.blocked.clone());
            let files = files.map_err(Failure::failed)?;
            let configured = |name: &str| ctx.config.tools.iter().any(|it| it.name == name);
            examples::unlist(registry, files, configured).map_err(Failure::usage)?;
        }
    }
    for server in servers.iter().filter(|_| installed) {
        // An error means that hooks ask about its calls too.
        let _ = servers::gateway_lease::hold(&ctx.paths, &server.name);
    }
    let gateway = servers::open(&ctx, servers, registry.clone(), plain)?;
    Ok(eclusa_mcp::StartedGate { gate, gateway })
}
