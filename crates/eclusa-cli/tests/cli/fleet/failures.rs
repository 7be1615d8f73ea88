//! What else fails around a server: a database that takes nothing more, two servers with one timer, or of two releases, a
//! machine that is off, broken or gone.

use eclusa_fleet::RequestLine;

use super::server::{Server, Trail, now, send, signed, work, worker};
use crate::world::until;

const STATE: &str = "state/eclusa/fleet/machine.json";
const RECORDS: &str = "select coalesce(sum(last - first + 1), 0) from segments";

/// As when its disk is full: reading goes on, and nothing can be written.
#[test]
fn a_database_that_takes_nothing_more_is_waited_for() {
    let Some(trail) = Trail::new() else { return };
    let machine = trail.machine();
    work(&machine, 1);
    assert_eq!(machine.eclusa(&["fleet", "flush", "--wait", "30s"]).code, 0);
    trail.database.query("alter table segments add constraint full_disk check (false) not valid");
    work(&machine, 2);
    let ran = machine.eclusa(&["fleet", "flush", "--wait", "0s"]);
    assert!(ran.code == 4 && ran.err.contains("the database is away"), "{ran:?}");
    assert_eq!(trail.database.query(RECORDS), "2");
    assert_eq!(trail.database.query("select max(seq) from chains"), "2", "no head moved");
    assert!(!machine.eclusa(&["fleet", "status"]).out.contains("stale"));
    work(&machine, 1);
    trail.database.query("alter table segments drop constraint full_disk");
    assert_eq!(machine.eclusa(&["fleet", "flush", "--wait", "60s"]).code, 0);
    assert_eq!(trail.database.query(RECORDS), "8", "each once");
}

/// The next release adds to the tables before its servers replace those of this one.
#[test]
fn a_server_goes_on_beside_those_of_the_next_release() {
    let Some(trail) = Trail::new() else { return };
    let machine = trail.machine();
    work(&machine, 1);
    assert_eq!(machine.eclusa(&["fleet", "flush", "--wait", "30s"]).code, 0);
    for change in [
        "alter table machines add column next text",
        "alter table segments add column next int default 1",
        "alter table calls add column next text",
        "alter table questions add column next text",
        "create table next (one int)",
        "update fleet_format set version = version + 1",
    ] {
        trail.database.query(change);
    }
    // The one that runs goes on, and another of this release can be started.
    let other = Server::start(&trail.fleet.world, &trail.database.address());
    for (url, records) in [(&trail.server.url, "4"), (&other.url, "6")] {
        let mut state: serde_json::Value = serde_json::from_str(&machine.read(STATE)).unwrap();
        state["server"] = url.as_str().into();
        machine.write(STATE, &state.to_string());
        work(&machine, 1);
        assert_eq!(super::sync(&machine).code, 0);
        assert_eq!(trail.database.query(RECORDS), records);
    }
}

/// A machine that ships without end is told to come later, and others are not.
#[test]
fn a_machine_has_its_pace() {
    let Some(trail) = Trail::new() else { return };
    let (hostile, number) = trail.stranger();
    let path = format!("/v1/records?chain=1&before=0&previous={}", "0".repeat(64));
    let mut answers = std::collections::BTreeMap::new();
    for _ in 0..150 {
        let (status, said) = signed(&trail.server.url, &hostile, number, &path, b"");
        *answers.entry(status).or_insert(0) += 1;
        if status == 503 {
            assert!(said["error"].as_str().unwrap().contains("ships too often"), "{said}");
        }
    }
    assert!(answers.get(&503).is_some_and(|it| *it >= 5), "{answers:?}");
    assert!(answers.get(&422).is_some_and(|it| *it >= 100), "{answers:?}");
    let machine = trail.machine();
    work(&machine, 1);
    let ran = machine.eclusa(&["fleet", "flush", "--wait", "0s"]);
    assert_eq!(ran.code, 0, "{ran:?}");
}

