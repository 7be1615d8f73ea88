//! What an instance holds for its page: by which names it is reached, how often somebody may try, and who is told of news.
//! Nothing of it counts: sessions are in the database.

use std::{
    convert::Infallible,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    time::{Duration, Instant},
};

use eclusa_approvals::web::{Buckets, Guard};
use futures::{StreamExt as _, stream};
use http_body_util::{BodyExt as _, StreamBody, combinators::UnsyncBoxBody};
use hyper::{
    Response,
    body::{Bytes, Frame},
    header::{CONTENT_TYPE, HeaderValue},
};
use tokio::sync::watch;

use crate::{Database, ServerError, store::sessions};

/// How many answers a person may give within a second, and how many signatures may be wrong within a minute.
const ANSWERS: u32 = 10;
const FAILURES: u32 = 30;

/// How often a page that hears nothing is told that it is still connected, and after so many times it connects anew, so
/// that whoever was taken out of the people document hears nothing more.
const HEARTBEAT: Duration = Duration::from_secs(15);
const HEARTBEATS: u32 = 20;

/// See above.
pub(crate) struct PageState {
    pub(crate) guard: Guard,
    /// The name of the cookie, and whether it goes over TLS alone.
    pub(crate) cookie: (String, bool),
    /// The addresses that passkeys may be made for and that people sign in at.
    pub(crate) origins: Vec<String>,
    answers: Buckets,
    failures: Buckets,
    /// When a question changed last.
    changed: watch::Sender<u64>,
    has_looked: AtomicBool,
}

/// The address of a page without a path, as browsers name it.
pub fn page_address(url: &str) -> Result<String, ServerError> {
    let bare = |it: &url::Url| {
        it.path() == "/"
            && it.query().is_none()
            && it.fragment().is_none()
            && it.username().is_empty()
            && matches!(it.scheme(), "http" | "https")
    };
    let parsed = url::Url::parse(url).ok().filter(bare);
    parsed.map(|it| it.origin().ascii_serialization()).ok_or_else(|| {
        let url = url.escape_debug();
        ServerError::Address(format!(
            "`{url}` is not the address of a page; write it like `https://fleet.example`, without a path"
        ))
    })
}

impl PageState {
    pub(crate) fn new(port: u16, urls: &[String]) -> PageState {
        let page = urls.first().and_then(|it| url::Url::parse(it).ok());
        let secure = page.as_ref().is_some_and(|it| it.scheme() == "https");
        // Cookies know no ports, and several instances stand behind one address.
        let at = page.and_then(|it| it.port_or_known_default()).unwrap_or(port);
        let name = match secure {
            true => "__Host-eclusa-fleet".to_owned(),
            false => format!("eclusa-fleet-{at}"),
        };
        let mut origins: Vec<String> =
            urls.iter().map(|it| it.trim_end_matches('/').to_owned()).collect();
        origins.push(format!("http://localhost:{port}"));
        PageState {
            guard: Guard::new(port, urls),
            cookie: (name, secure),
            origins,
            answers: Buckets::new(ANSWERS, Duration::from_secs(1)),
            failures: Buckets::new(FAILURES, Duration::from_secs(60)),
            changed: watch::Sender::new(0),
            has_looked: AtomicBool::new(false),
        }
    }

    /// Whether a person may answer now, and not a moment later.
    pub(crate) fn may_answer(&self, person: &str) -> bool {
        self.answers.take(person, Instant::now())
    }

    /// Notes that a signature was wrong: false where there were too many.
    pub(crate) fn may_fail(&self) -> bool {
        self.failures.take("sign-in", Instant::now())
    }

    /// Looks for changes, while a page is open.
    pub(crate) async fn look(&self, database: &Database) {
        if self.changed.receiver_count() == 0 {
            self.has_looked.store(false, Relaxed);
            return;
        }
        let Ok(last) = sessions::last_change(database).await else { return };
        // What changed before anybody looked is no news.
        let first = !self.has_looked.swap(true, Relaxed);
        self.changed.send_if_modified(|it| {
            let news = *it != last && !first;
            *it = last;
            news
        });
    }

    /// Tells a page that something changed, and never what.
    pub(crate) fn events(&self) -> Response<UnsyncBoxBody<Bytes, Infallible>> {
        let hello = stream::iter(["retry: 2000\n\n".to_owned()]);
        let beats = (self.changed.subscribe(), 0_u32);
        let news = stream::unfold(beats, |(mut changed, beats)| async move {
            let heard = tokio::time::timeout(HEARTBEAT, changed.changed()).await;
            let news = match heard {
                Ok(Ok(())) => "event: changed\ndata: *\n\n".to_owned(),
                Ok(Err(_ended)) => return None,
                Err(_elapsed) if beats == HEARTBEATS => return None,
                Err(_elapsed) => {
                    return Some((": still here\n\n".to_owned(), (changed, beats + 1)));
                }
            };
            Some((news, (changed, beats)))
        });
        let frame = |text: String| Ok::<_, Infallible>(Frame::data(Bytes::from(text)));
        let mut answer =
            Response::new(StreamBody::new(hello.chain(news).map(frame)).boxed_unsync());
        let kind = HeaderValue::from_static("text/event-stream");
        answer.headers_mut().insert(CONTENT_TYPE, kind);
        answer
    }
}
