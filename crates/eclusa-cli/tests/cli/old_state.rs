//! State that version 0.1.0 wrote: this program reads it, verifies it and undoes what it did.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use crate::world::World;

/// A workspace, its log with one pending approval, and its undo history.
fn old() -> World {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/round1");
    let world = World::new();
    copy(&fixture.join("workspace"), &world.path("workspace"));
    // The directory of a workspace is named after its path: the program says which.
    let asked = world.eclusa(&["--json", "doctor"]).json();
    let undo = PathBuf::from(asked["state"].as_str().unwrap());
    let state = undo.parent().unwrap();
    copy(&fixture.join("state"), state);
    // Git keeps no empty directories.
    for name in ["open", "stages", "store"] {
        fs::create_dir_all(undo.join(name)).unwrap();
    }
    world
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
            continue;
        }
        fs::copy(entry.path(), &to).unwrap();
        // As it was, whatever the checkout made of it.
        fs::set_permissions(&to, fs::Permissions::from_mode(0o644)).unwrap();
    }
}

#[test]
fn a_log_of_the_first_version_verifies_and_lists_its_calls() {
    let world = old();
    let head = "7f94c7e35121d823cc8c73adb991d06b4ed3600b0ac1b835daa9e2540eaabfa7";
    let verified = world.eclusa(&["--json", "log", "verify", "--head", head]).json();
    assert_eq!((&verified["ok"], &verified["records"]), (&true.into(), &15.into()));
    let log = world.eclusa(&["--json", "log", "list"]);
    let tools: Vec<String> = log
        .out
        .lines()
        .map(|it| serde_json::from_str::<serde_json::Value>(it).unwrap()["tool"].to_string())
        .collect();
    let made = ["read", "edit", "write", "bash", "write", "bash", "write", "undo", "write"];
    assert_eq!(tools, made.map(|it| format!("{it:?}")));
    let shown = world.eclusa(&["log", "show", "8"]);
    assert!(shown.out.contains("migrations are written by hand"), "{shown:?}");
}

#[test]
fn what_the_first_version_changed_can_be_undone_and_redone() {
    let world = old();
    let undone = world.eclusa(&["undo"]);
    assert_eq!(undone.code, 0, "{undone:?}");
    assert_eq!(world.read("workspace/b.txt"), "made by the first round\n");
    let undone = world.eclusa(&["undo", "2"]);
    assert_eq!(undone.code, 0, "{undone:?}");
    assert_eq!(world.read("workspace/a.txt"), "one\ntwo\n");
    // Calls of that version have the number of their first record; new ones go on behind the last.
    let listed = world.eclusa(&["--json", "log", "-n", "3"]).out;
    let number =
        |it: &str| serde_json::from_str::<serde_json::Value>(it).unwrap()["number"].clone();
    assert_eq!(listed.lines().map(number).collect::<Vec<_>>(), [15, 16, 17]);
    let redone = world.eclusa(&["redo", "11"]);
    assert_eq!(redone.code, 0, "{redone:?}");
    assert_eq!(world.read("workspace/e.txt"), "made and undone\n");
    assert_eq!(world.eclusa(&["log", "verify"]).code, 0);
}

#[test]
fn a_question_that_the_first_version_asked_is_shown_and_can_be_refused() {
    let world = old();
    let listed = world.eclusa(&["approvals"]);
    assert!(listed.out.contains("c.txt") && listed.out.contains("waits"), "{listed:?}");
    let answered = world.eclusa(&["approvals", "no", "1", "not now"]);
    assert_eq!(answered.code, 0, "{answered:?}");
    assert_eq!(world.eclusa(&["--json", "approvals"]).out, "");
    assert_eq!(world.eclusa(&["log", "verify"]).code, 0);
}
