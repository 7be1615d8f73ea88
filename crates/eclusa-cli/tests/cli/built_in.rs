//! The tools that are there: files, cut outputs and other tools are looked at with the binary.

use insta::assert_snapshot;

use crate::world::World;

/// Shows S4.6.
#[test]
fn a_file_is_read_by_any_of_the_tools_names_and_is_on_record() {
    let world = World::new();
    world.write("workspace/a.txt", "one\ntwo\nthree\n");
    assert_snapshot!(world.transcript(&[
        &["run", "read", r#"{"path": "a.txt", "offset": 2}"#],
        &["run", "read_file", r#"{"path": "a.txt", "lines": 1}"#],
        &["run", "read", r#"{"path": "b.txt"}"#],
    ]), @r#"
    $ eclusa run read {"path": "a.txt", "offset": 2}
         2	two
         3	three
    (lines 2 to 3; the file ends with line 3)
    exit 0
    $ eclusa run read_file {"path": "a.txt", "lines": 1}
         1	one
    (line 1; more follow, go on with offset 2)
    exit 0
    $ eclusa run read {"path": "b.txt"}
    stderr:
    failed: no such file: `b.txt`; did you mean `a.txt`?
    exit 1
    "#);
    let log = world.eclusa(&["log", "list"]);
    assert!(log.out.contains("read") && log.code == 0, "{log:?}");
}

/// Shows E14.
#[test]
fn what_lies_outside_and_what_holds_secrets_is_not_read() {
    let world = World::new();
    world.write("outside.txt", "nobody reads this");
    world.write("workspace/.env", "KEY=nobody reads this");
    std::os::unix::fs::symlink(world.path("outside.txt"), world.path("workspace/link")).unwrap();
    for (path, code) in
        [("../../../etc/passwd", 3), ("../outside.txt", 3), (".env", 3), ("link", 1)]
    {
        let ran =
            world.eclusa(&["--mode", "yolo", "run", "read", &format!(r#"{{"path": "{path}"}}"#)]);
        assert_eq!(ran.code, code, "{path}: {ran:?}");
        assert!(!ran.out.contains("nobody") && !ran.err.contains("nobody"), "{ran:?}");
    }
}

#[test]
fn a_cut_output_is_read_on_by_a_later_call() {
    let world = World::with("[limits]\noutput = \"1KB\"\n");
    world.write("workspace/long.txt", &"0123456789\n".repeat(200));
    let cut = world.eclusa(&["--json", "run", "read", r#"{"path": "long.txt"}"#]).json();
    let reference = cut["spool"].as_str().unwrap();
    let args = format!(r#"{{"reference": "{reference}", "offset": 1000, "limit": 36}}"#);
    let ran = world.eclusa(&["run", "output", &args]);
    assert!(ran.out.contains("more follows, go on with offset 1036)\n"), "{ran:?}");
}

/// Shows S3.16.
#[test]
fn tools_are_found_by_a_call() {
    let world = World::new();
    let found = world.eclusa(&["--json", "run", "tool_search", r#"{"query": "clock"}"#]).json();
    assert_eq!(found["data"]["tools"][0]["name"], "time");
}

#[test]
fn a_tool_that_a_person_declares_takes_the_place_of_one_that_is_there() {
    let world = World::with(
        "[tools.read_file]\ndescription = \"mine\"\ncommand = [\"echo\", \"mine\"]\n\
         schema = { type = \"object\" }\nclass = \"read-only\"\nreads = []\n",
    );
    assert_eq!(world.eclusa(&["run", "read_file"]).out, "mine\n");
    assert_eq!(world.eclusa(&["tools", "show", "read"]).code, 2);
}
