//! How Gemini CLI is started by us: in a sandbox of its own, and for a trial with a scripted model.

use serde_json::{Value, json};

use crate::{
    agents::spec::LaunchSpec,
    guard::{FormSpec, GuardSpec},
    trial::{TrialSpec, neutral_settings},
};

pub(super) const LAUNCH: LaunchSpec = LaunchSpec { majors: &[0], guard: Some(GUARD), trial: TRIAL };

const GUARD: GuardSpec = GuardSpec {
    key: "GEMINI_API_KEY",
    terminal_key: "GEMINI_API_KEY",
    header: ("x-goog-api-key", ""),
    service: ("GOOGLE_GEMINI_BASE_URL", "https://generativelanguage.googleapis.com"),
    assignments: "GOOGLE_GEMINI_BASE_URL=$http_proxy",
    headless: &["-p", "--prompt"],
    variables: &[("GEMINI_CLI_HOME", "HOME"), ("GEMINI_CLI_TRUST_WORKSPACE", "true")],
    staged: FormSpec {
        before: "",
        after: "--approval-mode yolo",
        files: &[(
            ".gemini/settings.json",
            "{\"security\": {\"auth\": {\"selectedType\": \"gemini-api-key\"}}, \
             \"hooksConfig\": {\"enabled\": false}, \"privacy\": {\"usageStatisticsEnabled\": false}, \
             \"general\": {\"enableAutoUpdate\": false}}\n",
        )],
    },
    live: FormSpec {
        before: "",
        after: "",
        files: &[(
            ".gemini/settings.json",
            "{\"security\": {\"auth\": {\"selectedType\": \"gemini-api-key\"}}, \
             \"hooksConfig\": {\"enabled\": false}, \"privacy\": {\"usageStatisticsEnabled\": false}, \
             \"general\": {\"enableAutoUpdate\": false}, \
             \"tools\": {\"exclude\": [\"run_shell_command\", \"write_file\", \"replace\", \"web_fetch\"]}, \
             \"mcpServers\": {\"eclusa\": {\"httpUrl\": \"http://127.0.0.1:3128/eclusa/mcp\", \
             \"headers\": {\"Authorization\": \"Bearer $ECLUSA_GUARD_TOKEN\"}, \"trust\": true}}}\n",
        )],
    },
};

const TRIAL: TrialSpec = TrialSpec {
    arguments: &["-p", "go", "-m", "gemini-2.5-flash", "--approval-mode", "yolo"],
    untrusted: &[],
    variables: &[
        ("GEMINI_API_KEY", "scripted"),
        ("GOOGLE_GEMINI_BASE_URL", "URL"),
        ("GEMINI_CLI_TRUST_WORKSPACE", "true"),
    ],
    shell_call: |command| {
        (&["run_shell_command"], json!({"command": command, "description": "trial"}))
    },
    all_settings: false,
    settings: trial_settings,
    model: None,
};

fn trial_settings(text: &str) -> Result<String, String> {
    let mut fields = neutral_settings(text)?;
    let security = json!({
        "auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": false},
    });
    fields.insert("security".to_owned(), security);
    fields.insert("privacy".to_owned(), json!({"usageStatisticsEnabled": false}));
    fields.insert("general".to_owned(), json!({"enableAutoUpdate": false}));
    Ok(Value::Object(fields).to_string())
}
