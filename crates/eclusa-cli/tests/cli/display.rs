//! What people see: colours, widths, lists, and questions that fit the screen.

use std::fs;

use crate::{prompt::Person, world::World};

#[test]
fn colours_are_where_they_are_wanted() {
    let world = World::new();
    let coloured = |args: &[&str], set: &[(&str, &str)]| {
        let mut command = world.command(args);
        command.envs(set.iter().copied());
        String::from_utf8(command.output().unwrap().stdout).unwrap().contains('\u{1b}')
    };
    let check = ["check", "bash", "command=rm -rf /"];
    let with = |choice| [&["--color", choice], &check[..]].concat();
    assert!(!coloured(&check, &[]));
    assert!(coloured(&with("always"), &[("NO_COLOR", "1")]));
    assert!(coloured(&check, &[("CLICOLOR_FORCE", "1")]));
    assert!(!coloured(&check, &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
    assert!(!coloured(&check, &[("CLICOLOR_FORCE", "0")]));
    assert!(!coloured(&with("never"), &[("CLICOLOR_FORCE", "1")]));
}

#[test]
fn settings_are_not_padded_to_the_longest() {
    let ran = World::new().eclusa(&["config", "show"]);
    assert!(ran.out.contains("mode = \"confirm-sensitive\"  # "), "{}", ran.out);
    assert!(!ran.out.contains("          "), "{}", ran.out);
}

#[test]
fn arguments_need_no_json() {
    let world = World::new();
    world.write("workspace/a.txt", "one\ntwo\nthree\n");
    let ran = world.eclusa(&["run", "read", "path=a.txt", "limit:=1"]);
    assert!(ran.code == 0 && ran.out.contains("one") && !ran.out.contains("three"), "{ran:?}");
    assert_eq!(world.eclusa(&["run", "read", "path=a.txt", "limit=:=1"]).code, 3);
    assert_eq!(world.eclusa(&["run", "write", "a.txt"]).code, 2);
}

fn with_calls() -> World {
    let world = World::new();
    world.write("workspace/a.txt", "one\n");
    world.eclusa(&["run", "read", "path=a.txt"]);
    world.eclusa(&["run", "write", "path=b.txt", "content=x"]);
    world.eclusa(&["--mode", "auto-approve", "run", "write", "path=c.txt", "content=y"]);
    world
}

#[test]
fn the_log_says_what_a_call_was_about_and_can_be_filtered() {
    let world = with_calls();
    let lines = |args: &[&str]| world.eclusa(args).out.lines().skip(1).count();
    let log = world.eclusa(&["log"]).out;
    assert!(log.contains("a.txt") && log.contains("c.txt"), "{log}");
    assert_eq!(lines(&["log", "-n", "1"]), 1);
    assert_eq!(lines(&["log", "--tool", "write"]), 2);
    assert_eq!(lines(&["log", "--outcome", "changes_discarded"]), 1);
    assert_eq!(lines(&["log", "--grep", "A.TXT"]), 1);
    assert_eq!(lines(&["log", "--session", "command-line"]), 3);
    assert_eq!(lines(&["log", "--since", "1h", "--tool", "read", "--tool", "write"]), 3);
    assert_eq!(world.eclusa(&["log", "--session", "nobody"]).out, "no call matches\n");
    assert_eq!(world.eclusa(&["--json", "log", "--grep", "c.txt"]).json()["tool"], "write");
}

#[test]
fn the_log_is_counted_for_people_and_programs() {
    let world = with_calls();
    let counted = world.eclusa(&["--json", "log", "stats"]).json();
    assert_eq!((&counted["calls"], &counted["tools"]["write"]), (&3.into(), &2.into()));
    assert_eq!(counted["asked"], 1, "{counted}");
    assert_eq!(counted["destructive"], 0);
    assert_eq!(world.eclusa(&["run", "bash", "command=true"]).code, 0);
    assert_eq!(world.eclusa(&["--json", "log", "stats"]).json()["destructive"], 1);
    assert!(world.eclusa(&["log", "stats"]).out.contains('█'));
    let page = world.eclusa(&["log", "stats", "--html", "stats.html"]);
    assert_eq!((page.code, page.out.as_str()), (2, ""), "{page:?}");
    assert!(page.err.contains("`--html` was removed: `eclusa approvals serve`"), "{page:?}");
}

#[test]
fn what_discarded_calls_would_have_changed_is_listed() {
    let world = with_calls();
    let ran = world.eclusa(&["changes", "--discarded"]);
    assert!(ran.out.contains("b.txt") && !ran.out.contains("c.txt"), "{ran:?}");
    let listed = world.eclusa(&["--json", "changes", "--discarded"]).json();
    assert_eq!(listed["changes"]["paths"][0], "b.txt", "{listed}");
}

/// What was discarded while nobody was there can be looked at and applied when somebody is.
#[test]
fn discarded_changes_are_kept_and_applied_after_all() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    let refused = world.eclusa(&["run", "bash", "command=echo late > late.txt"]);
    assert_eq!(refused.code, 3, "{refused:?}");
    assert!(!world.path("workspace/late.txt").exists());
    let listed = world.eclusa(&["--json", "changes", "--discarded"]).json();
    let call = listed["call"].to_string();
    assert_eq!(listed["kept"], true, "{listed}");
    assert!(refused.err.contains(&format!("changes apply {call}")), "{refused:?}");
    let shown = world.eclusa(&["changes", "diff", &call]);
    assert!(shown.out.contains("+late"), "{shown:?}");
    // Whoever changed it meanwhile is not overwritten.
    world.write("workspace/late.txt", "mine\n");
    let conflict = world.eclusa(&["changes", "apply", &call]);
    assert!(conflict.code != 0 && conflict.err.contains("late.txt"), "{conflict:?}");
    assert_eq!(world.read("workspace/late.txt"), "mine\n");
    rustix::fs::rename(world.path("workspace/late.txt"), world.path("mine")).unwrap();
    let applied = world.eclusa(&["changes", "apply", &call]);
    assert_eq!(applied.code, 0, "{applied:?}");
    assert_eq!(world.read("workspace/late.txt"), "late\n");
    assert_eq!(world.eclusa(&["undo"]).code, 0);
    assert!(!world.path("workspace/late.txt").exists());
    let gone = world.eclusa(&["changes", "apply", &call]);
    assert!(gone.code == 1 && gone.err.contains("applied already, as call"), "{gone:?}");
}

/// A rule that denies the changes denies them when a person asks for them too.
#[test]
fn discarded_changes_are_judged_again_when_they_are_applied() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    let refused = world.eclusa(&["run", "bash", "command=echo x > late.txt"]);
    assert_eq!(refused.code, 3, "{refused:?}");
    let call = world.eclusa(&["--json", "changes", "--discarded"]).json()["call"].to_string();
    let rule = "[[rules]]\ndecision = \"deny\"\npath = \"late.txt\"\nreason = \"closed\"\n";
    world.write("workspace/eclusa.toml", rule);
    let denied = world.eclusa(&["changes", "apply", &call]);
    assert!(denied.code == 3 && denied.err.contains("closed"), "{denied:?}");
    assert!(!world.path("workspace/late.txt").exists());
}

