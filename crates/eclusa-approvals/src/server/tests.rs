//! Every limit of the server, lowered so that nobody has to wait for it.

use std::{
    io::{ErrorKind, Read as _, Write as _},
    net::TcpStream,
    sync::mpsc,
    thread::JoinHandle,
};

use eclusa::{approve::Questions, audit::Log};
use futures::future::BoxFuture;
use tempfile::TempDir;
use tokio::sync::oneshot;

use super::*;
use crate::workspaces::{CallEffects, JobEntry, Suggestion, WorkspaceEntry};

/// A page over nothing.
struct NoWorkspaces;

impl Workspaces for NoWorkspaces {
    fn list(&self) -> Vec<WorkspaceEntry> {
        Vec::new()
    }
    fn questions(&self, _: &str) -> Option<Arc<dyn Questions>> {
        None
    }
    fn log(&self, _: &str) -> Option<Arc<dyn Log>> {
        None
    }
    fn effects(&self, _: &str, _: u64) -> Option<CallEffects> {
        None
    }
    fn undo<'a>(&'a self, _: &'a str, _: u64, _: &'a str) -> BoxFuture<'a, Result<String, String>> {
        Box::pin(std::future::ready(Err("there is nothing".to_owned())))
    }
    fn take<'a>(&'a self, _: &'a str, _: u64) -> BoxFuture<'a, Result<String, String>> {
        Box::pin(async { Ok("yes".to_owned()) })
    }

    fn jobs(&self, _: &str) -> Vec<JobEntry> {
        Vec::new()
    }
    fn job_output(&self, _: &str, _: u64) -> Option<String> {
        None
    }
    fn end_job<'a>(&'a self, _: &'a str, _: u64) -> BoxFuture<'a, Result<String, String>> {
        Box::pin(std::future::ready(Err("there is nothing".to_owned())))
    }
    fn suggestions(&self, _: &str) -> Vec<Suggestion> {
        Vec::new()
    }
}

/// A page that is served, and the code of its link.
struct ServedPage {
    port: u16,
    code: String,
    directory: TempDir,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

const LONG: Duration = Duration::from_secs(600);

/// Limits that nothing here reaches by chance, for a test to lower one of them.
const WIDE: ServerLimits = ServerLimits {
    connections: 64,
    head_time: LONG,
    body_time: LONG,
    answers: (1_000, LONG),
    failures: (1_000, LONG),
};

impl ServedPage {
    fn start(limits: ServerLimits) -> ServedPage {
        let directory = TempDir::new().unwrap();
        let people = People::new(directory.path().join("people"));
        let (stop, stopped) = oneshot::channel::<()>();
        let (tell, told) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let (workspaces, urls, hook) = (Arc::new(NoWorkspaces), Vec::new(), None);
            let person = "ana".to_owned();
            let page = ApprovalsPage { workspaces, people, person, urls, hook, limits };
            runtime.unwrap().block_on(async {
                let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
                let port = listener.local_addr().unwrap().port();
                let ready = |link: &str| {
                    tell.send((port, link.split_once('#').unwrap().1.to_owned())).unwrap();
                    Ok(())
                };
                serve(page, listener, ready, async { drop(stopped.await) }).await.unwrap();
            });
        });
        let (port, code) = told.recv().unwrap();
        ServedPage { port, code, directory, stop: Some(stop), thread: Some(thread) }
    }

    /// Sends this, and gives the connection.
    fn send(&self, text: &str) -> TcpStream {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        // Whoever is turned away may learn it here or when nothing comes back.
        drop(stream.write_all(text.as_bytes()));
        stream
    }

    fn get(&self) -> String {
        format!("GET /pair HTTP/1.1\r\nhost: localhost:{}\r\n\r\n", self.port)
    }

    /// The head of what our own page would post, with a body that is so long.
    fn post(&self, path: &str, cookie: &str, length: usize) -> String {
        let port = self.port;
        format!(
            "POST {path} HTTP/1.1\r\nhost: localhost:{port}\r\norigin: http://localhost:{port}\r\n\
             sec-fetch-site: same-origin\r\ncontent-type: application/json\r\ncookie: {cookie}\r\n\
             connection: close\r\ncontent-length: {length}\r\n\r\n"
        )
    }

    /// Posts this, and gives the whole answer.
    fn posted(&self, path: &str, cookie: &str, body: &str) -> String {
        all(self.send(&format!("{}{body}", self.post(path, cookie, body.len()))))
    }

    fn pairing(&self, code: &str) -> String {
        // The key of nobody, which is all that a link needs.
        let public = format!("BA{}=", "A".repeat(85));
        format!("{{\"code\":\"{code}\",\"public\":\"{public}\",\"label\":\"\"}}")
    }
}

impl Drop for ServedPage {
    fn drop(&mut self) {
        // Dropped, it stops the page, too.
        self.stop = None;
        drop(self.thread.take().map(JoinHandle::join));
    }
}

