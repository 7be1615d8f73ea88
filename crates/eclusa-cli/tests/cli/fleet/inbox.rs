//! One inbox over many machines: a call that waits on one is answered with a person's key from elsewhere, and applied
//! there, once, whatever fails on the way.

use std::process::Stdio;

use super::{
    office::{ASK, Office, park, state},
    server::{Server, signed},
    sync,
};
use crate::{
    pending::{QUEUE, git, park as park_command, repository},
    world::{World, until, wait_until},
};

#[test]
fn a_parked_commit_is_answered_elsewhere_and_lands_once_as_it_was_shown() {
    eclusa_testing::needs!(Namespaces);
    let Some(office) = Office::new() else { return };
    let machine = repository();
    office.enrol(&machine);
    let parked = park_command(&machine, "git commit -qam two && git rev-parse HEAD");
    let shown = parked["output"].as_str().unwrap().trim().to_owned();
    assert_eq!(sync(&machine).code, 0);
    let inbox = office.inbox("bo");
    let row = &inbox[0];
    assert_eq!(inbox.len(), 1);
    assert_eq!((&row["tool"], &row["team"]), (&"bash".into(), &"web".into()), "{row}");
    assert_eq!((&row["state"], &row["asker_away"]), (&"pending".into(), &true.into()), "{row}");
    let number = row["number"].to_string();
    let ran = office.says("bo", &["show", &number]);
    assert!(ran.out.contains("git commit -qam two"), "{ran:?}");
    assert!(ran.out.contains("approving applies the changes below"), "{ran:?}");
    let ran = office.says("bo", &["yes", &number]);
    let on_its_way = format!("question {number}: yes, on its way to the machine\n");
    assert_eq!((ran.code, ran.out), (0, on_its_way.clone()));
    assert_eq!(office.inbox("ana")[0]["state"], "sent");
    // The same again is on its way already, and one person has one answer.
    assert_eq!(office.says("bo", &["yes", &number]).out, on_its_way);
    let ran = office.says("bo", &["no", &number]);
    assert!(ran.code == 3 && ran.out.contains("you said `once` before"), "{ran:?}");
    assert_ne!(git(&machine, &["rev-parse", "HEAD"]), shown);
    assert_eq!(sync(&machine).code, 0);
    assert_eq!(git(&machine, &["rev-parse", "HEAD"]), shown);
    git(&machine, &["fsck", "--strict"]);
    // It is over: the server has forgotten what was shown, and nobody answers it any more.
    let kept = "select state, text is null from questions";
    assert_eq!(office.trail.database.query(kept), "taken|t");
    assert!(office.inbox("bo").is_empty());
    let ran = office.says("ana", &["yes", &number]);
    assert!(ran.code == 3 && ran.out.contains("is taken by now"), "{ran:?}");
    assert_eq!(sync(&machine).code, 0);
    assert_eq!(git(&machine, &["rev-list", "--count", "HEAD"]), "2");
    // Who signed it is on record where it ran.
    let answered = machine.records().into_iter().find(|it| it["event"] == "answered").unwrap();
    let by = &answered["approval"];
    assert_eq!((&by["by"], &by["proof"]), (&"bo".into(), &"key".into()), "{answered}");
}

#[test]
fn what_leaves_the_machine_is_what_the_page_shows() {
    let Some(office) = Office::new() else { return };
    let machine = office.machine("");
    park(&machine, "token=ghp_0123456789abcdefghijklmnopqrstuvwxyz");
    let kept =
        office.trail.database.query("select text::text || binding || principal from questions");
    assert!(kept.contains("token="), "{kept}");
    assert!(!kept.contains("ghp_0123456789abcdef"), "{kept}");
    let ran = office.says("bo", &["show", "1"]);
    assert!(ran.out.contains("token=") && !ran.out.contains("ghp_0123456789abcdef"), "{ran:?}");
}

#[test]
fn secrets_in_changes_stay_on_the_machine() {
    eclusa_testing::needs!(Namespaces);
    let Some(office) = Office::new() else { return };
    let machine = World::with(QUEUE);
    office.enrol(&machine);
    let secret = "ghp_0123456789abcdefghijklmnopqrstuvwxyz";
    machine.write("workspace/before.txt", &format!("one {secret}\n"));
    park_command(&machine, "echo two > before.txt");
    let shown = machine.eclusa(&["approvals", "show", "1"]);
    assert!(shown.out.contains(secret), "whoever sits there sees it: {shown:?}");
    assert_eq!(sync(&machine).code, 0);
    let kept = office.trail.database.query("select text::text from questions");
    assert!(kept.contains("+ two") && !kept.contains(secret), "{kept}");
}

