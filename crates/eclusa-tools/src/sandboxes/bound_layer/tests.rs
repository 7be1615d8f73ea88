//! Where names lead, and what a command sees of files that were swapped since a person said yes.
#![expect(clippy::disallowed_methods, reason = "tests make their own files")]

use std::{sync::Arc, time::Duration};

use eclusa::policy::HiddenPaths;

use super::*;
use crate::sandboxes::{CommandOrder, Ran, Sandboxes, Writes};

/// A workspace with a script in it that was swapped after a yes to other bytes.
fn swapped() -> tempfile::TempDir {
    let room = tempfile::tempdir().unwrap();
    let root = room.path().join("workspace");
    fs::create_dir_all(root.join("sub")).unwrap();
    fs::write(root.join("sub/run.sh"), "echo swapped in\n").unwrap();
    fs::set_permissions(root.join("sub/run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    symlink("sub/run.sh", root.join("go.sh")).unwrap();
    room
}

fn run(room: &Path, command: &str, names: &[&str]) -> Ran {
    let root = room.join("workspace").canonicalize().unwrap();
    let settings = SandboxSettings::new(&root, room.join("state"));
    let bytes: Arc<[u8]> = Arc::from(&b"#!/bin/sh\necho as approved\n"[..]);
    let bound = names.iter().map(|it| BoundFile { name: (*it).to_owned(), bytes: bytes.clone() });
    let order = CommandOrder {
        command: command.to_owned(),
        cwd: root.clone(),
        writes: Writes::Staged,
        time: Duration::from_secs(60),
        session: None,
        background: false,
        hidden: HiddenPaths::nothing(),
        hosts: Default::default(),
        bound: bound.collect(),
        program: None,
        signing: None,
    };
    Sandboxes::new(settings).unwrap().start(&order, |_| {}).unwrap().wait().unwrap()
}

fn output(ran: &Ran) -> String {
    ran.exit.output.text()
}

#[test]
fn a_command_sees_the_bytes_that_a_person_said_yes_to() {
    eclusa_testing::needs!(Namespaces);
    let room = swapped();
    for (command, name) in [
        ("sh sub/run.sh", "sub/run.sh"),
        ("sub/run.sh", "sub/../sub/run.sh"),
        ("sh go.sh", "go.sh"),
        ("sh \"$PWD/go.sh\"", "go.sh"),
    ] {
        let ran = run(room.path(), command, &[name]);
        assert_eq!(output(&ran), "as approved\n", "{command}");
        assert!(ran.changes.is_empty(), "{command}");
    }
    let ran = run(room.path(), "sh sub/run.sh", &[]);
    assert_eq!(output(&ran), "swapped in\n", "without a yes it is what is there");
}

#[test]
fn what_it_writes_over_such_a_file_is_a_change_like_any_other() {
    eclusa_testing::needs!(Namespaces);
    let room = swapped();
    let ran = run(room.path(), "echo more >> sub/run.sh; touch sub/new", &["sub/run.sh"]);
    let paths: Vec<&Path> = ran.changes.iter().map(|it| it.path.as_path()).collect();
    assert_eq!(paths, [Path::new("sub/new"), Path::new("sub/run.sh")]);
}

#[test]
fn names_are_followed_as_far_as_they_stay_in_the_workspace() {
    let room = swapped();
    let root = room.path().join("workspace").canonicalize().unwrap();
    let file = |name: &str| followed(&root, name).map(|it| it.file);
    let script = Some(PathBuf::from("sub/run.sh"));
    assert_eq!(file("go.sh"), script);
    assert_eq!(file("./sub/../go.sh"), script);
    assert_eq!(file(root.join("go.sh").to_str().unwrap()), script);
    symlink(room.path(), root.join("out")).unwrap();
    symlink("ring", root.join("ring")).unwrap();
    for name in ["../x", "/etc/passwd", "out/x", "ring", "sub/none", "sub/../../workspace/go.sh"] {
        assert_eq!(file(name), None, "{name}");
    }
}
