//! Passkeys through the page, with an authenticator in software: one gesture answers one question.

use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use ring::{
    digest::{SHA256, digest},
    rand::SystemRandom,
    signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair as _},
};
use serde_json::{Value, json};

use crate::{
    approvals_page::{Browser, Got, Served, key_pair, now},
    world::World,
};

/// An authenticator that was asked for one page.
pub(crate) struct Authenticator {
    pair: EcdsaKeyPair,
    origin: String,
    name: &'static str,
    /// Whose it is.
    person: &'static str,
    /// Somebody was there, and it knows who.
    flags: u8,
}

impl Authenticator {
    fn new(served: &Served, name: &'static str) -> Authenticator {
        Authenticator { name, ..Authenticator::at(&served.origin(), "tester") }
    }

    /// Somebody's, that was asked for the page at this address.
    pub(crate) fn at(origin: &str, person: &'static str) -> Authenticator {
        let pair = key_pair(&ECDSA_P256_SHA256_ASN1_SIGNING);
        Authenticator { pair, origin: origin.to_owned(), name: person, person, flags: 0x05 }
    }

    pub(crate) fn credential(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.name)
    }

    fn public(&self) -> String {
        STANDARD.encode(self.pair.public_key().as_ref())
    }

    fn client_data(&self, kind: &str, text: &str) -> String {
        let challenge = URL_SAFE_NO_PAD.encode(digest(&SHA256, text.as_bytes()));
        json!({"type": kind, "challenge": challenge, "origin": self.origin}).to_string()
    }

    fn head(&self, flags: u8) -> Vec<u8> {
        let name = self.origin.split_once("://").map_or("", |it| it.1);
        let name = name.split(':').next().unwrap_or_default();
        [digest(&SHA256, name.as_bytes()).as_ref(), &[flags, 0, 0, 0, 1]].concat()
    }

    pub(crate) fn sign(&self, text: &str) -> String {
        let (client, data) = (self.client_data("webauthn.get", text), self.head(self.flags));
        let signed = [&data[..], digest(&SHA256, client.as_bytes()).as_ref()].concat();
        let signature = self.pair.sign(&SystemRandom::new(), &signed).unwrap();
        let [data, client] = [data, client.into_bytes()].map(|it| STANDARD.encode(it));
        json!({"authenticator_data": data, "client_data": client,
               "signature": STANDARD.encode(signature)})
        .to_string()
    }

    /// What it says when it makes a key over a text.
    pub(crate) fn made(&self, text: &str) -> Value {
        let point = self.pair.public_key().as_ref();
        let length = u16::try_from(self.name.len()).unwrap().to_be_bytes();
        let data = [
            &self.head(self.flags | 0x40),
            &[0; 16][..],
            &length,
            self.name.as_bytes(),
            &[0xa5, 1, 2, 3, 0x26, 0x20, 1, 0x21, 0x58, 0x20],
            &point[1..33],
            &[0x22, 0x58, 0x20],
            &point[33..],
        ];
        json!({
            "credential": self.credential(), "public": self.public(),
            "authenticator_data": STANDARD.encode(data.concat()),
            "client_data": STANDARD.encode(self.client_data("webauthn.create", text)),
        })
    }

    /// The same one, asked by another page, or without looking who is there.
    pub(crate) fn asked(self, origin: &str, flags: u8) -> Authenticator {
        Authenticator { origin: origin.to_owned(), flags, ..self }
    }

    /// Makes a key, and registers it with what vouches for it.
    pub(crate) fn register(&self, browser: &Browser<'_>, by: Option<&Authenticator>) -> Got {
        let (expires, person) = (now() + 60_000, self.person);
        let made = format!("eclusa passkey v1\n{}", json!({"expires": expires, "person": person}));
        let (credential, public) = (self.credential(), self.public());
        let statement = json!({
            "credential": credential, "expires": expires, "person": person, "public": public,
        });
        let statement = format!("eclusa register v1\n{statement}");
        let mut body = json!({"passkey": self.made(&made), "expires": expires});
        match by {
            Some(by) => {
                body["by"] = by.credential().into();
                body["signature"] = by.sign(&statement).into();
            }
            None => body["signature"] = browser.sign(&statement).into(),
        }
        browser.served.post("/api/passkey", &browser.cookie, &body)
    }

    /// A yes to this question, as the page would send it.
    fn yes(&self, browser: &Browser<'_>, id: u64) -> Value {
        let [workspace, queue, binding, person] = browser.shown("/inbox");
        let expires = now() + 60_000;
        let statement = json!({
            "answer": "once", "binding": binding, "edit_sha256": null, "expires": expires,
            "person": person, "questions": [id], "queue": queue, "reason_sha256": null,
        });
        let signature = self.sign(&format!("eclusa answer v1\n{statement}"));
        json!({
            "workspace": workspace, "questions": [id], "binding": binding, "answer": "once",
            "expires": expires, "passkey": self.credential(), "signature": signature,
        })
    }
}

