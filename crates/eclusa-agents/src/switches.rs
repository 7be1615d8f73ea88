//! Where an agent's hooks can be switched off, and whether they are.

use serde_json::Value;
use toml_edit::DocumentMut;

use crate::{Agent, EntryFile, jsonc};

/// The names of our hooks, where they have names.
const OUR_NAMES: &str = "eclusa-";

impl Agent {
    /// The files in which a person or a repository can switch its hooks off.
    pub fn switch_files(self) -> &'static [EntryFile] {
        match self {
            Agent::ClaudeCode => &[
                EntryFile::Settings("CLAUDE_CONFIG_DIR", ".claude", "settings.json"),
                EntryFile::Project(".claude/settings.json"),
                EntryFile::Project(".claude/settings.local.json"),
            ],
            Agent::Codex => &[
                EntryFile::Settings("CODEX_HOME", ".codex", "config.toml"),
                EntryFile::Project(".codex/config.toml"),
            ],
            Agent::Gemini => &[
                EntryFile::Home(".gemini/settings.json"),
                EntryFile::Project(".gemini/settings.json"),
            ],
            _ => &[],
        }
    }

    /// What in the text of such a file switches our hooks off, if anything does. Managed hooks stay
    /// on in most agents. A text that cannot be read is no switch: the agent cannot read it either.
    pub fn switched_off_by(self, text: &str, managed: bool) -> Option<&'static str> {
        let settings = || jsonc::read(text).ok();
        match self {
            Agent::ClaudeCode if !managed => {
                let off = settings()?.get("disableAllHooks") == Some(&Value::Bool(true));
                off.then_some("disableAllHooks")
            }
            Agent::Codex if !managed => {
                let document: DocumentMut = text.parse().ok()?;
                let hooks = document.get("features").and_then(|it| it.get("hooks"));
                (hooks.and_then(|it| it.as_bool()) == Some(false))
                    .then_some("features.hooks = false")
            }
            Agent::Gemini => {
                let settings = settings()?;
                let hooks = settings.get("hooksConfig")?;
                let disabled = hooks.get("disabled").and_then(Value::as_array);
                let mut named = disabled.into_iter().flatten().filter_map(Value::as_str);
                if named.any(|it| it.starts_with(OUR_NAMES)) {
                    return Some("hooksConfig.disabled");
                }
                let off = !managed && hooks.get("enabled") == Some(&Value::Bool(false));
                off.then_some("hooksConfig.enabled = false")
            }
            _ => None,
        }
    }
}
