//! Whoever wants a yes from the page of a fleet that nobody gave: other pages, other keys, other questions, old signatures,
//! people without a right, a server that shows something else, and texts that want to be markup.

use serde_json::{Value, json};

use super::{
    office::{ASK, Office, park, state},
    page_people::{Page, PageKey, PagePerson, invited, joining, with},
    server::{enrolment, now, signed},
    sync,
};
use crate::{passkeys::Authenticator, pending::QUEUE, world::World};

/// Texts that want to look like something else.
const SPOOFS: &str = include_str!("../../../../../tests/corpus/prompt-spoof.jsonl");

fn refused(got: &Page, status: u16, why: &str) {
    assert!(got.status == status && got.body.contains(why), "{why}: {got:?}");
}

/// Says something, and why it is refused.
fn does_not_count(person: &PagePerson, body: &Value, why: &str) {
    let got = person.says(body);
    assert!(got.status == 200 && got.body.contains("\"refused\""), "{why}: {got:?}");
    assert!(got.body.contains(why), "{why}: {got:?}");
}

#[test]
fn another_page_frames_nothing_and_sends_nothing() {
    let Some(office) = Office::new() else { return };
    let machine = office.machine("");
    park(&machine, "hello");
    let cy = PagePerson::joined(&office, "cy", PageKey::browser());
    let yes = cy.yes(1).to_string();
    let port = &cy.port;
    let (host, kind) =
        (format!("host: localhost:{port}\r\n"), "content-type: application/json\r\n");
    let own = format!("origin: http://localhost:{port}\r\n");
    let same = "sec-fetch-site: same-origin\r\n";
    for (what, headers) in [
        ("no origin", format!("{host}{same}{kind}")),
        ("another origin", format!("{host}origin: https://evil.example\r\n{same}{kind}")),
        ("another port", format!("{host}origin: http://localhost:1\r\n{same}{kind}")),
        ("another site", format!("{host}{own}sec-fetch-site: cross-site\r\n{kind}")),
        ("no site", format!("{host}{own}{kind}")),
        ("another name", format!("host: rebound.example:{port}\r\n{own}{same}{kind}")),
        ("two names", format!("{host}{host}{own}{same}{kind}")),
        ("a form", format!("{host}{own}{same}content-type: text/plain\r\n")),
    ] {
        for path in ["/page/answers", "/page/sign-in", "/page/join", "/page/sign-out"] {
            let got = cy.send("POST", path, &headers, &yes);
            assert!(matches!(got.status, 400 | 403 | 415), "{what} {path}: {got:?}");
        }
    }
    let got = cy.send("GET", "/inbox", &format!("host: rebound.example:{port}\r\n"), "");
    refused(&got, 403, "wrong Host header");
    for path in ["/inbox", "/join", "/fleet.js", "/page.js", "/approvals.css", "/nowhere"] {
        let head = cy.get(path).head;
        for it in [
            "default-src 'none'",
            "script-src 'self'",
            "connect-src 'self'",
            "frame-ancestors 'none'",
            "require-trusted-types-for 'script'",
            "x-frame-options: DENY",
            "referrer-policy: no-referrer",
            "cache-control: no-store",
            "cross-origin-resource-policy: same-origin",
            "x-content-type-options: nosniff",
        ] {
            assert!(head.contains(it), "{path} {it}: {head}");
        }
    }
    let page = cy.get("/inbox").body;
    assert!(
        !page.contains("http://") && !page.contains("https://"),
        "no request elsewhere: {page}"
    );
    assert!(!page.contains("<script>") && !page.contains(" onclick") && !page.contains(" style="));
    assert_eq!(state(&machine, 1), "pending");
    assert_eq!(office.trail.database.query("select count(*) from votes"), "0");
}

