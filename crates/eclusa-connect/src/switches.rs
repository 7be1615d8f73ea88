//! Where an agent's hooks can be switched off, and whether they are.

use serde_json::Value;
use toml_edit::DocumentMut;

use eclusa_config::jsonc;

use crate::{Agent, EntryFile};

/// The names of our hooks, where they have names.
const OUR_NAMES: &str = "eclusa-";

/// By these our program finds a person's configuration and state.
const PLACES: [&str; 3] = ["HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"];

/// With these other code runs in every program that is started.
const LOADER: &str = "LD_";

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

    /// The files of a project that give variables to the agent or to its hooks.
    pub fn variable_files(self) -> &'static [&'static str] {
        match self {
            Agent::ClaudeCode => &[".claude/settings.json", ".claude/settings.local.json"],
            Agent::Gemini => &[".env", ".gemini/.env"],
            _ => &[],
        }
    }

    /// True when the agent takes such a file from a directory above the project, too.
    pub fn looks_above(self) -> bool {
        self == Agent::Gemini
    }

    /// The variable in the text of such a file with which our hooks would go by other rules than the
    /// person's, if there is one.
    pub fn redirected_by(self, text: &str) -> Option<String> {
        let mut names: Vec<String> = match self {
            Agent::ClaudeCode => {
                let settings = jsonc::read(text).ok()?;
                settings.get("env")?.as_object()?.keys().cloned().collect()
            }
            _ => text.lines().filter_map(assigned).collect(),
        };
        names.retain(|it| PLACES.contains(&it.as_str()) || it.starts_with(LOADER));
        names.into_iter().next()
    }
}

/// The variable that a line of an `.env` file sets.
fn assigned(line: &str) -> Option<String> {
    let line = line.trim_start();
    let name = line.strip_prefix("export ").unwrap_or(line).split(['=', ':']).next()?;
    Some(name.trim().to_owned())
}
