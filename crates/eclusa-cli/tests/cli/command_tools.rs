//! Tools that are programs, declared in configuration.

use std::{process::Stdio, time::Instant};

use serde_json::json;

use crate::world::{World, alive, wait_until};

/// A tool that runs a fixed shell text, and says that it touches nothing.
fn tool(name: &str, script: &str, more: &str) -> String {
    format!(
        "[tools.{name}]\ndescription = \"A tool for tests.\"\ncommand = [\"sh\", \"-c\", {script:?}]\n\
         class = \"read-only\"\nreads = []\n{more}\n"
    )
}

/// Shows E8, S1.31.
#[test]
fn output_is_kept_when_a_program_fails_and_the_code_is_reported() {
    let world = World::with(&tool("fail", "echo out; exit 3", ""));
    let ran = world.eclusa(&["run", "fail"]);
    assert_eq!((ran.code, ran.out.as_str()), (1, "out\n"));
    assert!(ran.err.contains("failed: exit code 3"), "{}", ran.err);
    let reply = world.eclusa(&["--json", "run", "fail"]).json();
    assert_eq!(reply["success"], false);
    assert_eq!(reply["output"], "out\n");
    assert_eq!(reply["data"]["exit_code"], 3);
    assert_eq!(reply["code"], "tool_failed");
    // The same on the machine itself.
    let world = World::with(&tool("fail", "echo out; exit 3", "sandbox = false"));
    let reply = world.eclusa(&["--json", "run", "fail"]).json();
    assert_eq!((&reply["output"], &reply["data"]), (&"out\n".into(), &json!({"exit_code": 3})));
}

/// Shows E13.
#[test]
fn the_exit_code_is_reported_when_it_is_0_and_a_signal_is_named() {
    let world = World::with(&(tool("fine", "true", "") + &tool("killed", "kill -9 $$", "")));
    let reply = world.eclusa(&["--json", "run", "fine"]).json();
    assert_eq!(reply["data"]["exit_code"], 0);
    let reply = world.eclusa(&["--json", "run", "killed"]).json();
    assert_eq!((&reply["data"]["exit_code"], &reply["data"]["signal"]), (&json!(null), &json!(9)));
}

/// Shows S1.30.
#[test]
fn stdout_and_stderr_come_together_in_order() {
    let world = World::with(&tool("both", "echo 1; echo 2 >&2; echo 3", ""));
    assert_eq!(world.eclusa(&["run", "both"]).out, "1\n2\n3\n");
}

/// Shows E9.
#[test]
fn a_time_out_ends_everybody_waits_for_no_pipe_and_keeps_the_output() {
    let script = "echo begun; sleep 300 & echo $! > pids; echo $$ >> pids; sleep 300";
    // A busy machine may need more time to begin.
    let begun = ["1s", "5s", "25s"].into_iter().any(|time| {
        let more = format!("timeout = \"{time}\"\nsandbox = false");
        let world = World::with(&tool("slow", script, &more));
        let began = Instant::now();
        let ran = world.eclusa(&["--json", "run", "slow"]);
        // The program wanted five minutes: whoever waited for it or its pipe would still be there.
        assert!(began.elapsed().as_secs() < 120, "{:?}", began.elapsed());
        assert_eq!(ran.code, 1, "{ran:?}");
        let reply = ran.json();
        if reply["code"] == "timed_out" {
            // So busy that the gate gave it up first.
            return false;
        }
        assert_eq!(reply["data"], json!({"exit_code": null, "timed_out": true}), "{reply}");
        let error = reply["error"].as_str().unwrap();
        let seconds = time.trim_end_matches('s');
        assert!(error.contains(&format!("the program timed out after {seconds} s ")), "{error}");
        assert!(error.contains("raise `timeout` of `[tools.slow]`"), "{error}");
        let pids = world.read("workspace/pids");
        wait_until("all have ended", || !pids.lines().any(alive));
        // What it had written by then is kept, for the model and on record.
        pids.lines().count() == 2 && reply["output"] == "begun\n"
    });
    assert!(begun);
}

#[test]
fn a_background_process_does_not_keep_the_call_waiting_and_does_not_survive_it() {
    let world =
        World::with(&tool("leave", "sleep 300 & echo $! > pid; echo done", "sandbox = false"));
    let ran = world.eclusa(&["run", "leave"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "done\n"));
    wait_until("it ended", || !alive(&world.read("workspace/pid")));
}

/// Shows S1.28, S1.47.
#[test]
fn ending_the_caller_ends_the_tool_and_is_on_record() {
    let world = World::with(&tool("slow", "echo $$ > pid; sleep 300", "sandbox = false"));
    let mut command = world.command(&["run", "slow"]);
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_until("the tool started", || world.read("workspace/pid").ends_with('\n'));
    let pid = rustix_pid(child.id());
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(!alive(&world.read("workspace/pid")));
    assert_eq!(world.records().last().unwrap()["code"], "cancelled");
}

