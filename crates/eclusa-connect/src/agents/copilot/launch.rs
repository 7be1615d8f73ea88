//! How Copilot CLI is started by us, for a trial with a scripted model.

use serde_json::json;

use crate::{agents::spec::LaunchSpec, trial::TrialSpec};

pub(super) const LAUNCH: LaunchSpec = LaunchSpec { majors: &[1], guard: None, trial: TRIAL };

const TRIAL: TrialSpec = TrialSpec {
    arguments: &["--allow-all-tools", "-p", "go"],
    untrusted: &[],
    variables: &[
        ("COPILOT_HOME", "HOME/.copilot"),
        ("COPILOT_PROVIDER_BASE_URL", "URL/v1"),
        ("COPILOT_PROVIDER_API_KEY", "scripted"),
        ("COPILOT_MODEL", "gpt-4.1"),
        ("COPILOT_OFFLINE", "true"),
        ("COPILOT_AUTO_UPDATE", "false"),
    ],
    shell_call: |command| (&["bash"], json!({"command": command, "description": "trial"})),
    all_settings: false,
    settings: |text| Ok(text.to_owned()),
    model: None,
};
