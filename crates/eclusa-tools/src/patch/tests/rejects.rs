//! What a model is told when a hunk does not fit.

use insta::assert_snapshot;

use super::*;

const OLD: &str = "use std::fs;\n\nfn main() {\n    let path = \"a\";\n    read(path);\n}\n\nfn read(path: &str) {\n    fs::read(path).unwrap();\n}\n";

#[test]
fn a_hunk_that_fits_nowhere_shows_where_it_nearly_would() {
    let hunk = "@@ -3,4 +3,4 @@\n fn main() {\n     let path = \"b\";\n-    reed(path);\n+    write(path);\n }";
    assert_snapshot!(rejected(OLD, &unified(hunk)), @r#"
    `f`: hunk 1 of 1 (`@@ -3,4 +3,4 @@`, line 3 of the patch): its lines are not in the file; it nearly fits at line 3 (`-` is the file, `+` is the patch):
         3   fn main() {
         4 -     let path = "a";
         5 -     read(path);
           +     let path = "b";
           +     reed(path);
         6   }
    "#);
}

#[test]
fn what_is_expected_elsewhere_is_shown_too() {
    let hunk = "@@ -1,3 +1,3 @@\n fn read(name: &str) {\n-    fs::read(path).expect(\"it\");\n+    fs::read(path)\n }";
    assert_snapshot!(rejected(OLD, &unified(hunk)), @r#"
    `f`: hunk 1 of 1 (`@@ -1,3 +1,3 @@`, line 3 of the patch): its lines are not in the file; it nearly fits at line 8 (`-` is the file, `+` is the patch):
         8 - fn read(path: &str) {
         9 -     fs::read(path).unwrap();
           + fn read(name: &str) {
           +     fs::read(path).expect("it");
        10   }
    the patch puts it at line 1, where the file has
         1   use std::fs;
         2
         3   fn main() {
    "#);
}

#[test]
fn a_hunk_that_was_applied_is_recognised() {
    let hunk = "@@ -4,2 +4,2 @@\n-    let path = \"z\";\n+    let path = \"a\";\n     read(path);";
    assert_snapshot!(rejected(OLD, &unified(hunk)), @r#"
    `f`: hunk 1 of 1 (`@@ -4,2 +4,2 @@`, line 3 of the patch): its lines are not in the file; line 4 has what it would make, so it seems to be applied already; it nearly fits at line 4 (`-` is the file, `+` is the patch):
         4 -     let path = "a";
           +     let path = "z";
         5       read(path);
    "#);
}

#[test]
fn several_places_are_named() {
    assert_snapshot!(rejected("x\ny\nx\ny\n", &update("@@\n-y\n+z")), @r#"`f`: hunk 1 of 1 (`@@`, line 3 of the patch): its lines are in the file 2 times, at lines 2, 4; add context that is only in one place"#);
}

#[test]
fn a_missing_anchor_is_named() {
    assert_snapshot!(rejected(OLD, &update("@@ fn reed(path: &str) {\n-    x\n+    y")), @r#"`f`: hunk 1 of 1 (`@@ fn reed(path: &str) {`, line 3 of the patch): the line `fn reed(path: &str) {` after `@@` is not in the file; the nearest is line 8: `fn read(path: &str) {`"#);
}

#[test]
fn additions_without_a_place_are_refused() {
    assert_snapshot!(rejected(OLD, &unified("@@\n+z")), @r#"`f`: hunk 1 of 1 (`@@`, line 3 of the patch): it only adds lines and says nothing of where; add some lines of context"#);
    assert_snapshot!(rejected(OLD, &unified("@@ -99,0 +99 @@\n+z")), @r#"`f`: hunk 1 of 1 (`@@ -99,0 +99 @@`, line 3 of the patch): it adds lines after line 99, but the file has 10; add some lines of context"#);
}

#[test]
fn files_as_a_whole_are_refused() {
    let add = parse("--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+a\n").unwrap();
    assert_snapshot!(add[0].apply(Some("")).unwrap_err().to_string(), @r#"`f`: the file exists already; update it instead"#);
    let delete = parse("--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n").unwrap();
    assert_snapshot!(delete[0].apply(Some("a\nb\n")).unwrap_err().to_string(), @r#"`f`: the patch deletes the file, but does not show all of its lines; the file may have changed since, so read it again"#);
    assert_snapshot!(delete[0].apply(None).unwrap_err().to_string(), @r#"`f`: the file does not exist"#);
    assert_snapshot!(rejected("a\n", &update("@@\n-a\n+a")), @r#"`f`: the patch changes nothing in the file"#);
}

#[test]
fn only_the_hunks_that_do_not_fit_are_listed() {
    let hunks =
        "@@\n-use std::fs;\n+use std::io;\n@@\n-nothing like it anywhere\n+x\n@@\n-0123456789\n+x";
    assert_snapshot!(rejected(OLD, &update(hunks)), @r#"
    `f`: hunk 2 of 3 (`@@`, line 6 of the patch): its lines are not in the file
    hunk 3 of 3 (`@@`, line 9 of the patch): its lines are not in the file
    "#);
}
