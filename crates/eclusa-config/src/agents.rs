//! `[agents]`: how calls of other people's agents are treated that ask before they run.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    source::LayerReader,
    spanned::{Keyword, KeywordSet, Spanned},
    tighten::set_trusted_only,
    units::positive_time,
};

/// What the hooks of agents have time for.
const MAX_AHEAD: Duration = Duration::from_secs(600);

/// Where shell commands of other agents run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AgentShell {
    /// In our sandbox: its changes are judged, and can be undone.
    #[default]
    Sandbox,
    /// As the agent runs them. What would be staged is asked about.
    Plain,
}

impl KeywordSet for AgentShell {
    const WORDS: &'static [(&'static str, AgentShell)] =
        &[("sandbox", AgentShell::Sandbox), ("plain", AgentShell::Plain)];
}

/// How calls of other agents are treated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentSettings {
    /// Where their shell commands run.
    pub shell: AgentShell,
    /// Agents whose shell commands run as they run them, whatever `shell` says.
    pub plain: Vec<String>,
    /// How long a command is run ahead of its question where a person sits in front of the agent; zero:
    /// not at all.
    pub ahead: Duration,
}

impl Default for AgentSettings {
    fn default() -> AgentSettings {
        let ahead = Duration::from_secs(20);
        AgentSettings { shell: AgentShell::default(), plain: Vec::new(), ahead }
    }
}

impl AgentSettings {
    /// Where shell commands of this agent run.
    pub fn shell_of(&self, agent: &str) -> AgentShell {
        match self.plain.iter().any(|it| it == agent) {
            true => AgentShell::Plain,
            false => self.shell,
        }
    }
}

/// How calls of other people's agents are treated, whose hooks ask before they run.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub(super) struct Agents {
    /// Where their shell commands run: in the sandbox, or as the agent runs them.
    pub(super) shell: Option<Spanned<Keyword<AgentShell>>>,
    /// Agents whose shell commands run as they run them, like "codex".
    pub(super) plain: Option<Spanned<Vec<String>>>,
    /// How long a command is run before its question where a person sits in front of the agent, so that
    /// they see what it changes; "none": it is not.
    pub(super) ahead: Option<Spanned<String>>,
}

/// Puts what is said in the place of what was said below. Neither word is stricter than the other
/// in everything, so that a project's file has no say.
pub(super) fn merge(source: &mut LayerReader<'_>, below: &mut AgentSettings, file: &Agents) {
    if let Some(written) = &file.shell {
        set_trusted_only(source, &written.span, &mut below.shell, written.it.0);
    }
    if let Some(written) = &file.plain {
        set_trusted_only(source, &written.span, &mut below.plain, written.it.clone());
    }
    if let Some(written) = &file.ahead {
        let time = match written.it.as_str() {
            "none" => Some(Duration::ZERO),
            _ => positive_time(source, written),
        };
        if let Some(time) = time {
            set_trusted_only(source, &written.span, &mut below.ahead, time.min(MAX_AHEAD));
        }
    }
}
