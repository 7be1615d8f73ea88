//! The page of the inbox: a passkey or a key of the browser is made with an invite, signed into the people document, and
//! answers what waits on a machine, where it is checked and applied once.

use serde_json::{Value, json};

use super::{
    office::{ASK, Office, park, state},
    page_people::{PageKey, PagePerson, joining, with},
    server::now,
    sync,
};
use crate::{pending::QUEUE, world::World};

#[test]
fn a_passkey_answers_from_the_page_and_the_machine_applies_it_once() {
    let Some(office) = Office::new() else { return };
    let machine = World::with(&format!("{QUEUE}{ASK}with = \"passkey\"\n"));
    office.enrol(&machine);
    park(&machine, "hello");
    let cy = PagePerson::with_passkey(&office, "cy");
    let page = cy.get("/inbox");
    assert_eq!(page.status, 200, "{page:?}");
    let (text, answers) =
        (page.body.find("<pre class=\"lines\"").unwrap(), page.body.find("data-answer=").unwrap());
    assert!(text < answers, "the text comes before the answers");
    for it in [
        "hello",
        "needs 1 of anybody, with a passkey",
        "binding <code>",
        "<noscript>",
        "fleet yes 1",
    ] {
        assert!(page.body.contains(it), "{it}: {}", page.body);
    }
    let got = cy.says(&cy.yes(1));
    assert!(got.status == 200 && got.body.contains("\"waits\":false"), "{got:?}");
    assert!(!got.body.contains("refused"), "{got:?}");
    assert!(cy.get("/inbox?question=1").body.contains("answered, on its way"));
    assert!(cy.get("/inbox").body.contains("Nothing waits for you"));
    assert_eq!(state(&machine, 1), "pending", "the server decides nothing");
    assert_eq!(sync(&machine).code, 0);
    assert_eq!(state(&machine, 1), "approved");
    assert_eq!(machine.eclusa(&["resume", "1"]).code, 0);
    assert_eq!(machine.read("workspace/notes.txt"), "hello\n");
    assert_eq!(machine.eclusa(&["resume", "1"]).code, 1, "once");
    let answered = machine.records().into_iter().find(|it| it["event"] == "answered").unwrap();
    let by = &answered["approval"];
    assert_eq!((&by["by"], &by["proof"]), (&"cy".into(), &"passkey".into()), "{answered}");
    // Signing out ends it.
    assert_eq!(cy.post("/page/sign-out", &json!({})).status, 200);
    assert_eq!(cy.get("/inbox").status, 401);
}

#[test]
fn a_key_of_the_browser_answers_identical_questions_by_one_signature() {
    let Some(office) = Office::new() else { return };
    let machines = [office.machine(""), office.machine("")];
    machines.iter().for_each(|it| park(it, "hello"));
    let cy = PagePerson::joined(&office, "cy", PageKey::browser());
    let page = cy.get("/inbox").body;
    assert_eq!(page.matches("<a class=\"row\"").count(), 1, "one row: {page}");
    assert!(page.contains("×2") && page.contains("identical ones"), "{page}");
    let binding = cy.shown(1, "binding");
    let marked: Vec<&str> = page.split("name=\"marked\"").skip(1).collect();
    let attribute = |text: &str, name: &str| {
        text.split_once(&format!("{name}=\"")).unwrap().1.split_once('"').unwrap().0.to_owned()
    };
    let questions: Vec<Value> = marked
        .iter()
        .map(|it| {
            json!([attribute(it, "data-store"), attribute(it, "data-id").parse::<u64>().unwrap()])
        })
        .collect();
    assert_eq!(questions.len(), 2);
    let expires = now() + 60_000;
    let statement = json!({
        "answer": "once", "binding": binding, "edit_sha256": null, "expires": expires,
        "person": "cy", "questions": questions, "reason_sha256": null,
    });
    let text = format!("eclusa answer v2\n{statement}");
    let body = json!({"kind": "vote", "numbers": [1, 2], "answer": "once", "expires": expires, "statement": text});
    let got = cy.says(&with(body, &cy.key.signed(&text)));
    assert!(got.status == 200 && !got.body.contains("refused"), "{got:?}");
    for it in &machines {
        assert_eq!(sync(it).code, 0);
        assert_eq!(state(it, 1), "approved");
    }
}

