//! People at the page of a fleet, with authenticators and browsers in software.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use eclusa_fleet::{EnrolmentCode, PERSON, join_statement, sign_in_statement};
use ring::{
    rand::SystemRandom,
    signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _},
};
use serde_json::{Value, json};
use sha2_hex::sha256;

use super::{
    office::Office,
    server::{Server, now},
};
use crate::{approvals_page::key_pair, passkeys::Authenticator};

/// What a page answered.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) status: u16,
    pub(super) head: String,
    pub(super) body: String,
}

/// Which key somebody has.
pub(super) enum PageKey {
    Passkey(Authenticator),
    Browser(EcdsaKeyPair),
}

/// Somebody at the page.
pub(super) struct PagePerson {
    pub(super) name: String,
    pub(super) port: String,
    pub(super) cookie: String,
    pub(super) key: PageKey,
}

mod sha2_hex {
    use ring::digest::{SHA256, digest};

    pub(super) fn sha256(text: &str) -> String {
        digest(&SHA256, text.as_bytes()).as_ref().iter().map(|it| format!("{it:02x}")).collect()
    }
}

impl PageKey {
    pub(super) fn browser() -> PageKey {
        PageKey::Browser(key_pair(&ECDSA_P256_SHA256_FIXED_SIGNING))
    }

    fn public(pair: &EcdsaKeyPair) -> String {
        STANDARD.encode(pair.public_key().as_ref())
    }

    /// A signature, and what names the key.
    pub(super) fn signed(&self, text: &str) -> Value {
        match self {
            PageKey::Passkey(it) => json!({"passkey": it.credential(), "signature": it.sign(text)}),
            PageKey::Browser(pair) => {
                let signature = pair.sign(&SystemRandom::new(), text.as_bytes()).unwrap();
                let id: String = sha256(&PageKey::public(pair)).chars().take(16).collect();
                json!({"key": id, "signature": STANDARD.encode(signature.as_ref())})
            }
        }
    }
}

/// The code of a link of an invite.
pub(super) fn invited(office: &Office, name: &str, uses: &str) -> EnrolmentCode {
    let server = office.trail.server.url.replace("127.0.0.1", "localhost");
    let args = ["invite", "--server", &server, "--person", name, "--uses", uses];
    let ran = office.trail.fleet.signed(&args, "--documents", "enroll-1");
    assert_eq!(ran.code, 0, "{ran:?}");
    let link = ran.out.split_whitespace().last().unwrap().to_owned();
    let (page, code) = link.split_once("/join#").unwrap();
    assert_eq!(page, server);
    code.parse().unwrap()
}

/// The body of the request with which a key is made.
pub(super) fn joining(code: &EnrolmentCode, key: &PageKey, expires: u64) -> Value {
    let invite = serde_json::to_value(&code.invite).unwrap();
    let payload = invite["payload"].as_str().unwrap();
    let found = |name: &str| {
        payload.lines().find_map(|it| it.strip_prefix(name)).unwrap_or_default().to_owned()
    };
    let (id, person) = (found("id "), found(&format!("label {PERSON}=")));
    let text = join_statement("acme", &id, &person, expires);
    let mut body = json!({"invite": code.invite, "secret": code.secret, "expires": expires});
    match key {
        PageKey::Passkey(it) => body["passkey"] = it.made(&text),
        PageKey::Browser(pair) => {
            body["public"] = PageKey::public(pair).into();
            body["signature"] = key.signed(&text)["signature"].clone();
        }
    }
    body
}

pub(super) fn with(mut body: Value, more: &Value) -> Value {
    for (name, value) in more.as_object().unwrap() {
        body[name] = value.clone();
    }
    body
}

impl PagePerson {
    /// With this key, which nobody knows.
    pub(super) fn stranger(server: &Server, name: &str, key: PageKey) -> PagePerson {
        let port = server.url.rsplit(':').next().unwrap().to_owned();
        PagePerson { name: name.to_owned(), port, cookie: String::new(), key }
    }

    /// Somebody who has a passkey that is signed into the people document, and who looks.
    pub(super) fn with_passkey(office: &Office, name: &'static str) -> PagePerson {
        let origin = office.trail.server.url.replace("127.0.0.1", "localhost");
        PagePerson::joined(office, name, PageKey::Passkey(Authenticator::at(&origin, name)))
    }

