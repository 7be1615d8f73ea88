//! The program in a container with Docker's defaults: no namespaces, no mounts; Landlock and seccomp hold.

use serde_json::json;

use crate::world::World;

/// In a thread of its own, because what is taken from it cannot be given back.
fn in_a_container(test: impl FnOnce() + Send + 'static) {
    let started = std::thread::spawn(|| {
        eclusa_sandbox::test_support::container().unwrap();
        test();
    });
    started.join().unwrap();
}

fn bash(world: &World, command: &str) -> crate::world::Ran {
    world.eclusa(&["run", "bash", &json!({ "command": command }).to_string()])
}

/// Nobody is there to be asked.
#[test]
fn what_only_reads_runs_unasked() {
    in_a_container(|| {
        let world = World::new();
        world.write("workspace/a.txt", "one\ntwo\n");
        world.write("workspace/.env", "TOKEN=correct-horse\n");
        let reads = [
            ("wc -l a.txt", "2 a.txt"),
            ("ls -A", ".env\na.txt"),
            ("grep -rn two .", "a.txt:2:two"),
            ("sort -r a.txt | head -n 1", "two"),
            ("cat <<< here", "here"),
        ];
        for (command, said) in reads {
            let ran = bash(&world, command);
            assert!(ran.out.contains(said), "{command}: {ran:?}");
        }
        let ran = bash(&world, "cat .env");
        assert!(!format!("{ran:?}").contains("correct-horse"), "{ran:?}");
        let ran = bash(&world, "touch new");
        assert_eq!(ran.code, 3, "what writes is asked about: {ran:?}");
        let log = world.eclusa(&["--json", "log"]).out;
        assert!(log.contains("partial, without an overlay"), "the record says what held it: {log}");
    });
}
