//! A request that a person signed with a key of the people document in force.

use eclusa::audit::{Clock as _, SystemClock};
use eclusa_approvals::KnownSigners;
use eclusa_fleet::{PersonAuthor, RequestLine};
use hyper::{
    Request, StatusCode,
    body::{Bytes, Incoming},
    header::AUTHORIZATION,
};

use super::{HttpRefusal, MAX_BODY, read_body};
use crate::server::FleetServer;

/// Whoever may answer, and what they ask for.
pub(super) struct FromPerson {
    pub(super) person: String,
    pub(super) people: KnownSigners,
    pub(super) query: String,
    pub(super) body: Bytes,
}

pub(super) async fn from_person(
    server: &FleetServer,
    request: Request<Incoming>,
) -> Result<FromPerson, HttpRefusal> {
    let refused = |why: &str| HttpRefusal::new(StatusCode::UNAUTHORIZED, why);
    let header = request.headers().get(AUTHORIZATION).and_then(|it| it.to_str().ok());
    let author: PersonAuthor = header
        .unwrap_or_default()
        .parse()
        .map_err(|err: eclusa_fleet::FleetError| refused(&err.to_string()))?;
    let now = SystemClock.unix_ms();
    if !author.is_recent(now) {
        return Err(refused("the clock is off by more than five minutes; set it"));
    }
    let people = people(server, now)?;
    let (parts, body) = request.into_parts();
    let body = read_body(body, MAX_BODY).await?;
    let line = RequestLine {
        fleet: &server.anchor.name,
        method: parts.method.as_str(),
        path: parts.uri.path_and_query().map_or("", |it| it.as_str()),
        body: &body,
    };
    let text = PersonAuthor::text(&line, &author.key, author.at);
    let person = people.signer(&author.key, &text, &author.signature).map(|it| it.0.to_owned());
    let person = person.ok_or_else(|| {
        refused("no key of the people document in force signed this request; `eclusa fleet people` signs it into one")
    })?;
    let query = parts.uri.query().unwrap_or_default().to_owned();
    Ok(FromPerson { person, people, query, body })
}

/// The people of the fleet, as long as their document is good.
pub(crate) fn people(server: &FleetServer, now: u64) -> Result<KnownSigners, HttpRefusal> {
    let documents = server.documents();
    let good = documents.held.people().filter(|it| it.0.heading().expires > now);
    let known = good.and_then(|it| KnownSigners::parse(it.0.payload()).ok());
    known.ok_or_else(|| {
        HttpRefusal::new(
            StatusCode::FORBIDDEN,
            "the fleet has no people document that is good now; `eclusa fleet people` signs one",
        )
    })
}
