//! What an auditor has: an export that is checked without server or database, and everything that somebody could change in it.

use serde_json::{Value, json};

use super::server::{Trail, work};
use crate::world::{Ran, World};

fn export(trail: &Trail, args: &[&str]) -> String {
    let database = trail.database.address();
    let args = [&["fleet", "export", "--database", &database], args].concat();
    let ran = trail.fleet.world.eclusa(&args);
    assert_eq!(ran.code, 0, "{ran:?}");
    ran.out
}

/// Checks an export on a machine that knows nothing but a root.
fn verify(text: &str, root: &str) -> Ran {
    let auditor = World::new();
    auditor.write("workspace/trail", text);
    auditor.eclusa(&["fleet", "verify", "trail", "--root", root])
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|it| serde_json::from_str(it).unwrap()).collect()
}

fn text(lines: &[Value]) -> String {
    lines.iter().map(|it| format!("{it}\n")).collect()
}

#[test]
fn an_export_is_checked_without_trusting_anybody() {
    let Some(trail) = Trail::new() else { return };
    let (ana, bo) = (trail.machine(), trail.machine());
    for machine in [&ana, &bo] {
        work(machine, 2);
        assert_eq!(machine.eclusa(&["fleet", "flush"]).code, 0);
        work(machine, 1);
        assert_eq!(machine.eclusa(&["fleet", "flush"]).code, 0);
    }
    trail.sealed();
    let (whole, root) = (export(&trail, &[]), trail.fleet.root());
    let ran = verify(&whole, &root);
    assert_eq!(ran.code, 0, "{ran:?}");
    let workspace = ana.path("workspace").canonicalize().unwrap();
    let first = format!("machine 1, {}: records 1 to 6 hold and are sealed\n", workspace.display());
    assert!(ran.out.starts_with(&first), "{ran:?}");
    assert!(ran.out.contains("everything holds, by a seal over "), "{ran:?}");
    let acts = "machine 0, the server and who administers it: records 1 to 3 hold and are sealed\n";
    assert!(ran.out.contains(acts), "{ran:?}");
    let one = export(&trail, &["--machine", "2"]);
    let ran = verify(&one, &root);
    assert!(ran.code == 0 && !ran.out.contains("machine 1,"), "{ran:?}");
    assert_eq!(lines(&export(&trail, &["--team", "ops"])).len(), 1, "the fleet alone");
    // Whoever changes something is found out.
    let good = lines(&one);
    let refused = |what: &str, change: &dyn Fn(&mut Vec<Value>), why: &str| {
        let mut changed = good.clone();
        change(&mut changed);
        let ran = verify(&text(&changed), &root);
        assert_eq!(ran.code, 1, "{what}: {ran:?}");
        assert!((ran.out.clone() + &ran.err).contains(why), "{what}: {ran:?}");
    };
    let last = good.iter().rposition(|it| it.get("segment").is_some()).unwrap();
    let packed = |bodies: &[&str]| {
        use base64::{Engine as _, engine::general_purpose::STANDARD};
        let packed = eclusa_fleet::shipment::pack(bodies.iter().copied()).unwrap();
        json!({"segment": {"body": STANDARD.encode(packed)}})
    };
    let forged = packed(&[r#"{"at":1,"event":"ended","tool":"t","v":2}"#]);
    refused("records cut off", &|it| drop(it.remove(last)), "is not the one that was sealed");
    refused("other records", &|it| it[last] = forged.clone(), "does not hold");
    refused("records swapped", &|it| it.swap(last, last - 1), "does not hold");
    refused("the fleet left out", &|it| drop(it.remove(0)), "does not begin with its fleet");
    refused(
        "a head to fit what was cut off",
        &|it| {
            it.remove(last);
            let head = json!({"seq": 0, "hash": it[1]["chain"]["begins"]["hash"]});
            it[1]["chain"]["head"] = head;
        },
        "does not hold",
    );
    refused(
        "another machine",
        &|it| it[1]["chain"]["machine"] = 7.into(),
        "the seal does not hold",
    );
    refused("another store", &|it| it[1]["chain"]["store"] = "x".into(), "the seal does not hold");
    let leaf = good.len() - 1;
    refused("another place", &|it| it[leaf]["leaf"]["index"] = 0.into(), "the seal does not hold");
    refused(
        "a seal that nobody signed",
        &|it| {
            let seal =
                it[0]["fleet"]["seal"].as_str().unwrap().replace("acme seals\n", "acme seals\n1");
            it[0]["fleet"]["seal"] = seal.into();
        },
        "signed the seal",
    );
    let mut bare = good.clone();
    bare[0]["fleet"]["seal"] = Value::Null;
    bare.remove(leaf);
    let ran = verify(&text(&bare), &root);
    assert!(
        ran.out.contains("there is no seal, so that the end of each may be missing"),
        "{ran:?}"
    );
    // Nothing counts that the pinned root does not lead to.
    let other = super::Fleet::new(&[]);
    let ran = verify(&whole, &other.root());
    assert!(ran.code == 1 && ran.err.contains("none of its roots has the digest"), "{ran:?}");
    // The owner of the database cannot rewrite what was sealed.
    trail.database.query(
        "update segments set body = (select body from segments order by chain, first limit 1) \
         where chain = 2 and first > 1",
    );
    assert_eq!(verify(&export(&trail, &[]), &root).code, 1);
}

/// Whoever has a signing key, or administers, is seen: what was pushed, rolled out and shut out is chained and sealed.
#[test]
fn what_is_administered_is_on_record_and_sealed() {
    let Some(trail) = Trail::new() else { return };
    let machine = trail.machine();
    let database = trail.database.address();
    trail.fleet.push(super::DENY_TIME);
    let file = trail.fleet.documents().display().to_string();
    let publish = ["fleet", "publish", &file, "--server", &trail.server.url];
    assert_eq!(trail.fleet.world.eclusa(&publish).code, 0);
    trail.fleet.world.write("workspace/policy/all.toml", "# three\n");
    let staged = ["push", "policy", "--database", &database, "--percent", "5"];
    assert_eq!(trail.fleet.signed(&staged, "--to", "policy-1").code, 0);
    let of_database = |args: &[&str]| {
        let ran = trail.fleet.world.eclusa(&[args, &["--database", &database]].concat());
        assert_eq!(ran.code, 0, "{ran:?}");
        ran
    };
    of_database(&["fleet", "rollout", "--percent", "20"]);
    of_database(&["fleet", "rollout", "--hold"]);
    of_database(&["fleet", "machines", "suspend", "1", "--why", "lost"]);
    of_database(&["fleet", "machines", "resume", "1"]);
    assert_eq!(machine.eclusa(&["fleet", "leave"]).code, 0);
    let listed = of_database(&["--json", "fleet", "log", "--acts"]).json();
    let listed = listed.as_array().unwrap();
    let acts: Vec<&str> = listed.iter().map(|it| it["record"]["act"].as_str().unwrap()).collect();
    let expected = [
        "left",
        "resumed",
        "suspended",
        "held",
        "rolled out",
        "documents",
        "documents",
        "enrolled",
        "documents",
    ];
    assert_eq!(acts, expected);
    let pushed = &listed[5]["record"]["about"];
    assert_eq!(
        (&pushed["policy"]["version"], &pushed["policy"]["signers"][0]),
        (&3.into(), &"acme-policy-1".into())
    );
    assert_eq!(pushed["offered"], "to 5 of 100 machines", "{pushed}");
    assert_eq!(listed[2]["record"]["about"], json!({"machine": 1, "why": "lost"}));
    let ran = of_database(&["fleet", "log", "--acts", "--limit", "1"]);
    assert!(ran.out.lines().nth(1).unwrap().starts_with("9 "), "{ran:?}");
    // Whoever owns the database takes none of it back unseen.
    trail.sealed();
    let root = trail.fleet.root();
    assert_eq!(verify(&export(&trail, &[]), &root).code, 0);
    trail.database.query("update acts set body = replace(body, 'acme-policy-1', 'acme-policy-2')");
    let ran = verify(&export(&trail, &[]), &root);
    assert!(ran.code == 1 && ran.out.contains("machine 0, the server"), "{ran:?}");
    trail.database.query("delete from acts where seq > 1");
    assert_eq!(verify(&export(&trail, &[]), &root).code, 1);
}

#[test]
fn calls_of_all_machines_are_listed() {
    let Some(trail) = Trail::new() else { return };
    let machine = trail.machine();
    work(&machine, 2);
    machine.eclusa(&["run", "time"]);
    assert_eq!(machine.eclusa(&["fleet", "flush"]).code, 0);
    let database = trail.database.address();
    let log = |args: &[&str]| {
        let args = [&["--json", "fleet", "log", "--database", &database], args].concat();
        trail.fleet.world.eclusa(&args).json()
    };
    let all = log(&[]);
    assert_eq!(all.as_array().unwrap().len(), 3, "{all}");
    assert_eq!((&all[0]["tool"], &all[0]["machine"]), (&json!("time"), &json!(1)), "newest first");
    assert_eq!(log(&["--tool", "note", "--team", "web"]).as_array().unwrap().len(), 2);
    assert_eq!(log(&["--team", "ops"]), json!([]));
    assert_eq!(log(&["--decision", "deny"]), json!([]));
    let ran = trail.fleet.world.eclusa(&["fleet", "log", "--database", &database, "--limit", "1"]);
    assert!(ran.out.lines().count() == 2 && ran.out.contains("time"), "{ran:?}");
}

/// A day that is old goes whole; the chain goes on, and what is left is checked from where it was cut.
#[test]
fn old_days_are_dropped_and_the_rest_holds() {
    let Some(trail) = Trail::new() else { return };
    let machine = trail.machine();
    work(&machine, 2);
    assert_eq!(machine.eclusa(&["fleet", "flush"]).code, 0);
    for table in ["segments", "calls"] {
        trail.database.query(&format!(
            "create table {table}_20200101 partition of {table} for values from ('2020-01-01') to ('2020-01-02')"
        ));
        trail.database.query(&format!("update {table} set arrived = '2020-01-01'"));
    }
    work(&machine, 1);
    assert_eq!(machine.eclusa(&["fleet", "flush"]).code, 0);
    let address = trail.database.address();
    let maintain = || trail.fleet.world.eclusa(&["fleet", "maintain", "--database", &address]);
    let ran = maintain();
    assert_eq!(ran.out, "dropped: segments_20200101, calls_20200101\n", "{ran:?}");
    assert_eq!(maintain().out, "partitions are ready; nothing is old\n");
    let ahead = "select count(*) from pg_inherits where inhparent = 'segments'::regclass";
    assert_eq!(trail.database.query(ahead), "8", "today and a week");
    trail.sealed();
    let ran = verify(&export(&trail, &[]), &trail.fleet.root());
    assert!(ran.code == 0 && ran.out.contains("records 5 to 6 hold and are sealed"), "{ran:?}");
    work(&machine, 1);
    assert_eq!(machine.eclusa(&["fleet", "flush"]).code, 0);
}

/// A database is of one fleet, and only what was migrated is served.
#[test]
fn a_server_refuses_a_database_that_is_not_its_own() {
    let Some(trail) = Trail::new() else { return };
    let world = &trail.fleet.world;
    let other = super::Fleet::new(&[]);
    other.push("# other\n");
    let (address, documents) = (trail.database.address(), other.documents().display().to_string());
    let ran =
        world.eclusa(&["fleet", "migrate", "--database", &address, "--documents", &documents]);
    assert!(ran.code == 1 && ran.err.contains("the database is of the fleet `acme`"), "{ran:?}");
    assert_eq!(
        world.eclusa(&["fleet", "migrate", "--database", &address]).code,
        0,
        "again is fine"
    );
    let serve = |args: &[&str]| {
        world.eclusa(&[&["fleet", "serve", "--listen", "127.0.0.1:0"], args].concat())
    };
    let key = world.path("acme/keys/acme-policy-1.key").display().to_string();
    let ran = serve(&["--database", &address, "--seal-key", &key]);
    assert!(ran.code == 1 && ran.err.contains("seal nothing"), "{ran:?}");
    trail.database.query("update fleet_format set version = 9");
    let ran = serve(&["--database", &address]);
    assert!(ran.code == 1 && ran.err.contains("use the program that migrated it"), "{ran:?}");
    let empty = super::postgres::TestDatabase::new().unwrap();
    let ran = serve(&["--database", &empty.address()]);
    assert!(ran.code == 1 && ran.err.contains("run `eclusa fleet migrate` first"), "{ran:?}");
    let ran = world.eclusa(&["fleet", "migrate", "--database", &empty.address()]);
    assert!(ran.code == 1 && ran.err.contains("pass `--documents FILE`"), "{ran:?}");
    for (address, why) in [
        ("postgres://fleet@db.example/fleet", "without TLS"),
        ("host=/tmp sslmode=require", "without TLS"),
        ("postgres://[", "not the address"),
        ("host=/nowhere dbname=x", "the database does not answer"),
    ] {
        let ran = serve(&["--database", address]);
        assert!(ran.code != 0 && ran.err.contains(why), "{address}: {ran:?}");
    }
}
