//! `eclusa run`: outcomes, exit codes, and what is printed where.

use std::process::Stdio;

use insta::assert_snapshot;
use serde_json::json;

use crate::world::World;

#[test]
fn what_is_allowed_runs_and_what_must_be_asked_is_refused_without_a_terminal() {
    // S4.30, S4.41, C1, E7: no terminal, so nobody can be asked.
    let world = World::new();
    assert_snapshot!(world.transcript(&[
        &["run", "echo", r#"{"text": "hello", "times": 2}"#],
        &["run", "note", r#"{"text": "hello"}"#],
    ]), @r###"
    $ eclusa run echo {"text": "hello", "times": 2}
    hello
    hello
    exit 0
    $ eclusa run note {"text": "hello"}
    stderr:
    refused: changes discarded, nothing was applied: they need approval, and nobody is available to approve them: changes are reviewed before they are applied: `notes.txt` (defaults); a person can run it in a terminal, add an allow rule, or choose another mode
    note: `eclusa changes apply 2` applies them anyway
    exit 3
    "###);
    assert_eq!(world.read("workspace/notes.txt"), "");
}

/// Shows E5.
#[test]
fn a_tool_that_needs_no_confirmation_is_not_asked_about() {
    let world = World::new();
    let ran = world.eclusa(&["run", "time"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
}

/// Shows S4.38, S4.39.
#[test]
fn yolo_runs_and_confirm_all_asks_about_everything() {
    let world = World::new();
    let ran = world.eclusa(&["--mode", "yolo", "run", "note", r#"{"text": "hello"}"#]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "added a line to `notes.txt`\n"));
    assert_eq!(world.read("workspace/notes.txt"), "hello\n");
    let ran = world.eclusa(&["--mode", "confirm-all", "run", "time"]);
    assert_eq!(ran.code, 3, "{ran:?}");
}

/// Shows S4.45.
#[test]
fn an_unknown_mode_is_a_usage_error() {
    let world = World::new();
    let ran = world.eclusa(&["--mode", "relaxed", "run", "time"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("invalid value 'relaxed'"), "{}", ran.err);
    assert!(ran.err.contains("confirm-all, confirm-sensitive, auto-approve, yolo"), "{}", ran.err);
}

/// Shows S4.58, C9.
#[test]
fn a_dry_run_works_without_a_terminal_and_does_nothing() {
    // S4.32, D: asked about = success, denied = refused; nothing is done either way.
    let world =
        World::with("[[rules]]\ndecision = \"deny\"\ntool = \"time\"\nreason = \"no clocks\"\n");
    assert_snapshot!(world.transcript(&[
        &["--dry-run", "run", "note", r#"{"text": "hello"}"#],
        &["--dry-run", "run", "time"],
        &["--dry-run", "run", "echo", r#"{"text": "hello"}"#],
    ]), @r###"
    $ eclusa --dry-run run note {"text": "hello"}
    dry run, nothing was done: note({"text":"hello"}) would run with its changes staged, because changes are reviewed before they are applied (defaults)
    exit 0
    $ eclusa --dry-run run time
    stderr:
    refused: dry run, nothing was done: time({}) would be denied, because no clocks (<dir>/config/eclusa/eclusa.toml:1)
    exit 3
    $ eclusa --dry-run run echo {"text": "hello"}
    dry run, nothing was done: echo({"text":"hello","times":1}) would run, because read-only (defaults)
    exit 0
    "###);
    assert_eq!(world.read("workspace/notes.txt"), "");
    // C9: what would be asked about succeeds, what would be denied does not, and both are told.
    let dry = |args: &[&str]| {
        let reply = world.eclusa(&[&["--json", "--dry-run", "run"][..], args].concat()).json();
        (reply["would"].clone(), reply["success"].clone())
    };
    assert_eq!(dry(&["web_fetch", "url=https://a.example/"]), ("ask".into(), true.into()));
    assert_eq!(dry(&["time"]), ("deny".into(), false.into()));
    assert_eq!(dry(&["list"]), ("allow".into(), true.into()));
    assert!(world.eclusa(&["approvals"]).out.contains("no pending approvals"), "nobody is asked");
}

#[test]
fn usage_errors_have_exit_code_2_and_a_hint() {
    let world = World::new();
    assert_snapshot!(world.transcript(&[
        &["run", "echo", "{text: hello}"],
        &["run", "echo", "[1]"],
        &["--workspace", "nowhere", "run", "time"],
        &["--config", "nowhere.toml", "run", "time"],
    ]), @r###"
    $ eclusa run echo {text: hello}
    stderr:
    error: the arguments are not valid JSON: key must be a string at line 1 column 2
    hint: write `key=text` and `key:=json` words, or one object in single quotes: '{"path": "README.md"}'
    exit 2
    $ eclusa run echo [1]
    stderr:
    error: the arguments must be a JSON object
    hint: write `key=text` and `key:=json` words, or one object in single quotes: '{"path": "README.md"}'
    exit 2
    $ eclusa --workspace nowhere run time
    stderr:
    error: the workspace `nowhere` is not a directory
    exit 2
    $ eclusa --config nowhere.toml run time
    stderr:
    error: cannot read the configuration `nowhere.toml`: No such file or directory (os error 2)
    exit 2
    "###);
    assert_eq!(world.eclusa(&["run", "echo", "--unknown"]).code, 2);
    assert_eq!(world.eclusa(&["run"]).code, 2);
}

/// Shows S1.41, C13.
#[test]
fn an_unknown_tool_is_refused_with_the_nearest_name_and_on_record() {
    let world = World::new();
    let ran = world.eclusa(&["run", "note_", "{}"]);
    assert_eq!(ran.code, 3);
    assert!(ran.err.contains("no tool is called `note_`; did you mean `note`?"), "{}", ran.err);
    assert_eq!(world.records()[0]["code"], "unknown_tool");
}

#[test]
fn arguments_that_do_not_fit_the_schema_are_refused() {
    let world = World::new();
    let ran = world.eclusa(&["run", "echo", r#"{"text": 1, "loud": true}"#]);
    assert_eq!(ran.code, 3, "{ran:?}");
    assert!(ran.err.contains("text") && ran.err.contains("loud"), "{}", ran.err);
}

#[test]
fn arguments_can_come_from_stdin() {
    let world = World::new();
    let ran = world.piped(&["run", "echo", "-"], r#"{"text": "from stdin"}"#);
    assert_eq!((ran.code, ran.out.as_str()), (0, "from stdin\n"));
}

#[test]
fn json_is_the_whole_reply() {
    // S1.6, S1.7, S1.11: milliseconds, and an error only when there is one.
    let world = World::new();
    let ran = world.eclusa(&["--json", "run", "echo", r#"{"text": "hello"}"#]);
    let reply = ran.json();
    assert_eq!(reply["success"], true);
    assert_eq!(reply["output"], "hello");
    assert_eq!(reply["code"], "ok");
    assert_eq!(reply["truncated"], false);
    assert_eq!(reply["number"], 1);
    assert!(reply["execution_time_ms"].is_u64());
    assert!(reply.get("error").is_none());
    let refused = |mode: &str| {
        let args = ["--mode", mode, "--json", "run", "note", r#"{"text": "hello"}"#];
        let reply = world.eclusa(&args).json();
        assert_eq!(reply["success"], false);
        assert!(reply["error"].as_str().unwrap().contains("nobody is available to approve"));
        reply["code"].clone()
    };
    assert_eq!(refused("confirm-all"), "no_approver");
    assert_eq!(refused("confirm-sensitive"), "changes_discarded");
}

/// Shows S2.20, C1.
#[test]
fn allow_with_warning_runs_warns_and_says_so_in_the_record() {
    let world = World::with("on_no_approver = \"allow-with-warning\"\n");
    let ran = world.eclusa(&["run", "note", r#"{"text": "hello"}"#]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.err.contains("warning: this call needed approval"), "{}", ran.err);
    let records = world.records();
    assert_eq!(records[1]["changes"]["approval"]["by"], "no_handler");
    assert!(records[1]["warnings"][0].as_str().unwrap().contains("nobody could be asked"));
}

#[test]
fn the_reason_is_on_record() {
    let world = World::new();
    world.eclusa(&["run", "time", "--reason", "to know the time"]);
    let record = &world.records()[0];
    assert_eq!(record["reason"], "to know the time");
    assert_eq!(record["origin"], "person");
    assert_eq!(record["principal"], "tester");
}

/// Shows C16.
#[test]
fn a_long_output_is_cut_and_can_be_read_whole() {
    let world = World::with("[limits]\noutput = \"1KB\"\n");
    let text = "0123456789".repeat(50);
    let args = json!({"text": text, "times": 4}).to_string();
    let reply = world.eclusa(&["--json", "run", "echo", &args]).json();
    assert_eq!(reply["truncated"], true);
    let reference = reply["spool"].as_str().unwrap();
    let whole = world.eclusa(&["output", reference]);
    assert_eq!(whole.out.trim_end(), [text.as_str(); 4].join("\n"));
    let part = world.eclusa(&["output", reference, "--range", "10..15"]);
    assert_eq!((part.code, part.out.as_str()), (0, "01234\n"));
    assert_eq!(world.eclusa(&["output", "out-nothing"]).code, 1);
    assert_eq!(world.eclusa(&["output", reference, "--range", "x"]).code, 2);
}

#[test]
fn a_reader_that_goes_away_is_not_a_panic() {
    let world = World::new();
    let args = json!({"text": "x".repeat(1000), "times": 90}).to_string();
    let mut command = world.command(&["run", "echo", &args]);
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(141));
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
}

#[test]
fn a_log_that_cannot_be_opened_refuses_before_anything_runs() {
    let world = World::new();
    let state = world.write("file", "not a directory");
    let state = state.display().to_string();
    let ran =
        world.eclusa(&["--mode", "yolo", "--state", &state, "run", "note", r#"{"text": "x"}"#]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert_eq!(world.read("workspace/notes.txt"), "");
}

#[test]
fn help_teaches_and_completions_and_man_page_are_there() {
    let world = World::new();
    for command in ["run", "check", "log"] {
        let help = world.eclusa(&[command, "--help"]);
        assert!(help.code == 0 && help.out.contains("Examples:"), "{help:?}");
    }
    assert!(world.eclusa(&["completions", "bash"]).out.contains("_eclusa()"));
    assert!(world.eclusa(&["man"]).out.contains(".TH eclusa 1"));
}

#[test]
fn tools_are_listed_shown_and_found() {
    let world = World::new();
    let listed = world.eclusa(&["tools"]).out;
    let names: Vec<&str> = listed.lines().filter_map(|it| it.split(' ').next()).collect();
    assert_snapshot!(names.join(" "), @"apply_patch approve bash delete echo edit glob grep jobs list make_dir move multi_edit note output read time todo tool_search web_fetch write");
    assert!(listed.contains("Lists a directory, sorted; directories end in `/`, links in `@`.\n"));
    assert!(!listed.contains("Example"), "{listed}");
    assert_snapshot!(world.transcript(&[
        &["tools", "search", "clock"],
        &["tools", "show", "nothing"],
    ]), @r###"
    $ eclusa tools search clock
    time  read-only  Tells the time in UTC.
    exit 0
    $ eclusa tools show nothing
    stderr:
    error: no tool is called `nothing`; did you mean `note`?
    hint: `eclusa tools` lists them
    exit 2
    "###);
    let shown = world.eclusa(&["--json", "tools", "show", "echo"]).json();
    assert_eq!(shown["class"], "read-only");
    assert_eq!(shown["input_schema"]["properties"]["text"]["type"], "string");
}

/// D: a call is tried out: it runs over a layer, the diff and what the rules say of it are shown, and
/// nothing is applied, in no mode. What could not wait is not tried.
#[test]
fn d_a_preview_shows_the_diff_and_the_verdict_and_applies_nothing() {
    eclusa_testing::needs!(Namespaces);
    let config = "[tools.send]\ndescription = \"Sends.\"\ncommand = [\"touch\", \"sent\"]\nsandbox = false\n[[rules]]\n\
                  decision = \"allow\"\ntool = \"send\"\n[[rules]]\ndecision = \"deny\"\npath = \"/fixed/**\"\n";
    let world = World::with(config);
    world.write("workspace/.gitignore", "build/\n");
    for mode in ["confirm-all", "confirm-sensitive", "auto-approve", "yolo"] {
        let preview = |args: &[&str]| {
            let words = [&["--mode", mode, "run", "--discard"][..], args].concat();
            world.eclusa(&words)
        };
        let ran = preview(&["write", "path=a.txt", "content=hello"]);
        match mode {
            // Asked about before it runs, which a preview does not answer.
            "confirm-all" => {
                assert!(ran.code == 3 && ran.err.contains("answers no question"), "{ran:?}")
            }
            _ => {
                assert_eq!(ran.code, 0, "{mode}: {ran:?}");
                assert!(ran.err.contains("made a.txt") && ran.err.contains("+ hello"), "{ran:?}");
                let verdict = match mode {
                    "confirm-sensitive" => "The rules ask about it: ",
                    _ => "The rules apply it without a question",
                };
                assert!(ran.err.contains(verdict), "{mode}: {ran:?}");
                let ran = preview(&["bash", "command=mkdir build; echo o > build/a.o; echo built"]);
                assert!(ran.code == 0 && ran.out == "built\n", "{ran:?}");
                assert!(ran.err.contains("apply it without a question"), "{ran:?}");
            }
        }
        let ran = preview(&["bash", "command=mkdir fixed; echo x > fixed/f"]);
        assert_eq!(ran.code, 3, "{mode}: {ran:?}");
        // It would be done before anybody could look at it.
        let ran = preview(&["send"]);
        assert!(ran.code == 3 && ran.err.contains("cannot be staged"), "{ran:?}");
        let left = std::fs::read_dir(world.path("workspace")).unwrap();
        let left: Vec<_> = left.map(|it| it.unwrap().file_name()).collect();
        assert_eq!(left, [".gitignore"], "{mode}");
    }
    let told =
        world.eclusa(&["--json", "run", "--discard", "write", "path=a.txt", "content=x"]).json();
    assert_eq!((&told["preview"]["decision"], &told["number"].is_u64()), (&"ask".into(), &true));
    assert!(told["preview"]["diff"].as_str().unwrap().contains("+ x"), "{told}");
    let nothing = world.eclusa(&["run", "--discard", "read", "path=.gitignore"]);
    assert!(nothing.code == 0 && nothing.err.contains("changes nothing"), "{nothing:?}");
    // `exec` says what a dry run would do, too.
    let dry = world.eclusa(&["--dry-run", "exec", "--", "echo two > b.txt"]);
    assert!(dry.code == 0 && dry.err.contains("dry run, nothing was done: bash("), "{dry:?}");
}