/// What a machine of a job leaves behind that is gone without a word, and what one that said so.
#[test]
fn a_job_that_vanishes_is_told_from_one_that_leaves() {
    let Some(trail) = Trail::new() else { return };
    let job = || {
        let machine = worker();
        let ran = machine.eclusa(&["fleet", "enroll", &trail.code_of(&["--ephemeral"])]);
        assert_eq!(ran.code, 0, "{ran:?}");
        work(&machine, 1);
        machine
    };
    let (vanished, left) = (job(), job());
    assert_eq!(vanished.eclusa(&["fleet", "flush", "--wait", "30s"]).code, 0);
    let ran = left.eclusa(&["fleet", "leave"]);
    assert!(ran.code == 0 && ran.err.is_empty(), "{ran:?}");
    assert_eq!(trail.database.query(RECORDS), "4", "what was not shipped yet is, before it leaves");
    trail.database.query("update machines set seen = now() - interval '2 days'");
    let database = trail.database.address();
    let machines = |more: &[&str]| {
        let args = [&["fleet", "machines", "--database", &database], more].concat();
        trail.fleet.world.eclusa(&args).out
    };
    let found = machines(&[]);
    let line = |name: &str| found.lines().find(|it| it.starts_with(name)).unwrap().to_owned();
    assert!(line("1 ").contains("ended without a word, its last record came at 2"), "{found}");
    assert!(line("2 ").contains("left at 2"), "{found}");
    let stale = machines(&["--stale"]);
    assert!(stale.contains("ended without a word") && !stale.contains("left at"), "{stale}");
    // Who leaves while the server is away leaves, and says that nobody knows.
    let Trail { server, .. } = trail;
    server.end();
    let ran = vanished.eclusa(&["fleet", "leave"]);
    assert!(ran.code == 0 && ran.err.contains("the server does not know"), "{ran:?}");
}

#[test]
fn two_servers_seal_in_turn_and_each_head_once() {
    let Some(trail) = Trail::new() else { return };
    let other = Server::start(&trail.fleet.world, &trail.database.address());
    let machine = trail.machine();
    for _ in 0..3 {
        let before = trail.database.query("select count(*) from leaves");
        work(&machine, 1);
        assert_eq!(machine.eclusa(&["fleet", "flush", "--wait", "30s"]).code, 0);
        until("it is sealed", || {
            (trail.database.query("select count(*) from leaves") != before).then_some(())
        });
    }
    let twice = "select count(*) - count(distinct (chain, seq)) from leaves";
    assert_eq!(trail.database.query(twice), "0");
    let gaps = "select max(n) + 1 - count(*) from leaves";
    assert_eq!(trail.database.query(gaps), "0");
    let (root, state) = (trail.fleet.root(), machine.path("seen.json").display().to_string());
    for server in [&trail.server.url, &other.url] {
        let args = ["fleet", "watch", server, "--root", &root, "--file", &state, "--once"];
        let ran = machine.eclusa(&args);
        assert_eq!(ran.code, 0, "one log, whoever is asked: {ran:?}");
    }
}

#[test]
fn a_machine_whose_clock_is_off_signs_with_the_servers_time() {
    let Some(trail) = Trail::new() else { return };
    let (key, machine) = trail.stranger();
    let (path, body) = ("/v1/sync", b"{}");
    let line = RequestLine { fleet: "acme", method: "POST", path, body };
    for off in [now() - 86_400_000, now() + 86_400_000] {
        let signed = line.sign(&key, machine, off);
        let (status, said) = send(&trail.server.url, "POST", path, &signed, body);
        assert_eq!(status, 401, "{said}");
        let time = said["now"].as_u64().unwrap();
        assert!(time.abs_diff(now()) < 60_000, "the server says its time: {said}");
    }
    // What the machine keeps of it goes into every later request.
    let enrolled = trail.machine();
    let file = "state/eclusa/fleet/machine.json";
    let mut state: serde_json::Value = serde_json::from_str(&enrolled.read(file)).unwrap();
    state["offset"] = (3 * 3_600_000).into();
    enrolled.write(file, &state.to_string());
    work(&enrolled, 1);
    assert_eq!(enrolled.eclusa(&["fleet", "flush", "--wait", "30s"]).code, 0);
    let state: serde_json::Value = serde_json::from_str(&enrolled.read(file)).unwrap();
    assert!(state["offset"].as_i64().unwrap().abs() < 60_000, "it was set right: {state}");
}
