//! What a hostile or broken machine could send, each refused with a sentence, nothing kept and nothing lost.

use std::{io::Write as _, thread};

use eclusa::audit::{Head, Record};
use eclusa_fleet::{
    MachineKey, RequestLine,
    shipment::{MAX_SHIPMENT, pack},
};
use serde_json::{Value, json};

use super::server::{Server, Trail, enrolment, now, send, signed};

/// A chain of records of one's own.
struct OwnChain {
    key: MachineKey,
    machine: u32,
    chain: u64,
    head: Head,
}

const ZERO: &str = "0000000000000000000000000000000000000000000000000000000000000000";

impl OwnChain {
    fn begin(trail: &Trail) -> OwnChain {
        let (key, machine) = trail.stranger();
        let body = json!({"store": "s", "workspace": "/w", "begins": {"seq": 0, "hash": ZERO}});
        let body = body.to_string();
        let (status, said) =
            signed(&trail.server.url, &key, machine, "/v1/chains", body.as_bytes());
        assert_eq!(status, 200, "{said}");
        // The same again is the same chain.
        let again = signed(&trail.server.url, &key, machine, "/v1/chains", body.as_bytes());
        assert_eq!(again, (status, said.clone()));
        OwnChain { key, machine, chain: said["chain"].as_u64().unwrap(), head: Head::default() }
    }

    fn path(&self) -> String {
        let OwnChain { chain, head, .. } = self;
        format!("/v1/records?chain={chain}&before={}&previous={}", head.seq, head.hash)
    }

    fn ship(&self, server: &str, packed: &[u8]) -> (u16, Value) {
        signed(server, &self.key, self.machine, &self.path(), packed)
    }
}

