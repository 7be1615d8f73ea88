//! `eclusa status`: what is held in each agent, by what, and what is still open. It says no more
//! than what stands in the settings; nothing is called proven that was not tried here.

use std::path::PathBuf;

use eclusa_agents::{Agent, EntryState, SettingsEntry};
use serde_json::json;

use super::{
    Scope, named,
    settings_files::{SettingsFile, files},
};
use crate::{
    args::Global,
    failure::{Exit, Failure},
    screen::{Screen, sanitize},
};

/// How strongly an agent is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    None,
    Hooked,
    Managed,
}

impl Level {
    fn name(self) -> &'static str {
        match self {
            Level::None => "none",
            Level::Hooked => "hooked",
            Level::Managed => "managed",
        }
    }
}

/// What is known of an agent.
struct AgentStatus {
    agent: Agent,
    level: Level,
    /// The files whose hooks hold it.
    by: Vec<PathBuf>,
    /// Whether our tools are connected.
    server: bool,
    /// What is wrong with its settings.
    problems: Vec<String>,
    /// Whether it has settings here at all.
    seen: bool,
}

pub(super) fn run(
    global: &Global,
    agent: Option<&str>,
    screen: &mut Screen,
) -> Result<Exit, Failure> {
    let agents = match agent {
        Some(agent) => vec![named(agent)?],
        None => Agent::ALL.to_vec(),
    };
    let all = agents.into_iter().map(|it| look(global, it)).collect::<Result<Vec<_>, _>>()?;
    match global.json {
        true => screen.json(&json!(all.iter().map(AgentStatus::json).collect::<Vec<_>>()))?,
        false => {
            for status in all.iter().filter(|it| agent.is_some() || it.seen) {
                status.print(screen)?;
            }
            if agent.is_none() && !all.iter().any(|it| it.seen) {
                screen.line("no agent is connected; `eclusa install AGENT` connects one")?;
            }
        }
    }
    let asked = |it: &&AgentStatus| agent.is_some() || it.seen;
    let held = all.iter().filter(asked).all(|it| it.level > Level::None && it.problems.is_empty());
    Ok(if held { Exit::Done } else { Exit::Failed })
}

fn look(global: &Global, agent: Agent) -> Result<AgentStatus, Failure> {
    let mut status = AgentStatus {
        agent,
        level: Level::None,
        by: Vec::new(),
        server: false,
        problems: Vec::new(),
        seen: false,
    };
    for scope in Scope::ALL {
        // Outside a project there are no files of one.
        let Ok(files) = files(global, agent, scope) else { continue };
        let mut gates = Vec::new();
        for file in &files {
            for entry in &file.entries {
                let state = status.state_of(file, entry);
                status.server |= entry.is_server() && state == Some(EntryState::Present);
                status.seen |= state.is_some_and(|it| it != EntryState::Absent)
                    && (entry.is_gate() || entry.is_server());
                if entry.is_gate() {
                    gates.push((file, state));
                }
            }
        }
        let present = |it: &&(&SettingsFile, _)| it.1 == Some(EntryState::Present);
        let held = gates.iter().filter(present).count();
        if held == 0 {
            continue;
        }
        if held < gates.len() {
            status.problems.push(format!("some hooks are missing ({})", scope.name()));
            continue;
        }
        let level = if scope == Scope::Managed { Level::Managed } else { Level::Hooked };
        status.level = status.level.max(level);
        status.by.extend(gates.iter().map(|(file, _)| file.path.clone()));
        status.by.dedup();
    }
    Ok(status)
}

impl AgentStatus {
    fn state_of(&mut self, file: &SettingsFile, entry: &SettingsEntry) -> Option<EntryState> {
        let path = file.path.display();
        match entry.state(file.text()) {
            Ok(EntryState::Different) if entry.is_gate() => {
                let name = self.agent.name();
                let text = format!(
                    "`{path}` has a hook of another eclusa; `eclusa install {name}` renews it"
                );
                if !self.problems.contains(&text) {
                    self.problems.push(text);
                }
                Some(EntryState::Different)
            }
            Ok(state) => Some(state),
            Err(err) => {
                let text = format!("`{path}`: {err}");
                if !self.problems.contains(&text) {
                    self.problems.push(text);
                }
                None
            }
        }
    }

    fn to_confirm(&self) -> Option<&'static str> {
        let held = self.level > Level::None;
        self.agent.to_confirm(self.level == Level::Managed).filter(|_| held)
    }

    fn open(&self) -> &'static [&'static str] {
        match self.level {
            Level::None if self.agent.has_hooks() => &["its own tools run without eclusa"],
            level => self.agent.still_open(level == Level::Managed),
        }
    }

    fn json(&self) -> serde_json::Value {
        json!({
            "agent": self.agent.name(),
            "level": self.level.name(),
            "by": self.by,
            "server": self.server,
            "tried": self.agent.is_tried(),
            "proven": false,
            "to_confirm": self.to_confirm(),
            "open": self.open(),
            "problems": self.problems,
        })
    }

    fn print(&self, screen: &mut Screen) -> Result<(), Failure> {
        let proof = match self.level {
            Level::None => "",
            _ => "  (not proven here)",
        };
        screen.line(&format!("{:<12} {}{proof}", self.agent.name(), self.level.name()))?;
        for file in &self.by {
            screen.line(&sanitize(&format!("  by {}", file.display())))?;
        }
        let server = if self.server { "connected" } else { "not connected" };
        screen.line(&format!("  eclusa's tools: {server}"))?;
        let problems = self.problems.iter().map(|it| format!("  problem: {it}"));
        let confirm = self.to_confirm().into_iter().map(|it| format!("  to confirm by you: {it}"));
        let open = self.open().iter().map(|it| format!("  still open: {it}"));
        for line in problems.chain(confirm).chain(open) {
            screen.line(&sanitize(&line))?;
        }
        Ok(())
    }
}
