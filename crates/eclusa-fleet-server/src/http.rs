//! What is asked over HTTP, by whom, and what is answered.

use std::{
    convert::Infallible,
    sync::Arc,
    time::{Duration, Instant},
};

use eclusa::audit::{Clock as _, SystemClock};
use eclusa_fleet::{RequestAuthor, RequestLine, wire::RefusedRequest};
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited, combinators::UnsyncBoxBody};
use hyper::{
    Request, Response, StatusCode,
    body::{Bytes, Incoming},
    header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue, RETRY_AFTER},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use serde::{Serialize, de::DeserializeOwned};
use tokio::{net::TcpListener, sync::Semaphore};

use crate::{ServerError, server::FleetServer, store::machines::KnownMachine};

pub(crate) mod answers;
mod documents;
mod enrol;
mod enrol_job;
mod page;
pub(crate) mod person;
pub(crate) mod questions;
mod records;
mod seals;
mod sync;

#[cfg(test)]
pub(crate) use records::refused;

/// How many connections are served at once.
const MAX_CONNECTIONS: usize = 10_000;

/// How long the head of a request may take, and how long its body.
const HEAD_TIME: Duration = Duration::from_secs(10);
const BODY_TIME: Duration = Duration::from_secs(30);

/// The largest body that is not a shipment and not documents.
pub(crate) const MAX_BODY: usize = 256 << 10;

pub(crate) type Answer = Response<UnsyncBoxBody<Bytes, Infallible>>;

/// Why a request is refused.
pub(crate) struct HttpRefusal {
    pub(crate) status: StatusCode,
    pub(crate) body: RefusedRequest,
}

/// A request that a machine signed, and its body.
pub(crate) struct FromMachine {
    pub(crate) machine: KnownMachine,
    pub(crate) query: String,
    pub(crate) body: Bytes,
}

pub(crate) async fn accept(
    server: Arc<FleetServer>,
    listener: TcpListener,
) -> Result<(), ServerError> {
    serve_connections(listener, MAX_CONNECTIONS, move |request| {
        let server = server.clone();
        async move { answer(&server, request).await }
    })
    .await;
    Ok(())
}

/// Answers requests, so many connections at once, for as long as there is room to be had.
pub(crate) async fn serve_connections<F, A>(listener: TcpListener, most: usize, answer: F)
where
    F: Fn(Request<Incoming>) -> A + Clone + Send + 'static,
    A: Future<Output = Answer> + Send + 'static,
{
    let room = Arc::new(Semaphore::new(most));
    loop {
        let Ok(place) = room.clone().acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let answer = answer.clone();
        tokio::spawn(async move {
            let _place = place;
            let answer = service_fn(move |request| {
                let answered = answer(request);
                async move { Ok::<_, Infallible>(answered.await) }
            });
            let mut http = http1::Builder::new();
            http.timer(TokioTimer::new()).header_read_timeout(HEAD_TIME);
            // An error means that whoever asked went away, or took too long.
            drop(http.serve_connection(TokioIo::new(stream), answer).await);
        });
    }
}

async fn answer(server: &FleetServer, request: Request<Incoming>) -> Answer {
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let answered = match (method.as_str(), path.as_str()) {
        ("GET", "/health") => Ok(json(StatusCode::OK, &serde_json::json!({"ok": true}))),
        ("POST", "/v1/enroll") => enrol::enrol(server, request).await,
        ("POST", "/v1/enroll-job") => enrol_job::enrol(server, request).await,
        ("POST", "/v1/chains") => records::begin(server, request).await,
        ("POST", "/v1/records") => {
            let began = Instant::now();
            let shipped = records::ship(server, request).await;
            let status = shipped.as_ref().map_or_else(|it| it.status, Response::status);
            server.metrics.shipped(status, began);
            shipped
        }
        ("POST", "/v1/sync") => sync::sync(server, request).await,
        ("POST", "/v1/leave") => sync::leave(server, request).await,
        ("GET", "/log/roots") => Ok(seals::roots(server)),
        ("GET", "/log/checkpoint") => seals::checkpoint(server).await,
        ("GET", "/log/leaves") => seals::leaves(server, &request).await,
        ("GET", "/v1/documents") => documents::get(server, request).await,
        ("POST", "/v1/documents") => documents::push(server, request).await,
        ("POST", "/v1/questions") => questions::mirror(server, request).await,
        ("GET", "/v1/questions") => questions::look(server, request).await,
        ("POST", "/v1/answers") => answers::answer(server, request).await,
        (_, path) if path.starts_with("/v1/") => {
            Err(HttpRefusal::new(StatusCode::NOT_FOUND, "there is nothing at this address"))
        }
        _ => return page::answer(server, request).await,
    };
    answered.unwrap_or_else(HttpRefusal::into_answer)
}

impl HttpRefusal {
    pub(crate) fn new(status: StatusCode, error: impl ToString) -> HttpRefusal {
        HttpRefusal {
            status,
            body: RefusedRequest { error: error.to_string(), ..Default::default() },
        }
    }