fn body(text: &str) -> String {
    format!(r#"{{"at":1,"number":1,"text":"{text}","tool":"t","v":2}}"#)
}

fn kept(trail: &Trail) -> String {
    trail.database.query("select count(*) || ' ' || coalesce(max(last), 0) from segments")
}

#[test]
fn a_shipment_is_kept_once_however_often_it_is_sent() {
    let Some(trail) = Trail::new() else { return };
    let mut own = OwnChain::begin(&trail);
    let other = Server::start(&trail.fleet.world, &trail.database.address());
    let packed = pack([body("a").as_str(), body("b").as_str()]).unwrap();
    // Two servers side by side, and everybody at one moment.
    let codes: Vec<u16> = thread::scope(|scope| {
        let send = |at: usize| {
            let server = if at.is_multiple_of(2) { &trail.server.url } else { &other.url };
            let (own, packed) = (&own, &packed);
            scope.spawn(move || own.ship(server, packed).0)
        };
        let all: Vec<_> = (0..8).map(send).collect();
        all.into_iter().map(|it| it.join().unwrap()).collect()
    });
    assert_eq!(codes.iter().filter(|it| **it == 200).count(), 1, "{codes:?}");
    assert!(codes.iter().all(|it| [200, 409].contains(it)), "{codes:?}");
    assert_eq!(kept(&trail), "1 2");
    let mut head = own.head;
    for text in ["a", "b"] {
        Record::chain(body(text), &mut head);
    }
    let (status, said) = own.ship(&trail.server.url, &packed);
    let expected = json!({"seq": 2, "hash": head.hash.to_string()});
    assert_eq!((status, &said["head"]), (409, &expected), "it hears its own head");
    // What follows is taken by the other one, too.
    own.head = head;
    assert_eq!(own.ship(&other.url, &pack([body("c").as_str()]).unwrap()).0, 200);
    assert_eq!(kept(&trail), "2 3");
}

#[test]
fn what_is_not_a_shipment_is_refused_and_nothing_is_kept() {
    let Some(trail) = Trail::new() else { return };
    let own = OwnChain::begin(&trail);
    let server = &trail.server.url;
    let bomb = {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        let zeros = vec![b' '; 1 << 20];
        (0..64).for_each(|_| packed.write_all(&zeros).unwrap());
        packed.finish().unwrap()
    };
    assert!(bomb.len() < 100_000);
    for (packed, status, why) in [
        (bomb, 413, "send fewer at once"),
        (vec![7; MAX_SHIPMENT + 1], 413, "send less at once"),
        (b"plain text".to_vec(), 422, "not one whole gzip stream"),
        (pack(["{\"v\":2, \"at\":1}"]).unwrap(), 422, "not written in the form of its version"),
        (pack(["no JSON"]).unwrap(), 422, "not written in the form"),
        (Vec::new(), 422, "not one whole gzip stream"),
    ] {
        let (found, said) = own.ship(server, &packed);
        assert_eq!(found, status, "{said}");
        assert!(said["error"].as_str().unwrap().contains(why), "{said}");
    }
    let good = pack([body("x").as_str()]).unwrap();
    for (path, status) in [
        ("/v1/records".to_owned(), 422),
        (own.path().replace("previous=0", "previous=x"), 422),
        (own.path().replace("before=0", "before=99999999999999999999"), 422),
        // Out of order: the head is another.
        (own.path().replace("before=0", "before=5"), 409),
        (own.path().replace("previous=0", "previous=1"), 409),
        ("/v1/nothing".to_owned(), 404),
    ] {
        let (found, said) = signed(server, &own.key, own.machine, &path, &good);
        assert_eq!(found, status, "{path}: {said}");
    }
    assert_eq!(kept(&trail), "0 0");
    // What a machine writes into a record that the index cannot hold is no reason to refuse it.
    let odd = r#"{"at":18446744073709551615,"number":1,"tool":"a\u0000b","v":1}"#;
    assert_eq!(own.ship(server, &pack([odd]).unwrap()).0, 200);
    assert_eq!(trail.database.query("select tool from calls"), "ab");
}

#[test]
fn nobody_speaks_for_another_machine() {
    let Some(trail) = Trail::new() else { return };
    let (own, other) = (OwnChain::begin(&trail), OwnChain::begin(&trail));
    let server = &trail.server.url;
    let packed = pack([body("x").as_str()]).unwrap();
    let path = own.path();
    let line = |fleet, path| RequestLine { fleet, method: "POST", path, body: &packed };
    // The chain of another machine is not there.
    let (status, said) = signed(server, &other.key, other.machine, &path, &packed);
    assert_eq!(status, 404, "{said}");
    let good = line("acme", &path);
    let old = good.sign(&own.key, own.machine, now() - 6 * 60_000);
    for (why, header, body) in [
        ("nobody signed", String::new(), &packed),
        ("another key", good.sign(&other.key, own.machine, now()), &packed),
        ("another machine", good.sign(&own.key, other.machine, now()), &packed),
        ("no such machine", good.sign(&own.key, 999, now()), &packed),
        ("another fleet", line("other", &path).sign(&own.key, own.machine, now()), &packed),
        ("another path", line("acme", "/v1/sync").sign(&own.key, own.machine, now()), &packed),
        ("another body", good.sign(&own.key, own.machine, now()), &pack(["{}"]).unwrap()),
        ("replayed later", old.clone(), &packed),
    ] {
        let (status, said) = send(server, "POST", &path, &header, body);
        assert_eq!(status, 401, "{why}: {said}");
    }
    // Whose clock is off hears the time.
    let (_, said) = send(server, "POST", &path, &old, &packed);
    assert!(said["now"].as_u64().unwrap().abs_diff(now()) < 60_000, "{said}");
    assert_eq!(kept(&trail), "0 0");
    // A machine that is stopped is told why, within a second.
    trail.database.query(&format!(
        "update machines set stopped = 'suspended by lea', changed = now() where id = {}",
        own.machine
    ));
    crate::world::wait_until("the machine is locked out", || {
        let (status, said) = own.ship(server, &packed);
        status == 423 && said["error"].as_str().unwrap().contains("suspended by lea")
    });
}

#[test]
fn an_invite_lets_in_as_many_machines_as_it_says() {
    let Some(trail) = Trail::new() else { return };
    let server = &trail.server.url;
    let keys: Vec<MachineKey> = (0..4).map(|_| MachineKey::generate().unwrap()).collect();
    let code = trail.code("2");
    let enrol =
        |key: &MachineKey, code: &str| signed(server, key, 0, "/v1/enroll", &enrolment(code, key));
    let first = enrol(&keys[0], &code);
    assert_eq!(first.0, 200, "{}", first.1);
    let again = enrol(&keys[0], &code);
    assert_eq!(again.1["machine"], first.1["machine"], "one key is one machine");
    assert_eq!(enrol(&keys[1], &code).0, 200, "and counts once");
    let (status, said) = enrol(&keys[2], &code);
    assert_eq!(status, 403);
    assert!(said["error"].as_str().unwrap().contains("used as often as it may be"), "{said}");
    // The secret is part of it, and who signs is who enters.
    let mut body: Value = serde_json::from_slice(&enrolment(&trail.code("1"), &keys[3])).unwrap();
    let (status, said) = signed(server, &keys[2], 0, "/v1/enroll", body.to_string().as_bytes());
    assert!(status == 403 && said["error"].as_str().unwrap().contains("did not sign"), "{said}");
    body["secret"] = "guessed".into();
    let (status, said) = signed(server, &keys[3], 0, "/v1/enroll", body.to_string().as_bytes());
    assert!(status == 403 && said["error"].as_str().unwrap().contains("secret"), "{said}");
    assert_eq!(trail.database.query("select count(*) from machines"), "2");
    // An invite of another fleet is signed by keys that count for nothing here.
    let other = super::Fleet::new(&[]);
    other.push("# other\n");
    let foreign = super::server::code(&other, server, "1");
    let (status, said) = enrol(&keys[3], &foreign);
    assert_eq!(status, 403, "{said}");
}