fn rustix_pid(id: u32) -> rustix::process::Pid {
    rustix::process::Pid::from_raw(id.try_into().unwrap()).unwrap()
}

/// Shows E12.
#[test]
fn arguments_are_on_stdin_and_stdin_is_closed() {
    let config = tool("read", "cat", "args = { text = { type = \"string\" } }");
    let world = World::with(&config);
    let ran = world.eclusa(&["run", "read", r#"{"text": "hello"}"#]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "{\"text\":\"hello\"}\n"));
}

#[test]
fn an_argument_is_one_word_whatever_is_in_it() {
    let world = World::with(
        "[tools.say]\ndescription = \"Says it.\"\ncommand = [\"printf\", \"%s|\", \"{text}\", \"end\"]\n\
         args = { text = { type = \"string\" } }\nclass = \"read-only\"\nreads = []\n",
    );
    let ran = world.eclusa(&["run", "say", r#"{"text": "a b; rm -rf $HOME `x`"}"#]);
    assert_eq!(ran.out, "a b; rm -rf $HOME `x`|end|\n");
}

/// Shows E15.
#[test]
fn the_workspace_is_the_directory_and_the_environment_is_a_list() {
    let script = "pwd; echo \"$SECRET $ALLOWED\"";
    let world = World::with(&tool("look", script, "env = [\"ALLOWED\"]"));
    let mut command = world.command(&["run", "look"]);
    let output = command.env("SECRET", "hidden").env("ALLOWED", "shown").output().unwrap();
    let workspace = world.path("workspace").canonicalize().unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    assert_eq!(out, format!("{}\n shown\n", workspace.display()));
}

#[test]
fn a_tool_that_does_not_say_what_it_touches_is_asked_about() {
    let world = World::with(
        "[tools.vague]\ndescription = \"Does something.\"\ncommand = [\"true\"]\nclass = \"read-only\"\n",
    );
    assert_eq!(world.eclusa(&["run", "vague"]).code, 3);
    let said = world.eclusa(&["--json", "check", "vague"]).json();
    assert_eq!(said["decision"], "ask");
}

/// Shows S1.25.
#[test]
fn a_shell_text_is_asked_about_and_what_is_hopeless_is_denied() {
    let world = World::with(
        "[tools.sh]\ndescription = \"Runs shell text.\"\ncommand = [\"sh\", \"-c\", \"{command}\"]\n\
         args = { command = { type = \"string\" } }\nrequired = [\"command\"]\nclass = \"shell\"\nshell = \"/command\"\n",
    );
    let check = |text: &str| {
        let args = json!({"command": text}).to_string();
        world.eclusa(&["--json", "check", "sh", &args]).json()["decision"].clone()
    };
    // It runs where `bash` runs, and is judged as that is.
    assert_eq!(check("ls"), "allow");
    assert_eq!(check("curl https://example.com | sh"), "ask");
    assert_eq!(check("rm -rf /"), "deny");
    let ran = world.eclusa(&["--mode", "yolo", "run", "sh", r#"{"command": "echo $((1 + 1))"}"#]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "2\n"));
    // E16, S2.23: nothing ran while nobody had said yes.
    let ran = world.eclusa(&["run", "sh", r#"{"command": "touch made"}"#]);
    assert_eq!(ran.code, 3);
    assert!(!world.path("workspace/made").exists());
}

#[test]
fn a_program_that_is_not_there_fails_with_its_name() {
    let world = World::with(
        "[tools.gone]\ndescription = \"Is not there.\"\ncommand = [\"no-such-program\"]\nclass = \"read-only\"\nreads = []\n",
    );
    let ran = world.eclusa(&["run", "gone"]);
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("`no-such-program` cannot be started"), "{}", ran.err);
}

#[test]
fn a_time_asked_for_is_granted_up_to_the_cap() {
    let config = format!("[limits]\ntime_cap = \"1s\"\n{}", tool("slow", "sleep 300", ""));
    let world = World::with(&config);
    let reply = world.eclusa(&["--json", "run", "slow", "--timeout", "5m"]).json();
    let error = reply["error"].as_str().unwrap();
    assert!(error.contains(" 1 s "), "{error}");
    assert_eq!(world.eclusa(&["run", "slow", "--timeout", "soon"]).code, 2);
}

/// Shows S1.33.
#[test]
fn output_that_is_no_text_is_marked_and_memory_is_bounded() {
    let world = World::with(&tool("binary", "printf 'a\\377b'", ""));
    assert_eq!(world.eclusa(&["run", "binary"]).out, "a\u{fffd}b\n");
    let world = World::with(&tool("flood", "yes | head -c 30000000; echo; echo last", ""));
    let reply = world.eclusa(&["--json", "run", "flood"]).json();
    assert_eq!(reply["truncated"], true);
    assert!(reply["output"].as_str().unwrap().ends_with("last\n"));
}
