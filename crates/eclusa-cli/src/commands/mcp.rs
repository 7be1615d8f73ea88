//! `eclusa mcp`: the tools for an agent that speaks MCP, on stdin and stdout.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use eclusa_app::{
    serve_mcp::{ClientAnswers, ServersBehind, end, open},
    values::duration,
};
use eclusa_mcp::{Startup, WaitLimits, serve_stdio};

mod wrap;

use wrap::WrapArgs;

use crate::{
    failure::{Exit, Failure},
    global::Global,
    signals::asked_to_end,
};

/// Serve the tools to an agent over MCP, on stdin and stdout
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Put this into the agent's configuration as the command of an MCP server:
  eclusa mcp                                    for the directory that the agent starts it in
  eclusa --workspace DIR mcp                    for another one
  eclusa mcp --wrap -- uvx mcp-server-git       one other server alone, behind the gate
  eclusa mcp --wrap --env FORGE_TOKEN --allow-net api.forge.example -- forge-mcp stdio

Every call passes the gate. Where a person must approve, the client shows the question if it can; \
otherwise the next way to ask is tried, as configured. Servers of other people (`eclusa servers`) \
are behind the same gate. See docs/agents.md for each agent.")]
pub(crate) struct McpArgs {
    #[command(flatten)]
    pub(super) serving: ServingArgs,
}

// How MCP clients are served.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct ServingArgs {
    /// How long a call may wait for a person before the client is told to ask again [default: 50s,
    /// or 270s while the client itself shows the question]
    #[arg(long, value_parser = duration, value_name = "TIME")]
    pub(crate) patience: Option<Duration>,
    #[command(flatten)]
    pub(crate) wrap: WrapArgs,
}

pub(super) async fn run(global: Global, args: McpArgs) -> Result<Exit, Failure> {
    // The person who put this command into an agent's configuration has made it theirs.
    let (opening, opened) = opening(global, &args.serving, ClientAnswers::Piped);
    let served = serve_stdio(opening.clone(), patience(&args.serving), asked_to_end()).await;
    end(&opening).await;
    served?;
    opened.ended()
}

pub(super) fn patience(args: &ServingArgs) -> WaitLimits {
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
    args: &ServingArgs,
    answers: ClientAnswers,
) -> (Startup, OpeningFailure) {
    let wrap = Some(args.wrap.clone()).filter(|it| it.wrap);
    let is_alone = wrap.is_some();
    let opened = OpeningFailure::default();
    let told = opened.clone();
    let opening = Startup::start(move || {
        let behind = || match wrap {
            Some(args) => {
                let installed = args.installed;
                Ok(ServersBehind::Alone { server: Box::new(wrap::wrapped(args)?), installed })
            }
            None => Ok(ServersBehind::Configured),
        };
        open(&global, behind, answers, |_| {}).map_err(|failure| {
            let why = failure.lines().join("; ");
            *told.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(failure);
            why.trim_start_matches("error: ").to_owned()
        })
    });
    (if is_alone { opening.of_one_server() } else { opening }, opened)
}
