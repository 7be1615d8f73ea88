//! The approvals page through its port: who gets in, what answers, and every way that does not.

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    process::{Child, ChildStdout, Stdio},
    time::Duration,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use ring::{
    rand::SystemRandom,
    signature::{
        ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, EcdsaSigningAlgorithm, KeyPair as _,
    },
};
use serde_json::{Value, json};

use crate::world::World;

/// A key as a browser or an authenticator makes one.
pub(crate) fn key_pair(kind: &'static EcdsaSigningAlgorithm) -> EcdsaKeyPair {
    let random = SystemRandom::new();
    let private = EcdsaKeyPair::generate_pkcs8(kind, &random).unwrap();
    EcdsaKeyPair::from_pkcs8(kind, private.as_ref(), &random).unwrap()
}

/// A running page.
#[derive(Debug)]
pub(crate) struct Served {
    child: Child,
    _out: BufReader<ChildStdout>,
    port: u16,
    code: String,
    /// Where people find it, if that is not this machine.
    url: Option<String>,
}

impl Drop for Served {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Got {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

/// A browser that was paired.
#[derive(Debug)]
pub(crate) struct Browser<'a> {
    pub(crate) served: &'a Served,
    pub(crate) cookie: String,
    pair: EcdsaKeyPair,
}

impl Served {
    pub(crate) fn start(world: &World) -> Served {
        Served::start_with(world, &[])
    }

    /// The same with variables in its environment.
    pub(crate) fn start_with(world: &World, variables: &[(&str, &str)]) -> Served {
        Served::start_at(world, None, variables)
    }

    /// The same where people find it at this address.
    pub(crate) fn start_at(world: &World, url: Option<&str>, variables: &[(&str, &str)]) -> Served {
        // What it prints then has another port than the one that it listens on.
        let free = || TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let own = url.map_or(0, |_| free());
        let listen = format!("127.0.0.1:{own}");
        let mut command = world.command(&["approvals", "serve", "--listen", &listen]);
        command.args(url.map(|it| ["--url", it]).into_iter().flatten());
        let mut child = command
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        while !line.contains("/pair#") {
            line.clear();
            assert!(out.read_line(&mut line).unwrap() > 0, "it ended");
        }
        let (address, code) = line.trim().split_once("/pair#").unwrap();
        let port = match own {
            0 => address.rsplit_once(':').unwrap().1.parse().unwrap(),
            own => own,
        };
        Served { child, _out: out, port, code: code.to_owned(), url: url.map(str::to_owned) }
    }

    /// Sends a request as it is, but for the host, which is ours unless it is given.
    pub(crate) fn send(&self, first: &str, headers: &[(&str, &str)], body: &str) -> Got {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let mut head = format!("{first} HTTP/1.1\r\nconnection: close\r\n");
        if !headers.iter().any(|it| it.0 == "host") {
            let origin = self.origin();
            let host = origin.split_once("://").map_or("", |it| it.1);
            head.push_str(&format!("host: {host}\r\n"));
        }
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        if !first.starts_with("GET") {
            head.push_str(&format!("content-length: {}\r\n", body.len()));
        }
        stream.write_all(format!("{head}\r\n{body}").as_bytes()).unwrap();
        let mut text = Vec::new();
        // A refusal may close before everything was read.
        drop(stream.read_to_end(&mut text));
        let text = String::from_utf8_lossy(&text).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).and_then(|it| it.parse().ok()).unwrap_or(0);
        Got { status, head: head.to_lowercase(), body: body.to_owned() }
    }

    pub(crate) fn origin(&self) -> String {
        let here = || format!("http://localhost:{}", self.port);
        self.url.clone().unwrap_or_else(here)
    }

    /// What our own page would post.
    pub(crate) fn post(&self, path: &str, cookie: &str, body: &Value) -> Got {
        let origin = self.origin();
        let headers = [
            ("origin", origin.as_str()),
            ("sec-fetch-site", "same-origin"),
            ("content-type", "application/json"),
            ("cookie", cookie),
        ];
        self.send(&format!("POST {path}"), &headers, &body.to_string())
    }

