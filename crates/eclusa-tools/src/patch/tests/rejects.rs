//! What a model is told when a hunk does not fit.

use insta::assert_snapshot;

use super::*;

const OLD: &str = "use std::fs;\n\nfn main() {\n    let path = \"a\";\n    read(path);\n}\n\nfn read(path: &str) {\n    fs::read(path).unwrap();\n}\n";

#[test]
fn a_hunk_that_fits_nowhere_shows_where_it_nearly_would() {
    let hunk = "@@ -3,4 +3,4 @@\n fn main() {\n     let path = \"b\";\n-    reed(path);\n+    write(path);\n }";
    assert_snapshot!(rejected(OLD, &unified(hunk)), @"");
}

#[test]
fn what_is_expected_elsewhere_is_shown_too() {
    let hunk = "@@ -1,3 +1,3 @@\n fn read(name: &str) {\n-    fs::read(path).expect(\"it\");\n+    fs::read(path)\n }";
    assert_snapshot!(rejected(OLD, &unified(hunk)), @"");
}

#[test]
fn a_hunk_that_was_applied_is_recognised() {
    let hunk = "@@ -4,2 +4,2 @@\n-    let path = \"z\";\n+    let path = \"a\";\n     read(path);";
    assert_snapshot!(rejected(OLD, &unified(hunk)), @"");
}

#[test]
fn several_places_are_named() {
    assert_snapshot!(rejected("x\ny\nx\ny\n", &update("@@\n-y\n+z")), @"");
}

#[test]
fn a_missing_anchor_is_named() {
    assert_snapshot!(rejected(OLD, &update("@@ fn reed(path: &str) {\n-    x\n+    y")), @"");
}

#[test]
fn additions_without_a_place_are_refused() {
    assert_snapshot!(rejected(OLD, &unified("@@\n+z")), @"");
    assert_snapshot!(rejected(OLD, &unified("@@ -99,0 +99 @@\n+z")), @"");
}

#[test]
fn files_as_a_whole_are_refused() {
    let add = parse("--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+a\n").unwrap();
    assert_snapshot!(add[0].apply(Some("")).unwrap_err().to_string(), @"");
    let delete = parse("--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n").unwrap();
    assert_snapshot!(delete[0].apply(Some("a\nb\n")).unwrap_err().to_string(), @"");
    assert_snapshot!(delete[0].apply(None).unwrap_err().to_string(), @"");
    assert_snapshot!(rejected("a\n", &update("@@\n-a\n+a")), @"");
}

#[test]
fn only_the_hunks_that_do_not_fit_are_listed() {
    let hunks =
        "@@\n-use std::fs;\n+use std::io;\n@@\n-nothing like it anywhere\n+x\n@@\n-0123456789\n+x";
    assert_snapshot!(rejected(OLD, &update(hunks)), @"");
}
