//! Answers that nobody gave: a hostile server, a stolen database and people without a right to answer, each refused on the
//! machine, which says why; nothing is opened.

use eclusa::Answer;
use eclusa_approvals::KeyFile;
use serde_json::{Value, json};

use super::{
    office::{Forged, Office, park, state},
    server::{now, send},
    sync,
};

/// What makes an answer one that does not count.
type Change = Box<dyn Fn(&mut Forged)>;

fn differing(change: impl Fn(&mut Forged) + 'static) -> Change {
    Box::new(change)
}

#[test]
fn a_server_that_invents_answers_opens_nothing() {
    let Some(office) = Office::new() else { return };
    let machine = office.machine("");
    let stranger = office.trail.fleet.world.path("stranger.key");
    KeyFile::create(&stranger).unwrap();
    let body = |name: &'static str, value: Value| -> Change {
        differing(move |it| it.body[name] = value.clone())
    };
    let ana = office.key("ana");
    let cases: Vec<(&str, Change, &str)> = vec![
        ("nobody signed", body("signature", json!("")), "no key of `bo`"),
        ("a word", body("key", json!("")), "no key of `bo`"),
        (
            "a key that nobody vouched for",
            differing(move |it| it.signer = stranger.clone()),
            "no key of `bo`",
        ),
        ("the key of another", differing(move |it| it.signer = ana.clone()), "no key of `bo`"),
        ("in the name of another", body("person", json!("ana")), "somebody else signed it"),
        ("another store", differing(|it| it.signed_queue = "other".to_owned()), "another store"),
        ("another question", differing(|it| it.signed_question += 7), "another question"),
        (
            "another binding",
            differing(|it| it.signed_binding = "other".to_owned()),
            "another binding",
        ),
        ("expired", differing(|it| it.signed_expires = now() - 1), "it came too late"),
        (
            "a no as a yes",
            differing(|it| it.signed_answer = Answer::No(String::new())),
            "another answer",
        ),
        ("for the session", body("answer", json!("session")), "only a yes or a no"),
        ("a store that is not there", body("store", json!("nowhere")), "no such store"),
        ("an unknown order", differing(|it| it.kind = "undo".to_owned()), "does not know messages"),
        ("a yes as an order", differing(|it| it.kind = "revoke".to_owned()), "says something else"),
        (
            "an end that nobody signed",
            differing(|it| it.kind = "end".to_owned()),
            "says something else",
        ),
        (
            "other words than were signed",
            differing(|it| {
                (it.signed_answer, it.body["answer"]) =
                    (Answer::No("not now".to_owned()), json!("no"));
                it.body["reason"] = json!("the build is broken");
            }),
            "or with other words",
        ),
    ];
    let database = &office.trail.database;
    // Each of them differs in one thing from an answer that counts, and has a question of its own.
    let mut wrong = Vec::new();
    for (id, (what, change, why)) in (1..).zip(&cases) {
        park(&machine, what);
        let mut forged = office.forged(&machine, id);
        change(&mut forged);
        office.send(&forged);
        let _ = sync(&machine);
        let said = format!("select coalesce(refused, '') from questions where id = {id}");
        let said = database.query(&said);
        let stands = state(&machine, id);
        if !said.contains(why) || stands != "pending" {
            wrong.push(format!("{what}: {stands}, {said:?}"));
        }
        assert_eq!(database.query("select count(*) from messages"), "0", "{what}");
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    // Of all these nothing is left, and a true one counts.
    office.send(&office.forged(&machine, 1));
    assert_eq!(sync(&machine).code, 0);
    assert_eq!(state(&machine, 1), "approved");
    assert_eq!(machine.eclusa(&["resume", "1"]).code, 0);
    assert_eq!(machine.read("workspace/notes.txt"), "nobody signed\n");
}

#[test]
fn an_answer_that_was_used_answers_nothing_else() {
    let Some(office) = Office::new() else { return };
    let machine = office.machine("");
    park(&machine, "hello");
    let good = office.forged(&machine, 1);
    office.send(&good);
    assert_eq!(sync(&machine).code, 0);
    assert_eq!(machine.eclusa(&["resume", "1"]).code, 0);
    // The same call, asked again, is another question.
    park(&machine, "hello");
    office.send(&good);
    let mut second = good.clone();
    second.body["question"] = json!(2);
    office.send(&second);
    assert_eq!(sync(&machine).code, 0);
    assert_eq!(state(&machine, 2), "pending");
    let refused = office.trail.database.query("select refused from questions where id = 2");
    assert!(refused.contains("another question"), "{refused}");
    assert_eq!(machine.read("workspace/notes.txt"), "hello\n");
}

