//! How each agent is started for a trial: with a copy of the person's own settings, and a scripted
//! model in the place of its own.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
};

use eclusa_config::jsonc;
use serde_json::{Value, json};
use toml_edit::{DocumentMut, Item, Table, value};

use super::wires::ScriptedCall;
use crate::Agent;

/// A home that goes with a trial.
pub(super) struct TrialHome<'a> {
    pub(super) home: &'a Path,
    /// Where the model is.
    pub(super) url: &'a str,
    /// The gate's own files of the person: where they are here, and what is in them.
    pub(super) settings: &'a [(PathBuf, String)],
}

/// The program of an agent, if it can be tried here at all.
pub(super) fn program(agent: Agent) -> Option<PathBuf> {
    let name = match agent {
        Agent::ClaudeCode => "claude",
        Agent::Codex => "codex",
        Agent::Gemini => "gemini",
        Agent::Opencode => "opencode",
        _ => return None,
    };
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|it| it.join(name)).find(|it| it.is_file())
}

/// The call that shows whether a command runs.
pub(super) fn shell_call(agent: Agent, command: &str) -> ScriptedCall {
    let (tool, args) = match agent {
        Agent::Codex => ("exec_command", json!({"cmd": command})),
        Agent::Gemini => ("run_shell_command", json!({"command": command, "description": "trial"})),
        Agent::Opencode => ("bash", json!({"command": command, "description": "trial"})),
        _ => ("Bash", json!({"command": command, "description": "trial"})),
    };
    ScriptedCall { tool, args }
}

/// What an agent is started with.
pub(super) fn arguments(agent: Agent) -> &'static [&'static str] {
    match agent {
        Agent::ClaudeCode => &["-p", "go", "--permission-mode", "bypassPermissions"],
        // Only its person may trust hooks; in a trial nobody is asked to.
        Agent::Codex => &["exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", "go"],
        Agent::Gemini => &["-p", "go", "-m", "gemini-2.5-flash", "--approval-mode", "yolo"],
        _ => &["run", "go"],
    }
}

impl TrialHome<'_> {
    /// The variables of the agent's environment.
    pub(super) fn variables(&self, agent: Agent) -> Vec<(&'static str, String)> {
        let inside = |name: &str| self.home.join(name).to_string_lossy().into_owned();
        let mut all = vec![
            ("HOME", self.home.to_string_lossy().into_owned()),
            ("TMPDIR", inside("tmp")),
            ("NO_COLOR", "1".to_owned()),
        ];
        let url = self.url.to_owned();
        match agent {
            Agent::ClaudeCode => all.extend([
                ("ANTHROPIC_BASE_URL", url),
                ("ANTHROPIC_API_KEY", "scripted".to_owned()),
                ("IS_SANDBOX", "1".to_owned()),
                ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".to_owned()),
                ("DISABLE_AUTOUPDATER", "1".to_owned()),
            ]),
            Agent::Codex => all.extend([
                ("SCRIPTED_KEY", "scripted".to_owned()),
                ("CODEX_HOME", inside(".codex")),
            ]),
            Agent::Gemini => all.extend([
                ("GEMINI_API_KEY", "scripted".to_owned()),
                ("GOOGLE_GEMINI_BASE_URL", url),
                ("GEMINI_CLI_TRUST_WORKSPACE", "true".to_owned()),
            ]),
            _ => all.extend([
                ("OPENCODE_DISABLE_AUTOUPDATE", "1".to_owned()),
                ("OPENCODE_DISABLE_MODELS_FETCH", "1".to_owned()),
            ]),
        }
        all
    }

    /// Writes the agent's settings: the person's own, as far as they say how calls are gated, and
    /// the scripted model.
    pub(super) fn write(&self, agent: Agent) -> Result<(), String> {
        for (name, text) in self.settings {
            let text = match agent {
                Agent::ClaudeCode | Agent::Gemini => tidied(agent, text)?,
                _ => text.clone(),
            };
            self.put(&name.to_string_lossy(), &text)?;
        }
        match agent {
            Agent::Codex => {
                let own = self.home.join(".codex/config.toml");
                let text = fs::read_to_string(&own).unwrap_or_default();
                self.put(".codex/config.toml", &codex_config(&text, self.url)?)
            }
            Agent::Opencode => {
                let options = json!({"baseURL": format!("{}/v1", self.url), "apiKey": "scripted"});
                let model = json!({"name": "scripted", "tool_call": true});
                let provider = json!({
                    "npm": "@ai-sdk/openai-compatible", "name": "scripted", "options": options,
                    "models": {"scripted": model},
                });
                let config = json!({
                    "model": "scripted/scripted", "permission": {"*": "allow"},
                    "autoupdate": false, "provider": {"scripted": provider},
                });
                self.put(".config/opencode/opencode.json", &config.to_string())
            }
            _ => Ok(()),
        }
    }

    fn put(&self, name: &str, text: &str) -> Result<(), String> {
        let path = self.home.join(name);
        let written = path.parent().map_or(Ok(()), fs::create_dir_all);
        let written = written.and_then(|()| write(&path, text));
        written.map_err(|err| format!("`{}`: {err}", path.display()))
    }
}

#[expect(clippy::disallowed_methods, reason = "a directory of our own that goes with the trial")]
pub(super) fn write(path: &Path, text: &str) -> io::Result<()> {
    fs::write(path, text)
}

/// Settings without what leads to the person's own model and servers.
fn tidied(agent: Agent, text: &str) -> Result<String, String> {
    let mut settings = jsonc::read(text).map_err(|err| err.to_string())?;
    let fields = settings.as_object_mut().ok_or("its settings are no object")?;
    for key in ["apiKeyHelper", "env", "model", "mcpServers", "statusLine", "enabledPlugins"] {
        fields.remove(key);
    }
    if agent == Agent::Gemini {
        let security = json!({
            "auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": false},
        });
        fields.insert("security".to_owned(), security);
        fields.insert("privacy".to_owned(), json!({"usageStatisticsEnabled": false}));
        fields.insert("general".to_owned(), json!({"enableAutoUpdate": false}));
    }
    Ok(Value::to_string(&settings))
}

/// Codex's own settings with the scripted model, and without servers.
fn codex_config(text: &str, url: &str) -> Result<String, String> {
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
