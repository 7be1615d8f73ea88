//! Tests of the reader of JSON with comments.

use super::*;
use serde_json::json;

#[test]
fn comments_and_trailing_commas_are_left_out_and_texts_are_not() {
    let text = "{ // a\n \"a\": \"// no /* no\", /* b\n */ \"b\": [1, 2,],\n}";
    assert_eq!(read(text).unwrap(), json!({"a": "// no /* no", "b": [1, 2]}));
    assert!(read("{").is_err());
}
