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
```rust
fn main() { println!("a line of code that is longer than the screen"); }
```
──────────────────────────────
a * b * c
"#);
}
