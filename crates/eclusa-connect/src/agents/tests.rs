//! What guarded agents are started with.

use super::AgentSpec;
use crate::guard::{GUARD_TOOLS_PATH, GuardForm, GuardSpec, TOKEN};

fn guard(program: &str) -> &'static GuardSpec {
    AgentSpec::of_program(program).unwrap().1
}

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
        let row = guard(&words[0]);
        assert_eq!(row.command(&words, GuardForm::Staged), text);
        assert!(row.is_headless(&words));
        assert!(!row.is_headless(&words[..1]));
        let variables = row.variables("/own", "token", true);
        assert!(variables.contains(&(row.key, "token".to_owned())), "{variables:?}");
        assert!(variables.iter().any(|(_, value)| value.starts_with("/own")), "{variables:?}");
    }
    assert!(AgentSpec::of_program("bash").is_none());
}

#[test]
fn a_live_agent_is_given_our_tools_and_none_of_its_own_that_change_things() {
    for program in ["claude", "codex", "gemini", "opencode"] {
        let row = guard(program);
        let files: String = row.files(GuardForm::Live).iter().map(|(_, text)| *text).collect();
        assert!(files.contains(&format!("http://127.0.0.1:3128{GUARD_TOOLS_PATH}\"")), "{files}");
        assert!(files.contains(TOKEN) && !files.contains("yolo") && !files.contains("bypass"));
        for (name, text) in row.files(GuardForm::Live).iter().filter(|it| it.0.ends_with(".json")) {
            assert!(eclusa_config::jsonc::read(text).is_ok(), "{name}: {text}");
        }
    }
    // opencode takes the last rule that fits: what is denied stands after what is allowed.
    let row = guard("opencode");
    let (_, text) = row.files(GuardForm::Live)[0];
    let at = |word: &str| text.find(word).unwrap_or_else(|| panic!("{word}: {text}"));
    for own in ["bash", "edit", "webfetch"] {
        assert!(at(&format!("\"{own}\": \"deny\"")) > at("\"*\": \"allow\""), "{text}");
    }
    let row = guard("claude");
    let text = row.command(&words("claude -p go"), GuardForm::Live);
    let servers = "--strict-mcp-config --mcp-config=\"$CLAUDE_CONFIG_DIR\"/eclusa-mcp.json";
    assert_eq!(text, format!("ANTHROPIC_BASE_URL=$http_proxy claude {servers} -p go"));
    // On a terminal it would ask about each new key.
    let variables = row.variables("/own", "token", false);
    assert!(variables.contains(&("ANTHROPIC_AUTH_TOKEN", "token".to_owned())), "{variables:?}");
    assert!(variables.iter().all(|(name, _)| *name != "ANTHROPIC_API_KEY"), "{variables:?}");
}
