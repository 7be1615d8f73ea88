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
        // Whoever names `/tmp` has that of its session; the machine's is read, and where it is written by a
        // script that names it, what is there instead is named.
        let name = format!("/tmp/eclusa-try-{}", std::process::id());
        let ran = bash(&world, &format!("wc -l a.txt > {name}; cat {name}"));
        assert!(ran.out.contains("2 a.txt") && !std::path::Path::new(&name).exists(), "{ran:?}");
        world.write("workspace/try.sh", &format!("echo x > {name} || cat a.txt"));
        let ran = bash(&world, "sh try.sh");
        assert!(format!("{ran:?}").contains("`$TMPDIR` names a directory"), "{ran:?}");
        let log = world.eclusa(&["--json", "log"]).out;
        assert!(log.contains("partial, without an overlay"), "the record says what held it: {log}");
    });
}

/// A secret in the workspace keeps no command from running, and is not read by one that writes.
#[test]
fn what_writes_is_kept_from_secrets_and_from_everything_outside() {
    in_a_container(|| {
        let world = World::with("[commands]\nleast = \"partial\"\n");
        world.write("workspace/.env", "TOKEN=correct-horse\n");
        let outside = world.write("home/note", "outside\n");
        let exec = |text: &str| world.eclusa(&["--mode", "yolo", "exec", "--apply", "--", text]);
        let outside = outside.display();
        let ran = exec(&format!(
            "echo x > new; chmod 600 new; touch -d @1 {outside}; ls -A; stat -c %Y {outside}"
        ));
        assert_eq!(world.read("workspace/new"), "x\n", "{ran:?}");
        assert!(ran.out.contains(".env") && !ran.out.lines().any(|it| it == "1"), "{ran:?}");
        // By a name that no rule knows.
        let ran = exec("ln .e* other; cat o*r; echo after");
        let shown = format!("{ran:?}");
        assert!(!shown.contains("correct-horse") && !shown.contains("after"), "{shown}");
        assert!(shown.contains("opened a file that is hidden from it"), "{shown}");
    });
}

/// What tests of programs do most: a server on localhost, and somebody who calls it.
#[test]
fn a_server_on_localhost_is_reached_by_the_command_that_started_it() {
    in_a_container(|| {
        let world = World::with("[commands]\nleast = \"partial\"\n");
        let text = r#"perl -MIO::Socket -e '$l = IO::Socket::INET->new(Listen => 1, LocalAddr => "127.0.0.1") or die $!;
            if (!fork) { $c = IO::Socket::INET->new(PeerAddr => "127.0.0.1:" . $l->sockport) or die $!; print $c "hello\n"; exit }
            print $l->accept->getline' > said"#;
        let ran = world.eclusa(&["--mode", "yolo", "exec", "--apply", "--", text]);
        assert_eq!(world.read("workspace/said"), "hello\n", "{ran:?}");
    });
}

/// Beyond what can be copied nothing runs, and the bound is named with what helps.
#[test]
fn what_is_too_large_to_be_copied_is_refused_before_anything_runs() {
    in_a_container(|| {
        let world = World::new();
        let large = std::fs::File::create(world.path("workspace/large")).unwrap();
        large.set_len(5 << 30).unwrap();
        let ran = world.eclusa(&["exec", "--apply", "--", "echo x > new"]);
        assert_ne!(ran.code, 0, "{ran:?}");
        let said = "the workspace has more than 4096 MiB in files";
        assert!(ran.err.contains(said) && ran.err.contains("`commands.live`"), "{ran:?}");
        assert!(!world.path("workspace/new").exists());
        // What only reads is not in the way of it.
        assert!(bash(&world, "ls").out.contains("large"));
        let live = "[commands]\nlive = [\"data\"]\n";
        let world = World::with(live);
        std::fs::create_dir(world.path("workspace/data")).unwrap();
        let large = std::fs::File::create(world.path("workspace/data/large")).unwrap();
        large.set_len(5 << 30).unwrap();
        let ran = world.eclusa(&["exec", "--apply", "--", "echo x > new"]);
        assert_eq!((ran.code, world.read("workspace/new").as_str()), (0, "x\n"), "{ran:?}");
    });
}