#[test]
fn what_was_signed_to_look_opens_the_page_once_here_and_now() {
    let Some(office) = Office::new() else { return };
    let mut cy = PagePerson::with_passkey(&office, "cy");
    let good = cy.looking("once", now() + 60_000);
    let mut stranger = PagePerson::stranger(&office.trail.server, "cy", PageKey::browser());
    assert_eq!(stranger.post("/page/sign-in", &good).status, 200);
    refused(&stranger.post("/page/sign-in", &good), 403, "has been used");
    let changed = |name: &str, value: Value| {
        let mut body = cy.looking(name, now() + 60_000);
        body[name] = value;
        body
    };
    for (body, why) in [
        (cy.looking("old", now() - 1), "too old"),
        (cy.looking("long", now() + 60 * 60_000), "too old"),
        (changed("expires", json!(now() + 61_000)), "no key of the people document"),
        (changed("nonce", json!("another")), "no key of the people document"),
        (changed("fleet", json!("other")), "for another page"),
        (changed("origin", json!("https://evil.example")), "for another page"),
        (changed("signature", json!("")), "no key of the people document"),
        (changed("passkey", json!("bm9uZQ")), "no key of the people document"),
    ] {
        refused(&stranger.post("/page/sign-in", &body), 403, why);
    }
    refused(&stranger.look(), 403, "no key of the people document");
    // An answer is no look, and a look is no answer.
    let machine = office.machine("");
    park(&machine, "hello");
    let yes = cy.yes(1);
    let mut body = cy.looking("n", now() + 60_000);
    body["signature"] = yes["signature"].clone();
    refused(&stranger.post("/page/sign-in", &body), 403, "no key of the people document");
    let mut body = yes;
    body["signature"] = cy.looking("m", now() + 60_000)["signature"].clone();
    does_not_count(&cy, &body, "no key of `cy`");
    // Another page's gesture, and one for which nobody was looked at.
    let origin = cy.origin();
    let PageKey::Passkey(own) = std::mem::replace(&mut cy.key, PageKey::browser()) else {
        panic!()
    };
    cy.key = PageKey::Passkey(own.asked("http://localhost:1", 0x05));
    does_not_count(&cy, &cy.yes(1), "no key of `cy`");
    let PageKey::Passkey(own) = std::mem::replace(&mut cy.key, PageKey::browser()) else {
        panic!()
    };
    cy.key = PageKey::Passkey(own.asked(&origin, 0x01));
    does_not_count(&cy, &cy.yes(1), "no key of `cy`");
    cy.key = PageKey::Passkey(Authenticator::at(&origin, "cy"));
    does_not_count(&cy, &cy.yes(1), "no key of `cy`");
    assert_eq!(state(&machine, 1), "pending");
}

#[test]
fn an_answer_of_the_page_is_for_one_question_of_one_person_once() {
    let Some(office) = Office::new() else { return };
    let machine = office.machine("");
    for text in ["one", "two", "three"] {
        park(&machine, text);
    }
    let cy = PagePerson::joined(&office, "cy", PageKey::browser());
    let dee = PagePerson::joined(&office, "dee", PageKey::browser());
    let changed = |name: &str, value: Value| with(cy.yes(1), &json!({ name: value }));
    for (body, why) in [
        (changed("numbers", json!([2])), "another binding"),
        (changed("signature", json!("")), "no key of `cy`"),
        (changed("key", json!("")), "no key of `cy`"),
        (changed("answer", json!("session")), "only a yes or a no"),
        (changed("answer", json!("no")), "another answer"),
        (changed("kind", json!("revoke")), "says something else"),
        (changed("kind", json!("undo")), "not known here"),
        (changed("statement", cy.yes(2)["statement"].clone()), "another binding"),
        (cy.yes_until(1, now() - 1), "it came too late"),
    ] {
        does_not_count(&cy, &body, why);
    }
    refused(&cy.says(&changed("numbers", json!([]))), 422, "between 1 and 200");
    refused(&cy.says(&changed("numbers", json!([99]))), 404, "no question 99");
    // What one signed, the other cannot hand in, nor somebody who has not signed in.
    does_not_count(&dee, &cy.yes(1), "somebody else signed it");
    let nobody = PagePerson::stranger(&office.trail.server, "cy", PageKey::browser());
    refused(&nobody.says(&cy.yes(1)), 401, "sign in first");
    assert_eq!(nobody.get("/inbox").status, 401);
    assert_eq!(nobody.get("/events").status, 401);
    assert_eq!(office.trail.database.query("select count(*) from votes"), "0");
    // Once: the same again is the same vote, and it answers nothing that is asked later.
    let yes = cy.yes(1);
    assert!(!cy.says(&yes).body.contains("refused"));
    assert!(!cy.says(&yes).body.contains("refused"));
    assert_eq!(office.trail.database.query("select count(*) from messages"), "1");
    assert_eq!(sync(&machine).code, 0);
    assert_eq!(machine.eclusa(&["resume", "1"]).code, 0);
    assert_eq!(sync(&machine).code, 0);
    does_not_count(&cy, &yes, "is taken by now");
    park(&machine, "one");
    does_not_count(&cy, &with(yes, &json!({"numbers": [4]})), "another question");
    assert_eq!(machine.read("workspace/notes.txt"), "one\n");
    assert_eq!(["2", "3", "4"].map(|it| state(&machine, it.parse().unwrap())), ["pending"; 3]);
}

