//! `eclusa policy`, as typed.

use std::path::PathBuf;

use clap::{Subcommand, ValueEnum};

use crate::since::{Since, parse_since};

#[derive(Debug, Subcommand)]
pub(crate) enum PolicyCommand {
    /// Try every rule on its own examples
    Test {
        /// Files to test instead of those that are in place
        files: Vec<PathBuf>,
    },
    /// Find rules that never decide anything, or decide too much
    Lint,
    /// Say what a changed policy would have made of the calls in the log
    Replay {
        /// The changed policy, in the place of your own configuration
        file: PathBuf,
        /// Since a call (`12`), a while (`10m`) or a time (`2026-03-01 09:30`, UTC)
        #[arg(long, value_parser = parse_since, value_name = "WHEN")]
        since: Option<Since>,
    },
    /// Propose rules that would have saved questions, from past answers
    Suggest {
        /// Since a call (`12`), a while (`10m`) or a time (`2026-03-01 09:30`, UTC)
        #[arg(long, value_parser = parse_since, value_name = "WHEN")]
        since: Option<Since>,
        /// How many at most
        #[arg(short = 'n', long, default_value_t = 5)]
        count: usize,
    },
    /// Write another agent's permission settings as rules, and say what could not be carried over
    Import {
        /// Whose settings
        agent: Agent,
        /// The file: settings.json, *.rules, config.toml, a policy file or opencode.json
        file: PathBuf,
    },
    /// Write your own rules as another agent's settings, and say what could not be carried over
    Export {
        /// For whom
        agent: Agent,
    },
}

/// An agent with permission settings of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Agent {
    /// Claude Code
    ClaudeCode,
    /// Codex
    Codex,
    /// Gemini CLI
    Gemini,
    /// opencode
    Opencode,
}

impl std::fmt::Display for Agent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Agent::ClaudeCode => "Claude Code",
            Agent::Codex => "Codex",
            Agent::Gemini => "Gemini CLI",
            Agent::Opencode => "opencode",
        })
    }
}