/// A name with a line break or an escape in it forges no line.
#[test]
fn names_of_files_stay_on_their_line() {
    let world = World::new();
    let name = "a\ncall 9 undone\u{1b}[2J";
    let args = serde_json::json!({"path": name, "content": "x"}).to_string();
    let made = world.eclusa(&["--mode", "auto-approve", "run", "write", &args]);
    assert_eq!(made.code, 0, "{made:?}");
    for args in [&["changes"][..], &["--dry-run", "undo"], &["undo"], &["redo"]] {
        let ran = world.eclusa(args);
        assert_eq!(ran.code, 0, "{ran:?}");
        assert!(!ran.out.contains('\u{1b}') && !ran.out.contains("\ncall 9"), "{ran:?}");
    }
}

#[test]
fn a_configuration_that_is_no_plain_file_is_an_error_and_nothing_waits_for_it() {
    let world = World::new();
    let file = world.path("workspace/eclusa.toml");
    std::os::unix::fs::symlink("/dev/zero", &file).unwrap();
    let ran = world.eclusa(&["tools"]);
    assert!(ran.code == 2 && ran.err.contains("it is not a regular file"), "{ran:?}");
    rustix::fs::rename(&file, world.path("old")).unwrap();
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mkfifoat(rustix::fs::CWD, &file, mode).unwrap();
    let ran = world.eclusa(&["tools"]);
    assert!(ran.code == 2 && ran.err.contains("it is not a regular file"), "{ran:?}");
    rustix::fs::rename(&file, world.path("pipe")).unwrap();
    fs::File::create(&file).unwrap().set_len(5 << 20).unwrap();
    let ran = world.eclusa(&["tools"]);
    assert!(ran.code == 2 && ran.err.contains("larger than 4 MiB"), "{ran:?}");
}

#[test]
fn the_workspace_is_the_project_around_the_current_directory() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    fs::create_dir_all(world.path("workspace/src/deep")).unwrap();
    world.write("workspace/eclusa.toml", "");
    let from = |directory: &str, args: &[&str]| {
        let mut command = world.command(args);
        let ran = command.current_dir(world.path(directory)).output().unwrap();
        (
            ran.status.code().unwrap(),
            String::from_utf8(ran.stdout).unwrap() + &String::from_utf8(ran.stderr).unwrap(),
        )
    };
    let write = ["--mode", "auto-approve", "run", "write", "path=a.txt", "content=x"];
    assert_eq!(from("workspace/src/deep", &write).0, 0);
    assert_eq!(world.read("workspace/src/deep/a.txt"), "x");
    // One log for all of it, and a command runs where the person stands.
    assert!(from("workspace", &["log"]).1.contains("a.txt"));
    assert!(from("workspace/src/deep", &["exec", "--", "pwd"]).1.ends_with("src/deep\n"));
    // The home is no workspace, unless somebody says so.
    let (code, said) = from("home", &["run", "list"]);
    assert!(code == 2 && said.contains("your home directory"), "{said}");
    assert_eq!(from("home", &["--workspace", ".", "run", "list"]).0, 0);
}

