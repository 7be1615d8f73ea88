//! What is not read, and by whom it is refused: the rules, or the one way to a file.

use std::{os::unix::fs::symlink, sync::Arc};

use eclusa::{CallView, Policy, Reason, Registry, Rules, Source, Verdict};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::json;

use super::{Read, error, read};
use crate::world::{World, gate, pass};

/// Rules that allow everything, wherever it is.
struct Anything;

impl Policy for Anything {
    fn judge(&self, _: &CallView<'_>) -> Verdict {
        Verdict::from_reasons(vec![Reason {
            decision: eclusa::Decision::Allow,
            source: Source::Rule,
            origin: "test".into(),
            text: "anything goes".into(),
        }])
    }
}

/// What is refused although the rules allow it.
async fn refused_anyway(world: &World, path: &str) -> String {
    let registry = Arc::new(Registry::new());
    registry.add(Read::new(world.files())).unwrap();
    let setup = eclusa::Gate::builder().registry(registry).policy(Anything);
    let reply = pass(&setup.build().unwrap(), "read", json!({"path": path})).await;
    assert_eq!(reply.code(), "tool_failed", "{path}: {}", reply.content());
    reply.error().unwrap_or_default().to_owned()
}

/// Shows E14.
#[tokio::test]
async fn a_path_out_of_the_workspace_is_denied_by_the_rules_and_again_by_the_files() {
    let world = World::new();
    world.write("../outside.txt", "secret");
    for path in ["../../../etc/passwd", "/etc/passwd", "../outside.txt", "a/../../outside.txt"] {
        let reply = read(&world, json!({"path": path})).await;
        assert!(reply.refused() && reply.code() == "denied_by_policy", "{path}: {}", reply.code());
        assert!(reply.content().contains("is outside the workspace"), "{}", reply.content());
        let said = refused_anyway(&world, path).await;
        assert!(said.contains("leads out of the workspace"), "{said}");
    }
}

/// Shows S4.16.
#[tokio::test]
async fn an_absolute_path_into_the_workspace_is_read() {
    let world = World::new();
    world.write("a.txt", "one\n");
    let root = world.workspace().canonicalize().unwrap();
    let registry = Arc::new(Registry::new());
    registry.add(Read::new(world.files())).unwrap();
    let gate = gate(registry, Rules::new(Vec::new(), &root));
    let reply = pass(&gate, "read", json!({"path": root.join("a.txt")})).await;
    assert_eq!(reply.text(), "     1\tone\n");
}

#[tokio::test]
async fn secret_files_are_refused_by_the_files_alone() {
    let world = World::new();
    world.write(".env", "KEY=1");
    world.write("deploy/server.pem", "key");
    symlink(".env", world.path("plain.txt")).unwrap();
    for path in [".env", "deploy/server.pem", "deploy/../.env", "plain.txt"] {
        let said = error(&world, json!({"path": path})).await;
        assert!(said.contains("is blocked"), "{path}: {said}");
        assert!(!said.contains("KEY"), "{said}");
    }
}

#[tokio::test]
async fn a_link_out_of_the_workspace_is_refused_whatever_the_rules_say() {
    let world = World::new();
    world.write("../outside.txt", "secret");
    symlink("../outside.txt", world.path("link.txt")).unwrap();
    symlink("/etc", world.path("etc")).unwrap();
    for path in ["link.txt", "etc/passwd"] {
        let said = refused_anyway(&world, path).await;
        assert!(said.contains("leads out of the workspace"), "{said}");
    }
}

#[tokio::test]
async fn a_pipe_is_refused_at_once_and_a_directory_too() {
    let world = World::new();
    mknodat(CWD, world.path("pipe"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    std::fs::create_dir(world.path("src")).unwrap();
    // Were it opened, it would wait for a writer, and the test with it.
    let said = error(&world, json!({"path": "pipe"})).await;
    assert!(said.contains("`pipe` is a pipe, not a file"), "{said}");
    let said = error(&world, json!({"path": "src"})).await;
    assert!(said.contains("`src` is a directory, not a file; list it instead"), "{said}");
}

#[tokio::test]
async fn what_is_not_there_is_told_with_a_guess() {
    let world = World::new();
    world.write("readme.md", "x");
    let said = error(&world, json!({"path": "readme.txt"})).await;
    assert!(said.contains("no such file: `readme.txt`"), "{said}");
}
