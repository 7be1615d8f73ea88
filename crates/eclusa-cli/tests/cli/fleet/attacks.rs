//! What a server, a network, a repository or a signing key cannot do: each tried on a real machine.

use serde_json::{Value, json};

use super::{DENY_TIME, Fleet, sync};
use crate::world::World;

/// A bundle with something changed in it.
fn changed(text: &str, change: impl FnOnce(&mut Value)) -> String {
    let mut bundle: Value = serde_json::from_str(text).unwrap();
    change(&mut bundle);
    bundle.to_string()
}

#[test]
fn a_hostile_server_changes_nothing() {
    let (fleet, other) = (Fleet::new(&[]), Fleet::new(&[]));
    fleet.push("# one\n");
    let first = fleet.published();
    fleet.push(DENY_TIME);
    other.push("mode = \"yolo\"\n");
    let (good, evil) = (fleet.published(), other.published());
    let machine = fleet.machine("");
    let evil_policy = || serde_json::from_str::<Value>(&evil).unwrap()["policy"].clone();
    let note = |it: &mut Value, from: &str, to: &str| {
        let text = it["note"].as_str().unwrap().replace(from, to);
        it["note"] = text.into();
    };
    let tries = [
        ("an older version", first, "a machine never goes back"),
        ("another fleet", evil.clone(), "is pinned here"),
        ("another fleet's policy", changed(&good, |it| it["policy"] = evil_policy()), "0 of 1"),
        ("a swapped payload", good.replace("deny", "allow"), "not the one that was signed"),
        (
            "a higher version",
            changed(&good, |it| note(&mut it["policy"], "version 2", "version 9")),
            "0 of 1",
        ),
        (
            "a later end",
            changed(&good, |it| note(&mut it["policy"], "expires 20", "expires 21")),
            "0 of 1",
        ),
        (
            "another kind",
            changed(&good, |it| it["policy"] = it["roots"][0].clone()),
            "a root document where a policy document belongs",
        ),
        ("no policy", changed(&good, |it| it["policy"] = Value::Null), "no policy document"),
        ("no root", changed(&good, |it| it["roots"] = json!([])), "is pinned here"),
        (
            "a root of its own",
            changed(&good, |it| {
                let own = serde_json::from_str::<Value>(&evil).unwrap()["roots"][0].clone();
                it["roots"].as_array_mut().unwrap().push(own);
            }),
            "does not follow root 1",
        ),
        (
            "no signature",
            changed(&good, |it| {
                let note = it["policy"]["note"].as_str().unwrap();
                it["policy"]["note"] = note.split_once("\n\n").unwrap().0.into();
            }),
            "not a signed note",
        ),
    ];
    for (what, offered, why) in tries {
        fleet.publish(&offered);
        let ran = sync(&machine);
        assert!(ran.code == 1 && ran.err.contains(why), "{what}: {ran:?}");
        let ran = machine.eclusa(&["check", "time"]);
        assert!(ran.out.starts_with("deny"), "{what}: {ran:?}");
        let told = machine.eclusa(&["--json", "fleet", "status"]).json();
        assert_eq!(told["policy"]["version"], 2, "{what}");
    }
    fleet.publish(&good);
    assert_eq!(sync(&machine).code, 0);
}

#[test]
fn a_machine_that_enters_again_does_not_go_back() {
    let fleet = Fleet::new(&[]);
    fleet.push("# one\n");
    let first = fleet.published();
    fleet.push(DENY_TIME);
    let machine = fleet.machine("");
    let code = fleet.code(&fleet.documents().display().to_string(), &["--team", "ops"]);
    fleet.publish(&first);
    let ran = machine.eclusa(&["fleet", "enroll", &code]);
    assert!(ran.code == 1 && ran.err.contains("a machine never goes back"), "{ran:?}");
    assert!(machine.eclusa(&["check", "time"]).out.starts_with("deny"));
}

