//! Commands that need a service which no sandbox has.

use serde_json::json;

use crate::world::{World, flowing};

fn call(command: &str) -> String {
    json!({ "command": command }).to_string()
}

/// What cannot work in a sandbox is told at once, with what a person can do about it. Nothing here
/// needs the programs.
#[test]
fn what_needs_a_service_outside_says_so_and_names_the_grant() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    for command in ["docker compose up -d", "kubectl delete pod a"] {
        let ran = world.eclusa(&["run", "bash", &call(command)]);
        assert_eq!(ran.code, 3, "{ran:?}");
        let told = flowing(&ran.err);
        assert!(told.contains("needs a service outside the sandbox"), "{told}");
        assert!(told.contains("[tools.NAME]"), "{told}");
    }
    // What only looks is tried, and told when it failed.
    let (service, own) = ("needs a service", "reaches only a server that this session has started");
    for (command, told) in
        [("docker ps", service), ("docker compose logs", service), ("psql -l", own)]
    {
        let ran = world.eclusa(&["run", "bash", &call(&format!("{command}; exit 1"))]);
        assert!(flowing(&ran.out).contains(&format!("`{command}` {told}")), "{ran:?}");
    }
    // The name of a remote is no host.
    let ran = world.eclusa(&["check", "bash", &call("git push origin main")]);
    assert!(!ran.out.contains("approving opens"), "{ran:?}");
    let ran = world.eclusa(&["check", "bash", &call("git push https://git.example/a.git main")]);
    assert!(ran.out.contains("approving opens `git.example`"), "{ran:?}");
}