#[test]
fn the_list_shows_what_somebody_may_answer_page_by_page() {
    let Some(office) = Office::new() else { return };
    let machine = World::with(&format!("{QUEUE}{ASK}of = [\"release\"]\n"));
    office.enrol(&machine);
    park(&machine, "for the release");
    let cy = PagePerson::joined(&office, "cy", PageKey::browser());
    assert!(cy.get("/inbox").body.contains("Nothing waits for you"));
    let all = cy.get("/inbox?all=1").body;
    assert!(all.contains("only release can answer this"), "{all}");
    assert!(!all.contains("data-answer="), "a yes of theirs would not count: {all}");
    // 300 more that wait on other machines.
    office.trail.database.query(
        "insert into questions (chain, id, machine, binding, tool, principal, conversation, text, requirements, said, state,
           asker_away, changed, created, expires, headline)
         select chain, 1000 + n, machine, 'b' || n, tool, principal, conversation, text, '[]', said, state, asker_away, changed,
           created, expires, 'call ' || n from questions, generate_series(1, 300) n",
    );
    let mut address = "/inbox?".to_owned();
    let mut seen = Vec::new();
    loop {
        let page = cy.get(&address).body;
        seen.extend(
            page.split("dir=\"ltr\">call ")
                .skip(1)
                .map(|it| it.split('<').next().unwrap().to_owned()),
        );
        let Some((_, next)) = page.split_once("id=\"next\" class=\"button\" href=\"") else {
            break;
        };
        address = next.split_once('"').unwrap().0.replace("&amp;", "&");
    }
    let numbers: Vec<String> = (1..=300).map(|it: u32| it.to_string()).collect();
    assert_eq!(seen, numbers, "each once, in order");
    let found = cy.get("/inbox?q=CALL+299").body;
    assert_eq!(found.matches("<a class=\"row\"").count(), 1, "{found}");
    assert_eq!(cy.get("/inbox?team=other").body.matches("<a class=\"row\"").count(), 0);
}

#[test]
fn a_new_key_counts_once_it_is_signed_into_the_people_document() {
    let Some(office) = Office::new() else { return };
    let machine = office.machine("");
    park(&machine, "hello");
    let mut cy = PagePerson::stranger(&office.trail.server, "cy", PageKey::browser());
    let code = super::page_people::invited(&office, "cy", "1");
    assert_eq!(cy.post("/page/join", &joining(&code, &cy.key, now() + 60_000)).status, 200);
    let got = cy.look();
    assert!(got.status == 403 && got.body.contains("waits to be signed"), "{got:?}");
    let database = office.trail.database.address();
    let keys = |args: &[&str]| {
        office
            .trail
            .fleet
            .world
            .eclusa(&[&["fleet", "keys", "--database", &database], args].concat())
    };
    let listed = keys(&["--json"]).json();
    assert_eq!((&listed[0]["person"], &listed[0]["kind"]), (&"cy".into(), &"browser".into()));
    let digits = listed[0]["digits"].as_str().unwrap().to_owned();
    let few: String = digits.chars().take(19).collect();
    let ran = keys(&["--accept", &few]);
    assert!(ran.code == 2 && ran.err.contains("too few digits"), "{ran:?}");
    assert_eq!(keys(&["--accept", &digits]).code, 0);
    assert_eq!(cy.look().status, 403, "the people of one machine are not those of the fleet");
    office.sign_people();
    assert_eq!(cy.look().status, 200);
    assert!(keys(&[]).out.contains("no key waits"), "{:?}", keys(&[]));
}
