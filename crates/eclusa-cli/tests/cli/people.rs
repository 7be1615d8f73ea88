//! Who must answer: people, groups and keys, checked where the call runs.

use serde_json::json;

use crate::world::{Ran, World};

fn rule(requires: &str) -> World {
    World::with(&format!("[[rules]]\ndecision = \"ask\"\ntool = \"note\"\n{requires}\n"))
}

/// Adds somebody with a key, and gives the file of it.
pub(crate) fn person(world: &World, name: &str, groups: &[&str]) -> String {
    let file = world.path(&format!("{name}.key")).display().to_string();
    let mut args = vec!["people", "add", name, "--new-key", &file];
    groups.iter().for_each(|it| args.extend(["--group", it]));
    let added = world.eclusa(&args);
    assert_eq!(added.code, 0, "{added:?}");
    file
}

fn parked(world: &World) {
    let args = json!({"text": "hello"}).to_string();
    assert_eq!(world.eclusa(&["run", "--park", "note", &args]).code, 4);
}

fn yes(world: &World, key: Option<&str>) -> Ran {
    let mut args = vec!["approvals", "yes", "1"];
    key.iter().for_each(|it| args.extend(["--key", it]));
    world.eclusa(&args)
}

fn notes(world: &World) -> String {
    world.read("workspace/notes.txt")
}

#[test]
fn two_people_with_keys_open_the_call_and_nothing_less_does() {
    let world = rule("of = [\"release\"]\nneed = 2\nwith = \"key\"");
    let (ana, bo) = (person(&world, "ana", &["release"]), person(&world, "bo", &["release"]));
    let eve = person(&world, "eve", &[]);
    parked(&world);
    let shown = world.eclusa(&["approvals", "show", "1"]).out;
    assert!(shown.contains("2 of release, with a key, not the requester"), "{shown}");
    for (key, why) in [(None, "only release can"), (Some(&*eve), "only release can")] {
        let ran = yes(&world, key);
        assert!(ran.code == 3 && ran.err.contains(why), "{ran:?}");
    }
    for _ in 0..2 {
        let ran = yes(&world, Some(&ana));
        assert!(ran.code == 0 && ran.out.contains("one more approver is needed"), "{ran:?}");
        assert_eq!(world.eclusa(&["resume", "1"]).code, 4, "one person is not two");
    }
    let shown = world.eclusa(&["approvals", "show", "1"]).out;
    assert!(shown.contains("`ana` approved by key"), "{shown}");
    let ran = yes(&world, Some(&bo));
    assert!(ran.code == 0 && !ran.out.contains("somebody else"), "{ran:?}");
    let ran = world.eclusa(&["resume", "1"]);
    assert_eq!((ran.code, notes(&world)), (0, "hello\n".to_owned()), "{ran:?}");
    let by = |it: &serde_json::Value| it["approval"]["by"] == "ana, bo";
    assert!(world.records().iter().any(by), "{:?}", world.records());
}

/// Whatever is written into the queue, the call runs only if the signature holds there and then.
#[test]
fn a_yes_counts_only_while_its_key_does_and_its_signature_holds() {
    let world = rule("with = \"key\"");
    let ana = person(&world, "ana", &[]);
    parked(&world);
    let ran = yes(&world, None);
    assert!(ran.code == 3 && ran.err.contains("with a key"), "{ran:?}");
    assert_eq!(yes(&world, Some(&ana)).code, 0);
    let store = world.store_of_workspace();
    let forge = |sql: &str| {
        let connection = rusqlite::Connection::open(&store).unwrap();
        connection.busy_timeout(std::time::Duration::from_secs(60)).unwrap();
        assert_eq!(connection.execute(sql, []).unwrap(), 1);
    };
    forge("UPDATE answers SET person = 'bo'");
    let ran = world.eclusa(&["resume", "1"]);
    assert_eq!((ran.code, notes(&world)), (3, String::new()), "{ran:?}");
    // Nor does a key that was removed after it had signed.
    parked(&world);
    assert_eq!(world.eclusa(&["approvals", "yes", "2", "--key", &ana]).code, 0);
    assert_eq!(world.eclusa(&["people", "remove", "ana"]).code, 0);
    let ran = world.eclusa(&["resume", "2"]);
    assert_eq!((ran.code, notes(&world)), (3, String::new()), "{ran:?}");
    let ran = world.eclusa(&["approvals", "yes", "2", "--key", &ana]);
    assert!(ran.code == 3 && ran.err.contains("is not registered"), "{ran:?}");
}

#[test]
fn people_are_listed_with_groups_and_keys_and_mistakes_are_told() {
    let world = World::new();
    assert!(world.eclusa(&["people"]).out.contains("no people registered"));
    let ana = person(&world, "ana", &["release", "leads"]);
    let listed = world.eclusa(&["people"]).out;
    assert!(listed.contains("ana (leads, release)") && listed.contains("  file  "), "{listed}");
    let told = world.eclusa(&["--json", "people"]).json();
    assert_eq!(told["keys"].as_array().unwrap().len(), 1, "{told}");
    let again = world.eclusa(&["people", "add", "bo", "--new-key", &ana]);
    assert_eq!(again.code, 1, "a file that is there stays: {again:?}");
    assert_eq!(world.eclusa(&["people", "add", "bo", "--public", "AAAA"]).code, 2);
    assert_eq!(world.eclusa(&["people", "remove", "nobody"]).code, 1);
    world.write(
        "config/eclusa/eclusa.toml",
        "[[rules]]\ndecision = \"allow\"\ntool = \"note\"\nneed = 2\n",
    );
    let wrong = world.eclusa(&["run", "time"]);
    assert!(wrong.code == 2 && wrong.err.contains("only a rule that asks"), "{wrong:?}");
}
