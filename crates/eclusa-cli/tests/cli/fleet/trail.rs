//! One audit trail over many machines: enrolled at a server, shipped exactly once, and everything that can fail on the way.

use super::{
    Fleet,
    postgres::Postgres,
    server::{Server, Trail, enrolled_at, migrate, work, worker},
    sync,
};
use crate::world::{World, run, until};

/// The hash of the last record of a machine.
fn head(machine: &World) -> String {
    let ran = machine.eclusa(&["--json", "log", "verify"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    ran.json()["head"].as_str().unwrap().to_owned()
}

fn flush(machine: &World, wait: &str) -> crate::world::Ran {
    machine.eclusa(&["fleet", "flush", "--wait", wait])
}

/// Changes what a machine knows of its server.
fn change_state(machine: &World, change: impl FnOnce(&mut serde_json::Value)) {
    let file = "state/eclusa/fleet/machine.json";
    let mut state = serde_json::from_str(&machine.read(file)).unwrap();
    change(&mut state);
    machine.write(file, &state.to_string());
}

/// What the server has of all chains: how many records, and the last hashes.
const RECORDS: &str = "select coalesce(sum(last - first + 1), 0) from segments";
const HEADS: &str = "select string_agg(encode(hash, 'hex'), ' ' order by id) from chains";

#[test]
fn records_of_all_machines_come_together() {
    let Some(trail) = Trail::new() else { return };
    let (ana, bo) = (trail.machine(), trail.machine());
    work(&ana, 3);
    work(&bo, 2);
    assert!(ana.eclusa(&["fleet", "status"]).out.contains("shipping: 6 records behind"));
    for machine in [&ana, &bo] {
        let ran = flush(machine, "30s");
        assert_eq!((ran.code, ran.out.as_str()), (0, "everything is at the server\n"), "{ran:?}");
    }
    assert_eq!(trail.database.query(HEADS), format!("{} {}", head(&ana), head(&bo)));
    assert_eq!(trail.database.query(RECORDS), "10");
    let calls =
        "select count(*), count(code) filter (where code = 'ok') from calls where tool = 'note'";
    assert_eq!(trail.database.query(calls), "5|5", "calls are found with their ends");
    for command in [&["fleet", "status"][..], &["doctor"]] {
        let ran = ana.eclusa(command);
        assert!(ran.out.contains("shipping: everything is at the server"), "{ran:?}");
        assert!(
            ran.out.contains("fleet acme: machine 1 of the server at http://127.0.0.1"),
            "{ran:?}"
        );
    }
    // Another time there is nothing to ship, and what is new follows.
    assert_eq!(flush(&ana, "30s").code, 0);
    work(&ana, 1);
    assert_eq!(flush(&ana, "30s").code, 0);
    assert_eq!(trail.database.query(RECORDS), "12");
    assert!(trail.database.query(HEADS).starts_with(&head(&ana)));
}

#[test]
fn what_was_on_record_before_is_shipped_only_if_somebody_says_so() {
    let Some(trail) = Trail::new() else { return };
    for (history, records) in [("none", "2"), ("all", "8")] {
        let machine = worker();
        work(&machine, 3);
        let code = trail.code("1");
        let ran = machine.eclusa(&["fleet", "enroll", &code, "--history", history]);
        assert_eq!(ran.code, 0, "{ran:?}");
        work(&machine, 1);
        assert_eq!(flush(&machine, "30s").code, 0);
        let sql =
            "select sum(last - first + 1) from segments group by chain order by chain desc limit 1";
        assert_eq!(trail.database.query(sql), records);
    }
}

#[test]
fn a_policy_comes_from_the_server() {
    let Some(trail) = Trail::new() else { return };
    let machine = trail.machine();
    trail.fleet.push(super::DENY_TIME);
    let file = trail.fleet.documents().display().to_string();
    let publish = |file: &str| {
        trail.fleet.world.eclusa(&["fleet", "publish", file, "--server", &trail.server.url])
    };
    let ran = publish(&file);
    assert_eq!((ran.code, ran.out.as_str()), (0, "acme policy 2 is published\n"));
    assert!(!machine.eclusa(&["check", "time"]).out.starts_with("deny"));
    let ran = sync(&machine);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(machine.eclusa(&["check", "time"]).out.starts_with("deny"));
    assert_eq!(trail.database.query("select policy from machines"), "1", "as it was when it asked");
    assert_eq!(sync(&machine).code, 0);
    assert_eq!(trail.database.query("select policy from machines"), "2", "the machine says it");
    // The server takes nothing that machines would not take.
    let other = Fleet::new(&[]);
    other.push("# other\n");
    let ran = publish(&other.documents().display().to_string());
    assert!(ran.code == 1 && ran.err.contains("none of its roots has the digest"), "{ran:?}");
}

#[test]
fn calls_go_on_without_the_server_and_nothing_is_lost() {
    let Some(trail) = Trail::new() else { return };
    let machine = trail.machine();
    work(&machine, 1);
    let Trail { fleet, database, server } = trail;
    server.end();
    work(&machine, 2);
    let ran = flush(&machine, "0s");
    assert!(ran.code == 4 && ran.err.contains("is not reached"), "{ran:?}");
    assert!(machine.eclusa(&["fleet", "status"]).out.contains("6 records behind"));
    assert!(!machine.eclusa(&["check", "note", "text=x"]).out.contains("stale"));
    let server = Server::start(&fleet.world, &database.address());
    change_state(&machine, |it| it["server"] = server.url.as_str().into());
    assert_eq!(flush(&machine, "30s").code, 0);
    assert_eq!(database.query(HEADS), head(&machine));
}

/// The loop of a service: ships what is new by itself, and does what a flush waits for.
#[test]
fn a_service_ships_what_is_new_by_itself() {
    let Some(trail) = Trail::new() else { return };
    let machine = trail.machine();
    let mut service = machine.command(&["fleet", "sync"]).spawn().unwrap();
    work(&machine, 2);
    assert_eq!(flush(&machine, "60s").code, 0, "another process ships");
    assert_eq!(trail.database.query(HEADS), head(&machine));
    work(&machine, 1);
    until("the rest is shipped", || (trail.database.query(HEADS) == head(&machine)).then_some(()));
    // It hears of a newer policy by itself.
    trail.fleet.push(super::DENY_TIME);
    let file = trail.fleet.documents().display().to_string();
    trail.fleet.world.eclusa(&["fleet", "publish", &file, "--server", &trail.server.url]);
    until("the policy is in force", || {
        machine.eclusa(&["check", "time"]).out.starts_with("deny").then_some(())
    });
    service.kill().unwrap();
    service.wait().unwrap();
}

#[test]
fn a_clone_is_found_by_its_first_shipment() {
    let Some(trail) = Trail::new() else { return };
    let machine = trail.machine();
    work(&machine, 1);
    assert_eq!(flush(&machine, "30s").code, 0);
    let clone = World::new();
    #[expect(clippy::disallowed_methods, reason = "the test copies a machine")]
    let mut copy = std::process::Command::new("cp");
    copy.arg("-a").arg(machine.path(".")).arg(clone.path("."));
    assert_eq!(run(copy, "").code, 0);
    // Both have the same workspace in their logs; each goes on for itself.
    let store = clone.store_of_workspace();
    let key = store.parent().unwrap().file_name().unwrap().to_owned();
    let workspace = machine.path("workspace").display().to_string();
    let state = clone.path("state/eclusa").display().to_string();
    let config = clone.path("config/eclusa/eclusa.toml").display().to_string();
    let other = |args: &[&str]| {
        let named = ["--workspace", &workspace, "--state", &state, "--config", &config];
        clone.eclusa(&[&named, args].concat())
    };
    assert!(clone.path("state/eclusa").join(&key).is_dir());
    assert_eq!(other(&["run", "note", "text=clone"]).code, 0);
    work(&machine, 1);
    assert_eq!(flush(&machine, "30s").code, 0);
    let ran = other(&["fleet", "flush", "--wait", "0s"]);
    assert!(ran.code == 4 && ran.err.contains("is forked"), "{ran:?}");
    let ran = other(&["check", "note", "text=x"]);
    assert!(ran.out.starts_with("ask") && ran.out.contains("is forked"), "{ran:?}");
    assert_eq!(other(&["fleet", "sync", "--once"]).code, 1);
    let stopped = trail.database.query("select stopped from chains");
    assert!(stopped.starts_with("forked: the machine has record 4"), "{stopped}");
    // Enrolled again it is a machine of its own.
    let code = trail.code("1");
    assert_eq!(other(&["fleet", "enroll", &code]).code, 0);
    assert_eq!(other(&["run", "note", "text=again"]).code, 0);
    assert_eq!(other(&["fleet", "flush", "--wait", "30s"]).code, 0);
    assert!(!other(&["check", "note", "text=x"]).out.contains("stale"));
}

#[test]
fn a_machine_that_is_suspended_is_stale_until_it_is_resumed() {
    let Some(trail) = Trail::new() else { return };
    let machine = trail.machine();
    let set = |why: &str| {
        trail.database.query(&format!("update machines set stopped = {why}, changed = now()"));
    };
    let stale = || machine.eclusa(&["check", "note", "text=x"]).out.contains("is stale here");
    set("'lost laptop'");
    until("it hears of it", || {
        let ran = sync(&machine);
        (ran.code == 1 && ran.err.contains("lost laptop")).then_some(())
    });
    assert!(stale());
    work_asked(&machine);
    set("null");
    until("it hears of that, too", || (sync(&machine).code == 0).then_some(()));
    assert!(!stale());
    assert_eq!(trail.database.query(HEADS), head(&machine));
}

/// A call that a stale machine asks about, and that is on record as such.
fn work_asked(machine: &World) {
    let ran = machine.eclusa(&["run", "note", "text=x"]);
    assert_eq!(ran.code, 3, "{ran:?}");
}

#[test]
fn records_that_wait_too_long_make_a_machine_stale() {
    let Some(trail) = Trail::new() else { return };
    trail.fleet.world.write("workspace/policy/all.toml", "# two\n");
    let refused = trail.fleet.signed(&["push", "policy", "--offline", "0h"], "--to", "policy-1");
    assert!(
        refused.code == 2 && refused.err.contains("is not how long records may wait"),
        "{refused:?}"
    );
    let ran = trail.fleet.signed(&["push", "policy", "--offline", "2m"], "--to", "policy-1");
    assert_eq!(ran.code, 0, "{ran:?}");
    let file = trail.fleet.documents().display().to_string();
    trail.fleet.world.eclusa(&["fleet", "publish", &file, "--server", &trail.server.url]);
    let machine = trail.machine();
    work(&machine, 1);
    let stale = || machine.eclusa(&["check", "note", "text=x"]).out.contains("is stale here");
    // Everything was last seen at the server long ago, and what waits is young.
    change_state(&machine, |it| it["caught_up"] = 0.into());
    assert!(!stale());
    let store = rusqlite::Connection::open(machine.store_of_workspace()).unwrap();
    let old = "update records set body = json_set(body, '$.at', 1700000000000) where seq = 1";
    let body: String =
        store.query_row("select body from records where seq = 1", [], |it| it.get(0)).unwrap();
    store.execute(old, []).unwrap();
    assert!(stale());
    assert!(machine.eclusa(&["fleet", "status"]).out.contains("records since 2023-11-14"));
    store.execute("update records set body = ?1 where seq = 1", [body]).unwrap();
    assert_eq!(flush(&machine, "30s").code, 0);
    assert!(!stale());
    // Who was not enrolled at the server ships nothing, and the policy wants it.
    let plain = trail.fleet.machine("");
    let ran = plain.eclusa(&["check", "note", "text=x"]);
    assert!(ran.out.contains("this machine is enrolled at no server"), "{ran:?}");
}

/// PostgreSQL ends as by a power cut, and is set back to a copy of before: what is missing comes again by itself.
#[test]
fn a_database_that_is_killed_and_set_back_loses_nothing() {
    let Some(mut postgres) = Postgres::start() else { return };
    let fleet = Fleet::new(&[]);
    fleet.push("# one\n");
    postgres.query("postgres", "create database fleet");
    let address = postgres.address("fleet");
    migrate(&fleet, &address);
    let server = Server::start(&fleet.world, &address);
    let machine = enrolled_at(&fleet, &server.url);
    work(&machine, 1);
    assert_eq!(flush(&machine, "30s").code, 0);
    postgres.kill();
    work(&machine, 2);
    let ran = flush(&machine, "0s");
    assert!(ran.code == 4 && ran.err.contains("the database is away"), "{ran:?}");
    postgres.restart();
    assert_eq!(flush(&machine, "60s").code, 0, "the server connects again");
    assert_eq!(postgres.query("fleet", HEADS), head(&machine));
    // A copy of now is what the database will be after more was shipped.
    server.end();
    postgres.query("postgres", "create database backup template fleet");
    let server = Server::start(&fleet.world, &address);
    change_state(&machine, |it| it["server"] = server.url.as_str().into());
    work(&machine, 2);
    assert_eq!(flush(&machine, "30s").code, 0);
    server.end();
    postgres.query("postgres", "drop database fleet");
    postgres.query("postgres", "alter database backup rename to fleet");
    let server = Server::start(&fleet.world, &address);
    change_state(&machine, |it| it["server"] = server.url.as_str().into());
    assert_eq!(postgres.query("fleet", RECORDS), "6");
    let ran = sync(&machine);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(postgres.query("fleet", RECORDS), "10", "without any new record");
    assert_eq!(postgres.query("fleet", HEADS), head(&machine));
}
