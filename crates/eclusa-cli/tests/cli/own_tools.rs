//! Tools of a person's own in the sandbox: staged, held to what they declare, with a result of their own.

use serde_json::json;

use crate::world::{Ran, World};

/// A tool with an argument, whose program is this shell text; `$0` and `$1` are the arguments.
fn tool(script: &str, more: &str) -> String {
    format!(
        "[tools.own]\ndescription = \"A tool of my own.\"\n\
         command = [\"sh\", \"-c\", {script:?}, \"{{to}}\", \"{{more}}\"]\n\
         args = {{ to = {{ type = \"string\" }}, more = {{ type = \"string\" }} }}\n{more}\n"
    )
}

fn run(world: &World, mode: &str, args: &str) -> Ran {
    world.eclusa(&["--json", "--mode", mode, "run", "own", args])
}

#[test]
fn one_that_declares_no_reads_sees_nothing_and_can_write_nothing() {
    eclusa_testing::needs!(Namespaces);
    let script = "cat note.txt; echo x > made; echo x > note.txt; ls";
    let world = World::with(&tool(script, "class = \"read-only\"\nreads = []"));
    world.write("workspace/note.txt", "for me alone\n");
    let reply = run(&world, "yolo", "{}").json();
    let output = reply["output"].as_str().unwrap();
    assert!(!output.contains("for me alone"), "{output}");
    assert!(output.contains("Read-only file system"), "{output}");
    assert!(!world.path("workspace/made").exists());
    assert_eq!(world.read("workspace/note.txt"), "for me alone\n");
    // Declared, it is seen.
    let script = "cat note.txt; cat other.txt";
    let world = World::with(&tool(script, "class = \"read-only\"\nreads = [\"/to\"]"));
    world.write("workspace/note.txt", "for it\n");
    world.write("workspace/other.txt", "for me alone\n");
    let reply = run(&world, "confirm-sensitive", r#"{"to": "note.txt"}"#).json();
    let output = reply["output"].as_str().unwrap();
    assert!(output.contains("for it") && !output.contains("for me alone"), "{output}");
}

#[test]
fn what_it_writes_is_staged_and_held_to_what_it_declares() {
    eclusa_testing::needs!(Namespaces);
    let script = "cat > /dev/null; echo new > \"$0\"; test -z \"$1\" || echo bad > \"$1\"";
    let world = World::with(&tool(script, "class = \"file\"\nwrites = [\"/to\", \"dist\"]"));
    world.write("workspace/a.txt", "old\n");
    // Nobody can be asked about the change.
    let ran = run(&world, "confirm-sensitive", r#"{"to": "a.txt"}"#);
    assert_eq!((ran.code, ran.json()["code"].clone()), (3, json!("changes_discarded")), "{ran:?}");
    assert_eq!(world.read("workspace/a.txt"), "old\n");
    // A preview shows it.
    let ran = world.eclusa(&["run", "--discard", "own", r#"{"to": "a.txt"}"#]);
    assert!(ran.code == 0 && ran.err.contains("+ new"), "{ran:?}");
    assert_eq!(world.read("workspace/a.txt"), "old\n");
    let ran = run(&world, "auto-approve", r#"{"to": "a.txt"}"#);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(world.read("workspace/a.txt"), "new\n");
    assert_eq!(world.eclusa(&["undo"]).code, 0);
    assert_eq!(world.read("workspace/a.txt"), "old\n");
    // All of it or nothing, in every mode.
    for mode in ["auto-approve", "yolo"] {
        let ran = run(&world, mode, r#"{"to": "a.txt", "more": "b.txt"}"#);
        let reply = ran.json();
        let error = reply["error"].as_str().unwrap();
        assert!(error.contains("it changed `b.txt`, which `writes` of `[tools.own]`"), "{error}");
        assert_eq!(world.read("workspace/a.txt"), "old\n");
        assert!(!world.path("workspace/b.txt").exists());
    }
}

#[test]
fn a_result_comes_as_data_and_is_no_output() {
    eclusa_testing::needs!(Namespaces);
    let more = "class = \"read-only\"\nreads = []\ntimeout = \"60s\"";
    let own =
        |script: &str| run(&World::with(&tool(script, more)), "confirm-sensitive", "{}").json();
    let reply = own(
        "echo $ECLUSA_TELL progress 0.5 half; echo \"$ECLUSA_TELL\" 'data {\"n\": 3}'; echo out",
    );
    assert_eq!(reply["output"], "out\n");
    assert_eq!(reply["data"]["result"], json!({"n": 3}));
    assert_eq!(reply["data"]["exit_code"], 0);
    // Nothing at all is a result too.
    let reply = own("true");
    assert_eq!((&reply["output"], &reply["data"]["result"]), (&json!(""), &json!(null)));
    // Half of one is an error, and what was written by then is kept.
    let reply = own("echo out; printf '%s data {\"n\": ' $ECLUSA_TELL");
    assert_eq!((&reply["success"], &reply["output"]), (&json!(false), &json!("out\n")));
    assert!(reply["error"].as_str().unwrap().contains("its `data` is not JSON"), "{reply}");
    // One without an end, and a long output.
    let reply = own("printf '%s data \"' $ECLUSA_TELL; yes | tr -d '\\n' | head -c 100000000");
    assert!(reply["error"].as_str().unwrap().contains("longer than 1048576 bytes"), "{reply}");
    let reply = own("yes | head -c 100000000; echo; echo last");
    assert_eq!((&reply["success"], &reply["truncated"]), (&json!(true), &json!(true)));
    assert!(reply["output"].as_str().unwrap().ends_with("last\n"));
}

#[test]
fn one_that_never_ends_is_ended_and_its_output_is_kept() {
    eclusa_testing::needs!(Namespaces);
    // A busy machine may need more time to begin.
    let begun = ["1s", "5s", "25s"].into_iter().any(|time| {
        let more = format!("class = \"read-only\"\nreads = []\ntimeout = \"{time}\"");
        let world = World::with(&tool("echo begun; sleep 300 & sleep 300", &more));
        let reply = run(&world, "confirm-sensitive", "{}").json();
        let error = reply["error"].as_str().unwrap();
        let told = error.contains("the program timed out after")
            && error.contains("raise `timeout` of `[tools.own]`");
        told && reply["data"]["timed_out"] == true && reply["output"] == "begun\n"
    });
    assert!(begun);
}

/// What lies outside the workspace is taken back by the command that the entry names: once, on record,
/// with the arguments of the call.
#[test]
fn what_it_did_outside_is_taken_back_by_its_undo_command() {
    let script = "touch ../outside-\"$0\"";
    let undo = "undo = [\"rm\", \"../outside-x\"]\nwrites = []\nsandbox = false";
    let world = World::with(&tool(script, undo));
    let call = run(&world, "yolo", r#"{"to": "x"}"#).json()["number"].to_string();
    assert!(world.path("outside-x").exists());
    let shown = world.eclusa(&["--json", "log", "show", &call]);
    assert!(shown.out.contains(&format!("undo call {call}: `rm ../outside-x` runs")), "{shown:?}");
    let ran = world.eclusa(&["undo", &call]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(!world.path("outside-x").exists());
    assert_eq!(world.records().last().unwrap()["tool"], "own.undo");
    let again = world.eclusa(&["undo", &call]);
    assert!(again.code == 1 && again.err.contains("was undone already, by call"), "{again:?}");
    // What is typed to confirm a call is not wanted of whoever takes it back: nobody could type it here.
    let config = std::fs::read_to_string(world.path("config/eclusa/eclusa.toml")).unwrap();
    let call = run(&world, "yolo", r#"{"to": "x"}"#).json()["number"].to_string();
    let raised = config.replace("sandbox = false", "sandbox = false\ncheckpoint = true");
    world.write("config/eclusa/eclusa.toml", &raised);
    assert_eq!(run(&world, "yolo", r#"{"to": "y"}"#).code, 3);
    assert_eq!(world.eclusa(&["undo", &call]).code, 0);
    assert!(!world.path("outside-x").exists());
    world.write("config/eclusa/eclusa.toml", &config);
    // A rule holds for it, as for every tool.
    let call = run(&world, "yolo", r#"{"to": "x"}"#).json()["number"].to_string();
    let rule = "[[rules]]\ndecision = \"deny\"\ntool = \"own.undo\"\n";
    let policy = world.write("policy.toml", rule);
    let ran = world.eclusa(&["--policy", policy.to_str().unwrap(), "undo", &call]);
    assert_eq!(ran.code, 3, "{ran:?}");
    assert!(world.path("outside-x").exists());
}

#[test]
fn of_any_number_at_once_one_takes_a_call_back() {
    let undo =
        "undo = [\"sh\", \"-c\", \"echo undone >> ../undone\"]\nwrites = []\nsandbox = false";
    let world = World::with(&tool("true", undo));
    let call = run(&world, "yolo", r#"{"to": "x"}"#).json()["number"].to_string();
    let undo = |_| {
        let mut undo = world.command(&["undo", &call]);
        undo.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
        undo.spawn().unwrap()
    };
    let started: Vec<_> = (0..8).map(undo).collect();
    let ended = started.into_iter().map(|mut it| it.wait().unwrap().success());
    assert_eq!(ended.filter(|it| *it).count(), 1);
    assert_eq!(world.read("undone"), "undone\n");
}
