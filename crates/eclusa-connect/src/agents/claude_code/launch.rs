//! How Claude Code is started by us: in a sandbox of its own, and for a trial with a scripted model.

use serde_json::{Value, json};

use crate::{
    agents::spec::LaunchSpec,
    guard::{FormSpec, GuardSpec},
    trial::{TrialSpec, neutral_settings},
};

pub(super) const LAUNCH: LaunchSpec = LaunchSpec { majors: &[2], guard: Some(GUARD), trial: TRIAL };

const GUARD: GuardSpec = GuardSpec {
    key: "ANTHROPIC_API_KEY",
    terminal_key: "ANTHROPIC_AUTH_TOKEN",
    header: ("x-api-key", ""),
    service: ("ANTHROPIC_BASE_URL", "https://api.anthropic.com"),
    assignments: "ANTHROPIC_BASE_URL=$http_proxy",
    headless: &["-p", "--print"],
    variables: &[
        ("CLAUDE_CONFIG_DIR", "HOME"),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ("DISABLE_AUTOUPDATER", "1"),
        // Its own questions are off where nobody could answer them: the sandbox holds it.
        ("IS_SANDBOX", "1"),
    ],
    staged: FormSpec {
        before: "",
        after: "",
        files: &[(
            "settings.json",
            "{\"disableAllHooks\": true, \"permissions\": {\"defaultMode\": \"bypassPermissions\"}}\n",
        )],
    },
    live: FormSpec {
        before: "--strict-mcp-config --mcp-config=\"$CLAUDE_CONFIG_DIR\"/eclusa-mcp.json",
        after: "",
        files: &[
            (
                "settings.json",
                "{\"disableAllHooks\": true, \"permissions\": {\"allow\": [\"mcp__eclusa\"], \"deny\": \
                 [\"Bash\", \"Edit\", \"Write\", \"NotebookEdit\", \"Monitor\", \"WebFetch\"]}}\n",
            ),
            (
                "eclusa-mcp.json",
                "{\"mcpServers\": {\"eclusa\": {\"type\": \"http\", \"alwaysLoad\": true, \
                 \"url\": \"http://127.0.0.1:3128/eclusa/mcp\", \
                 \"headers\": {\"Authorization\": \"Bearer ${ECLUSA_GUARD_TOKEN}\"}}}}\n",
            ),
        ],
    },
};

const TRIAL: TrialSpec = TrialSpec {
    arguments: &["-p", "go", "--permission-mode", "bypassPermissions"],
    untrusted: &[],
    variables: &[
        ("ANTHROPIC_BASE_URL", "URL"),
        ("ANTHROPIC_API_KEY", "scripted"),
        ("IS_SANDBOX", "1"),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ("DISABLE_AUTOUPDATER", "1"),
    ],
    shell_call: |command| (&["Bash"], json!({"command": command, "description": "trial"})),
    all_settings: false,
    settings: |text| Ok(Value::Object(neutral_settings(text)?).to_string()),
    model: None,
};
