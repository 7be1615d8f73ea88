//! Numbers, columns and folding, and that what is no terminal gets the lines as they are.

use super::{DiffView, Paint, layout};

const DIFF: &str = "altered a.rs, +1 -1\n@@ -9,3 +9,3 @@\n  fn a() {\n- let x = 1;\n+ let x = 2;\n";

fn plain(lines: &[String]) -> Vec<String> {
    let codes = |it: &String| {
        let mut text = String::new();
        let mut rest = it.as_str();
        while let Some((before, after)) = rest.split_once('\x1b') {
            text.push_str(before);
            rest = after.split_once('m').map_or("", |it| it.1);
        }
        text + rest
    };
    lines.iter().map(codes).collect()
}

#[test]
fn lines_have_numbers_and_files_a_rule() {
    let shown = plain(&DiffView::of_width(Paint::always(), 40).lines(DIFF));
    assert_eq!(shown[0], format!("altered a.rs, +1 -1 {}", "─".repeat(20)));
    assert_eq!(shown[1..], [" 9  9 │  fn a() {", "10    │- let x = 1;", "   10 │+ let x = 2;"]);
}

#[test]
fn wide_terminals_have_two_columns_and_long_lines_stay_whole() {
    let shown = plain(&DiffView::of_width(Paint::always(), 160).lines(DIFF));
    let (left, right) = shown[2].split_once(" │ ").unwrap();
    assert_eq!((left.trim_end(), right), ("10 - let x = 1;", "10 + let x = 2;"));
    assert_eq!(layout::width(left), 78);
    let long = format!("made b, +1 -0\n@@ -0,0 +1 @@\n+ {}\n", "x".repeat(200));
    let shown = plain(&DiffView::of_width(Paint::always(), 160).lines(&long));
    assert!(shown[1].ends_with(&"x".repeat(200)), "{shown:?}");
}

#[test]
fn what_is_no_terminal_gets_the_lines_as_they_are() {
    let shown = DiffView::of_width(Paint::never(), 200).lines(DIFF);
    assert_eq!(shown, DIFF.lines().collect::<Vec<_>>());
}

#[test]
fn very_many_files_are_told_by_name() {
    let many: String =
        (0..60).map(|it| format!("made f{it}, +1 -0\n@@ -0,0 +1 @@\n+ x\n")).collect();
    let view = DiffView::of_width(Paint::never(), 80);
    let shown = view.lines(&many);
    assert_eq!((shown.len(), shown[0].as_str()), (21, "made f0, +1 -0"));
    assert!(shown[20].contains("40 more"), "{shown:?}");
    assert_eq!(view.whole().lines(&many).len(), 180);
    assert!(view.lines("").is_empty());
}
