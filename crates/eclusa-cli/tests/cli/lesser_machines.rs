//! Machines with less: no `/proc`, a home and a state that cannot be written, a full disk, few
//! descriptors. Each door answers, with one sentence, and lets nothing run that it cannot hold.

use serde_json::json;

use crate::{
    hook::{before, decision},
    world::{Ran, World, run},
};

/// The binary on a machine that this shell text makes, as root of a namespace; `$STATE`, `$HOME` are its own.
fn on(world: &World, machine: &str, args: &[&str], input: &str) -> Ran {
    let eclusa = world.command(args);
    #[expect(clippy::disallowed_methods, reason = "the test starts the binary elsewhere")]
    let mut command = std::process::Command::new("unshare");
    command.args(["-rm", "sh", "-c", &format!("{machine} && exec \"$@\""), "sh"]);
    command.arg(eclusa.get_program()).args(eclusa.get_args());
    command.current_dir(world.path("workspace")).env_clear();
    command.envs(eclusa.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.env("WORLD", world.path(""));
    run(command, input)
}

const NO_PROC: &str = "mount -t tmpfs none /proc";
const READ_ONLY: &str = "for it in home state; do mount --bind \"$WORLD$it\" \"$WORLD$it\" && mount -o remount,ro,bind \"$WORLD$it\" || exit 9; done";
const FULL: &str = "mount -t tmpfs -o size=64k none \"$WORLD\"state && { head -c 100k /dev/zero > \"$WORLD\"state/fill; true; }";
const FEW: &str = "ulimit -n 24";

/// What may be said of a machine that cannot hold a command.
fn is_one_sentence(ran: &Ran) {
    let first = ran.err.lines().next().unwrap_or_default();
    assert!(!first.is_empty() && ran.err.lines().count() <= 3, "{ran:?}");
    assert!(!ran.err.contains("panicked"), "{ran:?}");
}

#[test]
fn without_a_place_for_the_log_every_door_refuses_and_says_why() {
    eclusa_testing::needs!(Namespaces);
    for machine in [READ_ONLY, FULL] {
        let world = World::with("mode = \"yolo\"\n");
        for name in ["home", "state"] {
            std::fs::create_dir_all(world.path(name)).unwrap();
        }
        let command = json!({"command": "touch new"}).to_string();
        for args in [&["run", "bash", command.as_str()][..], &["exec", "--", "touch new"]] {
            let ran = on(&world, machine, args, "");
            assert_ne!(ran.code, 0, "{machine}: {ran:?}");
            is_one_sentence(&ran);
        }
        let event = before(&world, "Bash", json!({"command": "touch new"}));
        let said = on(&world, machine, &["hook", "claude-code"], &event.to_string());
        assert_eq!(decision(&said).0, "deny", "{machine}: {said:?}");
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "bash", "arguments": {"command": "touch new"}}});
        let said = on(&world, machine, &["mcp"], &format!("{call}\n"));
        assert!(!said.out.contains("\"isError\":false"), "{machine}: {said:?}");
        let said = on(&world, machine, &["up", "--listen", "127.0.0.1:0"], "");
        assert!(said.code != 0 && said.err.contains("state"), "{machine}: {said:?}");
        is_one_sentence(&said);
        assert!(!world.path("workspace/new").exists(), "{machine}");
    }
}

#[test]
fn with_less_than_a_sandbox_needs_nothing_runs_plainly() {
    eclusa_testing::needs!(Namespaces);
    for machine in [NO_PROC, FEW] {
        let world = World::with("mode = \"yolo\"\n");
        let outside = world.path("home/outside");
        let text = format!("touch {}; echo ended", outside.display());
        let command = json!({ "command": text }).to_string();
        for args in [&["run", "bash", command.as_str()][..], &["exec", "--", &text]] {
            let ran = on(&world, machine, args, "");
            assert!(!ran.err.contains("panicked"), "{machine}: {ran:?}");
        }
        let event = before(&world, "Bash", json!({ "command": text }));
        let said = on(&world, machine, &["hook", "claude-code"], &event.to_string());
        let (word, _) = decision(&said);
        assert!(word == "deny" || said.out.contains("--ticket"), "{machine}: {said:?}");
        assert!(!outside.exists(), "{machine}");
    }
}

/// So many are usual, and enough.
#[test]
fn with_1024_descriptors_commands_run_as_ever() {
    eclusa_testing::needs!(Namespaces);
    let world = World::with("mode = \"yolo\"\n");
    let ran = on(&world, "ulimit -n 1024", &["run", "bash", r#"{"command": "echo ran"}"#], "");
    assert_eq!((ran.code, ran.out.as_str()), (0, "ran\n"), "{ran:?}");
}