/// Everything that comes until the other side closes.
fn all(mut stream: TcpStream) -> String {
    let mut text = Vec::new();
    if let Err(err) = stream.read_to_end(&mut text) {
        assert_eq!(err.kind(), ErrorKind::ConnectionReset, "{err}");
    }
    String::from_utf8_lossy(&text).into_owned()
}

/// The first bytes that come; none where the other side has closed.
fn some(stream: &mut TcpStream) -> String {
    let mut bytes = [0; 64];
    match stream.read(&mut bytes) {
        Ok(length) => String::from_utf8_lossy(&bytes[..length]).into_owned(),
        Err(err) => {
            assert_eq!(err.kind(), ErrorKind::ConnectionReset, "{err}");
            String::new()
        }
    }
}

fn status(answer: &str) -> &str {
    answer.split(' ').nth(1).unwrap_or_default()
}

#[test]
fn the_limits_are_those_that_are_documented() {
    let limits = ServerLimits::default();
    let second = Duration::from_secs(1);
    assert_eq!((limits.connections, limits.head_time), (128, 10 * second));
    assert_eq!((limits.body_time, limits.answers), (10 * second, (10, second)));
    assert_eq!(limits.failures, (5, 60 * second));
}

#[test]
fn strangers_who_only_connect_keep_nobody_out() {
    let page = ServedPage::start(ServerLimits { connections: 4, ..WIDE });
    let mut strangers = Vec::new();
    for number in 0..300 {
        // Idle, half a head, half a body, and answers that nobody reads.
        let asked = page.get();
        let sent = [String::new(), "GET /pair HTTP/1.1\r\nhost: ".to_owned()];
        let sent = sent.into_iter().chain([page.post("/api/pair", "", 10), asked.repeat(50)]);
        strangers.push(page.send(&sent.collect::<Vec<_>>()[number % 4]));
    }
    assert_eq!(status(&some(&mut page.send(&page.get()))), "200");
    drop(strangers);
}

#[test]
fn a_head_that_does_not_come_in_time_is_not_waited_for() {
    let page = ServedPage::start(ServerLimits { head_time: Duration::from_millis(50), ..WIDE });
    let answer = all(page.send("GET /pair HTTP/1.1\r\nhost: "));
    assert_ne!(status(&answer), "200", "{answer}");
    // Nor is one that never begins.
    assert_ne!(status(&all(page.send(""))), "200");
}

#[test]
fn a_body_that_does_not_come_in_time_is_not_waited_for() {
    let page = ServedPage::start(ServerLimits { body_time: Duration::from_millis(50), ..WIDE });
    let answer = all(page.send(&page.post("/api/pair", "", 10)));
    assert_eq!(status(&answer), "408", "{answer}");
}

#[test]
fn a_body_over_256_kb_is_not_read() {
    let page = ServedPage::start(WIDE);
    let largest = " ".repeat(256 * 1024);
    let answer = page.posted("/api/pair", "", &largest);
    assert_eq!(status(&answer), "400", "read, and no JSON: {answer}");
    let answer = page.posted("/api/pair", "", &format!("{largest} "));
    assert_eq!(status(&answer), "413", "{answer}");
}

#[test]
fn whoever_tries_links_has_to_wait_after_a_few() {
    let page = ServedPage::start(ServerLimits { failures: (5, LONG), ..WIDE });
    for _ in 0..5 {
        assert_eq!(status(&page.posted("/api/pair", "", &page.pairing("guessed"))), "403");
    }
    assert_eq!(status(&page.posted("/api/pair", "", &page.pairing("guessed"))), "429");
    // Who has the right link is not kept out by the guesses of others.
    let right = page.pairing(&page.code);
    assert_eq!(status(&page.posted("/api/pair", "", &right)), "200");
}

#[test]
fn a_person_gives_so_many_answers_and_no_more() {
    let page = ServedPage::start(ServerLimits { answers: (2, LONG), ..WIDE });
    let answer = page.posted("/api/pair", "", &page.pairing(&page.code));
    assert_eq!(status(&answer), "200", "{answer}");
    let cookie = answer.lines().find_map(|it| it.strip_prefix("set-cookie: ")).unwrap();
    let cookie = cookie.split(';').next().unwrap();
    for _ in 0..2 {
        assert_eq!(status(&page.posted("/api/answer", cookie, "{}")), "400");
    }
    assert_eq!(status(&page.posted("/api/answer", cookie, "{}")), "429");
}

/// A link that was made on the command line lets its own person in, once.
#[test]
fn a_link_for_somebody_else_is_theirs() {
    let page = ServedPage::start(WIDE);
    let people = People::new(page.directory.path().join("people"));
    let code = people.add_link("bo", 0, u64::MAX).unwrap();
    let answer = page.posted("/api/pair", "", &page.pairing(&code));
    assert!(answer.ends_with("{\"paired\":true,\"person\":\"bo\"}"), "{answer}");
    assert_eq!(status(&page.posted("/api/pair", "", &page.pairing(&code))), "403");
}