#[test]
fn a_no_from_elsewhere_has_its_reason() {
    let Some(office) = Office::new() else { return };
    let machine = office.machine("");
    park(&machine, "hello");
    let ran = office.says("ana", &["no", "1", "not", "on", "a", "Friday"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(sync(&machine).code, 0);
    let ran = machine.eclusa(&["run", "note", "text=hello"]);
    assert!(ran.code == 3 && ran.err.contains("not on a Friday"), "{ran:?}");
    assert_eq!(
        office.trail.database.query("select state, text is null from questions"),
        "rejected|t"
    );
}

#[test]
fn rules_say_who_must_answer_and_the_people_document_who_that_is() {
    let Some(office) = Office::new() else { return };
    let machine = World::with(&format!("{QUEUE}{ASK}of = [\"release\"]\nwith = \"key\"\n"));
    office.enrol(&machine);
    park(&machine, "hello");
    let row = &office.inbox("ana")[0];
    assert_eq!(row["not_for_you"], "only release can answer this", "{row}");
    let ran = office.says("ana", &["yes", "1"]);
    assert!(ran.code == 3 && ran.out.contains("only release can answer this"), "{ran:?}");
    // Somebody who calls himself so on the machine is nobody.
    let key = machine.path("own.key").display().to_string();
    let add = ["people", "add", "zoe", "--group", "release", "--new-key", &key];
    assert_eq!(machine.eclusa(&add).code, 0);
    let ran = machine.eclusa(&["approvals", "yes", "1", "--key", &key]);
    assert!(ran.code == 3 && ran.err.contains("is not registered"), "{ran:?}");
    assert_eq!(office.says("bo", &["yes", "1"]).code, 0);
    assert_eq!(sync(&machine).code, 0);
    assert_eq!(state(&machine, 1), "approved");
    // Whoever is taken out of the document has said nothing, also before.
    let world = &office.trail.fleet.world;
    assert_eq!(world.eclusa(&["people", "remove", "bo"]).code, 0);
    office.sign_people();
    assert_eq!(sync(&machine).code, 0);
    let ran = machine.eclusa(&["resume", "1"]);
    assert!(ran.code == 3 && ran.err.contains("the answer is not enough"), "{ran:?}");
    assert_eq!(machine.read("workspace/notes.txt"), "");
    let ran = office.says("bo", &["inbox"]);
    assert!(ran.code == 3 && ran.err.contains("no key of the people document"), "{ran:?}");
}

#[test]
fn two_people_answer_where_two_must() {
    let Some(office) = Office::new() else { return };
    let machine = World::with(&format!("{QUEUE}{ASK}of = [\"ana\", \"bo\"]\nneed = 2\n"));
    office.enrol(&machine);
    park(&machine, "hello");
    let ran = office.says("ana", &["yes", "1"]);
    assert!(ran.code == 0 && ran.out.contains("one more approver is needed"), "{ran:?}");
    assert_eq!(sync(&machine).code, 0);
    assert_eq!(state(&machine, 1), "pending");
    assert_eq!(office.inbox("bo")[0]["said"], serde_json::json!(["ana"]));
    assert_eq!(office.says("bo", &["yes", "1"]).code, 0);
    assert_eq!(sync(&machine).code, 0);
    assert_eq!(machine.eclusa(&["resume", "1"]).code, 0);
    assert_eq!(machine.read("workspace/notes.txt"), "hello\n");
}

#[test]
fn every_answer_is_signed_where_the_settings_say_so() {
    let Some(office) = Office::new() else { return };
    let machine = office.machine("[approvals]\nproof = \"key\"\n");
    park(&machine, "hello");
    let ran = machine.eclusa(&["approvals", "yes", "1"]);
    assert!(ran.code == 3 && ran.err.contains("must be answered with a key"), "{ran:?}");
    assert_eq!(state(&machine, 1), "pending");
    assert_eq!(office.says("ana", &["yes", "1"]).code, 0);
    assert_eq!(sync(&machine).code, 0);
    assert_eq!(machine.eclusa(&["resume", "1"]).code, 0);
    assert_eq!(machine.read("workspace/notes.txt"), "hello\n");
}

/// Whoever asks still waits; its machine is connected to one server, and the answer is given at another.
#[test]
fn an_answer_at_one_server_reaches_a_machine_that_waits_at_another() {
    let Some(office) = Office::new() else { return };
    let machine = office.machine("");
    let other = Server::start(&office.trail.fleet.world, &office.trail.database.address());
    let mut service = machine.command(&["fleet", "sync"]).spawn().unwrap();
    let mut asking = machine.command(&["run", "note", "text=hello"]);
    let mut asking = asking.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
    let number = until("the question is mirrored", || {
        let ran = office.says_at(&other, "bo", &["inbox", "--json"]);
        ran.json().as_array()?.first().map(|it| it["number"].to_string())
    });
    assert_eq!(office.says_at(&other, "bo", &["yes", &number]).code, 0);
    assert!(asking.wait().unwrap().success());
    assert_eq!(machine.read("workspace/notes.txt"), "hello\n");
    wait_until("the text is forgotten", || {
        office.trail.database.query("select text is null from questions") == "t"
    });
    service.kill().unwrap();
    service.wait().unwrap();
}

#[test]
fn a_server_that_dies_between_vote_and_delivery_loses_nothing() {
    let Some(mut office) = Office::new() else { return };
    let machine = office.machine("");
    park(&machine, "hello");
    assert_eq!(office.says("bo", &["yes", "1"]).code, 0);
    let address = office.trail.database.address();
    let new = Server::start(&office.trail.fleet.world, &address);
    std::mem::replace(&mut office.trail.server, new).end();
    let file = "state/eclusa/fleet/machine.json";
    let mut known: serde_json::Value = serde_json::from_str(&machine.read(file)).unwrap();
    known["server"] = office.trail.server.url.as_str().into();
    machine.write(file, &known.to_string());
    assert_eq!(sync(&machine).code, 0);
    assert_eq!(state(&machine, 1), "approved");
    assert_eq!(machine.eclusa(&["resume", "1"]).code, 0);
    assert_eq!(machine.read("workspace/notes.txt"), "hello\n");
}

/// What was applied and not yet said to be is handed over again: it lands once.
#[test]
fn a_machine_that_dies_between_applying_and_saying_so_applies_once() {
    eclusa_testing::needs!(Namespaces);
    let Some(office) = Office::new() else { return };
    let machine = repository();
    office.enrol(&machine);
    park_command(&machine, "git commit -qam two && git rev-parse HEAD");
    assert_eq!(sync(&machine).code, 0);
    assert_eq!(office.says("bo", &["yes", "1"]).code, 0);
    let count = || git(&machine, &["rev-list", "--count", "HEAD"]);
    // Killed as soon as it has landed, which is before or after it said so.
    let mut service = machine.command(&["fleet", "sync"]).spawn().unwrap();
    wait_until("it lands", || count() == "2");
    service.kill().unwrap();
    service.wait().unwrap();
    // At any rate the server has not heard of it.
    let database = &office.trail.database;
    let again = "insert into messages (machine, chain, question, person, kind, body)
        select c.machine, c.id, v.id, v.person, 'vote', jsonb_build_object('store', c.store, 'question', v.id,
          'answer', v.answer, 'person', v.person, 'expires', 0, 'key', v.key, 'statement', v.statement,
          'signature', v.signature)
        from votes v join chains c on c.id = v.chain where not exists (select from messages)";
    database.query(again);
    for _ in 0..2 {
        assert_eq!(sync(&machine).code, 0);
        assert_eq!(database.query("select count(*) from messages"), "0");
        assert_eq!(database.query("select refused is null from questions"), "t");
        assert_eq!(count(), "2");
        database.query(again);
    }
    git(&machine, &["fsck", "--strict"]);
}

#[test]
fn identical_questions_of_several_machines_are_one_gesture() {
    let Some(office) = Office::new() else { return };
    let machines = [office.machine(""), office.machine("")];
    machines.iter().for_each(|it| park(it, "hello"));
    park(&machines[1], "other");
    let ran = office.says("bo", &["inbox"]);
    assert!(ran.out.contains("(2 identical)"), "{ran:?}");
    let ran = office.says("bo", &["yes", "1", "--like"]);
    assert!(ran.code == 0 && ran.out.lines().count() == 2, "{ran:?}");
    for machine in &machines {
        assert_eq!(sync(machine).code, 0);
        assert_eq!(state(machine, 1), "approved");
        assert_eq!(machine.eclusa(&["resume", "1"]).code, 0);
    }
    assert_eq!(state(&machines[1], 2), "pending");
}

#[test]
fn a_yes_is_taken_back_and_a_session_ended_from_elsewhere() {
    let Some(office) = Office::new() else { return };
    let machine = office.machine("");
    park(&machine, "hello");
    assert_eq!(office.says("bo", &["yes", "1"]).code, 0);
    assert_eq!(sync(&machine).code, 0);
    assert_eq!(state(&machine, 1), "approved");
    assert_eq!(office.says("ana", &["revoke", "1"]).code, 0);
    assert_eq!(sync(&machine).code, 0);
    assert_eq!(state(&machine, 1), "revoked");
    park(&machine, "again");
    assert_eq!(office.says("ana", &["end", "2"]).code, 0);
    assert_eq!(sync(&machine).code, 0);
    assert_eq!(state(&machine, 2), "rejected");
}

#[test]
fn a_machine_has_fifty_questions_at_the_server_and_no_more() {
    let Some(office) = Office::new() else { return };
    let (key, machine) = office.trail.stranger();
    let server = &office.trail.server.url;
    let post = |path: &str, body: &serde_json::Value| {
        signed(server, &key, machine, path, body.to_string().as_bytes())
    };
    let zero = "0".repeat(64);
    let begin =
        serde_json::json!({"store": "s", "workspace": "/w", "begins": {"seq": 0, "hash": zero}});
    let chain = post("/v1/chains", &begin).1["chain"].clone();
    let question = |id: u64, state: &str| {
        serde_json::json!({
            "id": id, "binding": "b", "tool": "note", "principal": "p", "conversation": "c", "state": state,
            "asker_away": true, "created": 1, "expires": super::server::now() + 60_000,
            "text": {"headline": "hello", "whole": true, "lines": []},
        })
    };
    let mirror = |chain: &serde_json::Value, at: u64, questions: Vec<serde_json::Value>| {
        let body = serde_json::json!({"chain": chain, "at": at, "questions": questions});
        post("/v1/questions", &body)
    };
    let ask = |from: u64, to: u64| (from..=to).map(|it| question(it, "pending")).collect();
    let said = mirror(&chain, 1, ask(1, 50));
    assert_eq!(said, (200, serde_json::json!({"left_out": []})));
    assert_eq!(mirror(&chain, 2, ask(51, 52)), (200, serde_json::json!({"left_out": [51, 52]})));
    assert_eq!(office.inbox("bo").len(), 50);
    // The same again changes nothing, nor does what comes late.
    assert_eq!(mirror(&chain, 2, ask(1, 3)).0, 200);
    let mut over = question(1, "taken");
    over.as_object_mut().unwrap().remove("text");
    assert_eq!(mirror(&chain, 1, vec![over.clone()]).0, 200);
    assert_eq!(office.inbox("bo").len(), 50, "it was so before");
    assert_eq!(mirror(&chain, 3, vec![over]).0, 200);
    assert_eq!(mirror(&chain, 4, ask(51, 52)), (200, serde_json::json!({"left_out": [52]})));
    for (questions, chain, status) in [
        (ask(1, 51), &chain, 422),
        (ask(1, 1), &serde_json::json!(999), 404),
        (vec![serde_json::json!({"id": 1})], &chain, 422),
    ] {
        assert_eq!(mirror(chain, 5, questions).0, status);
    }
    let mut odd = question(1, "pending");
    odd["tool"] = "a\u{0}b".into();
    assert_eq!(mirror(&chain, 5, vec![odd]).0, 422);
    let mut large = question(1, "pending");
    large["text"]["lines"] =
        serde_json::json!([{"role": "change", "label": "", "text": "x".repeat(257 << 10)}]);
    assert_eq!(mirror(&chain, 5, vec![large]).0, 422);
    // The chain of another machine is not there.
    let (other, number) = office.trail.stranger();
    let body = serde_json::json!({"chain": chain, "at": 9, "questions": [question(60, "pending")]});
    let (status, _) = signed(server, &other, number, "/v1/questions", body.to_string().as_bytes());
    assert_eq!(status, 404);
    assert_eq!(office.inbox("bo").len(), 50);
}

#[test]
fn all_machines_together_have_a_hundred_thousand_questions_and_no_more() {
    let Some(office) = Office::new() else { return };
    let machine = office.machine("");
    park(&machine, "one");
    let query = |sql: &str| office.trail.database.query(sql);
    assert_eq!(query("select count(*) from questions"), "1");
    // So many others wait that one more would be too many.
    query(
        "insert into machines (name, key, labels, ephemeral, invite) values ('other', sha256('other'), '{}', false, '')",
    );
    query(
        "insert into questions (chain, id, machine, binding, tool, principal, conversation, requirements, said, state,
                                asker_away, changed, created, expires)
         select 1, 1000 + n, (select id from machines where name = 'other'), 'b', 'note', 'p', 'c', '[]', '[]', 'pending',
                true, 0, 1, 4102444800000 from generate_series(1, 99999) n",
    );
    let mine = "select count(*) from questions where machine = 1 and state = 'pending'";
    // A server counts them each second, so that a few more may come in between.
    let mut asked = 1;
    until("a question is left out", || {
        asked += 1;
        park(&machine, &format!("more {asked}"));
        (query(mine) != asked.to_string()).then_some(())
    });
    query("delete from questions where machine <> 1");
    until("there is room again", || {
        assert_eq!(sync(&machine).code, 0);
        (query(mine) == asked.to_string()).then_some(())
    });
}
