//! The agents that are known here, one file each, and the one list of them.
//!
//! Everything that is particular to an agent stands in its [`AgentSpec`].

use std::path::PathBuf;

use serde_json::Value;

use crate::guard::GuardSpec;

mod claude_code;
mod codex;
mod copilot;
mod cursor;
mod event;
mod gemini;
mod json_form;
mod opencode;
mod past_calls;
mod questions;
mod result;
mod spec;
mod vscode;
mod windsurf;
mod zed;

pub use event::{HookEvent, HookEventKind, ToolResult, UnreadableEvent};
pub(crate) use json_form::JsonForm;
pub use past_calls::PastCall;
pub use spec::{AgentSpec, UnknownAgent};
pub(crate) use spec::{DenialSpec, RewrittenAsk};

/// All agents that are known here.
pub static AGENTS: &[&AgentSpec] = &[
    &claude_code::CLAUDE_CODE,
    &codex::CODEX,
    &gemini::GEMINI,
    &opencode::OPENCODE,
    &cursor::CURSOR,
    &copilot::COPILOT,
    &windsurf::WINDSURF,
    &vscode::VSCODE,
    &zed::ZED,
];

impl AgentSpec {
    /// The agent of this name, or of one of its other names.
    pub fn named(word: &str) -> Result<&'static AgentSpec, UnknownAgent> {
        let is_named = |it: &&&AgentSpec| it.name == word || it.aliases.contains(&word);
        AGENTS.iter().find(is_named).copied().ok_or_else(|| {
            let names: Vec<&str> = AGENTS.iter().map(|it| it.name).collect();
            UnknownAgent { word: word.to_owned(), known: names.join(", ") }
        })
    }

    /// The agent whose program this is, and how it is guarded.
    pub(crate) fn of_program(program: &str) -> Option<(&'static AgentSpec, &'static GuardSpec)> {
        let name = program.rsplit('/').next().unwrap_or_default();
        let agent = AGENTS.iter().find(|it| it.program == name)?;
        Some((agent, agent.launch.as_ref()?.guard.as_ref()?))
    }

    /// Its program, if it is on the `PATH`.
    pub(crate) fn installed(&self) -> Option<PathBuf> {
        let path = std::env::var_os("PATH")?;
        std::env::split_paths(&path).map(|it| it.join(self.program)).find(|it| it.is_file())
    }
}

/// The keys under which agents list their servers, each once.
pub fn server_lists() -> Vec<&'static str> {
    let lists = AGENTS.iter().flat_map(|it| it.servers.lists).filter_map(|it| match it {
        [list] => Some(*list),
        _ => None,
    });
    let mut all = Vec::new();
    for list in lists {
        if !all.contains(&list) {
            all.push(list);
        }
    }
    all
}

/// The servers that settings name, whichever agent's they are: those for every workspace, and those
/// for this one. Of two with one name the first counts.
pub fn servers_in(settings: &Value, workspace: Option<&str>) -> Vec<(String, Value)> {
    let mut all: Vec<(String, Value)> = Vec::new();
    for path in AGENTS.iter().flat_map(|it| it.servers.lists) {
        let list = path.iter().try_fold(settings, |value, key| match *key {
            "*" => value.get(workspace?),
            key => value.get(key),
        });
        for (name, server) in list.and_then(Value::as_object).into_iter().flatten() {
            if !all.iter().any(|(taken, _)| taken == name) {
                all.push((name.clone(), server.clone()));
            }
        }
    }
    all
}

#[cfg(test)]
mod tests;
