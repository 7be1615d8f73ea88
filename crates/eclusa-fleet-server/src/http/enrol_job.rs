//! `POST /v1/enroll-job`: lets the machine of a job in whose platform says which job it is, where the policy takes such jobs.
//! A token lets one machine in: whoever comes with it and another key is refused.

use eclusa::audit::{Clock as _, SystemClock};
use eclusa_fleet::{
    Digest, Invite, JobToken, MachinePublicKey, RequestLine,
    wire::{Enrolled, JobEnrolRequest},
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
    let Ok(_room) = server.pushing.try_acquire() else {
        return Err(HttpRefusal::later("others enrol at this moment; come again later"));
    };
    let author = author(&request)?;
    let body = read_body(request.into_body(), MAX_BODY).await?;
    let asked: JobEnrolRequest = read_json(&body)?;
    let refused = |why: &dyn std::fmt::Display| HttpRefusal::new(StatusCode::FORBIDDEN, why);
    let key = MachinePublicKey::from_base64(&asked.key).map_err(|err| refused(&err))?;
    let (fleet, path) = (server.anchor.name.as_str(), "/v1/enroll-job");
    let line = RequestLine { fleet, method: "POST", path, body: &body };
    if author.machine != 0 || !author.signed(&line, &key.0) {
        return Err(refused(
            &"the key that would be enrolled did not sign this request for this fleet",
        ));
    }
    let token = JobToken::parse(&asked.token).map_err(|err| refused(&err))?;
    let documents = server.documents();
    let enrolments = documents.held.enrolments();
    let keys = server.issuers.keys(&enrolments, &token).await;
    let keys = keys.map_err(|why| HttpRefusal::new(StatusCode::BAD_GATEWAY, why))?;
    let now = SystemClock.unix_ms();
    let job = token.check(&enrolments, &keys, now).map_err(|err| refused(&err))?;
    // A token is an invite of its own, for one machine, whatever signature it is shown with.
    let secret = Digest::compute(token.text().as_bytes());
    let id = format!("job {secret} {}", text(&job.subject));
    let invite = Invite { id, labels: job.labels, ephemeral: true, uses: 1, secret };
    let machine = machines::enrol(&server.database, &invite, key, &text(&asked.name)).await?;
    let machine = machine.ok_or_else(|| {
        refused(&"the token let another machine in before; ask the platform for another one")
    })?;
    let offered = documents.offer((key, &invite.labels), 0).map(|it| it.documents.clone());
    let documents = offered.unwrap_or_else(|| documents.held.documents().clone());
    Ok(json(StatusCode::OK, &Enrolled { machine, documents, now }))
}
