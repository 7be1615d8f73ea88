//! `POST /v1/sync`: a machine says what holds there, and hears what is new.

use std::time::Duration;

use eclusa::audit::{Clock as _, SystemClock};
use eclusa_fleet::wire::{SyncAnswer, SyncRequest};
use hyper::{Request, StatusCode, body::Incoming};

use super::{Answer, FromMachine, HttpRefusal, MAX_BODY, from_machine, json, read_json};
use crate::{
    server::FleetServer,
    store::{chains, machines},
};

/// How long a machine waits for news at most, in seconds.
const MAX_WAIT: u64 = 25;

pub(super) async fn sync(
    server: &FleetServer,
    request: Request<Incoming>,
) -> Result<Answer, HttpRefusal> {
    let FromMachine { machine, body, .. } = from_machine(server, request, MAX_BODY).await?;
    let said: SyncRequest = read_json(&body)?;
    machines::saw(&server.database, machine.id, &said).await?;
    for forked in said.forked.iter().take(1_000) {
        chains::stop(&server.database, machine.id, forked).await?;
    }
    let wait = Duration::from_secs(said.wait.min(MAX_WAIT));
    server.wait_for_news(said.documents, wait).await;
    let answer = SyncAnswer {
        now: SystemClock.unix_ms(),
        documents: server.documents().number,
        chains: chains::of_machine(&server.database, machine.id).await?,
    };
    Ok(json(StatusCode::OK, &answer))
}
