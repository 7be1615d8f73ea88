//! `eclusa undo`, `redo` and `changes`: what calls changed is seen, taken back and brought back.

use std::{fs, process::Stdio};

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::world::{Ran, World};

/// Writes a note, and gives the number of the call.
fn note(world: &World, text: &str) -> u64 {
    let args = json!({"text": text}).to_string();
    let ran = world.eclusa(&["--mode", "yolo", "--json", "run", "note", &args]);
    assert_eq!(ran.code, 0, "{ran:?}");
    ran.json()["number"].as_u64().unwrap()
}

fn notes(world: &World) -> String {
    world.read("workspace/notes.txt")
}

/// What becomes of each call, by number.
pub(crate) fn statuses(world: &World) -> Vec<(u64, String)> {
    let ran = world.eclusa(&["--json", "changes"]);
    let read = |line: &str| {
        let it: Value = serde_json::from_str(line).unwrap();
        (it["call"].as_u64().unwrap(), it["status"].as_str().unwrap().to_owned())
    };
    ran.out.lines().map(read).collect()
}

fn undo(world: &World, args: &[&str]) -> Ran {
    world.eclusa(&[&["--json", "undo"], args].concat())
}

/// Shows S3.39, S3.40, U.
#[test]
fn a_change_is_seen_undone_and_redone() {
    let world = World::with("mode = \"yolo\"\n");
    assert_snapshot!(world.transcript(&[
        &["changes"],
        &["run", "note", r#"{"text": "one"}"#],
        &["changes", "show"],
        &["--dry-run", "undo"],
        &["undo"],
        &["undo"],
        &["changes", "list"],
        &["redo"],
        &["redo"],
        &["changes", "diff", "1"],
    ]), @r#"
    $ eclusa changes
    nothing was changed in this workspace yet
    exit 0
    $ eclusa run note {"text": "one"}
    added a line to `notes.txt`
    exit 0
    $ eclusa changes show
    call 1: note, applied
      <time>, 1 file changed, +1 -0 (1 made)
      made notes.txt, mode 0644, +1 -0
      @@ -0,0 +1 @@
      + one
    exit 0
    $ eclusa --dry-run undo
    would undo: call 1
      notes.txt
    exit 0
    $ eclusa undo
    undone: call 1
      notes.txt
    `eclusa redo 3` redoes it
    exit 0
    $ eclusa undo
    stderr:
    error: there is nothing to undo
    hint: `eclusa changes` lists the changes
    exit 1
    $ eclusa changes list
    call  time                  tool  status       paths
    1     <time>  note  undone by 3  notes.txt
    3     <time>  undo  applied      notes.txt
    exit 0
    $ eclusa redo
    redone: call 1
      notes.txt
    exit 0
    $ eclusa redo
    stderr:
    error: nothing was undone, so there is nothing to redo
    exit 1
    $ eclusa changes diff 1
    diff --git a/notes.txt b/notes.txt
    new file mode 100644
    --- /dev/null
    +++ b/notes.txt
    @@ -0,0 +1 @@
    +one
    exit 0
    "#);
    assert_eq!(notes(&world), "one\n");
    // Every one of them is on record, the undo with the calls that it took back.
    let records = world.records();
    let undos: Vec<&Value> = records.iter().filter(|it| it["args"]["calls"].is_array()).collect();
    let events: Vec<_> = undos.iter().map(|it| (&it["event"], &it["args"]["calls"])).collect();
    assert_eq!(
        events,
        [(&json!("ended"), &json!([1])), (&json!("started"), &json!([1]))],
        "the dry run and the undo"
    );
    assert_eq!(world.eclusa(&["log", "verify"]).code, 0);
}

/// Shows U.
#[test]
fn calls_are_undone_in_reverse_order_and_survive_restarts() {
    let world = World::new();
    let calls: Vec<u64> = ["one", "two", "three"].iter().map(|it| note(&world, it)).collect();
    let ran = undo(&world, &["--since", &calls[1].to_string()]);
    assert_eq!((ran.code, &ran.json()["data"]["calls"]), (0, &json!([calls[2], calls[1]])));
    assert_eq!(notes(&world), "one\n");
    let records = world.records();
    let started = records.iter().find(|it| it["tool"] == "undo").unwrap();
    assert_eq!(started["approval"]["by"], "command line");
    let status: Vec<String> = statuses(&world).into_iter().map(|it| it.1).collect();
    assert_eq!(status, ["committed", "rolled_back", "rolled_back", "committed"]);
    // Once more takes back the one before, and so on until there is nothing.
    assert_eq!(undo(&world, &["--last"]).code, 0);
    assert!(!world.path("workspace/notes.txt").exists());
    let ran = world.eclusa(&["undo"]);
    assert!(ran.code == 1 && ran.err.contains("there is nothing to undo"), "{ran:?}");
    // The last undo first, then the one that took back two together.
    assert_eq!(world.eclusa(&["redo"]).code, 0);
    assert_eq!(notes(&world), "one\n");
    assert_eq!(world.eclusa(&["redo", &calls[2].to_string()]).code, 0);
    assert_eq!(notes(&world), "one\ntwo\nthree\n");
}

/// Shows U.
#[test]
fn a_call_in_the_middle_is_undone_unless_a_later_one_stands_on_it() {
    let world = World::new();
    let first = note(&world, "one");
    // Elsewhere by hand, so that it has no part in this.
    world.write("workspace/other.txt", "mine\n");
    let second = note(&world, "two");
    let ran = undo(&world, &[&first.to_string()]);
    assert_eq!((ran.code, &ran.json()["code"]), (1, &"tool_failed".into()));
    let conflicts = &ran.json()["data"]["conflicts"];
    assert_eq!(
        conflicts,
        &json!([{"path": "notes.txt", "what": "was altered", "by_call": second}])
    );
    assert_eq!(notes(&world), "one\ntwo\n");
    let plain = world.eclusa(&["undo", &first.to_string()]);
    assert!(plain.err.contains(&format!("by call {second}: undo that first")), "{plain:?}");
    // Both together, in whichever order they are named.
    let ran = undo(&world, &[&first.to_string(), &second.to_string()]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(!world.path("workspace/notes.txt").exists());
    assert_eq!(world.read("workspace/other.txt"), "mine\n");
}

/// Shows A16, U.
#[test]
fn an_edit_outside_stands_in_the_way_and_is_kept() {
    let world = World::new();
    let call = note(&world, "one").to_string();
    world.write("workspace/notes.txt", "edited by hand\n");
    for args in [&["--dry-run", "undo", &call][..], &["undo", &call]] {
        let ran = world.eclusa(args);
        assert_eq!(ran.code, 1, "{ran:?}");
        assert!(ran.err.contains("`notes.txt` was altered (by an edit outside Eclusa)"), "{ran:?}");
    }
    assert_eq!(notes(&world), "edited by hand\n");
    let ran = world.eclusa(&["--json", "--dry-run", "undo", &call]);
    assert_eq!((ran.code, &ran.json()["success"]), (1, &false.into()));
    assert_eq!(ran.json()["data"]["conflicts"][0]["by_call"], Value::Null);
}

/// Shows U.
#[test]
fn what_cannot_be_undone_is_listed() {
    let world = World::with(
        "mode = \"yolo\"\n[tools.deploy]\ndescription = \"Deploys.\"\ncommand = [\"true\"]\nreads = []\nsandbox = false\n",
    );
    let first = note(&world, "one").to_string();
    assert_eq!(world.eclusa(&["run", "deploy"]).code, 0);
    assert_eq!(world.eclusa(&["run", "time"]).code, 0);
    let ran = world.eclusa(&["undo", "--since", &first]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let listed: Vec<&str> = ran.out.lines().filter(|it| it.contains("cannot be undone")).collect();
    assert_eq!(listed, ["call 2 cannot be undone: `deploy` has no undo data"]);
}

#[test]
fn rules_about_paths_do_not_stop_an_undo_and_a_rule_about_undo_does() {
    let world = World::new();
    let call = note(&world, "one").to_string();
    let policy = world.write(
        "policy.toml",
        "[[rules]]\ndecision = \"deny\"\npath = \"notes.txt\"\nreason = \"frozen\"\n",
    );
    let frozen = ["--policy", policy.to_str().unwrap()];
    let denied = world.eclusa(&[&frozen[..], &["run", "note", r#"{"text": "x"}"#]].concat());
    assert_eq!(denied.code, 3, "{denied:?}");
    // Who may write a path is about new changes: taking an own one back restores what was there.
    assert_eq!(world.eclusa(&[&frozen[..], &["undo", &call]].concat()).code, 0);
    assert!(!world.path("workspace/notes.txt").exists());
    // A rule can name the tool, although no model is offered it.
    let rule =
        "[[rules]]\ndecision = \"deny\"\ntool = [\"undo\", \"redo\"]\nreason = \"no way back\"\n";
    let policy = world.write("policy.toml", rule);
    let policy = policy.to_str().unwrap();
    let ran = world.eclusa(&["--policy", policy, "redo"]);
    assert!(ran.code == 3 && ran.err.contains("no way back"), "{ran:?}");
    assert_eq!(world.eclusa(&["--policy", policy, "run", "time"]).code, 0);
    assert_eq!(world.eclusa(&["run", "undo", r#"{"calls": [1]}"#]).code, 3);
}

#[test]
fn wrong_calls_and_times_say_how_to_mend_it() {
    let world = World::new();
    let nothing = world.eclusa(&["undo"]);
    assert!(
        nothing.code == 1 && nothing.err.contains("nothing was changed in this workspace yet"),
        "{nothing:?}"
    );
    assert!(!world.path("state/eclusa").exists());
    let call = note(&world, "one");
    for (args, code, said) in [
        (&["undo", "99"][..], 1, "call 99 has changed nothing"),
        (&["changes", "show", "99"], 1, "`eclusa changes` lists"),
        (&["redo"], 1, "nothing was undone"),
        (&["redo", &call.to_string()], 1, "was not undone, so there is nothing to redo"),
        (&["undo", "--since", "whenever"], 2, "is not a call number, a duration or a date"),
        (&["undo", "1", "--turn"], 2, "cannot be used with"),
        (&["undo", "--since", "2999-01-01"], 1, "there is nothing to undo"),
    ] {
        let ran = world.eclusa(args);
        assert!(ran.code == code && ran.err.contains(said), "{args:?}: {ran:?}");
    }
    assert_eq!(notes(&world), "one\n");
}

#[test]
fn without_counted_turns_a_call_is_a_turn() {
    let world = World::new();
    note(&world, "one");
    let second = note(&world, "two");
    let ran = undo(&world, &["--turn"]);
    assert_eq!((ran.code, &ran.json()["data"]["calls"]), (0, &json!([second])));
    assert_eq!(notes(&world), "one\n");
}

#[test]
fn two_processes_change_and_undo_at_once_and_nothing_is_lost() {
    let world = World::new();
    note(&world, "first");
    let start = |args: &[&str]| {
        let mut command = world.command(args);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let args = |text: usize| json!({"text": format!("note {text}")}).to_string();
    let running: Vec<_> =
        (0..6).map(|it| start(&["--mode", "yolo", "run", "note", &args(it)])).collect();
    let ended: Vec<i32> = running
        .into_iter()
        .map(|it| it.wait_with_output().unwrap().status.code().unwrap())
        .collect();
    // One that found the file changed under it has written nothing, and says so.
    let done = ended.iter().filter(|it| **it == 0).count();
    assert!(done > 0 && ended.iter().all(|it| [0, 1].contains(it)), "{ended:?}");
    assert_eq!(notes(&world).lines().count(), 1 + done);
    let running: Vec<_> = (0..3).map(|_| start(&["undo"])).collect();
    let undone =
        running.into_iter().map(|it| it.wait_with_output().unwrap().status.code().unwrap());
    let undone = undone.filter(|it| *it == 0).count();
    assert!(undone > 0);
    assert_eq!(notes(&world).lines().count(), (1 + done).saturating_sub(undone));
    assert_eq!(world.eclusa(&["log", "verify"]).code, 0);
}

#[test]
fn a_program_killed_at_any_moment_leaves_whole_changes_and_the_next_start_puts_it_right() {
    let world = World::new();
    note(&world, "first");
    let mut killed = 0;
    for round in 0..12u64 {
        let args = json!({"text": "x".repeat(2000)}).to_string();
        let mut command = world.command(&["--mode", "yolo", "run", "note", &args]);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
        // Somewhere in the middle, a little later every time.
        std::thread::sleep(std::time::Duration::from_millis(2 + round * 4));
        child.kill().unwrap();
        killed += usize::from(!child.wait().unwrap().success());
        let whole = |line: &str| line == "first" || line.len() == 2000;
        assert!(notes(&world).lines().all(whole), "{}", notes(&world));
    }
    assert!(killed > 0, "none was killed in time");
    // Whatever was left open is closed, and all that stands can be undone.
    let after = note(&world, "after");
    let open = fs::read_dir(world.store().with_file_name("undo").join("open")).unwrap();
    assert_eq!(open.count(), 0);
    assert!(notes(&world).ends_with("after\n"));
    assert_eq!(undo(&world, &[&after.to_string()]).code, 0);
    assert_eq!(undo(&world, &["--since", "1"]).code, 0);
    assert!(!world.path("workspace/notes.txt").exists());
}

#[test]
fn what_takes_too_much_space_is_evicted_and_that_is_told_and_recorded() {
    let world = World::with("mode = \"yolo\"\n[undo]\nkeep = \"10B\"\nrecent = 0\n");
    note(&world, "one");
    let second = note(&world, "two");
    // Whoever changed the workspace is told, without any command for it.
    let third = world.eclusa(&["run", "note", &json!({"text": "three"}).to_string()]);
    assert!(third.code == 0 && third.err.contains("can no longer be undone"), "{third:?}");
    let records = world.records();
    let mut evicted = records.iter().filter(|it| it["event"] == "undo-evicted");
    let has = |it: &Value| it["calls"].as_array().is_some_and(|it| it.contains(&second.into()));
    assert!(evicted.any(has), "{records:?}");
    let ran = world.eclusa(&["--json", "changes", "compact"]);
    assert_eq!(ran.json(), json!({"bytes": 0, "evicted": [], "packed": []}));
    let ran = undo(&world, &[&second.to_string()]);
    assert!(ran.code == 1 && ran.out.contains("dropped to save space"), "{ran:?}");
    let listed = world.eclusa(&["changes"]);
    assert!(listed.out.contains("applied, undo expired"), "{listed:?}");
    assert!(notes(&world).ends_with("three\n"), "{third:?}");
    assert_eq!(world.eclusa(&["log", "verify"]).code, 0);
}

#[test]
fn help_the_manual_and_completions_teach_the_commands() {
    let world = World::new();
    for (args, said) in [
        (&["--help"][..], "undo"),
        (&["undo", "--help"], "keeping what came later"),
        (&["redo", "--help"], "the latest undo"),
        (&["changes", "--help"], "as a patch"),
        (&["man"], "eclusa\\-undo(1)"),
        (&["completions", "bash"], "eclusa,undo)"),
        (&["completions", "fish"], "redo"),
    ] {
        let ran = world.eclusa(args);
        assert!(ran.code == 0 && ran.out.contains(said), "{args:?}: {}", ran.out);
    }
}

#[test]
fn what_changed_is_in_the_log_and_as_json() {
    let world = World::new();
    let call = note(&world, "one").to_string();
    let log = world.eclusa(&["log", "show", &call]);
    assert!(log.out.contains("applied: notes.txt"), "{log:?}");
    let shown = world.eclusa(&["--json", "changes", "show", &call]).json();
    assert_eq!((&shown["tool"], &shown["status"]), (&"note".into(), &"committed".into()));
    assert_eq!(shown["changes"]["v"], 1, "{shown}");
    let diff = world.eclusa(&["--json", "changes", "diff", &call]).json();
    assert!(diff["diff"].as_str().unwrap().contains("+one\n"), "{diff}");
}

/// A line break or an escape in a file's name makes no line of its own and drives no terminal.
#[test]
fn a_name_cannot_forge_lines_of_changes_and_undo() {
    let world = World::with("[[rules]]\ndecision = \"allow\"\ntool = \"write\"\n");
    let args =
        serde_json::json!({"path": "a\ncall 9 forged\u{1b}[31m", "content": "x"}).to_string();
    let ran = world.eclusa(&["run", "write", &args]);
    assert_eq!(ran.code, 0, "{ran:?}");
    for command in
        [&["changes"][..], &["changes", "show"], &["undo", "--dry-run"], &["undo"], &["redo"]]
    {
        let ran = world.eclusa(command);
        let said = format!("{}{}", ran.out, ran.err);
        assert!(!said.lines().any(|it| it.trim_start().starts_with("call 9 forged")), "{said}");
        assert!(!said.contains('\u{1b}'), "{command:?}: {said:?}");
    }
}
