//! Markdown of a model, as it is shown.

use super::Markdown;
use crate::ui::screen::Paint;

#[test]
fn prose_is_wrapped_and_code_is_left_whole() {
    let text = "# Title\nsome **bold** and `code` text that is long enough to be wrapped\n\
        - an item that is long enough to be wrapped as well\n1. one\n> quoted\n```rust\n\
        fn main() { println!(\"a line of code that is longer than the screen\"); }\n```\n---\na * b * c";
    let mut markdown = Markdown::default();
    let rows: Vec<String> =
        text.lines().flat_map(|it| markdown.line(it, 30, Paint::never())).collect();
    insta::assert_snapshot!(rows.join("\n"), @r#"
Title
some bold and code text
that is long enough to be
wrapped
• an item that is long enough
  to be wrapped as well
1. one
│ quoted
── rust
fn main() { println!("a line of code that is longer than the screen"); }
──
──────────────────────────────
a * b * c
"#);
}

#[test]
fn a_table_is_shown_in_columns_when_it_is_whole() {
    let text = "| name | what |\n|---|:--|\n| `a` | **one** \\| two |\n| 名前 | x |\nafter";
    let mut markdown = Markdown::default();
    let rows: Vec<String> =
        text.lines().flat_map(|it| markdown.line(it, 40, Paint::never())).collect();
    assert_eq!(rows, ["name │ what", "─────┼──────────", "a    │ one | two", "名前 │ x", "after"]);
    // One that has no room, or is none, is shown as it was written; and one at the end is not lost.
    assert!(markdown.line("| a | b |", 40, Paint::never()).is_empty());
    assert_eq!(markdown.end_table(40, Paint::never()), ["| a | b |"]);
    for line in ["| a long head | another |", "|---|---|", "| x | y |"] {
        assert!(markdown.line(line, 10, Paint::never()).is_empty());
    }
    assert_eq!(markdown.end_table(10, Paint::never()).len(), 3);
    assert!(markdown.end_table(10, Paint::never()).is_empty());
}