    /// The machine is to come later.
    pub(crate) fn later(error: impl ToString) -> HttpRefusal {
        HttpRefusal::new(StatusCode::SERVICE_UNAVAILABLE, error)
    }

    /// What the server has in place of what was expected.
    pub(crate) fn with_head(mut self, head: eclusa_fleet::wire::ChainHead) -> HttpRefusal {
        self.body.head = Some(head);
        self
    }

    /// Its status, and what it says.
    pub(crate) fn describe(&self) -> (StatusCode, &str) {
        (self.status, &self.body.error)
    }

    fn into_answer(self) -> Answer {
        let mut answer = json(self.status, &self.body);
        if self.status == StatusCode::SERVICE_UNAVAILABLE {
            let seconds = eclusa::random::random_bytes::<1>().map_or(1, |[it]| 1 + it % 30);
            answer.headers_mut().insert(RETRY_AFTER, HeaderValue::from(u16::from(seconds)));
        }
        answer
    }
}

impl From<ServerError> for HttpRefusal {
    fn from(err: ServerError) -> HttpRefusal {
        match err {
            ServerError::Fleet(err) => HttpRefusal::new(StatusCode::UNPROCESSABLE_ENTITY, err),
            ServerError::Schema(why) => HttpRefusal::new(StatusCode::CONFLICT, why),
            err => {
                tracing::warn!("{err}");
                HttpRefusal::later("the database is away; come again later")
            }
        }
    }
}

pub(crate) fn json(status: StatusCode, body: &impl Serialize) -> Answer {
    let text = serde_json::to_vec(body).unwrap_or_default();
    content(status, "application/json", text.into())
}

/// An answer of this kind.
pub(crate) fn content(status: StatusCode, kind: &'static str, body: Bytes) -> Answer {
    let mut answer = Response::new(Full::new(body).boxed_unsync());
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    answer
}

/// The whole body, if it comes in time and is not too long.
pub(crate) async fn read_body(body: Incoming, max: usize) -> Result<Bytes, HttpRefusal> {
    match tokio::time::timeout(BODY_TIME, Limited::new(body, max).collect()).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(err)) if err.is::<LengthLimitError>() => Err(HttpRefusal::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            format!("the request is larger than {max} bytes; send less at once"),
        )),
        Ok(Err(_)) => {
            Err(HttpRefusal::new(StatusCode::BAD_REQUEST, "the request was not sent whole"))
        }
        Err(_) => Err(HttpRefusal::new(StatusCode::REQUEST_TIMEOUT, "the request came too slowly")),
    }
}

pub(crate) fn read_json<T: DeserializeOwned>(body: &[u8]) -> Result<T, HttpRefusal> {
    serde_json::from_slice(body).map_err(|err| {
        HttpRefusal::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            format!("the request cannot be read: {err}"),
        )
    })
}

/// Who signed a request, which was signed at about this time. The signature is checked once the body is here.
pub(crate) fn author(request: &Request<Incoming>) -> Result<RequestAuthor, HttpRefusal> {
    let header = request.headers().get(AUTHORIZATION).and_then(|it| it.to_str().ok());
    let refused = |why: String| HttpRefusal::new(StatusCode::UNAUTHORIZED, why);
    let author: RequestAuthor = header
        .unwrap_or_default()
        .parse()
        .map_err(|err: eclusa_fleet::FleetError| refused(err.to_string()))?;
    let now = SystemClock.unix_ms();
    if !author.is_recent(now) {
        let mut refusal =
            refused("the clock of this machine is off; sign with the server's time".to_owned());
        refusal.body.now = Some(now);
        return Err(refusal);
    }
    Ok(author)
}

/// Nothing is taken from a machine.
pub(crate) fn locked(why: &str) -> HttpRefusal {
    let text = format!("nothing is taken from this machine: {why}");
    HttpRefusal::new(StatusCode::LOCKED, text)
}

/// A request of a machine that is let in: its key signed all of it.
pub(crate) async fn from_machine(
    server: &FleetServer,
    request: Request<Incoming>,
    max: usize,
) -> Result<FromMachine, HttpRefusal> {
    let author = author(&request)?;
    let unknown = || {
        HttpRefusal::new(
            StatusCode::UNAUTHORIZED,
            "no machine with this number and key is enrolled; enrol again with `eclusa fleet enroll CODE`",
        )
    };
    let machine = server.machine(author.machine).await?.ok_or_else(unknown)?;
    let (parts, body) = request.into_parts();
    let body = read_body(body, max).await?;
    let path = parts.uri.path_and_query().map_or("", |it| it.as_str());
    let line = RequestLine {
        fleet: &server.anchor.name,
        method: parts.method.as_str(),
        path,
        body: &body,
    };
    if !author.signed(&line, &machine.key) {
        return Err(unknown());
    }
    if let Some(why) = &machine.stopped {
        return Err(locked(why));
    }
    let query = parts.uri.query().unwrap_or_default().to_owned();
    Ok(FromMachine { machine, query, body })
}

#[cfg(test)]
mod tests;