#[test]
fn a_question_fits_the_screen_and_d_shows_all() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    let script = "for i in $(seq 60); do for j in $(seq 9); do echo $j; done > f$i; done";
    let mut command = world.command(&["exec", "--", script]);
    command.env("NO_COLOR", "1").env("PAGER", "cat");
    let mut person = Person::sized(command, 80, 24);
    person.sees("Apply these changes? [");
    let seen = std::mem::take(&mut person.seen);
    assert!(seen.lines().count() < 30, "{seen}");
    assert!(seen.contains("(`d` shows all)") && seen.contains("made f1"), "{seen}");
    person.types("d");
    person.sees("Apply these changes? [");
    assert!(person.seen.matches("made f").count() == 60, "{}", person.seen);
    person.types("q");
    assert_eq!(person.ends().0, 130);
}

#[test]
fn init_writes_a_file_for_the_project_once_and_trusts_it() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    world.write("workspace/Cargo.toml", "[package]\nname = \"x\"\n");
    world.write("workspace/Makefile", "lint:\n\ttrue\n");
    let decided = |command: &str| {
        let ran = world.eclusa(&["--json", "check", "bash", &format!("command={command}")]);
        ran.json()["decision"].clone()
    };
    assert_eq!(decided("make lint"), "stage");
    let tried = world.eclusa(&["--dry-run", "init"]);
    assert!(tried.out.contains("would write") && tried.out.contains("make lint"), "{tried:?}");
    assert!(!world.path("workspace/eclusa.toml").exists());
    let made = world.eclusa(&["init"]);
    assert_eq!(made.code, 0, "{made:?}");
    assert!(world.read("workspace/eclusa.toml").contains("#:schema"));
    assert_eq!(decided("make lint"), "allow");
    let last: Vec<&str> = made.out.lines().rev().take(4).collect();
    assert!(
        last[3] == "next:" && last[..3].iter().all(|it| it.starts_with("  eclusa ")),
        "{made:?}"
    );
    let again = world.eclusa(&["init"]);
    assert!(again.code == 2 && again.err.contains("exists already"), "{again:?}");
    assert_eq!(world.eclusa(&["config", "check"]).code, 0);
}

#[test]
fn there_is_a_manual_page_for_every_command_and_for_the_configuration() {
    let world = World::new();
    let directory = world.path("man").display().to_string();
    assert_eq!(world.eclusa(&["man", "--dir", &directory]).code, 0);
    for page in ["eclusa.1", "eclusa-run.1", "eclusa-servers-add.1", "eclusa.toml.5"] {
        assert!(world.read(&format!("man/{page}")).starts_with('.'), "{page}");
    }
    let page = world.eclusa(&["man", "eclusa.toml"]).out;
    assert!(page.contains("\\fBmode\\fR") && page.contains("\\fBlimits.time\\fR"), "{page}");
    assert!(world.eclusa(&["man", "run"]).out.contains(".SH EXAMPLES\n.nf"));
    assert_eq!(world.eclusa(&["man", "nothing"]).code, 2);
}

#[test]
fn completions_know_tools_calls_and_rules() {
    let world = with_calls();
    let words = |kind| world.eclusa(&["complete-words", kind]).out;
    assert!(words("tools").lines().any(|it| it == "read"));
    assert!(words("calls").lines().any(|it| it == "1"));
    assert!(words("rules").lines().any(|it| it == "secret-files"));
    let of_read = world.eclusa(&["complete-words", "arguments", "read"]).out;
    assert!(of_read.lines().any(|it| it == "path="), "{of_read}");
    world.eclusa(&["run", "--park", "write", "path=c.txt", "content=x"]);
    assert_eq!(words("approvals"), "1\n");
    assert_eq!(words("sessions"), "");
    for shell in ["bash", "zsh", "fish"] {
        assert!(world.eclusa(&["completions", shell]).out.contains("complete-words"), "{shell}");
    }
    // Nothing is offered where nothing can be found out, and that is no error on the screen.
    world.write("workspace/eclusa.toml", "not toml [");
    let none = world.eclusa(&["complete-words", "tools"]);
    assert_eq!((none.code, none.out.as_str(), none.err.as_str()), (0, "", ""));
}

/// What is told of a path besides the changes: a name cannot make lines of its own, nor move the cursor.
#[test]
fn a_name_that_is_told_of_makes_no_line_of_its_own() {
    eclusa_testing::needs!(Namespaces);
    let world = World::with("mode = \"auto-approve\"\n");
    world.write("workspace/x.py", "import os\nos.mkfifo('a\\x1b[2Jb\\nnote: applied')\n");
    let ran = world.eclusa(&["run", "bash", "command=python3 x.py"]);
    let told = format!("{}{}", ran.out, ran.err);
    assert!(told.contains("is left out: it is a pipe"), "{told}");
    assert!(!told.contains('\u{1b}') && !told.contains("\nnote: applied"), "{told}");
}
