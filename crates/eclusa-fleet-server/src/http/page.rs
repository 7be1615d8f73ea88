//! The page where people see what waits on all machines and answer it. It carries answers and makes none: what a person
//! signs in their browser is checked on the machine, as what `eclusa fleet yes` signs is.

use eclusa::audit::{Clock as _, SystemClock};
use eclusa_approvals::{
    KnownSigners,
    web::{self, Refusal, protect},
};
use eclusa_fleet::inbox::AnswerRequest;
use hyper::{
    Request, StatusCode,
    body::{Bytes, Incoming},
    header::{HeaderValue, LOCATION},
};
use serde::{Deserialize, de::DeserializeOwned};

use crate::{
    http::{Answer, HttpRefusal, MAX_BODY, answers, content, json, person, read_body},
    server::FleetServer,
    store::sessions::PageSession,
};

mod frame;
mod inbox;
mod join;
mod question;
mod session;

/// The script of this page, beside the one that all our pages share.
const SCRIPT: &str = include_str!("page/fleet.js");

/// What a person signed in their browser.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GivenInPage {
    kind: String,
    numbers: Vec<u64>,
    #[serde(default)]
    answer: String,
    #[serde(default)]
    reason: String,
    expires: u64,
    statement: String,
    signature: String,
    /// What the authenticator calls the passkey that signed it; without one, `key` names the key of the browser.
    #[serde(default)]
    passkey: Option<String>,
    #[serde(default)]
    key: String,
}

/// Somebody who looks, and the people of the fleet.
struct Onlooker {
    session: PageSession,
    people: KnownSigners,
}

pub(crate) async fn answer(server: &FleetServer, request: Request<Incoming>) -> Answer {
    let mut answer = match server.page.guard.check(request.method(), request.headers()) {
        Err(Refusal::Host) => plain(
            StatusCode::FORBIDDEN,
            "wrong Host header; `eclusa fleet serve --url` names the address of the page",
        ),
        Err(Refusal::Origin) => plain(StatusCode::FORBIDDEN, "only our own page may do this"),
        Err(Refusal::Type) => plain(StatusCode::UNSUPPORTED_MEDIA_TYPE, "this must be JSON"),
        Ok(()) => route(server, request).await.unwrap_or_else(|it| {
            let (status, why) = it.describe();
            plain(status, why)
        }),
    };
    protect(&mut answer);
    answer
}

async fn route(server: &FleetServer, request: Request<Incoming>) -> Result<Answer, HttpRefusal> {
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    match (method.as_str(), path.as_str()) {
        ("GET", "/") => Ok(redirect("/inbox")),
        ("GET", "/approvals.css") => Ok(file("text/css; charset=utf-8", web::STYLE)),
        ("GET", "/page.js") => Ok(file("text/javascript; charset=utf-8", web::PAGE_SCRIPT)),
        ("GET", "/fleet.js") => Ok(file("text/javascript; charset=utf-8", SCRIPT)),
        ("GET", "/icon.svg") => Ok(file("image/svg+xml; charset=utf-8", web::ICON)),
        ("GET", "/join") => Ok(html(StatusCode::OK, frame::join(&server.anchor.name))),
        ("POST", "/page/join") => join::join(server, request).await,
        ("POST", "/page/sign-in") => session::sign_in(server, request).await,
        ("POST", "/page/sign-out") => session::sign_out(server, &request).await,
        ("GET", "/inbox") => match onlooker(server, &request).await? {
            Some(onlooker) => inbox::inbox(server, &onlooker, &request).await,
            None => Ok(html(StatusCode::UNAUTHORIZED, frame::sign_in(&server.anchor.name))),
        },
        ("GET", "/events") => {
            onlooker(server, &request).await?.ok_or_else(stranger)?;
            Ok(server.page.events())
        }
        ("POST", "/page/answers") => {
            let Onlooker { session, people } =
                onlooker(server, &request).await?.ok_or_else(stranger)?;
            carry(server, request, (&session, &people)).await
        }
        _ => Ok(html(StatusCode::NOT_FOUND, frame::missing())),
    }
}

/// Who looks, while a key of theirs that they signed in with is in the people document in force.
async fn onlooker(
    server: &FleetServer,
    request: &Request<Incoming>,
) -> Result<Option<Onlooker>, HttpRefusal> {
    let Some(session) = session::find(server, request.headers()).await? else { return Ok(None) };
    let people = person::people(server, SystemClock.unix_ms())?;
    let counts = people.owner(&session.key) == Some(session.person.as_str());
    Ok(counts.then_some(Onlooker { session, people }))
}

fn stranger() -> HttpRefusal {
    HttpRefusal::new(StatusCode::UNAUTHORIZED, "sign in first")
}

/// Sends on its way what a person signed.
async fn carry(
    server: &FleetServer,
    request: Request<Incoming>,
    (session, people): (&PageSession, &KnownSigners),
) -> Result<Answer, HttpRefusal> {
    let person = session.person.as_str();
    if !server.page.may_answer(person) {
        return Err(HttpRefusal::new(
            StatusCode::TOO_MANY_REQUESTS,
            "too many answers at once; wait a second",
        ));
    }
    let given: GivenInPage = body(request).await?;
    let key = match &given.passkey {
        Some(credential) => {
            let own = people.keys_of(person).iter();
            let mut own = own.filter(|it| it.credential.as_deref() == Some(credential));
            own.next().map(|it| it.id.clone()).unwrap_or_default()
        }
        None => given.key,
    };
    let GivenInPage { kind, numbers, answer, reason, expires, statement, signature, .. } = given;
    let given = AnswerRequest { kind, numbers, answer, reason, expires, statement, signature, key };
    let answered = answers::give(server, (person, people), &given).await?;
    Ok(json(StatusCode::OK, &answered))
}

/// The body of a request, which must be this and nothing else.
async fn body<T: DeserializeOwned>(request: Request<Incoming>) -> Result<T, HttpRefusal> {
    let body = read_body(request.into_body(), MAX_BODY).await?;
    serde_json::from_slice(&body).map_err(|err| {
        HttpRefusal::new(StatusCode::BAD_REQUEST, format!("this cannot be read: {err}"))
    })
}

fn html(status: StatusCode, page: String) -> Answer {
    content(status, "text/html; charset=utf-8", page.into())
}

fn file(kind: &'static str, text: &'static str) -> Answer {
    content(StatusCode::OK, kind, Bytes::from_static(text.as_bytes()))
}

fn plain(status: StatusCode, text: &str) -> Answer {
    content(status, "text/plain; charset=utf-8", format!("{text}\n").into())
}

fn redirect(to: &'static str) -> Answer {
    let mut answer = plain(StatusCode::SEE_OTHER, to);
    answer.headers_mut().insert(LOCATION, HeaderValue::from_static(to));
    answer
}
