//! Tests of answer.

use serde_json::json;

use super::*;

/// Shows H.
#[test]
fn table_of_answers() {
    let deny = |why: &str| Ok(ReviewerAnswer::Deny(why.to_owned()));
    let table: Vec<(&str, Result<ReviewerAnswer, ()>)> = vec![
        ("", Err(())),
        (" \n", Err(())),
        ("42", Err(())),
        ("null", Err(())),
        ("\"text\"", Err(())),
        ("[1]", Err(())),
        ("deny: this is dangerous", Err(())),
        ("<html>Log in</html>", Err(())),
        ("true", Ok(ReviewerAnswer::Approve)),
        ("false", deny("not approved")),
        (r#"{"query": "a"}"#, Ok(ReviewerAnswer::Modify(json!({"query": "a"})))),
        (r#"{"approved": true}"#, Ok(ReviewerAnswer::Approve)),
        (r#"{"approved": false, "reason": "no"}"#, deny("no")),
        (
            r#"{"approved": true, "modified_value": {"a": 1}}"#,
            Ok(ReviewerAnswer::Modify(json!({"a": 1}))),
        ),
        (r#"{"approved": "yes"}"#, Err(())),
        (r#"{"decision": "approve"}"#, Ok(ReviewerAnswer::Approve)),
        (r#"{"decision": "deny", "reason": "no"}"#, deny("no")),
        (r#"{"decision": "block"}"#, deny("not approved")),
        (r#"{"decision": "ask", "reason": "look"}"#, Ok(ReviewerAnswer::Ask("look".to_owned()))),
        (
            r#"{"decision": "modify", "value": {"a": 1}}"#,
            Ok(ReviewerAnswer::Modify(json!({"a": 1}))),
        ),
        (
            r#"{"decision": "merge", "value": {"a": null}}"#,
            Ok(ReviewerAnswer::Merge(json!({"a": null}))),
        ),
        (r#"{"decision": "modify"}"#, Err(())),
        (r#"{"decision": "perhaps"}"#, Err(())),
        (r#"{"decision": true}"#, Err(())),
        (r#"{"continue": false, "stopReason": "no"}"#, deny("no")),
        (r#"{"updatedInput": {"a": 1}}"#, Ok(ReviewerAnswer::Modify(json!({"a": 1})))),
        (r#"{"hookSpecificOutput": {"permissionDecision": "allow"}}"#, Ok(ReviewerAnswer::Approve)),
        (
            r#"{"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecisionReason": "no"}}"#,
            deny("no"),
        ),
        (
            r#"{"hookSpecificOutput": {"permissionDecision": "allow", "updatedInput": {"a": 1}}}"#,
            Ok(ReviewerAnswer::Modify(json!({"a": 1}))),
        ),
        (
            r#"{"hookSpecificOutput": {"permissionDecision": "ask", "permissionDecisionReason": "look"}}"#,
            Ok(ReviewerAnswer::Ask("look".to_owned())),
        ),
        (
            r#"{"hookSpecificOutput": {"additionalContext": "seen"}}"#,
            Ok(ReviewerAnswer::Note("seen".to_owned())),
        ),
        (r#"{"hookSpecificOutput": {}}"#, Err(())),
        (r#"{"decision": "#, Err(())),
        ("[1, 2", Err(())),
    ];
    for (answer, expected) in table {
        assert_eq!(read(answer).map_err(drop), expected, "{answer}");
    }
}
