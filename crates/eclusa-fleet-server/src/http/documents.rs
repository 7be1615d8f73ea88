//! `/v1/documents`: handed out to machines, and taken from anybody, because they carry their own signatures.

use eclusa::audit::{Clock as _, SystemClock};
use eclusa_fleet::{DocumentBundle, wire::NumberedDocuments};
use hyper::{Request, StatusCode, body::Incoming};

use super::{Answer, FromMachine, HttpRefusal, MAX_BODY, from_machine, json, read_body};
use crate::{server::FleetServer, store::documents};

pub(super) async fn get(
    server: &FleetServer,
    request: Request<Incoming>,
) -> Result<Answer, HttpRefusal> {
    let FromMachine { machine, query, .. } = from_machine(server, request, MAX_BODY).await?;
    let policy = url::form_urlencoded::parse(query.as_bytes()).find(|it| it.0 == "policy");
    let in_force = policy.and_then(|it| it.1.parse().ok()).unwrap_or(0);
    let (number, documents) = server.offer(&machine, in_force);
    Ok(json(StatusCode::OK, &NumberedDocuments { number, documents }))
}

pub(super) async fn push(
    server: &FleetServer,
    request: Request<Incoming>,
) -> Result<Answer, HttpRefusal> {
    let Ok(_room) = server.pushing.try_acquire() else {
        return Err(HttpRefusal::later("others bring documents at this moment; come again later"));
    };
    let body = read_body(request.into_body(), DocumentBundle::MAX_BYTES).await?;
    let unreadable =
        |err: &dyn std::fmt::Display| HttpRefusal::new(StatusCode::UNPROCESSABLE_ENTITY, err);
    let text = std::str::from_utf8(&body).map_err(|err| unreadable(&err))?;
    let offered = DocumentBundle::parse(text).map_err(|err| unreadable(&err))?;
    let (database, now) = (&server.database, SystemClock.unix_ms());
    let current = documents::current(database, &server.anchor).await?;
    let new = documents::push(database, &current, offered, &server.anchor, None, now).await?;
    let answer = NumberedDocuments { number: new.number, documents: new.held.documents().clone() };
    server.set_documents(new);
    Ok(json(StatusCode::OK, &answer))
}
