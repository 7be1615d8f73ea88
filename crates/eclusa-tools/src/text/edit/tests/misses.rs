//! What a model is told when `old_string` is not there.

use insta::assert_snapshot;

use super::*;

fn miss(text: &str, old: &str) -> String {
    edit(Some(text), &[swap(old, "something else entirely")]).unwrap_err().to_string()
}

const RUST: &str =
    "fn main() {\n\tlet name = \"x\";\n\tprintln!(\"{name}\");\n}\n\nfn other() {\n\tmain();\n}\n";

#[test]
fn indentation_is_named_and_shown() {
    assert_snapshot!(miss(RUST, "    let name = \"x\";\n    println!(\"{name}\");\n"), @r#"
    `old_string` was not found in the file; line 2 is the same except for indentation (line 2 begins with 1 tab, `old_string` with 4 spaces) (`-` is the file, `+` is `old_string`; `·` is a space, `→` a tab):
         2 - →let name = "x";
         3 - →println!("{name}");
           + ····let name = "x";
           + ····println!("{name}");
    read the lines again and copy them exactly
    "#);
}

#[test]
fn blanks_at_the_end_are_named() {
    assert_snapshot!(miss("a = 1  \nb = 2\n", "a = 1\nb = 2"), @r#"
    `old_string` was not found in the file; line 1 is the same except for blanks at the end of a line (line 1 ends with 2 spaces, `old_string` with none) (`-` is the file, `+` is `old_string`; `·` is a space, `→` a tab):
         1 - a = 1··
           + a = 1
         2   b = 2
    read the lines again and copy them exactly
    "#);
}

#[test]
fn blanks_within_a_line_are_named() {
    assert_snapshot!(miss("x = f( a,b )\n", "f(a, b)"), @r#"
    `old_string` was not found in the file; line 1 is the same except for blanks within line 1 (`-` is the file, `+` is `old_string`):
         1 - x = f( a,b )
           + f(a, b)
    read the lines again and copy them exactly
    "#);
}

#[test]
fn quotes_are_named() {
    assert_snapshot!(miss("it\u{2019}s here \u{2013} now\n", "it's here - now"), @r#"
    `old_string` was not found in the file; line 1 is the same except for quotes or dashes (the file has `’`, U+2019, `old_string` has `'`, U+0027) (`-` is the file, `+` is `old_string`):
         1 - it’s here – now
           + it's here - now
    read the lines again and copy them exactly
    "#);
}

#[test]
fn case_is_named() {
    assert_snapshot!(miss("SELECT * FROM t\n", "select * from t"), @r#"
    `old_string` was not found in the file; line 1 is the same except for upper and lower case (the file has `S`, `old_string` has `s`) (`-` is the file, `+` is `old_string`):
         1 - SELECT * FROM t
           + select * from t
    read the lines again and copy them exactly
    "#);
}

#[test]
fn blank_lines_are_named() {
    assert_snapshot!(miss("one\n\ntwo\nthree\n", "one\ntwo"), @r#"
    `old_string` was not found in the file; line 1 is the same except for line breaks or blank lines (3 lines in the file, 2 in `old_string`) (`-` is the file, `+` is `old_string`):
         1   one
         2 -
         3   two
    read the lines again and copy them exactly
    "#);
}

#[test]
fn line_numbers_are_recognised() {
    assert_snapshot!(miss(RUST, "     2\t\tlet name = \"x\";\n     3\t\tprintln!(\"{name}\");"), @r#"`old_string` was not found in the file; line 2 is the same except for the line numbers in front of the lines of `old_string`, which are not in the file; read the lines again and copy them exactly"#);
}

#[test]
fn double_escapes_are_recognised() {
    assert_snapshot!(miss("one\ntwo \"three\"\n", "one\\ntwo \\\"three\\\""), @r#"`old_string` was not found in the file; line 1 is the same except for escapes: `old_string` holds a backslash where the file has the character that the escape stands for; read the lines again and copy them exactly"#);
}

#[test]
fn the_nearest_lines_are_shown() {
    let text = "import os\n\ndef area(width, height):\n    size = width * height\n    return size\n\nprint(area(1, 2))\n";
    assert_snapshot!(miss(text, "def area(width, height):\n    result = width * height\n    return size"), @r#"
    `old_string` was not found in the file; the nearest text begins at line 3 (`-` is the file, `+` is `old_string`):
         3   def area(width, height):
         4 -     size = width * height
           +     result = width * height
         5       return size
    read the lines again and copy them exactly
    "#);
}

#[test]
fn a_line_that_was_left_out_is_shown() {
    let text = "begin of it\nfirst line\nsecond line\nthird line\nend of it\n";
    assert_snapshot!(miss(text, "first line\nthird line\nend of it"), @r#"
    `old_string` was not found in the file; the nearest text begins at line 2 (`-` is the file, `+` is `old_string`):
         2   first line
         3 - second line
         4   third line
         5   end of it
    read the lines again and copy them exactly
    "#);
}

#[test]
fn a_single_similar_line_is_found() {
    assert_snapshot!(miss("alpha\nlet total_count = compute(items);\nomega\n", "let totalCount = compute(item);"), @r#"
    `old_string` was not found in the file; the nearest text begins at line 2 (`-` is the file, `+` is `old_string`):
         2 - let total_count = compute(items);
           + let totalCount = compute(item);
    read the lines again and copy them exactly
    "#);
}

#[test]
fn nothing_similar_is_said() {
    assert_snapshot!(miss("alpha\nbeta\n", "0123456789"), @r#"`old_string` was not found in the file, nor anything like it; read the lines again and copy them exactly"#);
}

#[test]
fn windows_lines_are_not_a_difference() {
    assert_snapshot!(miss("one\r\n  two\r\nthree\r\n", "one\ntwo\nthree"), @r#"
    `old_string` was not found in the file; line 1 is the same except for indentation (line 2 begins with 2 spaces, `old_string` with none) (`-` is the file, `+` is `old_string`; `·` is a space, `→` a tab):
         1   one
         2 - ··two
           + two
         3   three
    read the lines again and copy them exactly
    "#);
}

#[test]
fn long_lines_and_long_files_are_bounded() {
    let line = "x".repeat(100 << 20);
    let message = miss(&line, "y = 1");
    assert!(message.len() < 4000 && message.contains("only the first 16 MiB"), "{}", message.len());
    let message = miss(&line, &"x ".repeat(300));
    assert!(message.len() < 4000 && message.contains("line 1 is the same except for"), "{message}");
    let file = "some line of a file, again and again\n".repeat(300_000);
    let message = miss(&file, &"some line of a file, again and agaim\n".repeat(300));
    assert!(message.len() < 12_000, "{}", message.len());
}