#[test]
fn a_passkey_opens_what_needs_one_and_a_second_needs_the_first() {
    let world = World::with("[[rules]]\ndecision = \"ask\"\ntool = \"note\"\nwith = \"passkey\"\n");
    assert_eq!(world.eclusa(&["run", "--park", "note", "text=hello"]).code, 4);
    let served = Served::start(&world);
    let browser = served.pair();
    let answer = |body: &Value| served.post("/api/answer", &browser.cookie, body);
    let got = answer(&browser.answer(1, "once"));
    assert!(
        got.status == 403 && got.body.contains("with a passkey"),
        "a key is not enough: {got:?}"
    );
    let word = world.eclusa(&["approvals", "yes", "1"]);
    assert!(word.code == 3 && word.err.contains("with a passkey"), "{word:?}");

    let unverified = Authenticator { flags: 0x01, ..Authenticator::new(&served, "unverified") };
    assert_eq!(unverified.register(&browser, None).status, 403, "nobody was verified");
    let phone = Authenticator::new(&served, "phone");
    assert_eq!(phone.register(&browser, None).status, 200);
    let thief = Authenticator::new(&served, "thief");
    let got = thief.register(&browser, None);
    assert!(got.status == 403 && got.body.contains("must vouch"), "{got:?}");
    assert_eq!(thief.register(&browser, Some(&thief)).status, 403, "nobody vouches for himself");
    let token = Authenticator::new(&served, "token");
    assert_eq!(token.register(&browser, Some(&phone)).status, 200);
    let listed = world.eclusa(&["people"]).out;
    assert_eq!(listed.matches("  passkey  ").count(), 2, "{listed}");

    let right = token.yes(&browser, 1);
    assert_eq!(answer(&thief.yes(&browser, 1)).status, 403);
    let mut other = right.clone();
    other["questions"] = json!([2]);
    assert!([403, 404].contains(&answer(&other).status), "another question");
    let got = answer(&right);
    assert_eq!(got.status, 200, "{got:?}");
    let ran = world.eclusa(&["resume", "1"]);
    assert_eq!((ran.code, world.read("workspace/notes.txt")), (0, "hello\n".to_owned()), "{ran:?}");
    let answered = world.records().into_iter().find(|it| it["event"] == "answered").unwrap();
    assert_eq!(answered["approval"]["proof"], "passkey");

    // What somebody writes into the queue is checked where the call runs.
    assert_eq!(world.eclusa(&["run", "--park", "note", "text=again"]).code, 4);
    assert_eq!(answer(&phone.yes(&browser, 2)).status, 200);
    let store = rusqlite::Connection::open(world.store_of_workspace()).unwrap();
    store.busy_timeout(std::time::Duration::from_secs(60)).unwrap();
    let replayed = "UPDATE answers SET (key, statement, signature) = \
                    (SELECT key, statement, signature FROM answers WHERE question = 1) \
                    WHERE question = 2";
    assert_eq!(store.execute(replayed, []).unwrap(), 1);
    drop(store);
    let ran = world.eclusa(&["resume", "2"]);
    let said = format!("{}{}", ran.out, ran.err);
    assert!(ran.code == 3 && said.contains("requires 1 of anybody, with a passkey"), "{ran:?}");
}
