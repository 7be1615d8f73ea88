//! Tests of call args.

use serde_json::json;

use super::*;

fn words(all: &[&str]) -> Option<Value> {
    read(&all.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>()).ok()
}

#[test]
fn words_and_json_are_both_arguments() {
    assert_eq!(words(&[]), Some(json!({})));
    assert_eq!(words(&[r#"{"a": 1}"#]), Some(json!({"a": 1})));
    assert_eq!(
        words(&["path=README.md", "limit:=20"]),
        Some(json!({"path": "README.md", "limit": 20}))
    );
    assert_eq!(words(&["command=a=b c"]), Some(json!({"command": "a=b c"})));
    assert_eq!(words(&["text=5", "empty="]), Some(json!({"text": "5", "empty": ""})));
    assert_eq!(words(&["all:=[true, null]"]), Some(json!({"all": [true, null]})));
    for wrong in [
        &["[1]"][..],
        &["nonsense"],
        &["a=1", "nonsense"],
        &["a:=nonsense"],
        &["=x"],
        &["a=1", "a=2"],
        &[r#"{"a": "#],
    ] {
        assert_eq!(words(wrong), None, "{wrong:?}");
    }
}