#[test]
fn a_server_that_shows_something_else_opens_nothing_else() {
    let Some(office) = Office::new() else { return };
    let machine = office.machine("");
    park(&machine, "rm -rf everything");
    park(&machine, "harmless");
    let cy = PagePerson::with_passkey(&office, "cy");
    // The text of the second under the first, then the binding too, then the store's number: what the page shows is signed.
    let database = &office.trail.database;
    database.query(
        "update questions set binding = (select binding from questions where id = 2) where id = 1",
    );
    assert!(!cy.says(&cy.yes(1)).body.contains("refused"), "the server believes itself");
    let why = office.refused(&machine);
    assert!(why.contains("another binding"), "{why}");
    assert!(
        cy.get("/inbox?question=1")
            .body
            .contains("The last answer was refused: it was signed for another binding")
    );
    // What it makes of the vote of another question is none.
    assert!(!cy.says(&cy.yes(2)).body.contains("refused"));
    database.query("update messages set body = jsonb_set(body, '{question}', '1')");
    assert_eq!(sync(&machine).code, 0);
    assert_eq!((state(&machine, 1), state(&machine, 2)), ("pending".into(), "pending".into()));
    // Nor can it make somebody's key count by saying so.
    database.query("insert into pending_keys (id, invite, person, kind, public) values ('x', 'y', 'ana', 'browser', 'AAAA')");
    let stranger = PagePerson::stranger(&office.trail.server, "ana", PageKey::browser());
    let mut forged = office.forged(&machine, 1);
    forged.body["signature"] = stranger.key.signed("eclusa answer v1")["signature"].clone();
    office.send(&forged);
    assert_eq!(sync(&machine).code, 0);
    assert_eq!(state(&machine, 1), "pending");
    assert_eq!(machine.read("workspace/notes.txt"), "");
}

/// A machine knows the binding of a call that it makes itself. It shows something harmless under it, and would have the same call
/// of another answered with it.
#[test]
fn a_machine_that_shows_something_else_is_identical_to_nothing() {
    let Some(office) = Office::new() else { return };
    let (hostile, victim) = (office.machine(""), office.machine(""));
    park(&hostile, "rm -rf everything");
    office.trail.database.query(
        "update questions set text = replace(text::text, 'rm -rf everything', 'harmless')::jsonb, headline = 'harmless',
           shown = 'whatever that has'",
    );
    park(&victim, "rm -rf everything");
    let cy = PagePerson::joined(&office, "cy", PageKey::browser());
    let page = cy.get("/inbox").body;
    assert_eq!(page.matches("<a class=\"row\"").count(), 2, "two rows: {page}");
    assert!(!page.contains("data-all"), "{page}");
    let ran = office.says("bo", &["yes", "1", "--like"]);
    assert!(ran.code == 0 && ran.out.lines().count() == 1, "{ran:?}");
    assert_eq!(sync(&victim).code, 0);
    assert_eq!(state(&victim, 1), "pending");
}

