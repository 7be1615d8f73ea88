//! Machines follow the log of seals by themselves: what they have seen sealed is taken back by nobody unseen.

use super::{
    server::{Server, Trail, work},
    sync,
};
use crate::world::{World, until};

const STATE: &str = "state/eclusa/fleet/machine.json";

/// Everything of a machine is shipped and sealed, and it has checked that seal.
fn follow(trail: &Trail, machine: &World) -> u64 {
    work(machine, 1);
    assert_eq!(machine.eclusa(&["fleet", "flush", "--wait", "30s"]).code, 0);
    let size = trail.sealed();
    until("the seal is checked", || {
        assert_eq!(sync(machine).code, 0);
        (seen(machine) == size).then_some(size)
    })
}

fn status(machine: &World) -> serde_json::Value {
    machine.eclusa(&["--json", "fleet", "status"]).json()
}

fn seen(machine: &World) -> u64 {
    status(machine)["seal"]["size"].as_u64().unwrap_or(0)
}

/// Synchronises until the newest seal is not taken. Says why.
fn refused(machine: &World) -> String {
    until("the seal is refused", || {
        assert_eq!(sync(machine).code, 0, "what is wrong with the seals keeps nobody from working");
        status(machine)["seal_refused"].as_str().map(str::to_owned)
    })
}

#[test]
fn a_machine_checks_every_seal_and_tells_when_history_is_gone() {
    let Some(trail) = Trail::new() else { return };
    let machine = trail.machine();
    follow(&trail, &machine);
    // A log of more than two blocks, of which no other one is this machine's.
    trail.database.query(
        "insert into machines (name, key, labels, ephemeral, invite) values ('other', sha256('other'), '{}', false, '')",
    );
    trail.database.query(
        "insert into chains (machine, store, workspace, begins, begins_hash, seq, hash)
         select m.id, 'store ' || n, 'w', 0, sha256(''), 1, sha256(n::text::bytea)
         from machines m, generate_series(1, 600) n where m.name = 'other'",
    );
    let size = follow(&trail, &machine);
    assert!(size >= 602, "{size}");
    let ran = machine.eclusa(&["fleet", "status"]);
    let line = format!("last seal: {size} heads, with everything that was shipped\n");
    assert!(ran.out.contains(&line), "{ran:?}");
    assert_eq!(trail.database.query("select count(*) from subtrees"), "2");
    // An auditor's proofs are made of the same blocks.
    let ran = trail.fleet.world.eclusa(&[
        "fleet",
        "export",
        "--database",
        &trail.database.address(),
        "--machine",
        "1",
    ]);
    trail.fleet.world.write("workspace/trail", &ran.out);
    let ran =
        trail.fleet.world.eclusa(&["fleet", "verify", "trail", "--root", &trail.fleet.root()]);
    assert!(ran.code == 0 && ran.out.contains("everything holds"), "{ran:?}");
    // The owner of the database takes one record's seal back, and a server seals what there is.
    let before = machine.read(STATE);
    trail.database.query(
        "delete from subtrees; delete from seals; delete from leaves; update chains set sealed = 0 where machine = 1",
    );
    let why = refused(&machine);
    assert!(why.contains("sealed history is gone"), "{why}");
    let kept: serde_json::Value = serde_json::from_str(&machine.read(STATE)).unwrap();
    let old: serde_json::Value = serde_json::from_str(&before).unwrap();
    assert_eq!(kept["seal"], old["seal"], "the one that was checked stays, as evidence");
    assert!(kept["refused_seal"]["note"].as_str().unwrap().starts_with("acme seals\n2\n"));
    assert_eq!(sync(&machine).code, 0);
    let database = trail.database.address();
    let ran = trail.fleet.world.eclusa(&["fleet", "machines", "--stale", "--database", &database]);
    assert!(ran.out.contains("takes no seal: its newest seal covers"), "{ran:?}");
    // It goes on, as with a server that is away, and no longer than that.
    for command in [&["fleet", "status"][..], &["doctor"]] {
        let ran = machine.eclusa(command);
        assert!(ran.out.contains("no seal of the server is taken since"), "{ran:?}");
    }
    assert!(!machine.eclusa(&["check", "note", "text=x"]).out.contains("stale"));
    let mut state = kept;
    state["refused_seal"]["since"] = 1.into();
    machine.write(STATE, &state.to_string());
    let ran = machine.eclusa(&["check", "note", "text=x"]);
    assert!(ran.out.contains("stale") && ran.out.contains("sealed history is gone"), "{ran:?}");
}

#[test]
fn whoever_signs_roots_begins_the_log_of_seals_anew() {
    let Some(trail) = Trail::new() else { return };
    let machine = trail.machine();
    follow(&trail, &machine);
    follow(&trail, &machine);
    trail.database.query(
        "delete from subtrees; delete from seals; delete from leaves; update chains set sealed = 0",
    );
    refused(&machine);
    let Trail { fleet, database, server } = trail;
    let args = ["rotate", "seal", "--remove", "acme-seal-1", "--new-key", "../acme/new.key"];
    let ran = fleet.signed(&args, "--to", "root-1");
    assert_eq!(ran.code, 0, "{ran:?}");
    let file = fleet.documents().display().to_string();
    let sealing = ["--seal-key", "../acme/new.key"];
    let ran = fleet.world.eclusa(&["fleet", "publish", &file, "--server", &server.url]);
    assert_eq!(ran.code, 0, "{ran:?}");
    server.end();
    let server = Server::start_sealing(&fleet.world, &database.address(), &sealing);
    let mut state: serde_json::Value = serde_json::from_str(&machine.read(STATE)).unwrap();
    state["server"] = server.url.as_str().into();
    machine.write(STATE, &state.to_string());
    let trail = Trail { fleet, database, server };
    let size = follow(&trail, &machine);
    assert!(status(&machine)["seal_refused"].is_null(), "{size}");
}
