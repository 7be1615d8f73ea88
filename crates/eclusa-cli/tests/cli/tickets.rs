//! A ticket is the hook's decision: it carries what the hook went by, and a yes answers its own question.

use std::{fs, process::Stdio};

use serde_json::{Value, json};

use crate::{
    hook::{before, claude, decision, rewritten, shell},
    rules_hold::FETCH,
    world::{Ran, World, run},
};

const ASK_PYTHON: &str = "[[rules]]\ndecision = \"ask\"\ncommand = \"python3\"\n";

/// The call of a person who sits at the agent.
fn attended(world: &World, command: &str) -> Value {
    let mut call = before(world, "Bash", json!({"command": command}));
    call["permission_mode"] = "default".into();
    call
}

/// A yes to running a command is none to the hosts that it tries, whoever gave it and wherever it runs.
#[test]
fn a_yes_to_running_opens_no_hosts() {
    eclusa_testing::needs!(Namespaces);
    let world = World::with(ASK_PYTHON);
    world.write("workspace/fetch.py", &format!("{FETCH}print('ran'); sys.exit(1)\n"));
    let command = "python3 fetch.py 192.0.2.8";
    let ran = claude(&world, &attended(&world, command));
    assert_eq!(decision(&ran).0, "ask", "{ran:?}");
    let closed = |ran: Ran, surface: &str| {
        let seen = format!("{}{}", ran.out, ran.err);
        assert!(seen.contains("ran"), "{surface}: {seen}");
        assert!(seen.contains("not among the hosts"), "{surface}: {seen}");
        assert!(!seen.contains("has the address"), "{surface}: {seen}");
    };
    closed(shell(&world, &rewritten(&ran)), "ticket");
    closed(world.eclusa(&["exec", "--apply", "--", command]), "exec");
    closed(world.eclusa(&["exec", "--discard", "--", command]), "exec --discard");
    let opened =
        |it: &Value| it["sandbox"].as_str().is_some_and(|it| it.contains("a person opened"));
    assert!(!world.records().iter().any(opened));
}

/// What the shell of an agent has in its environment leads a ticket nowhere else.
#[test]
fn a_ticket_runs_with_what_its_hook_went_by_or_not_at_all() {
    let world = World::with("[[rules]]\ndecision = \"allow\"\ncommand = \"touch\"\n");
    let hostile = world.path("workspace/evil");
    fs::create_dir_all(hostile.join("eclusa")).unwrap();
    world.write("workspace/evil/eclusa/eclusa.toml", "mode = \"yolo\"\n");
    for variable in ["HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"] {
        let touch = before(&world, "Bash", json!({"command": "touch new"}));
        let line = rewritten(&claude(&world, &touch));
        assert!(line.contains("--state"), "{line}");
        for value in [Some(&hostile), None] {
            #[expect(clippy::disallowed_methods, reason = "the test plays the agent")]
            let mut command = std::process::Command::new("sh");
            let plain = world.command(&[]);
            command.args(["-c", &line]).current_dir(world.path("workspace")).env_clear();
            command.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
            match value {
                Some(value) => command.env(variable, value),
                None => command.env_remove(variable),
            };
            command.stdin(Stdio::null());
            let ran = run(command, "");
            assert_eq!(ran.code, 3, "{variable} {value:?}: {ran:?}");
            assert!(!world.path("workspace/new").exists(), "{variable} {value:?}");
        }
    }
    // What is configured may have changed since.
    let touch = before(&world, "Bash", json!({"command": "touch new"}));
    let line = rewritten(&claude(&world, &touch));
    world.write("config/eclusa/eclusa.toml", "mode = \"yolo\"\n");
    let ran = shell(&world, &line);
    assert!(ran.code == 3 && ran.err.contains("make the call again"), "{ran:?}");
    assert!(!world.path("workspace/new").exists());
    let line = rewritten(&claude(&world, &touch));
    world.write("workspace/eclusa.toml", "mode = \"confirm-all\"\n");
    assert_eq!(shell(&world, &line).code, 3, "a file of the project counts too");
}

