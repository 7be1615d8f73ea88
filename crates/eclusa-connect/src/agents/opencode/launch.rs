//! How opencode is started by us: in a sandbox of its own, and for a trial with a scripted model.

use serde_json::json;

use crate::{
    agents::spec::LaunchSpec,
    guard::{FormSpec, GuardSpec},
    trial::TrialSpec,
};

pub(super) const LAUNCH: LaunchSpec = LaunchSpec { majors: &[1], guard: Some(GUARD), trial: TRIAL };

const GUARD: GuardSpec = GuardSpec {
    key: "ANTHROPIC_API_KEY",
    terminal_key: "ANTHROPIC_API_KEY",
    header: ("x-api-key", ""),
    service: ("ANTHROPIC_BASE_URL", "https://api.anthropic.com"),
    assignments: "OPENCODE_CONFIG_CONTENT='{\"provider\":{\"anthropic\":{\"options\":\
                 {\"baseURL\":\"'$http_proxy'/v1\"}}}}'",
    headless: &["run"],
    variables: &[
        ("XDG_CONFIG_HOME", "HOME/config"),
        ("XDG_DATA_HOME", "HOME/data"),
        ("XDG_STATE_HOME", "HOME/state"),
        ("XDG_CACHE_HOME", "HOME/cache"),
        ("OPENCODE_PURE", "1"),
        ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
        ("OPENCODE_DISABLE_MODELS_FETCH", "1"),
    ],
    staged: FormSpec {
        before: "",
        after: "",
        files: &[(
            "config/opencode/opencode.json",
            "{\"permission\": \"allow\", \"autoupdate\": false}\n",
        )],
    },
    live: FormSpec {
        before: "",
        after: "",
        files: &[(
            "config/opencode/opencode.json",
            // Of two that fit the later counts; `edit` is every tool that writes.
            "{\"permission\": {\"*\": \"allow\", \"bash\": \"deny\", \"edit\": \"deny\", \
             \"webfetch\": \"deny\"}, \"autoupdate\": false, \
             \"mcp\": {\"eclusa\": {\"type\": \"remote\", \"enabled\": true, \"oauth\": false, \
             \"url\": \"http://127.0.0.1:3128/eclusa/mcp\", \
             \"headers\": {\"Authorization\": \"Bearer {env:ECLUSA_GUARD_TOKEN}\"}}}}\n",
        )],
    },
};

const TRIAL: TrialSpec = TrialSpec {
    arguments: &["run", "go"],
    untrusted: &[],
    variables: &[("OPENCODE_DISABLE_AUTOUPDATE", "1"), ("OPENCODE_DISABLE_MODELS_FETCH", "1")],
    shell_call: |command| (&["bash", "shell"], json!({"command": command, "description": "trial"})),
    all_settings: false,
    settings: |text| Ok(text.to_owned()),
    model: Some((".config/opencode/opencode.json", scripted_config)),
};

/// Settings that know the scripted model alone.
fn scripted_config(_: &str, url: &str) -> Result<String, String> {
    let options = json!({"baseURL": format!("{url}/v1"), "apiKey": "scripted"});
    let model = json!({"name": "scripted", "tool_call": true});
    let provider = json!({
        "npm": "@ai-sdk/openai-compatible", "name": "scripted", "options": options,
        "models": {"scripted": model},
    });
    let config = json!({
        "model": "scripted/scripted", "permission": {"*": "allow"},
        "autoupdate": false, "provider": {"scripted": provider},
    });
    Ok(config.to_string())
}
