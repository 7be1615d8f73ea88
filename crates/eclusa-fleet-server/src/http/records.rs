//! `POST /v1/chains` and `POST /v1/records`: a chain begins, and its records come in shipments.

use eclusa::{Hash, audit::Head};
use eclusa_fleet::{
    shipment::{self, MAX_SHIPMENT, ShipmentError},
    wire::{ChainHead, ChainRequest},
};
use hyper::{Request, StatusCode, body::Incoming};

use super::{Answer, FromMachine, HttpRefusal, MAX_BODY, from_machine, json, read_json};
use crate::{
    server::FleetServer,
    store::{call_fields, chains, ship::CheckedShipment},
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
    let (chain, before) = place(&query).ok_or_else(|| {
        HttpRefusal::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            "`chain`, `before` and `previous` must say where the shipment belongs",
        )
    })?;
    let records = shipment::unpack(&body, before).map_err(|err| {
        let status = match err {
            ShipmentError::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            _ => StatusCode::UNPROCESSABLE_ENTITY,
        };
        HttpRefusal::new(status, err)
    })?;
    let last = records.last().map_or(before, |it| Head { seq: it.seq, hash: it.hash });
    let (calls, late) = call_fields::of_records(&records);
    let (machine, body) = (machine.id, body.to_vec());
    let shipment = CheckedShipment { machine, chain, before, last, body, calls, late };
    if server.ship(shipment).await? {
        server.metrics.kept_records(records.len());
        return Ok(json(StatusCode::OK, &ChainHead::from(last)));
    }
    let Some(found) = chains::find(&server.database, machine, chain).await? else {
        return Err(HttpRefusal::new(
            StatusCode::NOT_FOUND,
            "this machine has no such chain; begin it with `POST /v1/chains`",
        ));
    };
    if let Some(why) = found.stopped {
        return Err(HttpRefusal::new(StatusCode::LOCKED, format!("the chain is stopped: {why}")));
    }
    let why = "the chain is at another record; go on from there";
    Err(HttpRefusal::new(StatusCode::CONFLICT, why).with_head(found.head))
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
