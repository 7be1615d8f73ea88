//! How Codex is started by us: in a sandbox of its own, and for a trial with a scripted model.

use serde_json::json;
use toml_edit::{DocumentMut, Item, Table, value};

use crate::{
    agents::spec::LaunchSpec,
    guard::{FormSpec, GuardSpec},
    trial::TrialSpec,
};

pub(super) const LAUNCH: LaunchSpec = LaunchSpec { majors: &[0], guard: Some(GUARD), trial: TRIAL };

/// Codex's settings, with more features and more at the end.
macro_rules! codex_config {
    ($features:literal, $end:literal) => {
        concat!(
            "model_provider = \"eclusa\"\napproval_policy = \"never\"\n\
             # Its own sandbox cannot be made inside ours.\n\
             sandbox_mode = \"danger-full-access\"\n\n\
             [features]\nhooks = false\n",
            $features,
            "\n[model_providers.eclusa]\nname = \"eclusa\"\nbase_url = \"http://127.0.0.1\"\n\
             env_key = \"OPENAI_API_KEY\"\nwire_api = \"responses\"\nsupports_websockets = false\n",
            $end,
        )
    };
}

const GUARD: GuardSpec = GuardSpec {
    key: "OPENAI_API_KEY",
    terminal_key: "OPENAI_API_KEY",
    header: ("authorization", "Bearer "),
    service: ("OPENAI_BASE_URL", "https://api.openai.com/v1"),
    assignments: "",
    headless: &["exec", "e"],
    variables: &[("CODEX_HOME", "HOME")],
    staged: FormSpec {
        before: "-c model_providers.eclusa.base_url=\"$http_proxy\"",
        after: "",
        files: &[("config.toml", codex_config!("", ""))],
    },
    live: FormSpec {
        before: "-c model_providers.eclusa.base_url=\"$http_proxy\"",
        after: "",
        files: &[(
            "config.toml",
            codex_config!(
                "shell_tool = false\n",
                "\n[mcp_servers.eclusa]\nurl = \"http://127.0.0.1:3128/eclusa/mcp\"\n\
                 bearer_token_env_var = \"ECLUSA_GUARD_TOKEN\"\nrequired = true\n\
                 default_tools_approval_mode = \"approve\"\n"
            ),
        )],
    },
};

const TRIAL: TrialSpec = TrialSpec {
    arguments: &["exec", "--skip-git-repo-check", "go"],
    // Hooks whose program is missing are others than those that its person trusts.
    untrusted: &["--dangerously-bypass-hook-trust"],
    variables: &[("SCRIPTED_KEY", "scripted"), ("CODEX_HOME", "HOME/.codex")],
    shell_call: |command| (&["exec_command"], json!({"cmd": command})),
    // It has what it does with hooks in another file.
    all_settings: true,
    settings: |text| Ok(text.to_owned()),
    model: Some((".codex/config.toml", scripted_config)),
};

/// The person's own settings with the scripted model, and without servers.
fn scripted_config(text: &str, url: &str) -> Result<String, String> {
    let mut config: DocumentMut = text.parse().map_err(|err| format!("{err}"))?;
    config.remove("mcp_servers");
    config.remove("profile");
    for (key, word) in [
        ("model", "scripted"),
        ("model_provider", "scripted"),
        ("approval_policy", "never"),
        ("sandbox_mode", "danger-full-access"),
    ] {
        config.insert(key, value(word));
    }
    let mut provider = Table::new();
    provider.insert("name", value("scripted"));
    provider.insert("base_url", value(format!("{url}/v1")));
    provider.insert("wire_api", value("responses"));
    provider.insert("env_key", value("SCRIPTED_KEY"));
    provider.insert("supports_websockets", value(false));
    let mut providers = Table::new();
    providers.set_implicit(true);
    providers.insert("scripted", Item::Table(provider));
    config.insert("model_providers", Item::Table(providers));
    Ok(config.to_string())
}
