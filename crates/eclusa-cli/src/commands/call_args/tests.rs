//! Tests of call args.

use serde_json::json;

use super::*;

fn words(all: &[&str]) -> Option<Value> {
    read(&all.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>(), None).ok()
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

#[test]
fn the_schema_of_the_tool_says_what_a_word_and_a_number_are() {
    let schema = json!({"required": ["path"], "properties": {
        "path": {"type": "string"}, "limit": {"type": ["integer", "null"]}, "all": {"type": "boolean"},
        "text": {"type": ["string", "integer"]},
    }});
    let words = |all: &[&str]| {
        read(&all.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>(), Some(&schema)).ok()
    };
    assert_eq!(words(&["README.md"]), Some(json!({"path": "README.md"})));
    assert_eq!(words(&["a.txt", "limit=20"]), Some(json!({"path": "a.txt", "limit": 20})));
    assert_eq!(words(&["path=5", "all=true"]), Some(json!({"path": "5", "all": true})));
    assert_eq!(words(&["path=a", "text=5"]), Some(json!({"path": "a", "text": "5"})));
    // The schema's answer to it says what is wrong.
    assert_eq!(words(&["path=a", "limit=many"]), Some(json!({"path": "a", "limit": "many"})));
    assert_eq!(words(&["limit=1", "a.txt"]), None);
    assert_eq!(words(&["a.txt", "path=b"]), None);
}
