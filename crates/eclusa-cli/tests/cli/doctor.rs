//! `eclusa doctor`: what holds here, and what is missing.

use crate::world::World;

#[test]
fn it_says_that_everything_holds_where_it_does() {
    eclusa_testing::needs!(Namespaces);
    let world = World::with("[commands]\nprocesses = 100");
    let ran = world.eclusa(&["doctor"]);
    assert_eq!(ran.code, 0, "this kernel has all of it: {ran:?}");
    let approvals = "other programs of this user (id ";
    for text in ["level: full", "sandbox: overlay", "landlock", "bash 5", "eclusa.toml", approvals]
    {
        assert!(ran.out.contains(text), "`{text}` is not in {}", ran.out);
    }
    assert!(ran.out.contains("on the workspace's filesystem"), "{}", ran.out);
    let told = world.eclusa(&["--json", "doctor"]).json();
    assert_eq!((&told["level"], &told["same_filesystem"]), (&"full".into(), &true.into()));
    let parts = told["parts"].as_array().unwrap();
    assert!(parts.len() == 6 && parts.iter().all(|it| it["holds"] == true), "{told}");
}

/// A status that does not lie: where nothing can be staged it says so, and how to fix it.
#[test]
fn it_says_what_is_missing_and_how_to_get_it() {
    // In a container it is namespaces that are missing first.
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    let nowhere = ["--state", "/proc/self/nowhere"];
    let ran = world.eclusa(&[nowhere[0], nowhere[1], "doctor"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    for text in ["partial, without an overlay", "to get staging:", "--state DIR"] {
        assert!(ran.out.contains(text), "`{text}` is not in {}", ran.out);
    }
    let told = world.eclusa(&["--json", nowhere[0], nowhere[1], "doctor"]).json();
    assert_eq!(told["parts"][0]["holds"], false);
    assert!(told["because"].is_string(), "{told}");
}

/// A container whose profile lets everything through but `setns`.
#[test]
fn where_networks_cannot_be_joined_it_says_full_and_commands_run() {
    eclusa_testing::needs!(Namespaces);
    let started = std::thread::spawn(|| {
        eclusa_sandbox::test_support::joins().unwrap();
        let world = World::new();
        let ran = world.eclusa(&["doctor"]);
        assert_eq!(ran.code, 0, "{ran:?}");
        assert!(ran.out.contains("level: full") && ran.out.contains("its own loopback"), "{ran:?}");
        // By what was found just now, and by what is remembered of it.
        for name in ["a", "b"] {
            let ran = world.eclusa(&["exec", "--apply", "--", &format!("echo x > {name}")]);
            assert!(ran.code == 0 && world.path("workspace").join(name).exists(), "{ran:?}");
        }
    });
    started.join().unwrap();
}

/// Podman and Kubernetes mount something over parts of `/proc`: no command is asked about for that, and
/// the record says it.
#[test]
fn a_proc_that_is_masked_counts_as_held_and_is_on_record() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    let eclusa = |args: &[&str]| {
        let program = world.command(args);
        #[expect(clippy::disallowed_methods, reason = "the test makes namespaces")]
        let mut command = std::process::Command::new("unshare");
        let mask = "mount --bind /dev/null /proc/version && exec unshare -Urm \"$@\"";
        command.args(["-Urm", "sh", "-c", mask, "sh"]).arg(program.get_program()).args(args);
        command.current_dir(world.path("workspace")).env_clear();
        command.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
        crate::world::run(command, "")
    };
    let ran = eclusa(&["doctor"]);
    assert!(ran.out.contains("level: partial, without a /proc of its own\n"), "{ran:?}");
    // It may write, and nobody is there to be asked before it runs.
    let ran = eclusa(&["run", "bash", r#"{"command": "perl -e 'print 6 * 7'"}"#]);
    assert!(ran.code == 0 && ran.out.contains("42"), "{ran:?}");
    let ran = eclusa(&["--mode", "yolo", "run", "bash", r#"{"command": "echo x > new"}"#]);
    assert!(ran.code == 0 && world.read("workspace/new") == "x\n", "{ran:?}");
    let log = world.eclusa(&["--json", "log"]).out;
    assert!(log.contains("partial, without a /proc of its own"), "{log}");
}

#[test]
fn it_says_what_policy_lint_finds() {
    let world = World::with("[[rules]]\ndecision = \"allow\"\ncommand = \"bash\"\n");
    let ran = world.eclusa(&["doctor"]);
    let found = "broad: `bash` runs whatever it is given";
    assert!(ran.out.contains("your rules: 1, 1 finding (`eclusa policy lint`)"), "{ran:?}");
    assert!(ran.out.contains(found), "{ran:?}");
    assert!(world.eclusa(&["policy", "lint"]).out.contains(found));
    let told = world.eclusa(&["--json", "doctor"]).json();
    assert_eq!((&told["rules"], &told["lint"][0]["kind"]), (&1.into(), &"broad".into()));
    let told = World::new().eclusa(&["doctor"]).out;
    assert!(told.contains("your rules: none"), "{told}");
}

/// A mistake in a file keeps nobody from looking or from undoing; it does keep calls from passing.
#[test]
fn a_broken_configuration_is_told_and_what_looks_or_undoes_works_all_the_same() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    world.write("workspace/a.txt", "one\n");
    assert_eq!(world.eclusa(&["exec", "--apply", "--", "echo two > a.txt"]).code, 0);
    world.write("workspace/eclusa.toml", "mode = \"foo\"\n");
    let wrong = "`mode` cannot be `foo`";
    let looked = world.eclusa(&["doctor"]);
    assert!(looked.code == 1 && looked.out.contains(wrong), "{looked:?}");
    assert!(looked.out.contains("sandbox: ") && looked.out.contains("bash 5"), "{looked:?}");
    let shown = world.eclusa(&["config", "show"]);
    assert!(shown.code == 2 && shown.err.contains(wrong), "{shown:?}");
    assert!(shown.out.contains("commands.time"), "{shown:?}");
    for refused in [&["exec", "--", "true"][..], &["changes", "apply", "1"], &["redo"]] {
        let refused = world.eclusa(refused);
        assert!(refused.code == 2 && refused.err.contains(wrong), "{refused:?}");
    }
    let listed = world.eclusa(&["changes"]);
    assert!(listed.code == 0 && listed.out.contains("a.txt"), "{listed:?}");
    let undone = world.eclusa(&["undo"]);
    assert!(undone.code == 0 && undone.err.contains(wrong), "{undone:?}");
    assert_eq!(world.read("workspace/a.txt"), "one\n");
}
