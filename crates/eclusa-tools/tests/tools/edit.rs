//! `edit` and `multi_edit`, and what a session has read.

use eclusa::Answer;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::world::World;

fn edit(path: &str, old: &str, new: &str) -> Value {
    json!({"path": path, "old_string": old, "new_string": new})
}

#[test]
fn an_edit_shows_the_lines_around_it() {
    let world = World::new();
    let lines: String = (1..=9).map(|it| format!("line {it}\n")).collect();
    world.write("a.txt", &lines);
    world.set_mode("a.txt", 0o755);
    let work = world.work("");
    let reply = work.call("edit", edit("a.txt", "line 5\n", "five\nand $1 \\1\n"));
    let shown = "edited `a.txt`: +2 -1\n     2\tline 2\n     3\tline 3\n     4\tline 4\n     5\tfive\n     6\tand $1 \\1\n     7\tline 6\n     8\tline 7\n     9\tline 8\n";
    assert_eq!(reply.text(), shown);
    let data = json!({"path": "a.txt", "replaced": [1], "added": 2, "removed": 1});
    assert_eq!(reply.data(), Some(&data));
    assert!(reply.undo().is_some());
    assert_eq!(world.text("a.txt"), lines.replace("line 5\n", "five\nand $1 \\1\n"));
    assert_eq!(world.mode("a.txt"), 0o755);
}

/// Shows C18.
#[test]
fn the_other_names_lead_to_the_same_tools() {
    // S2.8
    let world = World::new();
    let work = world.work("");
    for name in ["edit", "Edit", "edit_file", "str_replace", "FileEdit"] {
        world.write("a.txt", "one\n");
        work.done("read", json!({"path": "a.txt"}));
        assert_eq!(work.call(name, edit("a.txt", "one", "two")).tool(), "edit");
        assert_eq!(world.text("a.txt"), "two\n");
    }
}

#[test]
fn an_edit_that_does_not_fit_says_why_and_changes_nothing() {
    let world = World::new();
    world.write("a.txt", "let x = 1;\nlet x = 1;\n");
    world.write("crlf.txt", "a\r\nb\r\n");
    let work = world.work("");
    let before = world.tree();
    let said = work.fails("edit", edit("a.txt", "let x = 1;", "y"));
    assert!(said.contains("there 2 times, at lines 1, 2"), "{said}");
    let said = work.fails("edit", edit("a.txt", "let y = 1;", "y"));
    assert!(said.contains("`a.txt`: "), "{said}");
    let said = work.fails("edit", edit("b.txt", "x", "y"));
    assert!(said.contains("no such file") && said.contains("empty `old_string`"), "{said}");
    let edits = json!([
        {"old_string": "a\n", "new_string": "c\n"},
        {"old_string": "nowhere", "new_string": "x"},
    ]);
    let reply = work.call("multi_edit", json!({"path": "crlf.txt", "edits": edits}));
    assert!(reply.content().contains("edit 2 of 2"), "{}", reply.content());
    assert_eq!(reply.data().unwrap()["edit"], 2);
    assert!(work.fails("multi_edit", json!({"path": "a.txt", "edits": []})).contains("edits"));
    assert_eq!(world.tree(), before);
    work.done("multi_edit", json!({"path": "crlf.txt", "edits": [edits[0].clone()]}));
    assert_eq!(world.text("crlf.txt"), "c\r\nb\r\n");
    let all = json!({"path": "a.txt", "old_string": "1", "new_string": "2", "replace_all": true});
    assert_eq!(work.call("edit", all).data().unwrap()["replaced"], json!([2]));
}

#[test]
fn an_empty_old_string_makes_a_file() {
    let world = World::new();
    let work = world.work("");
    let text = work.done("edit", edit("src/new.rs", "", "fn main() {}\n"));
    assert_eq!(text, "made `src/new.rs`: +1 -0\n     1\tfn main() {}\n");
    assert_eq!(world.tree(), ["src/", "src/new.rs: fn main() {}\n"]);
    assert!(work.fails("edit", edit("src/new.rs", "", "x")).contains("not empty"));
}