#[test]
fn a_removed_key_and_an_unsigned_list_answer_nothing() {
    let Some(office) = Office::new() else { return };
    let machine = office.machine("");
    park(&machine, "hello");
    // Signed while it counted, delivered when it does not any more.
    office.send(&office.forged(&machine, 1));
    assert_eq!(office.trail.fleet.world.eclusa(&["people", "remove", "bo"]).code, 0);
    office.sign_people();
    let refused = office.refused(&machine);
    assert!(refused.contains("no key of `bo` in the people document in force"), "{refused}");
    assert_eq!(state(&machine, 1), "pending");
    // A list that nobody signed makes the machine stale, and nobody's key counts there.
    let file = "state/eclusa/fleet/documents.json";
    let kept = machine.read(file);
    machine.write(file, &kept.replace("\\\"name\\\":\\\"ana\\\"", "\\\"name\\\":\\\"bo\\\""));
    assert_ne!(machine.read(file), kept);
    let mut forged =
        Forged { signer: office.key("ana"), ..office_forged(&office, &kept, &machine, file) };
    forged.signed_person = "bo".to_owned();
    office.send(&forged);
    let _ = sync(&machine);
    assert_ne!(state(&machine, 1), "approved");
}

/// A yes while the documents of the machine cannot be read: the binding is looked up with the good ones.
fn office_forged(office: &Office, good: &str, machine: &crate::world::World, file: &str) -> Forged {
    let bad = machine.read(file);
    machine.write(file, good);
    let forged = office.forged(machine, 1);
    machine.write(file, &bad);
    forged
}

#[test]
fn a_false_text_under_a_true_number_opens_nothing_else() {
    let Some(office) = Office::new() else { return };
    let machine = office.machine("");
    park(&machine, "hello");
    // Whoever owns the database shows another call than the one that waits.
    office.trail.database.query("update questions set binding = 'another call'");
    assert_eq!(office.says("bo", &["yes", "1"]).code, 0);
    assert!(office.refused(&machine).contains("another binding"));
    assert_eq!(state(&machine, 1), "pending");
    let row = &office.inbox("bo")[0];
    assert!(row["refused"].as_str().unwrap().contains("another binding"), "it is said: {row}");
}

#[test]
fn somebody_at_the_machine_is_faster() {
    let Some(office) = Office::new() else { return };
    let machine = office.machine("");
    park(&machine, "hello");
    assert_eq!(office.says("bo", &["yes", "1"]).code, 0);
    assert_eq!(machine.eclusa(&["approvals", "no", "1", "mine"]).code, 0);
    let refused = office.refused(&machine);
    assert!(refused.contains("already rejected: `tester` answered `no`"), "{refused}");
    assert_eq!(state(&machine, 1), "rejected");
    assert_eq!(office.trail.database.query("select state from questions"), "rejected");
}

#[test]
fn only_people_of_the_fleet_look_and_answer() {
    let Some(office) = Office::new() else { return };
    let machine = office.machine("");
    park(&machine, "hello");
    let stranger = office.key("eve");
    KeyFile::create(&stranger).unwrap();
    for args in [&["inbox"][..], &["show", "1"], &["yes", "1"]] {
        let ran = office.says("eve", args);
        assert!(ran.code == 3 && ran.err.contains("no key of the people document"), "{ran:?}");
    }
    let server = &office.trail.server.url;
    // Neither a machine's signature nor an old one opens the inbox.
    let key = KeyFile::open(&office.key("bo")).unwrap();
    let header = |at: u64, fleet: &str| {
        let line =
            eclusa_fleet::RequestLine { fleet, method: "GET", path: "/v1/questions", body: b"" };
        let id = key.public(String::new(), 0).id;
        let signature = key.sign(&eclusa_fleet::PersonAuthor::text(&line, &id, at));
        eclusa_fleet::PersonAuthor { key: id, at, signature }.header()
    };
    let get = |header: &str| send(server, "GET", "/v1/questions", header, b"").0;
    assert_eq!(get(&header(now(), "acme")), 200);
    assert_eq!(get(&header(now() - 6 * 60_000, "acme")), 401);
    assert_eq!(get(&header(now(), "other")), 401);
    assert_eq!(get(""), 401);
    // Bo hands in what ana would have signed.
    let ran = office.says("ana", &["yes", "1"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(office.trail.database.query("select string_agg(person, ' ') from votes"), "ana");
}
