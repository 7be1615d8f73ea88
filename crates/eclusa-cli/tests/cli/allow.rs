//! Allowances through the front door: questions that were answered beforehand, and all the others.

use crate::{
    people::person,
    world::{Ran, World},
};

fn note(world: &World, text: &str) -> Ran {
    world.eclusa(&["--json", "run", "note", &serde_json::json!({ "text": text }).to_string()])
}

fn allow(world: &World, rule: &str, more: &[&str]) -> Ran {
    let file = world.write("rule.toml", &format!("[[rules]]\ndecision = \"allow\"\n{rule}\n"));
    let file = file.display().to_string();
    world.eclusa(&[&["allow", &file], more].concat())
}

const TERMS: [&str; 4] = ["--times", "2", "--for", "1h"];

#[test]
fn an_allowance_answers_so_many_questions_and_can_be_taken_back_at_once() {
    let world = World::new();
    assert_eq!(note(&world, "no").code, 3, "nobody can be asked");
    let ran = allow(&world, "tool = \"note\"", &TERMS);
    assert!(ran.code == 0 && ran.out.starts_with("allowance 1: 2 calls until "), "{ran:?}");
    assert_eq!((note(&world, "a").code, note(&world, "b").code), (0, 0));
    assert_eq!(note(&world, "c").code, 3, "it is used up");
    assert_eq!(world.read("workspace/notes.txt"), "a\nb\n");
    let records = world.records();
    let approvals = records.iter().map(|it| &it["changes"]["approval"]);
    let lifted: Vec<_> = approvals.filter(|it| it["answer"] == "allowance").collect();
    assert!(
        lifted.len() == 2 && lifted.iter().all(|it| it["by"] == "allowance 1 (tester)"),
        "{records:?}"
    );
    assert_eq!(allow(&world, "tool = \"note\"", &TERMS).code, 0);
    let listed = world.eclusa(&["allow"]).out;
    assert!(listed.contains("allowance 2, live: 0 of 2 used"), "{listed}");
    assert!(listed.contains("allowance 1, used up: 2 of 2 used"), "{listed}");
    assert!(listed.contains("agreed by tester (word)") && listed.contains("tool = \"note\""));
    assert_eq!(world.eclusa(&["allow", "revoke", "2"]).code, 0);
    assert_eq!(note(&world, "d").code, 3, "it was taken back");
    assert_eq!(world.eclusa(&["allow", "revoke", "2"]).code, 1);
    assert_eq!(world.eclusa(&["allow", "yes", "2"]).code, 1, "nobody agrees to it any more");
    let events = world.records().into_iter().filter(|it| it["event"] == "allowance");
    let said: Vec<String> = events.map(|it| it["approval"]["answer"].to_string()).collect();
    assert_eq!(said.join(" ").replace('"', ""), "proposed allowed proposed allowed revoked");
}

#[test]
fn an_allowance_lifts_what_it_is_about_and_no_denial() {
    let world = World::with(
        "[[rules]]\ndecision = \"deny\"\ntool = \"note\"\narg = { \"/text\" = \"bad*\" }\n",
    );
    let rule = "tool = \"write\"\npath = \"docs/**\"";
    assert_eq!(allow(&world, rule, &["--times", "9", "--for", "1h"]).code, 0);
    let write = |path: &str| {
        let args = serde_json::json!({"path": path, "content": "x\n"}).to_string();
        world.eclusa(&["run", "write", &args]).code
    };
    assert_eq!((write("docs/a.md"), write("src/a.rs")), (0, 3));
    assert_eq!(note(&world, "other").code, 3, "another tool");
    assert_eq!(allow(&world, "tool = \"note\"", &TERMS).code, 0);
    assert_eq!((note(&world, "bad").code, note(&world, "good").code), (3, 0));
    let used = world.eclusa(&["--json", "allow"]).out;
    assert!(
        used.lines().all(|it| it.contains("\"used\":1")),
        "a refused call uses nothing: {used}"
    );
    let careful = world.eclusa(&["--mode", "confirm-all", "run", "note", "text=x"]);
    assert_eq!(careful.code, 3, "the mode asks each time: {careful:?}");
}

#[test]
fn an_allowance_needs_those_whom_the_rule_needs() {
    let world = World::with(
        "[[rules]]\ndecision = \"ask\"\ntool = \"note\"\nof = [\"release\"]\nneed = 2\nwith = \"key\"\n",
    );
    let (ana, bo) = (person(&world, "ana", &["release"]), person(&world, "bo", &["release"]));
    let eve = person(&world, "eve", &[]);
    assert_eq!(allow(&world, "tool = \"note\"", &[&TERMS[..], &["--key", &ana]].concat()).code, 0);
    let parked = |text: &str| world.eclusa(&["run", "--park", "note", &format!("text={text}")]);
    assert_eq!(parked("a").code, 4, "one is not two");
    assert_eq!(world.eclusa(&["allow", "yes", "1", "--key", &eve]).code, 0);
    assert_eq!(world.eclusa(&["allow", "yes", "1"]).code, 0);
    assert_eq!(parked("b").code, 4, "neither of them counts");
    assert_eq!(world.eclusa(&["allow", "yes", "1", "--key", &bo]).code, 0);
    let ran = parked("c");
    assert_eq!((ran.code, world.read("workspace/notes.txt")), (0, "c\n".to_owned()), "{ran:?}");
    // What was signed is what counts.
    let store = rusqlite::Connection::open(world.store_of_workspace()).unwrap();
    store.busy_timeout(std::time::Duration::from_secs(60)).unwrap();
    assert_eq!(store.execute("UPDATE allowances SET times = 1000", []).unwrap(), 1);
    drop(store);
    assert_eq!(parked("d").code, 4, "nobody agreed to a thousand");
}

#[test]
fn mistakes_in_allowances_are_told() {
    let world = World::new();
    for (rule, why) in [
        ("", "needs a condition"),
        ("tool = \"note\"\nuntil = \"2030-01-01\"", "bound it"),
        ("tool = \"note\"\n[[rules]]\ndecision = \"allow\"\ntool = \"x\"", "none, or several"),
        ("tool = \"note\"\n[limits]\ntime = \"1s\"", "something else"),
        ("tool = \"note\"\nneed = 2", "only a rule that asks"),
        ("tool = 7", "tool"),
    ] {
        let ran = allow(&world, rule, &TERMS);
        assert!(ran.code == 2 && ran.err.contains(why), "{rule}: {ran:?}");
    }
    assert_eq!(allow(&world, "tool = \"note\"", &["--times", "2"]).code, 2);
    assert_eq!(allow(&world, "tool = \"note\"", &["--times", "0", "--for", "1h"]).code, 2);
    assert_eq!(allow(&world, "tool = \"note\"", &["--times", "1", "--for", "90d"]).code, 2);
    assert_eq!(world.eclusa(&["allow", "nowhere.toml", "--times", "1", "--for", "1h"]).code, 1);
    assert!(world.eclusa(&["allow"]).out.contains("no allowances yet"));
}
