//! What guarded agents are started with.

use super::GuardRow;

fn words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

#[test]
fn each_agent_is_told_where_its_model_is_and_never_the_key() {
    let cases = [
        ("claude -p it's", "ANTHROPIC_BASE_URL=$http_proxy claude -p 'it'\\''s'"),
        (
            "/opt/x/codex exec go",
            "/opt/x/codex -c model_providers.eclusa.base_url=\"$http_proxy\" exec go",
        ),
        ("gemini -p go", "GOOGLE_GEMINI_BASE_URL=$http_proxy gemini -p go --approval-mode yolo"),
        (
            "opencode run go",
            "OPENCODE_CONFIG_CONTENT='{\"provider\":{\"anthropic\":{\"options\":{\"baseURL\":\"'\
             $http_proxy'/v1\"}}}}' opencode run go",
        ),
    ];
    for (typed, text) in cases {
        let words = words(typed);
        let row = GuardRow::for_program(&words[0]).unwrap();
        assert_eq!(row.command(&words), text);
        assert!(row.is_headless(&words));
        assert!(!row.is_headless(&words[..1]));
        let variables = row.variables("/own", "token");
        assert!(variables.contains(&(row.key, "token".to_owned())), "{variables:?}");
        assert!(variables.iter().any(|(_, value)| value.starts_with("/own")), "{variables:?}");
    }
    assert!(GuardRow::for_program("bash").is_none());
}