/// Text from outside that came into a session is known to the command that a ticket runs.
#[test]
fn text_from_outside_is_known_to_a_ticket() {
    eclusa_testing::needs!(Namespaces);
    let rules = "[[rules]]\ndecision = \"allow\"\ntool = \"web_fetch\"\ndomain = \"docs.example\"\n\
                 [[rules]]\ndecision = \"allow\"\ncommand = \"python3\"\n\
                 [[rules]]\ndecision = \"allow\"\ndomain = \"192.0.2.8\"\n";
    let fetch = |tainted: bool| {
        let world = World::with(rules);
        world.write("workspace/fetch.py", FETCH);
        if tainted {
            let input = json!({"url": "https://docs.example/x", "prompt": "p"});
            assert_eq!(decision(&claude(&world, &before(&world, "WebFetch", input))).0, "allow");
        }
        let call = attended(&world, "python3 fetch.py 192.0.2.8");
        let ran = claude(&world, &call);
        let ran = shell(&world, &rewritten(&ran));
        format!("{}{}", ran.out, ran.err)
    };
    let open = fetch(false);
    assert!(open.contains("has the address"), "{open}");
    let closed = fetch(true);
    assert!(!closed.contains("has the address"), "{closed}");
}

/// A yes to a script is one to what is in it: by an agent's prompt, and by the queue.
#[test]
fn a_yes_to_a_script_is_bound_to_its_bytes() {
    eclusa_testing::needs!(Namespaces);
    let rule = "[[rules]]\ndecision = \"ask\"\ncommand = \"sh\"\n";
    let world = World::with(rule);
    world.write("workspace/deploy.sh", "echo harmless\n");
    let ran = claude(&world, &attended(&world, "sh deploy.sh"));
    let line = rewritten(&ran);
    world.write("workspace/deploy.sh", "echo swapped\n");
    let ran = shell(&world, &line);
    assert!(ran.code == 3 && !ran.out.contains("swapped"), "{ran:?}");
    assert!(ran.err.contains("make the call again"), "{ran:?}");

    let world = World::with(&format!("on_no_approver = \"queue\"\n{rule}"));
    world.write("workspace/deploy.sh", "echo harmless\n");
    let parked = world.eclusa(&["run", "--park", "bash", r#"{"command": "sh deploy.sh"}"#]);
    assert_eq!(parked.code, 4, "{parked:?}");
    assert_eq!(world.eclusa(&["approvals", "yes", "1"]).code, 0);
    world.write("workspace/deploy.sh", "echo swapped\n");
    let resumed = world.eclusa(&["resume", "1"]);
    assert!(!resumed.out.contains("swapped"), "{resumed:?}");
}

/// Bytes that are swapped while a ticket is judged, after they were compared, are not run.
#[test]
fn a_script_that_is_swapped_while_its_ticket_starts_is_not_run() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    let swap =
        "test -e ../swap && echo 'echo swapped' > deploy.sh; echo '{\"decision\": \"approve\"}'";
    let reviewer = world.script("reviewer", &format!("cd {:?}; {swap}", world.path("workspace")));
    world.write(
        "config/eclusa/eclusa.toml",
        &format!(
            "[[rules]]\ndecision = \"ask\"\ncommand = \"sh\"\n[[reviewers]]\nname = \"swap\"\n\
             tools = [\"bash\"]\non = \"input\"\ncommand = [{reviewer}]\n"
        ),
    );
    world.write("workspace/deploy.sh", "echo harmless\n");
    let line = || rewritten(&claude(&world, &attended(&world, "sh deploy.sh")));
    assert_eq!(shell(&world, &line()).out, "harmless\n");
    let line = line();
    world.write("swap", "");
    let ran = shell(&world, &line);
    assert!(ran.code != 0 && !ran.out.contains("swapped"), "{ran:?}");
    assert_eq!(world.read("workspace/deploy.sh"), "echo swapped\n");
}

/// A model parses what a command prints, and is told its exit code by the agent.
#[test]
fn nothing_is_added_to_what_a_command_printed() {
    eclusa_testing::needs!(Namespaces);
    let world = World::with("mode = \"auto-approve\"\n");
    for (command, code) in [("echo 42 | tee new", 0), ("echo 42; exit 3", 3)] {
        let call = before(&world, "Bash", json!({"command": command}));
        let ran = shell(&world, &rewritten(&claude(&world, &call)));
        assert_eq!((ran.code, &*ran.out, &*ran.err), (code, "42\n", ""), "{command}");
    }
    assert_eq!(world.read("workspace/new"), "42\n");
    // And people read of each once.
    let listed = world.eclusa(&["log"]).out;
    assert_eq!(listed.matches("bash").count(), 2, "{listed}");
    // What was allowed and has not run is there.
    let call = before(&world, "Bash", json!({"command": "echo later"}));
    claude(&world, &call);
    let listed = world.eclusa(&["log"]).out;
    assert_eq!(listed.matches("bash").count(), 3, "{listed}");
}
