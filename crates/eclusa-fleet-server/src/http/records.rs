//! `POST /v1/chains` and `POST /v1/records`: a chain begins, and its records come in shipments.

use std::time::Instant;

use eclusa::{Hash, audit::Head};
use eclusa_fleet::{
    shipment::{MAX_SHIPMENT, ShipmentError},
    wire::ChainRequest,
};
use hyper::{Request, StatusCode, body::Incoming};

use super::{Answer, FromMachine, HttpRefusal, MAX_BODY, from_machine, json, read_json};
use crate::{
    receive::{ShipmentRefusal, receive},
    server::FleetServer,
    store::chains,
};

/// The highest number of a record, which the database can still count on from.
const MAX_SEQ: u64 = 1 << 62;

pub(super) async fn begin(
    server: &FleetServer,
    request: Request<Incoming>,
) -> Result<Answer, HttpRefusal> {
    let FromMachine { machine, body, .. } = from_machine(server, request, MAX_BODY).await?;
    let asked: ChainRequest = read_json(&body)?;
    let begins = asked.begins.head().filter(|it| it.seq <= MAX_SEQ).ok_or_else(|| {
        HttpRefusal::new(StatusCode::UNPROCESSABLE_ENTITY, "`begins` is not the head of a chain")
    })?;
    let begun = chains::begin(&server.database, machine.id, &asked, begins).await?;
    let begun = begun.ok_or_else(|| HttpRefusal::later("the chain is being begun; come again"))?;
    Ok(json(StatusCode::OK, &begun))
}

pub(super) async fn ship(
    server: &FleetServer,
    request: Request<Incoming>,
) -> Result<Answer, HttpRefusal> {
    // Before the body is read: who comes when all hands are full is told so at once.
    let Ok(_room) = server.room.try_acquire() else {
        return Err(HttpRefusal::later("too many shipments at once; come again later"));
    };
    let FromMachine { machine, query, body } = from_machine(server, request, MAX_SHIPMENT).await?;
    if !server.quotas.shipping.allows(machine.id, 1, Instant::now()) {
        return Err(HttpRefusal::later("this machine ships too often; come again later"));
    }
    let (chain, before) = place(&query).ok_or_else(|| {
        HttpRefusal::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            "`chain`, `before` and `previous` must say where the shipment belongs",
        )
    })?;
    let (last, records) =
        receive(server, (machine.id, chain), before, body.to_vec()).await.map_err(refused)?;
    server.metrics.kept_records(records);
    Ok(json(StatusCode::OK, &last))
}

/// As machines are told.
pub(crate) fn refused(refusal: ShipmentRefusal) -> HttpRefusal {
    match refusal {
        ShipmentRefusal::Unusable(err @ ShipmentError::TooLarge) => {
            HttpRefusal::new(StatusCode::PAYLOAD_TOO_LARGE, err)
        }
        ShipmentRefusal::Unusable(err) => HttpRefusal::new(StatusCode::UNPROCESSABLE_ENTITY, err),
        ShipmentRefusal::NoChain => HttpRefusal::new(
            StatusCode::NOT_FOUND,
            "this machine has no such chain; begin it with `POST /v1/chains`",
        ),
        ShipmentRefusal::Stopped(why) => {
            HttpRefusal::new(StatusCode::LOCKED, format!("the chain is stopped: {why}"))
        }
        ShipmentRefusal::OtherHead(head) => {
            let why = "the chain is at another record; go on from there";
            HttpRefusal::new(StatusCode::CONFLICT, why).with_head(head)
        }
        ShipmentRefusal::Failed(err) => err.into(),
    }
}

/// Where a shipment belongs: its chain, and the head behind which it begins.
fn place(query: &str) -> Option<(u32, Head)> {
    let value = |name: &str| {
        url::form_urlencoded::parse(query.as_bytes()).find(|it| it.0 == name).map(|it| it.1)
    };
    let seq: u64 = value("before")?.parse().ok().filter(|it| *it <= MAX_SEQ)?;
    let hash = Hash::from_hex(&value("previous")?)?;
    Some((value("chain")?.parse().ok()?, Head { seq, hash }))
}