    pub(super) fn joined(office: &Office, name: &str, key: PageKey) -> PagePerson {
        let mut person = PagePerson::stranger(&office.trail.server, name, key);
        let body = joining(&invited(office, name, "1"), &person.key, now() + 60_000);
        let got = person.post("/page/join", &body);
        assert_eq!(got.status, 200, "{got:?}");
        let made: Value = serde_json::from_str(&got.body).unwrap();
        assert_eq!(made["person"], name);
        let digest = made["digest"].as_str().unwrap();
        let world = &office.trail.fleet.world;
        let database = office.trail.database.address();
        let digits: String = digest.chars().take(32).collect();
        let ran = world.eclusa(&["fleet", "keys", "--database", &database, "--accept", &digits]);
        assert!(ran.code == 0 && ran.out.contains(&format!("is a key of {name}")), "{ran:?}");
        office.sign_people();
        let got = person.look();
        assert_eq!(got.status, 200, "{got:?}");
        person
    }

    pub(super) fn origin(&self) -> String {
        format!("http://localhost:{}", self.port)
    }

    pub(super) fn send(&self, method: &str, path: &str, headers: &str, body: &str) -> Page {
        use std::io::{Read as _, Write as _};
        let mut stream = std::net::TcpStream::connect(format!("127.0.0.1:{}", self.port)).unwrap();
        let length = body.len();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nconnection: close\r\ncookie: {}\r\ncontent-length: {length}\r\n{headers}\r\n{body}",
            self.cookie
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let answer = String::from_utf8_lossy(&answer);
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{answer}"));
        let status = head.split_whitespace().nth(1).unwrap().parse().unwrap();
        Page { status, head: head.to_owned(), body: body.to_owned() }
    }

    pub(super) fn get(&self, path: &str) -> Page {
        self.send("GET", path, &format!("host: localhost:{}\r\n", self.port), "")
    }

    /// As the page itself sends it.
    pub(super) fn post(&self, path: &str, body: &Value) -> Page {
        let headers = format!(
            "host: localhost:{0}\r\norigin: http://localhost:{0}\r\nsec-fetch-site: same-origin\r\ncontent-type: application/json\r\n",
            self.port
        );
        self.send("POST", path, &headers, &body.to_string())
    }

    /// What somebody signs who looks.
    pub(super) fn looking(&self, nonce: &str, expires: u64) -> Value {
        let text = sign_in_statement("acme", &self.origin(), nonce, expires);
        let body =
            json!({"fleet": "acme", "origin": self.origin(), "nonce": nonce, "expires": expires});
        with(body, &self.key.signed(&text))
    }

    /// Signs in.
    pub(super) fn look(&mut self) -> Page {
        let nonce = format!("n{}", std::process::id()) + &now().to_string();
        let got = self.post("/page/sign-in", &self.looking(&nonce, now() + 60_000));
        let cookie = got.head.lines().find_map(|it| it.strip_prefix("set-cookie: "));
        self.cookie = cookie.map(|it| it.split(';').next().unwrap().to_owned()).unwrap_or_default();
        got
    }

    /// What the page says of a question: an attribute of it.
    pub(super) fn shown(&self, number: u64, name: &str) -> String {
        let page = self.get(&format!("/inbox?question={number}")).body;
        let (_, rest) =
            page.split_once(&format!(" data-{name}=\"")).unwrap_or_else(|| panic!("{page}"));
        rest.split_once('"').unwrap().0.to_owned()
    }

    /// A yes to this question, as the page would send it.
    pub(super) fn yes(&self, number: u64) -> Value {
        self.yes_until(number, now() + 60_000)
    }

    pub(super) fn yes_until(&self, number: u64, expires: u64) -> Value {
        let (store, binding) = (self.shown(number, "store"), self.shown(number, "binding"));
        let id: u64 = self.shown(number, "id").parse().unwrap();
        let statement = json!({
            "answer": "once", "binding": binding, "edit_sha256": null, "expires": expires,
            "person": self.name, "questions": [id], "queue": store, "reason_sha256": null,
        });
        let text = format!("eclusa answer v1\n{statement}");
        let body = json!({
            "kind": "vote", "numbers": [number], "answer": "once", "expires": expires, "statement": text,
        });
        with(body, &self.key.signed(&text))
    }

    /// Says it, and again where so many answers at once are too many.
    pub(super) fn says(&self, body: &Value) -> Page {
        loop {
            let got = self.post("/page/answers", body);
            if got.status != 429 {
                return got;
            }
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
    }
}
