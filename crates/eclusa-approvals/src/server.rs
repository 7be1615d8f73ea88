//! The server of the page: a port of its own, where a cookie reads and only a key answers.

use std::{convert::Infallible, io, net::SocketAddr, sync::Arc, time::Duration};

use http_body_util::{BodyExt as _, Full, combinators::UnsyncBoxBody};
use hyper::{
    Method, Request, Response, StatusCode,
    body::{Bytes, Incoming},
    header::{CONTENT_TYPE, HeaderValue, LOCATION},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Semaphore,
};

use crate::{notify::WebhookSecrets, page, people::People, workspaces::Workspaces};

mod after_answer;
mod answers;
mod buckets;
mod connections;
mod guard;
mod hooks;
mod job_end;
mod live;
mod passkeys;
mod requests;
mod sessions;

use connections::{Admission, Connections};
use live::Live;
use sessions::{Session, Sessions};

pub use buckets::Buckets;
pub use guard::{Guard, Refusal, protect};

/// How many pages are made at once.
const MAX_RENDERING: usize = 8;

/// How long somebody may be connected who has not shown a session.
const STRANGER_TIME: Duration = Duration::from_secs(30);

/// How long a connection lasts; a page that listens for news opens another one.
const CONNECTION_TIME: Duration = Duration::from_secs(15 * 60);

pub(crate) type Answer = Response<UnsyncBoxBody<Bytes, Infallible>>;

/// How much the server takes, and for how long it waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServerLimits {
    /// How many connections are served at once. Whoever comes beyond that takes the place of the
    /// oldest one that has shown no session, and is turned away where all have.
    pub connections: usize,
    /// How long the head of a request may take to arrive.
    pub head_time: Duration,
    /// How long its body may take.
    pub body_time: Duration,
    /// How many answers a person may give within how long.
    pub answers: (u32, Duration),
    /// How many signatures and links may be wrong within how long.
    pub failures: (u32, Duration),
}

impl Default for ServerLimits {
    fn default() -> ServerLimits {
        ServerLimits {
            connections: 128,
            head_time: Duration::from_secs(10),
            body_time: Duration::from_secs(10),
            answers: (10, Duration::from_secs(1)),
            failures: (5, Duration::from_secs(60)),
        }
    }
}

/// What the page is made of.
pub struct ApprovalsPage {
    /// What it shows.
    pub workspaces: Arc<dyn Workspaces>,
    /// Who may answer, with which keys.
    pub people: People,
    /// Whom a link lets in.
    pub person: String,
    /// Other addresses that it is reached by, such as `https://approvals.example`: something in
    /// front of it speaks TLS.
    pub urls: Vec<String>,
    /// What programs sign with that answer by `POST /hooks/answer`. `None`: nobody does.
    pub hook: Option<WebhookSecrets>,
    /// How much it takes.
    pub limits: ServerLimits,
}

/// Everything that a request needs.
struct PageServer {
    workspaces: Arc<dyn Workspaces>,
    people: People,
    hook: Option<WebhookSecrets>,
    guard: Guard,
    sessions: Sessions,
    live: Live,
    answers: Buckets,
    failures: Buckets,
    rendering: Semaphore,
    limits: ServerLimits,
}

/// Serves the page until `stop` resolves. `ready` is told the link that lets the person in, once.
pub async fn serve(
    page: ApprovalsPage,
    listener: TcpListener,
    ready: impl FnOnce(&str) -> io::Result<()>,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    let address: SocketAddr = listener.local_addr()?;
    let secure = page.urls.first().is_some_and(|it| it.starts_with("https://"));
    let sessions = Sessions::new(address.port(), secure);
    let code = sessions.link(&page.person)?;
    let base = match page.urls.first() {
        Some(url) => url.trim_end_matches('/').to_owned(),
        None => format!("http://localhost:{}", address.port()),
    };
    let limits = page.limits;
    let buckets = |(size, time)| Buckets::new(size, time);
    let server = Arc::new(PageServer {
        guard: Guard::new(address.port(), &page.urls),
        live: Live::start(page.workspaces.clone()),
        workspaces: page.workspaces,
        people: page.people,
        hook: page.hook,
        sessions,
        answers: buckets(limits.answers),
        failures: buckets(limits.failures),
        rendering: Semaphore::new(MAX_RENDERING),
        limits,
    });
    ready(&format!("{base}/pair#{code}"))?;
    let connections = Connections::new(limits.connections);
    tokio::pin!(stop);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut stop => return Ok(()),
        };
        let Ok((stream, _)) = accepted else {
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let Some(admission) = connections.admit() else { continue };
        tokio::spawn(serve_one(server.clone(), stream, admission));
    }
}