    pub(crate) fn pair(&self) -> Browser<'_> {
        self.pair_with(&self.code).unwrap()
    }

    /// The same with the code of another link.
    pub(crate) fn pair_with(&self, code: &str) -> Result<Browser<'_>, Got> {
        let pair = key_pair(&ECDSA_P256_SHA256_FIXED_SIGNING);
        let public = STANDARD.encode(pair.public_key().as_ref());
        let body = json!({"code": code, "public": public, "label": "test"});
        let got = self.post("/api/pair", "", &body);
        if got.status != 200 {
            return Err(got);
        }
        let cookie = got.head.lines().find_map(|it| it.strip_prefix("set-cookie: ")).unwrap();
        assert!(cookie.contains("httponly") && cookie.contains("samesite=strict"), "{cookie}");
        // Heads are read in lower case.
        let cookie = cookie.split(';').next().unwrap().replace("__host-", "__Host-");
        Ok(Browser { served: self, cookie, pair })
    }
}

impl Browser<'_> {
    pub(crate) fn get(&self, path: &str) -> Got {
        self.served.send(&format!("GET {path}"), &[("cookie", &self.cookie)], "")
    }

    pub(crate) fn sign(&self, text: &str) -> String {
        STANDARD.encode(self.pair.sign(&SystemRandom::new(), text.as_bytes()).unwrap())
    }

    /// The attributes of the question that a page shows.
    pub(crate) fn shown(&self, path: &str) -> [String; 4] {
        let page = self.get(path).body;
        ["data-workspace", "data-queue", "data-binding", "data-person"].map(|name| {
            let (_, rest) =
                page.split_once(&format!("{name}=\"")).unwrap_or_else(|| panic!("{page}"));
            rest.split('"').next().unwrap().to_owned()
        })
    }

    /// An answer that is signed as it should be; each part can be changed after that.
    pub(crate) fn answer(&self, id: u64, word: &str) -> Value {
        self.answer_at("/inbox", id, word)
    }

    /// The same to the question that is shown there.
    pub(crate) fn answer_at(&self, path: &str, id: u64, word: &str) -> Value {
        let [workspace, queue, binding, person] = self.shown(path);
        let expires = now() + 60_000;
        let statement = json!({
            "answer": word, "binding": binding, "edit_sha256": null, "expires": expires,
            "person": person, "questions": [id], "queue": queue, "reason_sha256": null,
        });
        let signature = self.sign(&format!("eclusa answer v1\n{statement}"));
        json!({
            "workspace": workspace, "questions": [id], "binding": binding, "answer": word,
            "expires": expires, "signature": signature,
        })
    }
}

pub(crate) fn now() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    u64::try_from(since.as_millis()).unwrap()
}

fn parked(world: &World, text: &str) {
    let args = json!({ "text": text }).to_string();
    assert_eq!(world.eclusa(&["run", "--park", "note", &args]).code, 4);
}

#[test]
fn nobody_gets_in_without_the_link_which_works_once() {
    let world = World::new();
    parked(&world, "hello");
    let served = Served::start(&world);
    for path in ["/", "/inbox", "/log", "/sessions", "/metrics", "/events", "/inbox/x/1"] {
        let got = served.send(&format!("GET {path}"), &[], "");
        assert_eq!(got.status, 401, "{path}: {got:?}");
        assert!(!got.body.contains("hello"));
        assert!(got.head.contains("content-security-policy: default-src 'none'"), "{}", got.head);
        assert!(got.head.contains("cache-control: no-store"));
    }
    let forged = json!({"code": "0".repeat(48), "public": "BAAA", "label": ""});
    assert_eq!(served.post("/api/pair", "", &forged).status, 400);
    let browser = served.pair();
    let inbox = browser.get("/inbox");
    assert_eq!(inbox.status, 200);
    assert!(inbox.body.contains("hello"), "{}", inbox.body);
    let public = STANDARD.encode(browser.pair.public_key().as_ref());
    let again = json!({"code": served.code, "public": public, "label": ""});
    assert_eq!(served.post("/api/pair", "", &again).status, 403);
    let other = served.send("GET /inbox", &[("cookie", "eclusa-approvals-1=x")], "");
    assert_eq!(other.status, 401);
}

