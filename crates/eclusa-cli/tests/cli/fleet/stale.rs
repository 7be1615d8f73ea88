//! A machine that has not heard of its fleet for too long, or never has.

use std::collections::BTreeMap;

use eclusa_fleet::{Author, DocumentBundle, FleetAnchor, Membership, PolicyPayload, SigningKey};

use super::{Fleet, sync};
use crate::world::World;

/// The time of documents that expired long ago, in milliseconds since 1970.
const LONG_AGO: u64 = 1_700_000_000_000;
const DAY: u64 = 86_400_000;

/// A machine whose policy expired: it was fetched in time, and nobody has renewed it.
fn expired(fleet: &Fleet, config: &str) -> World {
    let key: SigningKey = fleet.world.read("acme/keys/acme-policy-1.key").parse().unwrap();
    let bundle = DocumentBundle::parse(&fleet.published()).unwrap();
    let mut author = Author::open(bundle).unwrap();
    let files = BTreeMap::from([("all.toml".to_owned(), "# nothing\n".to_owned())]);
    let policy = PolicyPayload { files, ..PolicyPayload::default() };
    author.policy(&policy, LONG_AGO + DAY, &[key]).unwrap();
    let anchor =
        FleetAnchor { name: "acme".into(), root: fleet.root().parse().unwrap(), from: None };
    let held =
        Membership::begin(author.bundle().clone(), None, &anchor, (LONG_AGO, "0.1.0"), |_, _| {
            Ok(())
        });
    let machine = World::with(&format!("{config}\n{}", named(fleet)));
    std::fs::create_dir_all(machine.path("state/eclusa/fleet")).unwrap();
    machine.write("state/eclusa/fleet/documents.json", &held.unwrap().to_text());
    machine
}

/// `[fleet]` for this fleet.
fn named(fleet: &Fleet) -> String {
    let (root, from) = (fleet.root(), fleet.documents());
    format!("[fleet]\nname = \"acme\"\nroot = \"{root}\"\nfrom = \"{}\"\n", from.display())
}

#[test]
fn a_stale_machine_asks_about_every_call_that_does_more_than_look() {
    let fleet = Fleet::new(&[]);
    let allow = "mode = \"yolo\"\n[[rules]]\ndecision = \"allow\"\ntool = [\"note\", \"write\"]\n";
    let machine = expired(&fleet, allow);
    machine.write("workspace/file", "text\n");
    let ran = machine.eclusa(&["run", "read", "path=file"]);
    assert_eq!(ran.code, 0, "what only looks goes on: {ran:?}");
    for call in [&["note", "text=x"][..], &["write", "path=new", "content=x"]] {
        let ran = machine.eclusa(&[&["run"], call].concat());
        assert_eq!(ran.code, 3, "{call:?}: {ran:?}");
        assert!(ran.err.contains("is stale here: policy 1 expired at 2023-11-15"), "{ran:?}");
        let ran = machine.eclusa(&[&["check"], call].concat());
        assert!(ran.out.starts_with("ask") && ran.out.contains("is stale here"), "{ran:?}");
    }
    assert!(!machine.path("workspace/new").exists());
    let ran = machine.eclusa(&["fleet", "status"]);
    assert!(ran.code == 1 && ran.out.contains("fleet acme: stale"), "{ran:?}");
    assert!(machine.eclusa(&["doctor"]).out.contains("fleet acme: stale"));
    // Renewed and fetched, everything is as before.
    fleet.push("# renewed\n");
    let ran = fleet.signed(&["push", "--renew", "--for", "30d"], "--to", "policy-1");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(sync(&machine).code, 0);
    let ran = machine.eclusa(&["run", "note", "text=x"]);
    assert_eq!(ran.code, 0, "{ran:?}");
}

/// Where settings let pass what nobody can be asked about, a stale machine's calls wait all the same.
#[test]
fn on_a_stale_machine_nothing_runs_because_nobody_is_there() {
    let fleet = Fleet::new(&[]);
    let machine = expired(&fleet, "on_no_approver = \"allow-with-warning\"\n");
    let shown = machine.eclusa(&["config", "show"]).out;
    assert!(shown.contains("on_no_approver = \"queue\"  # fleet acme:1"), "{shown}");
    // What is stricter stands.
    let machine = expired(&fleet, "on_no_approver = \"deny\"\n");
    let shown = machine.eclusa(&["config", "show"]).out;
    assert!(shown.contains("on_no_approver = \"deny\"") && !shown.contains("queue"), "{shown}");
}

#[test]
fn a_machine_that_never_fetched_anything_is_stale() {
    let fleet = Fleet::new(&[]);
    fleet.push("# one\n");
    let machine = World::with(&named(&fleet));
    let ran = machine.eclusa(&["check", "note", "text=x"]);
    assert!(ran.out.starts_with("ask") && ran.out.contains("no documents are here"), "{ran:?}");
    assert_eq!(sync(&machine).code, 0);
    assert!(!machine.eclusa(&["check", "note", "text=x"]).out.contains("stale"));
    // Another state directory has not been enrolled.
    let other = machine.path("other").display().to_string();
    let ran = machine.eclusa(&["--state", &other, "check", "note", "text=x"]);
    assert!(ran.out.contains("no documents are here"), "{ran:?}");
}

/// Two lines that device management writes make the fleet mandatory: nothing of a person's takes it away.
#[test]
fn a_fleet_of_the_administrator_is_mandatory() {
    eclusa_testing::needs!(Namespaces);
    let fleet = Fleet::new(&[]);
    fleet.push("[[rules]]\ndecision = \"deny\"\ntool = \"time\"\n");
    let other = Fleet::new(&[]);
    other.push("# other\n");
    let machine = World::with(&named(&other));
    let top = machine.write("top.toml", &named(&fleet));
    let elsewhere = |args: &[&str]| {
        let ran = machine.under_administrator(&top, args);
        (ran.code, ran.out + &ran.err)
    };
    let (_, out) = elsewhere(&["check", "note", "text=x"]);
    assert!(out.starts_with("ask") && out.contains("is stale here"), "{out}");
    let (code, out) = elsewhere(&["fleet", "sync", "--once"]);
    assert!(code == 0 && out.contains("acme policy 1 is now in force"), "{out}");
    assert!(elsewhere(&["check", "time"]).1.starts_with("deny"));
    assert!(elsewhere(&["--config", "/dev/null", "check", "time"]).1.starts_with("deny"));
    let (_, out) = elsewhere(&["doctor"]);
    assert!(out.contains("/etc/eclusa/eclusa.toml says so, and who leaves is asked"), "{out}");
    let (code, out) = elsewhere(&["fleet", "leave"]);
    assert!(code == 0 && out.contains("this machine is stale"), "{out}");
    let (_, out) = elsewhere(&["check", "note", "text=x"]);
    assert!(out.starts_with("ask") && out.contains("is stale here"), "{out}");
}
