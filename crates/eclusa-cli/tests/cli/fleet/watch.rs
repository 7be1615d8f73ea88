//! An independent witness: it follows a log of seals that grows, and says loudly when what was sealed is not what is there.

use super::server::{Trail, work};
use crate::world::{Ran, World, until};

fn watch(witness: &World, trail: &Trail, more: &[&str]) -> Ran {
    let (root, state) = (trail.fleet.root(), witness.path("seen.json").display().to_string());
    let args = ["fleet", "watch", &trail.server.url, "--root", &root, "--file", &state, "--once"];
    witness.eclusa(&[&args[..], more].concat())
}

fn flushed(trail: &Trail, machine: &World) -> u64 {
    work(machine, 1);
    assert_eq!(machine.eclusa(&["fleet", "flush", "--wait", "30s"]).code, 0);
    trail.sealed()
}

#[test]
fn a_witness_follows_what_is_sealed_and_notices_what_is_not_as_it_was() {
    let Some(trail) = Trail::new() else { return };
    let (machine, witness) = (trail.machine(), World::new());
    trail.database.query(
        "update turns set at = 'infinity' where name = 'seal'; delete from seals; delete from leaves",
    );
    let ran = watch(&witness, &trail, &[]);
    assert!(ran.code == 4 && ran.err.contains("nothing was sealed yet"), "{ran:?}");
    trail.database.query("update turns set at = '-infinity' where name = 'seal'");
    let size = flushed(&trail, &machine);
    let ran = watch(&witness, &trail, &[]);
    let told = format!("{size} heads are sealed, {size} of them new");
    assert!(ran.code == 0 && ran.out.starts_with(&told), "{ran:?}");
    let size = flushed(&trail, &machine);
    let ran = watch(&witness, &trail, &["--json"]);
    assert_eq!((ran.code, ran.json()["seal"].as_str()), (0, Some("grown")), "{ran:?}");
    assert!(watch(&witness, &trail, &[]).out.starts_with(&format!("nothing new: {size} heads")));
    // The owner of the database takes both seals back, and a server seals what there is.
    trail
        .database
        .query("delete from seals; update chains set sealed = 0; delete from leaves where n > 0");
    trail.database.query("delete from leaves; update turns set at = '-infinity'");
    until("it is sealed anew", || {
        (trail.database.query("select count(*) from seals") != "0").then_some(())
    });
    let seen = witness.read("seen.json");
    let ran = watch(&witness, &trail, &[]);
    assert!(ran.code == 1 && ran.err.contains("sealed history is gone"), "{ran:?}");
    assert!(
        witness.read("seen.evidence").contains(&format!("acme seals\n{size}\n")),
        "the seal that was seen"
    );
    assert_eq!(witness.read("seen.json"), seen, "what was seen stays");
}

#[test]
fn a_witness_believes_nobody_but_the_root() {
    let Some(trail) = Trail::new() else { return };
    let (machine, witness) = (trail.machine(), World::new());
    flushed(&trail, &machine);
    let state = witness.path("seen.json").display().to_string();
    let other = format!("sha256:{}", "ab".repeat(32));
    let args = ["fleet", "watch", &trail.server.url, "--root", &other, "--file", &state, "--once"];
    let ran = witness.eclusa(&args);
    assert!(ran.code == 4 && ran.err.contains("none of its roots has the digest"), "{ran:?}");
    // A seal that somebody else signed.
    trail.database.query("update seals set note = replace(note, 'acme-seal-1', 'acme-seal-2')");
    let ran = watch(&witness, &trail, &[]);
    assert!(ran.code == 4 && ran.err.contains("no key that may seal"), "{ran:?}");
    let ran = witness.eclusa(&[
        "fleet",
        "watch",
        "http://fleet.example",
        "--root",
        &other,
        "--file",
        &state,
    ]);
    assert!(ran.code == 2 && ran.err.contains("use https"), "{ran:?}");
}
