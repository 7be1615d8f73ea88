//! What of a server's words is written out, and what is left alone.

use serde_json::json;

use super::*;

#[test]
fn what_steers_a_terminal_is_written_out_and_writing_is_left_alone() {
    let shown = visible("a\u{1b}[31mb\u{202e}c".to_owned());
    assert_eq!(shown, "a\\u{1b}[31mb\\u{202e}c");
    for plain in ["two\nlines\tand\r\nmore", "ünïcödé 漢字", "👩\u{200d}💻", ""] {
        assert_eq!(visible(plain.to_owned()), plain);
    }
    let mut value = json!({"a": ["\u{7}", {"b": "\u{2066}x"}], "n": 1});
    visible_value(&mut value);
    assert_eq!(value, json!({"a": ["\\u{7}", {"b": "\\u{2066}x"}], "n": 1}));
}