#[test]
fn other_hosts_other_pages_and_other_forms_are_refused() {
    let world = World::new();
    parked(&world, "hello");
    let served = Served::start(&world);
    let browser = served.pair();
    let port = served.port;
    for host in ["evil.example", "localhost", "localhost:1", &format!("evil.example:{port}")] {
        let got = served.send("GET /inbox", &[("host", host), ("cookie", &browser.cookie)], "");
        assert_eq!(got.status, 403, "{host}");
    }
    let body = browser.answer(1, "once").to_string();
    let origin = served.origin();
    let other = format!("http://localhost:{}", port.wrapping_add(1));
    let ours = [
        ("origin", origin.as_str()),
        ("sec-fetch-site", "same-origin"),
        ("content-type", "application/json"),
    ];
    for (at, value, status) in [
        (0, other.as_str(), 403),
        (0, "null", 403),
        (1, "cross-site", 403),
        (1, "same-site", 403),
        (2, "text/plain", 415),
        (2, "application/x-www-form-urlencoded", 415),
    ] {
        let mut headers = ours.to_vec();
        headers[at].1 = value;
        headers.push(("cookie", &browser.cookie));
        assert_eq!(served.send("POST /api/answer", &headers, &body).status, status, "{value}");
    }
    for method in ["GET", "PUT", "DELETE"] {
        let got = served.send(&format!("{method} /api/answer"), &[("cookie", &browser.cookie)], "");
        assert!([403, 404].contains(&got.status), "{method}: {got:?}");
    }
    let large = json!({"edit": "x".repeat(300 * 1024)});
    assert_eq!(served.post("/api/answer", &browser.cookie, &large).status, 413);
    let waiting = world.eclusa(&["--json", "approvals"]);
    assert_eq!(waiting.out.lines().count(), 1, "it still waits");
}

#[test]
fn a_cookie_reads_and_only_the_key_answers_exactly_what_it_signed() {
    let world = World::new();
    parked(&world, "hello");
    parked(&world, "world");
    let served = Served::start(&world);
    let browser = served.pair();
    let right = browser.answer(1, "once");
    let with = |key: &str, value: Value| {
        let mut changed = right.clone();
        changed[key] = value;
        served.post("/api/answer", &browser.cookie, &changed).status
    };
    let stranger = key_pair(&ECDSA_P256_SHA256_FIXED_SIGNING);
    let other = stranger.sign(&SystemRandom::new(), b"eclusa answer v1").unwrap();
    assert_eq!(with("questions", json!([2])), 403, "another question");
    assert_eq!(with("answer", json!("abort")), 403, "another answer");
    assert_eq!(with("signature", json!(STANDARD.encode(other))), 403, "another key");
    assert_eq!(with("expires", json!(1)), 403, "too old");
    assert_eq!(with("workspace", json!("../x")), 404);
    assert_eq!(with("extra", json!(1)), 400);
    assert_eq!(served.post("/api/answer", "", &right).status, 401, "no cookie");
    assert_eq!(world.eclusa(&["--json", "approvals"]).out.lines().count(), 2);
    let got = served.post("/api/answer", &browser.cookie, &right);
    assert_eq!(got.status, 200, "{got:?}");
    // Nobody waits for it: the page applies what was shown.
    assert!(got.body.contains("applied as call"), "{got:?}");
    assert_eq!(world.read("workspace/notes.txt"), "hello\n");
    let answered = world.records().into_iter().find(|it| it["event"] == "answered").unwrap();
    assert_eq!(answered["approval"]["proof"], "key");
    assert_eq!(answered["approval"]["by"], "tester");
    // The same again is the same; a signed answer opens nothing twice.
    assert_eq!(served.post("/api/answer", &browser.cookie, &right).status, 200);
    assert_eq!(world.eclusa(&["resume", "1"]).code, 1);
}

