//! Tests of past calls.

use super::*;
use crate::EclusaCall;

fn commands(agent: &str, text: &str) -> Vec<(String, String)> {
    let calls = AgentSpec::named(agent).unwrap().past_calls(text);
    let command = |it: &PastCall| match &it.mapped {
        MappedCall::Eclusa(calls) => match calls.as_slice() {
            [EclusaCall { tool: "bash", args }] => args["command"].as_str().unwrap().to_owned(),
            other => other[0].tool.to_owned(),
        },
        other => format!("{other:?}"),
    };
    calls.iter().map(|it| (it.directory.clone(), command(it))).collect()
}

#[test]
fn a_session_of_claude_code_has_its_calls_in_blocks() {
    let text = concat!(
        "not json\n",
        r#"{"type":"user","cwd":"/p","message":{"content":"do it"}}"#,
        "\n",
        r#"{"type":"assistant","cwd":"/p/sub","isSidechain":true,"message":{"content":[{"type":"text","text":"so"},{"type":"tool_use","name":"Bash","input":{"command":"make test"}},{"type":"tool_use","name":"Write","input":{"file_path":"/p/a","content":"x"}}]}}"#,
        "\n",
    );
    let found = commands("claude-code", text);
    assert_eq!(found[0], ("/p/sub".to_owned(), "make test".to_owned()));
    assert_eq!(found[1], ("/p/sub".to_owned(), "write".to_owned()));
    assert_eq!(found.len(), 2);
}

#[test]
fn a_rollout_of_codex_has_shell_commands_in_several_forms() {
    let text = concat!(
        r#"{"type":"session_meta","payload":{"cwd":"/p"}}"#,
        "\n",
        r#"{"type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{\"command\":[\"bash\",\"-lc\",\"ls | wc\"]}"}}"#,
        "\n",
        r#"{"type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"git status\"}"}}"#,
        "\n",
        r#"{"type":"response_item","payload":{"type":"local_shell_call","action":{"command":["rm","a b"]}}}"#,
        "\n",
        r#"{"type":"response_item","payload":{"type":"reasoning","summary":[]}}"#,
        "\n",
    );
    let found: Vec<String> = commands("codex", text).into_iter().map(|it| it.1).collect();
    assert_eq!(found, ["ls | wc", "git status", "rm 'a b'"]);
}