#[test]
fn whoever_is_taken_out_or_has_no_right_answers_nothing() {
    let Some(office) = Office::new() else { return };
    let machine = World::with(&format!("{QUEUE}{ASK}of = [\"release\"]\nwith = \"passkey\"\n"));
    office.enrol(&machine);
    park(&machine, "hello");
    let world = &office.trail.fleet.world;
    let eve = PagePerson::with_passkey(&office, "eve");
    let page = eve.get("/inbox?question=1").body;
    assert!(
        !page.contains("data-answer=") && page.contains("only release can answer this"),
        "{page}"
    );
    does_not_count(&eve, &eve.yes(1), "only release can answer this");
    assert_eq!(world.eclusa(&["people", "add", "cy", "--group", "release"]).code, 0);
    let cy = PagePerson::with_passkey(&office, "cy");
    let dee = PagePerson::joined(&office, "dee", PageKey::browser());
    assert_eq!(world.eclusa(&["people", "add", "dee", "--group", "release"]).code, 0);
    office.sign_people();
    does_not_count(&dee, &dee.yes(1), "with a passkey");
    // Signed while it counted, and carried after they were taken out.
    let yes = cy.yes(1);
    assert!(!cy.says(&yes).body.contains("refused"));
    assert_eq!(world.eclusa(&["people", "remove", "cy"]).code, 0);
    office.sign_people();
    assert_eq!(cy.get("/inbox").status, 401, "a cookie of somebody who is no more opens nothing");
    refused(&cy.says(&yes), 401, "sign in first");
    let why = office.refused(&machine);
    assert!(why.contains("no key of `cy` in the people document in force"), "{why}");
    assert_eq!(state(&machine, 1), "pending");
}

#[test]
fn nothing_that_anybody_writes_becomes_markup_or_hides() {
    let Some(office) = Office::new() else { return };
    let machine = office.machine("");
    park(&machine, "hello");
    let cy = PagePerson::joined(&office, "cy", PageKey::browser());
    let tags = |page: &str| page.matches('<').count();
    let mut plain = None;
    let hostile = [
        "<script>alert(1)</script>",
        "\"><img src=x onerror=alert(1)>",
        "' autofocus onfocus='alert(1)",
        "</pre></article><button data-answer=once class=yes>",
        "&lt;b&gt;<!-- ",
        "javascript:alert(1)",
    ];
    let spoofs = SPOOFS.lines().filter_map(|it| serde_json::from_str::<Value>(it).ok());
    let mut texts: Vec<String> = hostile.iter().map(|it| (*it).to_owned()).collect();
    fn strings(value: &Value, to: &mut Vec<String>) {
        match value {
            Value::String(it) => to.push(it.clone()),
            Value::Array(all) => all.iter().for_each(|it| strings(it, to)),
            Value::Object(all) => all.values().for_each(|it| strings(it, to)),
            _ => {}
        }
    }
    spoofs.for_each(|it| strings(&it["args"], &mut texts));
    // The rest has no room on the command line that fills the database.
    texts.retain(|it| !it.contains('\0') && it.len() < 4_000);
    texts.insert(0, "plain words".to_owned());
    assert!(texts.len() > 30, "{}", texts.len());
    for text in &texts {
        let quoted = text.replace('\'', "''");
        let line =
            json!({"role": text, "label": text, "text": text}).to_string().replace('\'', "''");
        office.trail.database.query(&format!(
            "update questions set tool = '{quoted}', principal = '{quoted}', conversation = '{quoted}', headline = '{quoted}',
               binding = '{quoted}', said = jsonb_build_array('{quoted}'::text), refused = '{quoted}',
               requirements = jsonb_build_array(jsonb_build_object('of', jsonb_build_array('{quoted}'::text), 'with', '{quoted}'::text)),
               text = jsonb_build_object('headline', '{quoted}'::text, 'whole', true, 'lines', jsonb_build_array('{line}'::jsonb));
             update machines set name = '{quoted}', labels = jsonb_build_object('team', '{quoted}'::text);
             update chains set workspace = '{quoted}', store = store"
        ));
        let page = cy.get("/inbox?question=1&all=1");
        assert_eq!(page.status, 200, "{text:?}");
        let body = page.body;
        for it in ["<script>", "<img src=x", "<button data-answer=once", "<!-- "] {
            assert!(!body.contains(it), "{text:?}: {body}");
        }
        let plain = *plain.get_or_insert(tags(&body));
        assert_eq!(tags(&body), plain, "{text:?}: {body}");
        let hidden = |c: char| {
            matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{7f}')
                || (c.is_control() && c != '\n')
        };
        // Attributes hold what is signed, byte for byte; what is read hides nothing.
        let read: String = body.split('>').filter_map(|it| it.split('<').next()).collect();
        assert!(!read.contains(hidden), "{text:?}: {read:?}");
    }
    let query: String = url_encoded("<script>alert(1)</script>\"'&");
    for name in ["q", "team", "tool", "question", "after", "all"] {
        let page = cy.get(&format!("/inbox?{name}={query}"));
        assert!(page.status == 200 && !page.body.contains("<script>alert"), "{name}: {page:?}");
    }
}

