//! `POST /v1/sync`: a machine says what holds there, and hears what is new.

use std::time::Duration;

use eclusa::{
    Hash,
    audit::{Clock as _, SystemClock},
};
use eclusa_fleet::{
    seal_proof::{consistency_ranges, inclusion_ranges},
    wire::{OfferedSeal, SealedHead, SeenSeal, SyncAnswer, SyncRequest},
};
use hyper::{Request, StatusCode, body::Incoming};

use super::{Answer, FromMachine, HttpRefusal, MAX_BODY, from_machine, json, locked, read_json};
use crate::{
    ServerError,
    server::FleetServer,
    store::{acts, chains, documents::current, machines, messages, questions, read, rollouts},
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
    messages::acknowledge(&server.database, machine.id, &said.acks).await?;
    let wait = Duration::from_secs(said.wait.min(MAX_WAIT));
    if said.not_loaded > 0 {
        note_not_loaded(server, machine.id, &said).await?;
    }
    // Registered before it looks, so that nothing falls in between.
    let woken = server.delivery.register(machine.id);
    let policy = said.in_force.policy;
    let mut waiting = messages::of_machine(&server.database, machine.id).await?;
    if waiting.is_empty() {
        tokio::select! {
            () = server.wait_for_news(&machine, policy, said.documents, wait) => {}
            () = woken.notified() => {}
        }
        waiting = messages::of_machine(&server.database, machine.id).await?;
    }
    if let Some(stopped) = server.machine(machine.id).await?.and_then(|it| it.stopped) {
        return Err(locked(&stopped));
    }
    let seal = match &said.sealed {
        // A log that is being set back proves nothing; the rest is told all the same.
        Some(seen) => offered_seal(server, machine.id, seen).await.unwrap_or_else(|err| {
            tracing::warn!("no seal is offered: {err}");
            None
        }),
        None => None,
    };
    let answer = SyncAnswer {
        now: SystemClock.unix_ms(),
        documents: server.offer_number(&machine, policy),
        chains: chains::of_machine(&server.database, machine.id).await?,
        mirrored: questions::mirrored(&server.database, machine.id).await?,
        messages: waiting,
        seal,
    };
    Ok(json(StatusCode::OK, &answer))
}

/// `POST /v1/leave`: the machine ships nothing more, and did not vanish.
pub(super) async fn leave(
    server: &FleetServer,
    request: Request<Incoming>,
) -> Result<Answer, HttpRefusal> {
    let FromMachine { machine, .. } = from_machine(server, request, MAX_BODY).await?;
    machines::left(&server.database, machine.id).await?;
    Ok(json(StatusCode::OK, &serde_json::json!({"left": true})))
}

/// The newest seal, with what shows that it follows the one that the machine has seen, where it is another.
async fn offered_seal(
    server: &FleetServer,
    machine: u32,
    seen: &SeenSeal,
) -> Result<Option<OfferedSeal>, ServerError> {
    let Some(tree) = server.sealed_tree(seen.size).await? else { return Ok(None) };
    let (database, size) = (&server.database, tree.seal.size);
    if (size, &Hash::from(tree.seal.root).to_string()) == (seen.size, &seen.root) {
        return Ok(None);
    }
    let consistency = tree.proof(database, &consistency_ranges(seen.size, size)).await?;
    let mut heads = Vec::new();
    for (about, leaf) in read::chains(database, Some(machine), None, size).await? {
        let Some(leaf) = leaf else { continue };
        let proof = tree.proof(database, &inclusion_ranges(leaf.index, size)).await?;
        let (chain, index, head) = (about.chain, leaf.index, leaf.head);
        heads.push(SealedHead { chain, index, head, proof });
    }
    Ok(Some(OfferedSeal { note: tree.note.clone(), consistency, heads }))
}

/// Notes that a version cannot be loaded there, if it is one that is offered.
async fn note_not_loaded(
    server: &FleetServer,
    machine: u32,
    said: &SyncRequest,
) -> Result<(), HttpRefusal> {
    let (documents, version) = (server.documents(), said.not_loaded);
    let Some(offer) = documents.offers.iter().find(|it| it.version == version) else {
        return Ok(());
    };
    let why = said.trouble.as_deref().unwrap_or("it does not say why");
    let (database, about) = (&server.database, (version, why));
    if offer.stage.as_ref().is_some_and(|it| !it.held) {
        let act = serde_json::json!({"policy": version, "machine": machine, "why": why});
        acts::note(database, "held", act).await?;
    }
    rollouts::not_loaded(database, machine, offer.stage.as_ref(), about).await?;
    if offer.stage.as_ref().is_some_and(|it| !it.held) {
        // The others are not offered it from now on.
        server.set_documents(current(database, &server.anchor).await?);
    }
    Ok(())
}
