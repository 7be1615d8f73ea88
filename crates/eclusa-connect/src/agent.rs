//! Which agents there are, and what differs between them as plain facts.

use std::{fmt, str::FromStr};

/// An agent that asks us before each of its tool calls, or could.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Agent {
    /// Claude Code.
    ClaudeCode,
    /// Codex.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// opencode.
    Opencode,
    /// Cursor.
    Cursor,
    /// GitHub Copilot CLI.
    Copilot,
    /// Windsurf.
    Windsurf,
    /// VS Code: connected over MCP alone.
    VsCode,
    /// Zed: connected over MCP alone.
    Zed,
}

/// A name that is no agent's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownAgent(String);

impl fmt::Display for UnknownAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = Agent::ALL.iter().map(|it| it.name()).collect();
        write!(f, "`{}` is not an agent that is known here; use {}", self.0, names.join(", "))
    }
}

impl std::error::Error for UnknownAgent {}

impl Agent {
    /// All of them.
    pub const ALL: [Agent; 9] = [
        Agent::ClaudeCode,
        Agent::Codex,
        Agent::Gemini,
        Agent::Opencode,
        Agent::Cursor,
        Agent::Copilot,
        Agent::Windsurf,
        Agent::VsCode,
        Agent::Zed,
    ];

    /// The word for it on the command line and in records.
    pub const fn name(self) -> &'static str {
        match self {
            Agent::ClaudeCode => "claude-code",
            Agent::Codex => "codex",
            Agent::Gemini => "gemini",
            Agent::Opencode => "opencode",
            Agent::Cursor => "cursor",
            Agent::Copilot => "copilot",
            Agent::Windsurf => "windsurf",
            Agent::VsCode => "vscode",
            Agent::Zed => "zed",
        }
    }

    /// What people call it.
    pub const fn title(self) -> &'static str {
        match self {
            Agent::ClaudeCode => "Claude Code",
            Agent::Codex => "Codex",
            Agent::Gemini => "Gemini CLI",
            Agent::Opencode => "opencode",
            Agent::Cursor => "Cursor",
            Agent::Copilot => "Copilot CLI",
            Agent::Windsurf => "Windsurf",
            Agent::VsCode => "VS Code",
            Agent::Zed => "Zed",
        }
    }

    /// False for agents that have no hooks and are connected over MCP alone.
    pub const fn has_hooks(self) -> bool {
        !matches!(self, Agent::VsCode | Agent::Zed)
    }

    /// True where the contract of its hooks was seen with the real program; for the others it is
    /// taken from their manuals.
    pub const fn is_tried(self) -> bool {
        matches!(self, Agent::ClaudeCode | Agent::Codex | Agent::Gemini | Agent::Opencode)
    }

    /// The variable in which a hook finds the root of the session.
    pub const fn root_variable(self) -> Option<&'static str> {
        match self {
            Agent::ClaudeCode => Some("CLAUDE_PROJECT_DIR"),
            Agent::Gemini => Some("GEMINI_PROJECT_DIR"),
            Agent::Cursor => Some("CURSOR_PROJECT_DIR"),
            _ => None,
        }
    }

    /// True when a hook can put another command in the place of a shell command.
    pub const fn can_rewrite(self) -> bool {
        matches!(
            self,
            Agent::ClaudeCode | Agent::Codex | Agent::Gemini | Agent::Opencode | Agent::Copilot
        )
    }
}

impl fmt::Display for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.title())
    }
}

impl FromStr for Agent {
    type Err = UnknownAgent;

    fn from_str(word: &str) -> Result<Agent, UnknownAgent> {
        let known = Agent::ALL.into_iter().find(|it| it.name() == word);
        match (known, word) {
            (Some(agent), _) => Ok(agent),
            (None, "claude") => Ok(Agent::ClaudeCode),
            (None, "gemini-cli") => Ok(Agent::Gemini),
            _ => Err(UnknownAgent(word.to_owned())),
        }
    }
}