/// Whatever a model has run, it reaches neither the queue and its keys nor the page.
#[test]
fn a_command_in_the_sandbox_reaches_neither_the_queue_nor_the_page() {
    let world = World::new();
    parked(&world, "hello");
    let served = Served::start(&world);
    drop(served.pair());
    let state = world.path("state/eclusa").display().to_string();
    let command = format!(
        "cat {state}/people {state}/*/eclusa.db && echo reads; ls {state}/* && echo lists; \
         (exec 3<>/dev/tcp/127.0.0.1/{}) && echo connects; echo done",
        served.port
    );
    let args = json!({ "command": command }).to_string();
    let ran = world.eclusa(&["--mode", "yolo", "run", "bash", &args]);
    for word in ["reads", "lists", "connects", "hello"] {
        assert!(!ran.out.lines().any(|it| it == word), "{word}: {ran:?}");
    }
    assert_eq!(world.eclusa(&["--json", "approvals"]).out.lines().count(), 1, "it still waits");
}

/// What takes back, ends and undoes is signed as well, each over what it does and nothing else.
#[test]
fn taking_back_ending_and_undoing_are_signed_like_answers() {
    // Asked before it runs: a yes can be taken back until somebody comes for it.
    let world = World::with("[[rules]]\ndecision = \"ask\"\ntool = \"note\"\n");
    parked(&world, "hello");
    parked(&world, "world");
    let served = Served::start(&world);
    let browser = served.pair();
    let [workspace, queue, _, person] = browser.shown("/inbox");
    let act = |what: &str, signed_as: &str, (subject, value): (&str, Value)| {
        let expires = now() + 60_000;
        let statement: BTreeMap<&str, Value> = BTreeMap::from([
            (subject, value.clone()),
            ("expires", json!(expires)),
            ("person", json!(person)),
            ("queue", json!(queue)),
        ]);
        let statement = serde_json::to_string(&statement).unwrap();
        let signature = browser.sign(&format!("eclusa {signed_as} v1\n{statement}"));
        let mut body = json!({"workspace": workspace, "expires": expires, "signature": signature});
        body[subject] = value;
        served.post(&format!("/api/{what}"), &browser.cookie, &body)
    };
    let got = served.post("/api/answer", &browser.cookie, &browser.answer(1, "once"));
    assert_eq!(got.status, 200, "{got:?}");
    let first = || ("question", json!(1));
    assert_eq!(act("revoke", "undo", first()).status, 403, "signed for something else");
    assert_eq!(act("revoke", "revoke", first()).status, 200);
    assert_eq!(act("revoke", "revoke", first()).status, 409, "there is no yes any more");
    let ended = act("end", "end", ("conversation", json!("command-line")));
    assert_eq!((ended.status, ended.body.trim()), (200, "{\"ended\":1}"));
    assert_eq!(world.eclusa(&["--json", "approvals"]).out, "");
    for id in ["1", "2"] {
        assert_ne!(world.eclusa(&["resume", id]).code, 0);
    }
    assert!(!world.path("workspace/notes.txt").exists());

    parked(&world, "third");
    assert_eq!(world.eclusa(&["approvals", "yes", "3"]).code, 0);
    assert_eq!(world.eclusa(&["resume", "3"]).code, 0);
    assert_eq!(world.read("workspace/notes.txt"), "third\n");
    let log = browser.get("/log?outcome=good&q=third").body;
    let row = log.split(&format!("href=\"/log/{workspace}/")).nth(1).unwrap();
    let call: u64 = row.split('"').next().unwrap().parse().unwrap();
    let undone = act("undo", "undo", ("call", json!(call)));
    assert_eq!(undone.status, 200, "{undone:?}");
    assert!(!world.path("workspace/notes.txt").exists());
    // Whoever goes on trying has to wait.
    assert!((0..20).any(|_| act("undo", "end", ("call", json!(call))).status == 429));
}
