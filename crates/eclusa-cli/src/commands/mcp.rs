//! `eclusa mcp`: the tools for an agent that speaks MCP, on stdin and stdout.

use std::sync::{Arc, Mutex, PoisonError};

use eclusa::Gate;
use eclusa_mcp::{Opening, Patience, ThroughClient, serve_stdio};

use crate::{
    args::{Global, McpArgs},
    failure::{Exit, Failure},
    terminal::Terminal,
    workplace::Workplace,
};

pub(super) async fn run(global: Global, args: McpArgs) -> Result<Exit, Failure> {
    let patience = args.patience.map_or_else(Patience::default, |time| Patience {
        elsewhere: time,
        asking: time,
    });
    // The first answers go out while this opens; what is wrong is told to the client and to us.
    let failed: Arc<Mutex<Option<Failure>>> = Arc::default();
    let told = failed.clone();
    let opening = Opening::start(move || {
        open(&global).map_err(|failure| {
            let why = failure.lines().join("; ");
            *told.lock().unwrap_or_else(PoisonError::into_inner) = Some(failure);
            why.trim_start_matches("error: ").to_owned()
        })
    });
    serve_stdio(opening, patience, super::run::asked_to_end()).await?;
    match failed.lock().unwrap_or_else(PoisonError::into_inner).take() {
        Some(failure) => Err(failure),
        None => Ok(Exit::Done),
    }
}

/// The gate, with the client as the first who can ask a person.
fn open(global: &Global) -> Result<Gate, Failure> {
    let here = Workplace::open(global)?;
    let store = here.store()?;
    // Stdin is the client's: a terminal is no place to ask here.
    let terminal = Terminal::new(false, here.place.config.clone());
    let mut house = here.furnished(&store, terminal, Vec::new())?;
    house.approvers.insert(0, Arc::new(ThroughClient));
    Ok(Gate::new(house).for_run(here.run()))
}
