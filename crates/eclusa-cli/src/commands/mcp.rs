//! `eclusa mcp`: the tools for an agent that speaks MCP, on stdin and stdout.

use std::sync::{Arc, Mutex, PoisonError};

use eclusa_app::serve_mcp::{ClientAnswers, ServersBehind, end, open};
use eclusa_mcp::{Startup, WaitLimits, serve_stdio};

mod wrap;

use crate::{
    args::{Global, McpArgs},
    failure::{Exit, Failure},
    signals::asked_to_end,
};

pub(super) async fn run(global: Global, args: McpArgs) -> Result<Exit, Failure> {
    // The person who put this command into an agent's configuration has made it theirs.
    let (opening, opened) = opening(global, &args, ClientAnswers::Piped);
    let served = serve_stdio(opening.clone(), patience(&args), asked_to_end()).await;
    end(&opening).await;
    served?;
    opened.ended()
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
    (opening, opened)
}
