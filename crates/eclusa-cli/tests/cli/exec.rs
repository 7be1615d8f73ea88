//! Shell commands through the real binary: `eclusa run bash` and `eclusa exec`.

use expectrl::{ControlCode, Expect};

use crate::{
    hook,
    prompt::Person,
    world::{World, alive, wait_until},
};

/// Layers that are left of commands.
pub(crate) fn layers(world: &World) -> usize {
    let stages = world.store().with_file_name("undo").join("stages");
    std::fs::read_dir(stages).map_or(0, Iterator::count)
}

#[test]
fn bash_runs_in_a_sandbox_and_the_record_says_what_held_it() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    let ran = world.eclusa(&["run", "bash", r#"{"command": "echo out; echo err >&2; pwd"}"#]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:?}");
    assert_eq!(world.plain(&ran.out), "out\nerr\n<dir>/workspace\n");
    let ran = world.eclusa(&["--json", "run", "run_command", r#"{"command": "exit 3"}"#]);
    let reply = ran.json();
    assert_eq!((ran.code, reply["code"].as_str()), (1, Some("tool_failed")));
    assert_eq!((&reply["data"]["exit_code"], &reply["tool"]), (&3.into(), &"bash".into()));
    let ends: Vec<_> = world.records().into_iter().filter(|it| it["event"] == "ended").collect();
    assert!(ends.iter().all(|it| it["sandbox"] == "full"), "this kernel has all of it: {ends:?}");
}

/// What is hidden from a command is beside the configuration and in the state, however they are named.
#[test]
fn a_configuration_and_a_state_may_be_named_from_here() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    world.write("workspace/own.toml", "mode = \"yolo\"\n");
    world.write("own.toml", "mode = \"yolo\"\n");
    let bash = r#"{"command": "echo x >> a; cat ../elsewhere/*/eclusa.db"}"#;
    for (at, config) in ["own.toml", "./own.toml", "../own.toml"].into_iter().enumerate() {
        let ran = world.eclusa(&[
            "--config",
            config,
            "--state",
            "../elsewhere",
            "--json",
            "run",
            "bash",
            bash,
        ]);
        let reply = ran.json();
        // It was staged, and committed, and did not find the log.
        assert_eq!(reply["code"], "tool_failed", "{config}: {ran:?}");
        // Whoever may not look into the directory that lies over it is told so instead.
        let said = reply["output"].as_str().unwrap();
        assert!(
            ["No such file", "Permission denied"].iter().any(|it| said.contains(it)),
            "{ran:?}"
        );
        assert_eq!(world.read("workspace/a").lines().count(), at + 1, "{ran:?}");
    }
    assert!(world.path("elsewhere").is_dir());
}

/// S1: what is not approved is not real, and without a person there is nobody to approve it.
#[test]
fn without_a_terminal_changes_are_discarded() {
    let world = World::new();
    let ran = world.eclusa(&["run", "Bash", r#"{"command": "echo x > a"}"#]);
    assert_eq!(ran.code, 3, "{ran:?}");
    let ran = world.eclusa(&["exec", "--", "echo x > a"]);
    assert_eq!(ran.code, 3, "{ran:?}");
    assert!(ran.err.contains("refused:"), "{ran:?}");
    assert!(!world.path("workspace/a").exists());
    assert_eq!(layers(&world), 0);
}

#[test]
fn exec_ends_as_its_command_did() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    let table: [(&[&str], i32, &str); 5] = [
        (&["exec", "--", "true"], 0, ""),
        (&["exec", "--", "echo some; exit 7"], 7, "some\n"),
        (&["exec", "--", "kill -9 $$"], 137, ""),
        (&["exec", "--", "printf", "%s|", "a b", "$HOME", "it's", ""], 0, "a b|$HOME|it's||"),
        (&["exec", "--", "no-such-program"], 127, "no-such-program"),
    ];
    for (args, code, out) in table {
        let ran = world.eclusa(args);
        assert_eq!(ran.code, code, "{args:?}: {ran:?}");
        assert!(ran.out.contains(out), "{args:?}: {ran:?}");
    }
    // A busy machine may need more time to begin.
    let begun = ["300ms", "3s", "30s"].into_iter().any(|time| {
        let ran = world.eclusa(&["exec", "--timeout", time, "--", "echo begun; sleep 1000"]);
        assert_eq!(ran.code, 143, "{ran:?}");
        ran.out.contains("begun\n")
    });
    assert!(begun);
}

#[test]
fn exec_commits_and_undo_takes_it_back() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    world.write("workspace/old", "one\n");
    let ran = world.eclusa(&["exec", "--apply", "--", "echo two >> old; mkdir d; echo n > d/new"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    for text in ["altered old", "+ two", "made d/new", "applied as call"] {
        assert!(ran.err.contains(text), "`{text}` is not in {}", ran.err);
    }
    assert_eq!(world.read("workspace/old"), "one\ntwo\n");
    assert_eq!(world.read("workspace/d/new"), "n\n");
    let ran = world.eclusa(&["undo"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(world.read("workspace/old"), "one\n");
    assert!(!world.path("workspace/d").exists());
    assert_eq!(layers(&world), 0);
}

/// In every mode: what a person wants discarded is shown, and none of it is real.
#[test]
fn exec_discards_whatever_the_rules_allow() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    for mode in ["confirm-all", "confirm-sensitive", "auto-approve", "yolo"] {
        let ran = world.eclusa(&["--mode", mode, "exec", "--discard", "--", "echo x > a; exit 5"]);
        assert_eq!(ran.code, 5, "{mode}: {ran:?}");
        assert!(
            ran.err.contains("+ x") && ran.err.contains("nothing was changed"),
            "{mode}: {ran:?}"
        );
        assert!(!world.path("workspace/a").exists(), "{mode}");
    }
    let ran = world.eclusa(&["--json", "exec", "--discard", "--", "echo told; echo x > a; exit 5"]);
    let told = ran.json();
    assert_eq!((ran.code, &told["settled"]), (5, &"discarded".into()));
    assert_eq!((&told["output"], &told["data"]["exit_code"]), (&"told\n".into(), &5.into()));
    assert!(told["preview"]["diff"].as_str().unwrap().contains("made a"), "{told}");
    let ran = world.eclusa(&["--json", "exec", "--apply", "--", "echo x > a"]);
    assert_eq!((ran.code, &ran.json()["settled"]), (0, &"committed".into()), "{ran:?}");
    let ran = world.eclusa(&["--json", "exec", "--", "cat a"]);
    assert_eq!((&ran.json()["settled"], &ran.json()["output"]), (&"nothing".into(), &"x\n".into()));
}

/// What the rules deny stays denied, whoever types it: before it runs, and for what it did.
#[test]
fn exec_obeys_the_rules() {
    let world = World::with(
        "[effects]\nmax_files = 1\n[[rules]]\ndecision = 'deny'\ncommand = 'curl *'\nreason = 'not here'",
    );
    let ran = world.eclusa(&["exec", "--apply", "--", "curl", "http://example.org"]);
    assert_eq!(ran.code, 3, "{ran:?}");
    assert!(ran.err.contains("not here"), "{ran:?}");
    let ran = world.eclusa(&["exec", "--apply", "--", "echo 1 > a; echo 2 > b"]);
    assert_eq!(ran.code, 3, "{ran:?}");
    assert!(!world.path("workspace/a").exists() && !world.path("workspace/b").exists());
}

/// Whoever typed it wants it to run where nothing is real; what cannot be staged is asked about.
#[test]
fn exec_asks_before_it_runs_only_where_nothing_can_be_staged() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    let ran = world.eclusa(&["exec", "--apply", "--", "cat /etc/hostname > a; cat ~/none; true"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(world.path("workspace/a").exists());
    let end = world.records().pop().unwrap();
    assert_eq!(end["changes"]["approval"]["by"], "command-line", "{end}");
    // No layer can be made there.
    let world = World::new();
    world.eclusa(&["exec", "--", "true"]);
    let undo = world.store().with_file_name("undo");
    #[expect(clippy::disallowed_methods, reason = "the test breaks it on purpose")]
    std::fs::remove_dir_all(&undo).unwrap();
    std::os::unix::fs::symlink("/proc", &undo).unwrap();
    let ran = world.eclusa(&["exec", "--apply", "--", "echo x > a"]);
    assert_eq!(ran.code, 3, "{ran:?}");
    assert!(!world.path("workspace/a").exists());
}

#[test]
fn hosts_that_cannot_be_read_are_told() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    let ran = world.eclusa(&["exec", "--allow-net", "http://a/b", "--", "true"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    let ran = world.eclusa(&[
        "exec",
        "--allow-net",
        "example.org",
        "--discard",
        "--",
        "echo ${http_proxy:+yes}",
    ]);
    assert_eq!((ran.code, ran.out.trim()), (0, "yes"), "{ran:?}");
}

#[test]
fn secrets_the_log_and_what_is_kept_for_undo_are_not_seen() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    std::fs::create_dir(world.path("home/.ssh")).unwrap();
    world.write("home/.ssh/id_ed25519", "secret-key");
    world.write("workspace/.env", "TOKEN=secret-token");
    world.eclusa(&["exec", "--apply", "--", "echo kept > a"]);
    // From a file, so that no rule has anything to say about its text.
    let script =
        "echo begun; cat ~/.ssh/* .env; find / -xdev -name eclusa.db; cat a; env; echo ended";
    world.write("workspace/probe.sh", script);
    let mut command = world.command(&["exec", "--discard", "--", "bash", "probe.sh"]);
    let ran = command.env("MY_SECRET", "secret-variable").output().unwrap();
    let said = String::from_utf8_lossy(&ran.stdout);
    assert!(said.starts_with("begun") && said.ends_with("ended\n"), "{said}");
    for secret in ["secret-key", "secret-token", "secret-variable"] {
        assert!(!said.contains(secret), "{said}");
    }
    // Others on this machine may have logs of their own.
    let own = world.path("").display().to_string();
    assert!(!said.lines().any(|it| it.starts_with(&own) && it.ends_with("eclusa.db")), "{said}");
}

#[test]
fn a_person_sees_the_changes_and_decides() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    let mut person = Person::runs(&world, &["exec", "--", "echo shown; echo x > a; exit 4"]);
    person.sees("shown");
    person.sees("made a");
    person.sees("+ x");
    person.answers("n");
    person.sees("Why?");
    person.types("");
    let (code, seen) = person.ends();
    assert_eq!(code, 4, "{seen}");
    assert!(seen.contains("changes discarded"), "{seen}");
    assert!(!world.path("workspace/a").exists());
    let mut person = Person::runs(&world, &["exec", "--", "echo x > a; exit 4"]);
    person.answers("y");
    let (code, seen) = person.ends();
    assert_eq!(code, 4, "{seen}");
    assert!(seen.contains("applied as call"), "{seen}");
    assert_eq!(world.read("workspace/a"), "x\n");
}

#[test]
fn an_interrupted_command_ends_with_everything_it_started() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    let long = mark("4321.5");
    let script = format!("echo x > a; (setsid sleep {long} &); echo begun; sleep {long}");
    let mut person = Person::runs(&world, &["exec", "--", &script]);
    person.sees("begun");
    person.session.send(ControlCode::EndOfText).unwrap();
    let (code, seen) = person.ends();
    assert_eq!(code, 130, "{seen}");
    assert!(!world.path("workspace/a").exists());
    // A2.3: what was staged did not happen.
    assert!(seen.contains("interrupted: nothing was changed"), "{seen}");
    assert!(!seen.contains("part of its work"), "{seen}");
    wait_until("every sleep has ended", || running(&long) == 0);
    assert_eq!(world.records().last().unwrap()["code"], "cancelled");
}

/// A time to sleep that no other run of the tests uses.
pub(crate) fn mark(n: &str) -> String {
    format!("9{}{n}", std::process::id())
}

/// How many processes have this among their arguments.
pub(crate) fn running(argument: &str) -> usize {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let has = |pid: &str| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.split(|byte| *byte == 0).any(|it| it == argument.as_bytes()) && alive(pid)
    };
    processes.filter(|it| it.file_name().to_str().is_some_and(has)).count()
}

/// Where no sandbox can be had a hook does not promise one.
#[test]
fn without_any_sandbox_a_command_is_denied_at_once_and_doctor_is_named() {
    let started = std::thread::spawn(|| {
        eclusa_sandbox::test_support::landlock().unwrap();
        eclusa_sandbox::test_support::container().unwrap();
        let world = World::with("[commands]\nleast = \"partial\"\n");
        let ran = hook::claude(
            &world,
            &hook::before(&world, "Bash", serde_json::json!({"command": "ls"})),
        );
        let (decision, reason) = hook::decision(&ran);
        assert_eq!(decision, "deny", "{ran:?}");
        assert!(reason.contains("lacks every part of a sandbox"), "{reason}");
        assert!(reason.contains("`eclusa doctor`"), "{reason}");
    });
    started.join().unwrap();
}

/// A machine that lacks a part of the sandbox is named as the reason, with its level and what helps, not the tool.
#[test]
fn without_a_part_of_the_sandbox_the_reason_is_the_machine() {
    eclusa_testing::needs!(Namespaces);
    let started = std::thread::spawn(|| {
        eclusa_sandbox::test_support::landlock().unwrap();
        let world = World::new();
        let ran = world.eclusa(&["run", "bash", r#"{"command": "touch new"}"#]);
        assert_eq!(ran.code, 3, "{ran:?}");
        let said = "this machine's sandbox lacks a part: the level is `partial, without Landlock`; \
                    what helps: Linux 5.13 or newer";
        assert!(ran.err.contains(said), "{ran:?}");
        assert!(!ran.err.contains("does not declare"), "{ran:?}");
    });
    started.join().unwrap();
}
