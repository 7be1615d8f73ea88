//! One record has one encoding.

use serde_json::json;

use super::{canonical, is_well_formed};

#[test]
fn a_body_of_version_2_is_canonical_or_refused() {
    let value = json!({"tool": "echo", "args": {"b": 1.5, "a": [true, null, "é\u{1}"]}, "v": 2});
    let body = canonical(&value).unwrap();
    assert_eq!(
        body,
        "{\"args\":{\"a\":[true,null,\"é\\u0001\"],\"b\":1.5},\"tool\":\"echo\",\"v\":2}"
    );
    assert!(is_well_formed(&body));
    for other in [
        r#"{"tool":"echo","args":{},"v":2}"#,
        r#"{"args":{"b":1,"a":2},"tool":"echo","v":2}"#,
        r#"{"args":{}, "tool":"echo","v":2}"#,
        r#"{"args":{},"tool":"ech\u006f","v":2}"#,
        r#"{"args":{"n":1.0},"tool":"echo","v":2}"#,
        r#"{"args":{"n":1e2},"tool":"echo","v":2}"#,
        r#"{"args":{},"tool":"echo","tool":"rm","v":2}"#,
        r#"{"args":{"a":1,"a":2},"tool":"echo","v":2}"#,
        r#"{"args":{},"tool":"echo","v":2} "#,
        r#"{"args":{},"tool":"echo","v":2"#,
    ] {
        assert!(!is_well_formed(other), "{other}");
    }
}

#[test]
fn a_body_of_version_1_keeps_its_order_and_says_nothing_twice() {
    assert!(is_well_formed(r#"{"tool":"echo","args":{"b":1.0,"a":2},"v":1}"#));
    for other in [
        r#"{"tool":"echo","tool":"rm","v":1}"#,
        r#"{"tool":"echo","args":{"a":[{"b":1,"b":2}]},"v":1}"#,
        r#"{"tool":"echo","v":1,"v":2}"#,
    ] {
        assert!(!is_well_formed(other), "{other}");
    }
}

#[test]
fn large_integers_are_written_exactly() {
    assert!(is_well_formed(r#"{"args":{"n":18446744073709551615},"v":2}"#));
    assert!(is_well_formed(r#"{"args":{"n":-9223372036854775808},"v":2}"#));
}