/// Serves one connection, as long as it has room and time.
async fn serve_one(server: Arc<PageServer>, stream: TcpStream, admission: Admission) {
    let connection = admission.connection().clone();
    let (limits, prover) = (server.limits, connection.clone());
    let answer = service_fn(move |request: Request<Incoming>| {
        let server = server.clone();
        if server.sessions.find(request.headers()).is_some() {
            prover.prove();
        }
        async move { Ok::<_, Infallible>(server.answer(request).await) }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(limits.head_time);
    let serving = http.serve_connection(TokioIo::new(stream), answer);
    let too_long = async {
        tokio::time::sleep(STRANGER_TIME).await;
        if connection.is_proven() {
            tokio::time::sleep(CONNECTION_TIME).await;
        }
    };
    tokio::select! {
        // An error means that the browser went away, or took too long.
        _ = serving => {}
        () = connection.closed() => {}
        () = too_long => {}
    }
}

impl PageServer {
    async fn answer(&self, request: Request<Incoming>) -> Answer {
        let by_hook = request.method() == Method::POST && request.uri().path() == "/hooks/answer";
        let checked = match by_hook {
            true => self.guard.check_host(request.headers()).map(drop),
            false => self.guard.check(request.method(), request.headers()),
        };
        let mut answer = match checked {
            Err(Refusal::Host) => text(StatusCode::FORBIDDEN, "wrong Host header"),
            Err(Refusal::Origin) => text(StatusCode::FORBIDDEN, "only our own page may do this"),
            Err(Refusal::Type) => text(StatusCode::UNSUPPORTED_MEDIA_TYPE, "this must be JSON"),
            Ok(()) if by_hook => self.hook_answer(request).await,
            Ok(()) => self.route(request).await,
        };
        protect(&mut answer);
        answer
    }

    async fn route(&self, request: Request<Incoming>) -> Answer {
        let path = request.uri().path().to_owned();
        let parts: Vec<&str> = path.split('/').filter(|it| !it.is_empty()).collect();
        match (request.method(), &parts[..]) {
            (&Method::GET, ["pair"]) => return html(page::pair()),
            (&Method::GET, ["approvals.css"]) => return file("text/css", page::STYLE),
            (&Method::GET, ["page.js"]) => return file("text/javascript", page::PAGE_SCRIPT),
            (&Method::GET, ["approvals.js"]) => return file("text/javascript", page::SCRIPT),
            (&Method::GET, ["icon.svg"]) => return file("image/svg+xml", page::ICON),
            (&Method::POST, ["api", "pair"]) => return self.pair(request).await,
            _ => {}
        }
        let Some(session) = self.sessions.find(request.headers()) else {
            return html_with(StatusCode::UNAUTHORIZED, page::stranger());
        };
        match (request.method(), &parts[..]) {
            (&Method::GET, []) => redirect("/inbox"),
            (&Method::GET, ["events"]) => self.live.stream(),
            (&Method::GET, _) => {
                let query = requests::query(request.uri().query().unwrap_or_default());
                let (workspaces, person) = (self.workspaces.clone(), session.person);
                let own = self.people.passkeys(&person).unwrap_or_default();
                let passkeys = own.into_iter().filter_map(|it| it.credential).collect();
                self.render(page::PageView { workspaces, person, passkeys, query }, path).await
            }
            (&Method::POST, ["api", what]) => self.write(what, request, &session).await,
            _ => missing(),
        }
    }

    /// Makes a page where it holds nobody up: reading a long log takes a while.
    async fn render(&self, view: page::PageView, path: String) -> Answer {
        let Ok(_turn) = self.rendering.acquire().await else { return missing() };
        let runtime = tokio::runtime::Handle::current();
        let rendering = move || runtime.block_on(page::render(&view, &path));
        match tokio::task::spawn_blocking(rendering).await {
            Ok(Some(page)) => html(page),
            Ok(None) => missing(),
            Err(_) => text(StatusCode::INTERNAL_SERVER_ERROR, "this page cannot be made"),
        }
    }

    async fn write(&self, what: &str, request: Request<Incoming>, session: &Session) -> Answer {
        if !self.answers.take(&session.person, std::time::Instant::now()) {
            return text(StatusCode::TOO_MANY_REQUESTS, "too many answers at once; wait a second");
        }
        match what {
            "answer" => self.give_answer(request, session).await,
            "revoke" => self.revoke(request, session).await,
            "undo" => self.undo(request, session).await,
            "end" => self.end(request, session).await,
            "end-job" => self.end_job(request, session).await,
            "passkey" => self.register_passkey(request, session).await,
            _ => missing(),
        }
    }
}

fn html(page: String) -> Answer {
    html_with(StatusCode::OK, page)
}

fn html_with(status: StatusCode, page: String) -> Answer {
    content(status, "text/html; charset=utf-8", page.into())
}

fn file(kind: &'static str, text: &'static str) -> Answer {
    let mut answer = content(StatusCode::OK, kind, Bytes::from_static(text.as_bytes()));
    let kind = format!("{kind}; charset=utf-8");
    if let Ok(kind) = HeaderValue::from_str(&kind) {
        answer.headers_mut().insert(CONTENT_TYPE, kind);
    }
    answer
}

pub(crate) fn text(status: StatusCode, text: &str) -> Answer {
    content(status, "text/plain; charset=utf-8", format!("{text}\n").into())
}

fn missing() -> Answer {
    html_with(StatusCode::NOT_FOUND, page::missing())
}

fn redirect(to: &'static str) -> Answer {
    let mut answer = text(StatusCode::SEE_OTHER, to);
    answer.headers_mut().insert(LOCATION, HeaderValue::from_static(to));
    answer
}

pub(crate) fn content(status: StatusCode, kind: &'static str, body: Bytes) -> Answer {
    let mut answer = Response::new(Full::new(body).boxed_unsync());
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    answer
}

#[cfg(test)]
mod tests;