/// Shows A16.
#[test]
fn what_somebody_else_changed_since_it_was_read_is_not_edited() {
    let world = World::new();
    let long = "x\n".repeat(100_000);
    for (name, text) in [("small.txt", "one\ntwo\n"), ("long.txt", long.as_str())] {
        world.write(name, text);
        let work = world.work("");
        let (old, new) = (text.lines().next().unwrap(), "changed");
        let args = json!({"path": name, "old_string": old, "new_string": new, "replace_all": true});
        work.done("read", json!({"path": name, "limit": 1}));
        world.write(name, format!("{text}by somebody else\n"));
        let before = world.bytes(name);
        for (tool, args) in [
            ("edit", args.clone()),
            ("write", json!({"path": name, "content": "all new"})),
            (
                "multi_edit",
                json!({"path": name, "edits": [{"old_string": old, "new_string": new}]}),
            ),
        ] {
            let said = work.fails(tool, args);
            assert!(said.contains("has changed since this session last read it"), "{said}");
            assert!(said.contains("read it again"), "{said}");
        }
        assert_eq!(world.bytes(name), before);
        // Another session has never read it, and an exact match protects it.
        let other = work.call_in("other", "edit", edit(name, "by somebody else", "by whom"));
        assert_eq!(other.code(), "ok", "{}", other.content());
        assert!(work.fails("edit", args.clone()).contains("has changed since"));
        work.done("read", json!({"path": name, "limit": 1}));
        work.done("edit", args);
    }
}

#[test]
fn ones_own_changes_are_not_somebody_elses() {
    let world = World::new();
    world.write("a.txt", "1\n");
    let work = world.work("");
    work.done("read", json!({"path": "a.txt"}));
    for (old, new) in [("1", "2"), ("2", "3")] {
        work.done("edit", edit("a.txt", old, new));
    }
    let patch = "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-3\n+4\n";
    work.done("apply_patch", json!({"patch": patch}));
    work.done("write", json!({"path": "a.txt", "content": "5\n"}));
    work.done("edit", edit("a.txt", "5", "6"));
    assert_eq!(world.text("a.txt"), "6\n");
    // The same content is no change, whoever wrote it and when.
    world.write("a.txt", "6\n");
    work.done("edit", edit("a.txt", "6", "7"));
}

#[test]
fn a_discarded_change_confuses_nobody() {
    let world = World::new();
    world.write("a.txt", "1\n");
    let answers = vec![Answer::No("no".to_owned()), Answer::Once, Answer::Once];
    let (work, _) = world.asked(answers);
    work.done("read", json!({"path": "a.txt"}));
    work.fails("edit", edit("a.txt", "1", "2"));
    assert_eq!(world.text("a.txt"), "1\n");
    work.done("edit", edit("a.txt", "1", "3"));
    work.done("edit", edit("a.txt", "3", "4"));
    assert_eq!(world.text("a.txt"), "4\n");
}

fn model(text: &str, edits: &[(String, String, bool)]) -> Option<String> {
    let mut now = text.to_owned();
    for (old, new, all) in edits {
        let places = (0..now.len()).filter(|at| now.as_bytes()[*at..].starts_with(old.as_bytes()));
        let count = places.count();
        if old.is_empty() || old == new || count == 0 || (count > 1 && !all) {
            return None;
        }
        now =
            if *all { now.replace(old.as_str(), new) } else { now.replacen(old.as_str(), new, 1) };
    }
    (now != text).then_some(now)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn random_edits_equal_a_naive_model(
        text in "[ab\n]{1,12}",
        edits in proptest::collection::vec(("[ab\n]{1,3}", "[abc\n$\\\\]{0,3}", any::<bool>()), 1..4),
    ) {
        let world = World::new();
        world.write("a.txt", &text);
        let work = world.work("");
        let list: Vec<Value> = edits
            .iter()
            .map(|(old, new, all)| json!({"old_string": old, "new_string": new, "replace_all": all}))
            .collect();
        let reply = work.call("multi_edit", json!({"path": "a.txt", "edits": list}));
        let expected = model(&text, &edits);
        prop_assert_eq!(reply.is_error(), expected.is_none(), "{}", reply.content());
        prop_assert_eq!(world.text("a.txt"), expected.unwrap_or(text));
    }
}
