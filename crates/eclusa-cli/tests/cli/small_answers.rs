//! What people type before they have read anything: it works, or the answer says what to type.

use crate::world::{World, run};

/// The same, standing in a directory below the workspace.
fn below(world: &World, directory: &str, args: &[&str]) -> crate::world::Ran {
    let mut command = world.command(args);
    let at = command.get_args().position(|it| it == "--workspace");
    assert!(at.is_none(), "the workspace is found from here");
    command.current_dir(world.path("workspace").join(directory));
    run(command, "")
}

#[test]
fn one_word_is_the_argument_that_a_tool_needs_and_digits_are_a_number() {
    let world = World::new();
    world.write("workspace/a.txt", "one\ntwo\nthree\n");
    let ran = world.eclusa(&["run", "read", "a.txt", "limit=1"]);
    assert!(ran.code == 0 && ran.out.contains("one") && !ran.out.contains("three"), "{ran:?}");
    let ran = world.eclusa(&["check", "read", "a.txt"]);
    assert!(ran.code == 0 && ran.out.starts_with("allow"), "{ran:?}");
    let ran = world.eclusa(&["run", "read", "path=a.txt", "limit=many"]);
    assert!(ran.code == 3 && ran.err.contains("limit"), "{ran:?}");
}

#[test]
fn a_command_needs_no_dashes_and_an_unknown_option_is_still_one() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    let ran = world.eclusa(&["exec", "printf", "%s", "-n"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "-n"), "{ran:?}");
    let ran = world.eclusa(&["exec", "--aply", "true"]);
    assert!(ran.code == 2 && ran.err.contains("--apply"), "{ran:?}");
}

#[test]
fn below_the_root_paths_and_commands_are_where_one_stands() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    std::fs::create_dir_all(world.path("workspace/.git")).unwrap();
    std::fs::create_dir_all(world.path("workspace/src")).unwrap();
    world.write("workspace/src/b.txt", "here\n");
    let ran = below(&world, "src", &["run", "read", "b.txt"]);
    assert!(ran.code == 0 && ran.out.contains("here"), "{ran:?}");
    let ran = below(&world, "src", &["run", "bash", "pwd"]);
    assert!(ran.code == 0 && ran.out.trim_end().ends_with("/src"), "{ran:?}");
    let ran = below(&world, "src", &["run", "list"]);
    assert!(ran.code == 0 && ran.out.contains("b.txt"), "{ran:?}");
    let ran = below(&world, "src", &["check", "read", "../src/./b.txt"]);
    assert_eq!(ran.code, 0, "{ran:?}");
}

#[test]
fn an_outcome_that_no_call_has_is_told_with_those_there_are() {
    let world = World::new();
    world.eclusa(&["run", "time"]);
    let ran = world.eclusa(&["log", "--outcome", "nope"]);
    assert_eq!(ran.out, "no call has the outcome `nope`; those of this log are `ok`\n", "{ran:?}");
    assert!(world.eclusa(&["log", "--since", "yesterday"]).out.contains("time"));
    assert!(world.eclusa(&["log", "--since", "today", "--json"]).out.contains("\"time\""));
}

#[test]
fn a_session_that_is_not_there_is_told_before_a_model_is_looked_for() {
    let world = World::new();
    let ran = world.eclusa(&["sessions", "resume", "zzzz"]);
    assert!(ran.code == 2 && ran.err.contains("there is no session `zzzz`"), "{ran:?}");
}

#[test]
fn a_value_of_another_kind_says_how_it_is_written_and_a_key_is_never_shown() {
    for (config, told) in [
        ("[limits]\ntime = 30\n", "must be text, not a whole number; write `\"30s\"`"),
        ("[rules]\ntool = \"bash\"\n", "must be a list, not a table; write `[[rules]]`"),
        ("[limits]\ndepth = \"4\"\n", "must be a whole number, not text; write it without quotes"),
        ("[models.pro]\nkey = \"sk-4711\"\n", "never write the key itself here"),
    ] {
        let ran = World::with(config).eclusa(&["config", "check"]);
        assert!(ran.code == 2 && ran.err.contains(told), "{ran:?}");
        assert!(!ran.err.contains("4711"), "{ran:?}");
    }
}

#[test]
fn several_approvals_are_a_table_and_one_is_shown_in_full() {
    let world = World::new();
    world.eclusa(&["run", "--park", "note", "text=hello"]);
    assert!(world.eclusa(&["approvals"]).out.contains("tool: note"));
    world.eclusa(&["run", "--park", "note", "text=again"]);
    let listed = world.eclusa(&["approvals"]);
    assert_eq!(listed.out.lines().count(), 4, "{}", listed.out);
    assert!(
        listed.out.contains("hello") && listed.out.contains("`eclusa approvals show 1`"),
        "{}",
        listed.out
    );
}

#[test]
fn check_is_short_and_says_who_must_answer_and_what_is_hidden() {
    let rules = "[[rules]]\ndecision = \"ask\"\ncommand = \"make deploy\"\nof = [\"release\"]\nneed = 2\nwith = \"passkey\"\n\
                 [[rules]]\ndecision = \"deny\"\npath = \"data/**\"\nreason = \"private\"\n";
    let world = World::with(rules);
    std::fs::create_dir(world.path("workspace/data")).unwrap();
    world.write("workspace/data/a.csv", "1\n");
    let ran = world.eclusa(&["check", "bash", "make deploy"]);
    assert!(ran.out.contains("needs  2 of release, with a passkey"), "{ran:?}");
    let ran = world.eclusa(&["check", "bash", "cat d*/*.csv"]);
    assert!(ran.out.contains("hides") && ran.out.contains("private"), "{ran:?}");
    assert!(!ran.out.contains("command in it") && !ran.out.contains("other rules"), "{ran:?}");
    let whole = world.eclusa(&["-v", "check", "bash", "cat d*/*.csv"]);
    assert!(
        whole.out.contains("1 command in it") && whole.out.contains("other rules"),
        "{whole:?}"
    );
}
