//! `POST /v1/enroll`: lets a machine in that has an invite and its secret.

use eclusa::audit::{Clock as _, SystemClock};
use eclusa_fleet::{
    Digest, MachinePublicKey, RequestLine,
    wire::{EnrolRequest, Enrolled},
};
use hyper::{Request, StatusCode, body::Incoming};

use super::{Answer, HttpRefusal, MAX_BODY, author, json, read_body, read_json};
use crate::{
    server::FleetServer,
    store::machines::{self, text},
};

pub(super) async fn enrol(
    server: &FleetServer,
    request: Request<Incoming>,
) -> Result<Answer, HttpRefusal> {
    let author = author(&request)?;
    let body = read_body(request.into_body(), MAX_BODY).await?;
    let asked: EnrolRequest = read_json(&body)?;
    let refused = |why: &dyn std::fmt::Display| HttpRefusal::new(StatusCode::FORBIDDEN, why);
    let key = MachinePublicKey::from_base64(&asked.key).map_err(|err| refused(&err))?;
    let line =
        RequestLine { fleet: &server.anchor.name, method: "POST", path: "/v1/enroll", body: &body };
    if author.machine != 0 || !author.signed(&line, &key.0) {
        return Err(refused(
            &"the key that would be enrolled did not sign this request for this fleet",
        ));
    }
    let documents = server.documents();
    let now = SystemClock.unix_ms();
    let invite = documents.held.check_invite(&asked.invite, now).map_err(|err| refused(&err))?;
    if invite.person().is_some() {
        return Err(refused(
            &"the invite is for a person, who opens the link that carries it in a browser",
        ));
    }
    if Digest::compute(asked.secret.as_bytes()) != invite.secret {
        return Err(refused(&"the secret of the invite is another one; copy the whole code"));
    }
    let machine = machines::enrol(&server.database, &invite, key, &text(&asked.name)).await?;
    let machine = machine.ok_or_else(|| {
        refused(&"the invite was used as often as it may be; make another one with `eclusa fleet invite`")
    })?;
    let offered = documents.offer((key, &invite.labels), 0).map(|it| it.documents.clone());
    let documents = offered.unwrap_or_else(|| documents.held.documents().clone());
    Ok(json(StatusCode::OK, &Enrolled { machine, documents, now }))
}
