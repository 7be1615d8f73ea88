//! Where configuration comes from, and what a workspace may not do to a person.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::world::World;

#[test]
fn what_is_wrong_is_said_with_its_place_and_exit_code_2() {
    let world = World::with("mod = \"yolo\"\n\n[limits]\ntime = \"soon\"\n");
    assert_snapshot!(world.transcript(&[&["config", "check"], &["run", "time"]]), @r###"
    $ eclusa config check
    stderr:
    error: configuration error:
      <dir>/config/eclusa/eclusa.toml:1:1: unknown key `mod`; did you mean `mode`?
        1 | mod = "yolo"
          | ^^^
      <dir>/config/eclusa/eclusa.toml:4:8: `soon` is not a time; write a whole number and ms, s, m, h or d, like `30s`
        4 | time = "soon"
          |        ^^^^^^
    hint: `eclusa man eclusa.toml` and docs/configuration.md describe every key
    exit 2
    $ eclusa run time
    stderr:
    error: configuration error:
      <dir>/config/eclusa/eclusa.toml:1:1: unknown key `mod`; did you mean `mode`?
        1 | mod = "yolo"
          | ^^^
      <dir>/config/eclusa/eclusa.toml:4:8: `soon` is not a time; write a whole number and ms, s, m, h or d, like `30s`
        4 | time = "soon"
          |        ^^^^^^
    hint: `eclusa man eclusa.toml` and docs/configuration.md describe every key
    exit 2
    "###);
}

#[test]
fn a_workspace_can_tighten_and_never_loosen() {
    let world = World::new();
    world.write(
        "workspace/eclusa.toml",
        "[[rules]]\ndecision = \"deny\"\ntool = \"time\"\nreason = \"not here\"\n",
    );
    let ran = world.eclusa(&["run", "time"]);
    assert_eq!(ran.code, 3);
    assert!(ran.err.contains("not here"), "{}", ran.err);
    world.write("workspace/eclusa.toml", "mode = \"yolo\"\n");
    let ran = world.eclusa(&["run", "note", r#"{"text": "x"}"#]);
    assert_ne!(ran.code, 0, "{ran:?}");
    assert_eq!(world.read("workspace/notes.txt"), "");
}

/// A person trusts the file, and takes the trust back.
#[test]
fn a_workspaces_file_is_trusted_by_a_person() {
    let world = World::new();
    let allow = "[[rules]]\nid = \"notes\"\ndecision = \"allow\"\ntool = \"note\"\ntimes = 2\n";
    world.write("workspace/eclusa.toml", allow);
    let note = || world.eclusa(&["run", "note", r#"{"text": "x"}"#]).code;
    assert_eq!(note(), 3, "it may only tighten");
    assert_eq!(world.eclusa(&["config", "trust"]).code, 0);
    assert_eq!((note(), note()), (0, 0));
    assert_eq!(note(), 3, "uses are counted from one program to the next");
    world.write("workspace/eclusa.toml", &allow.replace("times = 2", "times = 5"));
    assert_eq!(note(), 3, "a change that loosens takes the trust back");
    assert_eq!(world.eclusa(&["config", "trust"]).code, 0);
    assert_eq!(note(), 0);
    assert_eq!(world.eclusa(&["config", "untrust"]).code, 0);
    assert_eq!(note(), 3);
}

#[test]
fn a_policy_file_from_the_command_line_counts_as_the_persons() {
    let world = World::new();
    let file = world.write("extra.toml", "[[rules]]\ndecision = \"allow\"\ntool = \"note\"\n");
    let file = file.display().to_string();
    let ran = world.eclusa(&["--policy", &file, "run", "note", r#"{"text": "x"}"#]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(world.eclusa(&["--policy", "nowhere.toml", "run", "time"]).code, 2);
}

#[test]
fn another_configuration_can_take_the_place_of_the_persons() {
    let world = World::with("mode = \"yolo\"\n");
    let file = world.write("other.toml", "mode = \"confirm-all\"\n").display().to_string();
    assert_eq!(world.eclusa(&["--config", &file, "run", "time"]).code, 3);
    assert_eq!(world.eclusa(&["run", "time"]).code, 0);
}

#[test]
fn every_setting_is_shown_with_its_origin() {
    let world = World::with("mode = \"confirm-all\"\n");
    let ran = world.eclusa(&["config"]);
    let mode = ran.out.lines().find(|it| it.starts_with("mode ")).unwrap();
    assert!(mode.contains("\"confirm-all\"") && mode.contains("eclusa.toml:1"), "{mode}");
    let time = ran.out.lines().find(|it| it.starts_with("limits.time ")).unwrap();
    assert!(time.contains("30s") && time.contains("defaults"), "{time}");
    let shown = world.eclusa(&["--json", "config", "show"]).out;
    let value = |key: &str| {
        let mut settings = shown.lines().map(|it| serde_json::from_str::<Value>(it).unwrap());
        settings.find(|it| it["key"] == key).unwrap()["value"].clone()
    };
    assert_eq!((value("mode"), value("agents.plain")), ("confirm-all".into(), json!([])));
    assert!(value("order").as_array().unwrap().len() == 3, "{shown}");
}

#[test]
fn a_log_that_cannot_be_made_is_told_as_that() {
    let ran = World::new().eclusa(&["--state", "/proc/nowhere", "run", "list"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.err.contains("no log can be made at `/proc/nowhere/"), "{ran:?}");
}

#[test]
fn the_schema_is_there() {
    let world = World::new();
    let schema = world.eclusa(&["config", "schema"]).json();
    assert!(schema["properties"]["mode"].is_object());
}

/// Shows C19.
#[test]
fn a_rule_about_a_tool_that_nobody_has_is_an_error_and_a_workspace_may_have_others() {
    let world = World::with("[[rules]]\ndecision = \"deny\"\ntool = \"nots\"\n");
    let ran = world.eclusa(&["run", "time"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("eclusa.toml:1: no tool is called `nots`"), "{}", ran.err);
    assert_eq!(world.eclusa(&["config", "check"]).code, 2);
    let world = World::new();
    world.write("workspace/eclusa.toml", "[[rules]]\ndecision = \"deny\"\ntool = \"deploy\"\n");
    assert_eq!(world.eclusa(&["run", "time"]).code, 0);
}

#[test]
fn secrets_do_not_leave_in_outputs_or_records() {
    let world = World::with(
        "[[redact.rules]]\nname = \"badge\"\nregex = \"badge-[0-9]+\"\nkeywords = [\"badge\"]\n",
    );
    let ran = world.eclusa(&["run", "echo", r#"{"text": "my badge-4711"}"#]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "my [redacted:badge]\n"));
    assert!(!world.eclusa(&["log", "export"]).out.contains("4711"));
}

/// Shows S1.56.
#[test]
fn what_happens_can_be_told_on_stderr() {
    let world = World::new();
    assert_eq!(world.eclusa(&["run", "time"]).err, "");
    let told = world.eclusa(&["-vv", "run", "note", r#"{"text": "x"}"#]).err;
    // A refusal alone has several lines, and the name of the tool.
    let structured = |it: &str| it.contains(" INFO ") && it.contains("gen_ai.tool.name=\"note\"");
    assert!(told.lines().any(structured), "{told}");
    let mut command = world.command(&["run", "time"]);
    let output = command.env("ECLUSA_LOG", "eclusa=loud,,=").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn colours_are_for_terminals_only() {
    let world = World::new();
    let ran = world.eclusa(&["check", "time"]);
    assert!(!ran.out.contains('\u{1b}'), "{:?}", ran.out);
}

/// The layer of whoever runs the machine is read from `/etc` and from nowhere else, so the binary
/// is started where another `/etc` is mounted. Nothing of a person's loosens it.
#[test]
fn what_the_administrator_wrote_is_on_top() {
    eclusa_testing::needs!(Namespaces);
    let world = World::with(
        "[[rules]]\ndecision = \"allow\"\ntool = \"time\"\n\n\
         [[rules]]\ndecision = \"allow\"\ncommand = \"git push\"\n",
    );
    let top = world.write(
        "top.toml",
        "[[rules]]\nid = \"closed\"\ndecision = \"deny\"\ntool = \"time\"\nreason = \"not on this machine\"\n\n\
         [[rules]]\ndecision = \"ask\"\ncommand = \"git push\"\n",
    );
    let elsewhere = |args: &[&str]| {
        let ran = world.under_administrator(&top, args);
        (Some(ran.code), ran.out, ran.err)
    };
    let (code, out, err) = elsewhere(&["run", "time"]);
    assert_eq!(code, Some(3), "{out}{err}");
    assert!(err.contains("not on this machine"), "{err}");
    let (code, out, err) = elsewhere(&["check", "bash", r#"{"command": "git push"}"#]);
    assert!(out.starts_with("ask"), "{code:?} {out}{err}");
    assert!(out.contains("/etc/eclusa/eclusa.toml:7"), "{out}");
    // No mode answers the administrator's question either.
    for mode in ["yolo", "auto-approve"] {
        let args = ["--mode", mode, "check", "bash", r#"{"command": "git push"}"#];
        let (_, out, err) = elsewhere(&args);
        assert!(out.starts_with("ask"), "{mode}: {out}{err}");
    }
    // The same without that layer.
    assert_eq!(world.eclusa(&["run", "time"]).code, 0);
}

#[test]
fn a_program_that_is_not_there_is_told_when_the_configuration_is_checked() {
    let world = World::with(
        "[[reviewers]]\nname = \"desk\"\ncommand = [\"/no/such/program\"]\n\
         [tools.lint]\ndescription = \"lints\"\ncommand = [\"sh\", \"-c\", \"true\"]\nreads = []\n",
    );
    let ran = world.eclusa(&["config", "check"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.err.contains("reviewer `desk`: there is no program `/no/such/program`"), "{ran:?}");
    assert!(!ran.err.contains("lint"), "{ran:?}");
    let told = world.eclusa(&["--json", "config", "check"]).json();
    assert_eq!(
        (&told["ok"], told["missing_programs"].as_array().unwrap().len()),
        (&false.into(), 1)
    );
    let told = World::new().eclusa(&["--json", "config", "check"]).json();
    assert_eq!((&told["ok"], &told["reviewers"]), (&true.into(), &0.into()));
    let untrusted = World::new().eclusa(&["config", "untrust"]);
    assert!(untrusted.code == 0 && untrusted.out.starts_with("there is no "), "{untrusted:?}");
}

#[test]
fn a_name_that_is_nearly_right_is_suggested_once() {
    let world = World::new();
    let ran = world.eclusa(&["run", "raed", "path=x"]);
    assert!(ran.err.contains("did you mean `read`"), "{ran:?}");
    assert!(!ran.err.contains("`Read`") && !ran.err.contains("`read_file`"), "{ran:?}");
    let ran = world.eclusa(&["tools", "show", "edti"]);
    assert!(ran.err.contains("no tool is called `edti`; did you mean `edit`?"), "{ran:?}");
    let ran = world.eclusa(&["run", "read", "pth=x"]);
    assert!(ran.err.contains("must not have `pth` (did you mean `path`?)"), "{ran:?}");
    // Each has its own advice.
    let ran = world.eclusa(&["run", "edit", "path=x", "old_strng=a", "new_strng=b"]);
    for name in ["old", "new"] {
        let said = format!("`{name}_strng` (did you mean `{name}_string`?)");
        assert!(ran.err.contains(&said), "{ran:?}");
    }
    // What looks like nothing that there is gets no advice.
    let ran = world.eclusa(&["run", "read", "path=x", "zzz=1"]);
    assert!(ran.err.contains("must not have `zzz`") && !ran.err.contains("did you"), "{ran:?}");
}
