//! `eclusa policy`, as typed.

use std::{ffi::OsString, path::PathBuf};

use clap::{Args, Subcommand};
use eclusa_connect::{AgentSpec, commands::agents::agent_parser};

use crate::since::{Since, parse_since};

/// Test, lint, replay, suggest and import rules
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  eclusa policy test                            every example of every rule, in all layers
  eclusa policy lint                            rules that never decide, or decide too much
  eclusa policy replay --from claude-code --since 30d
                                                what your rules make of Claude Code's last month
  eclusa policy replay new.toml --since 7d      what new.toml would have decided
  eclusa policy replay new.toml --instead-of project
  eclusa policy suggest                         rules that would have saved questions
  eclusa policy import claude-code .claude/settings.json

`test` and `lint` end with exit code 1 when there is something to fix.")]
pub(crate) struct PolicyArgs {
    #[command(subcommand)]
    pub(super) what: PolicyCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PolicyCommand {
    /// Check every rule against its own examples
    Test {
        /// Files to test instead of the configured ones
        files: Vec<PathBuf>,
    },
    /// Find rules that never apply or allow too much
    Lint,
    /// Show what a changed policy would have decided about past calls
    Replay {
        /// The changed policy, used instead of your own configuration
        #[arg(required_unless_present = "from")]
        file: Option<PathBuf>,
        /// Which configuration FILE replaces
        #[arg(long, value_enum, default_value_t, value_name = "WHICH", requires = "file")]
        instead_of: ReplacedLayer,
        /// Calls that this agent made before anything was installed, from its own files of past sessions
        #[arg(long, value_name = "AGENT", value_parser = agent_parser(AgentSpec::keeps_sessions))]
        from: Option<&'static AgentSpec>,
        /// Since a call (`12`), a duration (`10m`) or a date (`2026-03-01 09:30`, UTC)
        #[arg(long, value_parser = parse_since, value_name = "WHEN")]
        since: Option<Since>,
    },
    /// Suggest rules that would have saved questions
    Suggest {
        /// Since a call (`12`), a duration (`10m`) or a date (`2026-03-01 09:30`, UTC)
        #[arg(long, value_parser = parse_since, value_name = "WHEN")]
        since: Option<Since>,
        /// How many at most
        #[arg(short = 'n', long, default_value_t = 5)]
        count: usize,
    },
    /// Convert another agent's permission settings to rules
    Import {
        /// Whose settings
        #[arg(value_parser = agent_parser(|it| it.import_rules.is_some()))]
        agent: &'static AgentSpec,
        /// The file: settings.json, cli-config.json, *.rules, config.toml, a policy file or
        /// opencode.json
        file: PathBuf,
    },
    /// Removed; says what took its place
    #[command(hide = true, disable_help_flag = true)]
    Compare(RemovedArgs),
    /// Removed; says what took its place
    #[command(hide = true, disable_help_flag = true)]
    Export(RemovedArgs),
}

/// Which file another one stands in for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ReplacedLayer {
    /// Your own configuration
    #[default]
    Own,
    /// The project's eclusa.toml, as if it were trusted
    Project,
}

/// Whatever a command was given that is gone.
#[derive(Debug, Args)]
pub(crate) struct RemovedArgs {
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<OsString>,
}