fn url_encoded(text: &str) -> String {
    text.bytes().map(|it| format!("%{it:02X}")).collect()
}

#[test]
fn an_invite_makes_one_key_of_the_person_that_it_names() {
    let Some(office) = Office::new() else { return };
    let server = &office.trail.server;
    let code = invited(&office, "cy", "1");
    let origin = server.url.replace("127.0.0.1", "localhost");
    let cy = PagePerson::stranger(server, "cy", PageKey::Passkey(Authenticator::at(&origin, "cy")));
    let until = now() + 60_000;
    let good = joining(&code, &cy.key, until);
    let other = PageKey::Passkey(Authenticator::at("https://evil.example", "cy"));
    let mut swapped = joining(&code, &PageKey::browser(), until);
    swapped["public"] = joining(&code, &PageKey::browser(), until)["public"].clone();
    let mut renamed = good.clone();
    let payload = renamed["invite"]["payload"].as_str().unwrap().replace("person=cy", "person=ana");
    renamed["invite"]["payload"] = payload.into();
    for (body, why) in [
        (with(good.clone(), &json!({"secret": "x"})), "the secret of the invite"),
        (joining(&code, &cy.key, now() - 1), "too old"),
        (with(good.clone(), &json!({"expires": until + 1})), "not made here and now"),
        (joining(&code, &other, until), "not made here and now"),
        (swapped, "not made here and now"),
        (renamed, ""),
    ] {
        refused(&cy.post("/page/join", &body), 403, why);
    }
    assert_eq!(office.trail.database.query("select count(*) from pending_keys"), "0");
    for _ in 0..2 {
        assert_eq!(cy.post("/page/join", &good).status, 200, "the same again changes nothing");
    }
    let second = joining(&code, &PageKey::browser(), until);
    refused(&cy.post("/page/join", &second), 403, "used as often as it may be");
    // A person's invite lets no machine in, and a machine's makes nobody's key.
    let machine = eclusa_fleet::MachineKey::generate().unwrap();
    let text = code.to_string();
    let (status, said) =
        signed(&server.url, &machine, 0, "/v1/enroll", &enrolment(&text, &machine));
    assert!(status == 403 && said["error"].as_str().unwrap().contains("for a person"), "{said}");
    let of_machine: eclusa_fleet::EnrolmentCode = office.trail.code("1").parse().unwrap();
    refused(&cy.post("/page/join", &joining(&of_machine, &cy.key, until)), 403, "for a machine");
    let ran = office.trail.fleet.signed(
        &["invite", "--server", &server.url, "--team", "web", "--label", "person=ana"],
        "--documents",
        "enroll-1",
    );
    assert!(ran.code == 2 && ran.err.contains("for a person"), "{ran:?}");
    // Whoever owns the database swaps the key: its digits are others, or it is not what they say.
    let database = &office.trail.database;
    let digits = database.query("select left(id, 32) from pending_keys");
    let public = joining(&code, &PageKey::browser(), until)["public"].as_str().unwrap().to_owned();
    database.query(&format!("update pending_keys set public = '{public}'"));
    let world = &office.trail.fleet.world;
    let ran =
        world.eclusa(&["fleet", "keys", "--database", &database.address(), "--accept", &digits]);
    assert!(ran.code == 3 && ran.err.contains("not what its digits say"), "{ran:?}");
}
