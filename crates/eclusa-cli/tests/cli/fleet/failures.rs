//! What else fails around a server: a database that takes nothing more, two servers with one timer, a clock that is off.

use eclusa_fleet::RequestLine;

use super::server::{Server, Trail, now, send, work};
use crate::world::until;

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