/// With the keys a signer can do what `/etc/eclusa/eclusa.toml` can, and no more.
#[test]
fn no_document_loosens_a_catastrophe_or_a_stricter_rule() {
    let fleet = Fleet::new(&[]);
    fleet.push(
        "mode = \"yolo\"\non_no_approver = \"allow-with-warning\"\n\
         [[rules]]\ndecision = \"allow\"\ncommand = \"rm\"\n\
         [[rules]]\ndecision = \"allow\"\ntool = \"time\"\n",
    );
    let machine = fleet.machine(
        "mode = \"confirm-all\"\n[[rules]]\ndecision = \"deny\"\ntool = \"time\"\nreason = \"mine\"\n",
    );
    let ran = machine.eclusa(&["check", "bash", r#"{"command": "rm -rf /"}"#]);
    assert!(ran.out.starts_with("deny"), "{ran:?}");
    assert!(machine.eclusa(&["check", "time"]).out.starts_with("deny"));
    let shown = machine.eclusa(&["config", "show"]).out;
    assert!(shown.contains("mode = \"confirm-all\"") && !shown.contains("yolo"), "{shown}");
    assert!(!shown.contains("on_no_approver = \"allow-with-warning\""), "{shown}");
}

#[test]
fn a_repository_names_no_fleet() {
    let fleet = Fleet::new(&[]);
    fleet.push("[[rules]]\ndecision = \"allow\"\ntool = \"note\"\n");
    let machine = World::new();
    let text = format!(
        "[fleet]\nname = \"acme\"\nroot = \"{}\"\nfrom = \"{}\"\n",
        fleet.root(),
        fleet.documents().display()
    );
    machine.write("workspace/eclusa.toml", &text);
    let ran = sync(&machine);
    assert!(ran.code == 2 && ran.err.contains("this machine is in no fleet"), "{ran:?}");
    let ran = machine.eclusa(&["check", "time"]);
    assert!(ran.err.contains("left out, because this file is not trusted"), "{ran:?}");
}

#[test]
fn what_lies_on_the_machine_is_checked_whenever_it_is_read() {
    let fleet = Fleet::new(&[]);
    fleet.push(DENY_TIME);
    let machine = fleet.machine("[[rules]]\ndecision = \"allow\"\ntool = \"time\"\n");
    let kept = machine.read("state/eclusa/fleet/documents.json");
    for (what, text) in [
        ("changed", kept.replace("deny", "allow")),
        ("cut", kept.get(..kept.len() / 2).unwrap().to_owned()),
        ("empty", String::new()),
        ("of another fleet", {
            let other = Fleet::new(&[]);
            other.push("# two\n");
            other.machine("").read("state/eclusa/fleet/documents.json")
        }),
        ("other labels", kept.replace("team=web", "team=ops")),
    ] {
        machine.write("state/eclusa/fleet/documents.json", &text);
        let ran = machine.eclusa(&["check", "note", "text=x"]);
        assert!(ran.out.starts_with("ask") && ran.out.contains("is stale here"), "{what}: {ran:?}");
    }
    machine.write("state/eclusa/fleet/documents.json", &kept);
    assert!(machine.eclusa(&["check", "time"]).out.starts_with("deny"));
}

#[test]
fn a_bad_code_lets_nobody_in() {
    let fleet = Fleet::new(&[]);
    fleet.push(DENY_TIME);
    let machine = World::new();
    let file = fleet.documents().display().to_string();
    let code = fleet.code(&file, &["--team", "web"]);
    let other = Fleet::new(&[]);
    other.push("# other\n");
    // The documents of another fleet under the address of the code.
    fleet.publish(&other.published());
    let ran = machine.eclusa(&["fleet", "enroll", &code]);
    assert!(ran.code == 1 && ran.err.contains("is pinned here"), "{ran:?}");
    let ran = machine.eclusa(&["fleet", "enroll", code.get(..code.len() - 9).unwrap()]);
    assert!(ran.code == 2 && ran.err.contains("not an enrolment code"), "{ran:?}");
    assert!(!machine.path("state/eclusa/fleet/documents.json").exists());
    assert!(!machine.path("config/eclusa/eclusa.toml").exists());
}
