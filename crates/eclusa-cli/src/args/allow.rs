//! `eclusa allow`, as typed.

use std::{path::PathBuf, time::Duration};

use clap::{Args as Group, Subcommand};

use super::duration;

pub(crate) const EXAMPLES: &str = "\
Examples:
  eclusa allow deploy.toml --times 20 --for 2h  answer the next 20 questions about it beforehand
  eclusa allow                                  what was agreed on, and how often it was used
  eclusa allow yes 3 --key ~/bo.key             agree to what somebody else proposed
  eclusa allow revoke 3                         from this moment it lets nothing pass

deploy.toml is one rule: `[[rules]]`, decision = \"allow\", tool = \"bash\", command = \"make deploy\". \
It answers what your rules and the defaults ask, where those agreed whom they need; never a denial, nor \
what an administrator, a reviewer, a limit or the mode asks.";

/// What is agreed on beforehand.
#[derive(Debug, Group)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct AllowArgs {
    /// A file with the rule
    #[arg(value_name = "RULE.toml", requires_all = ["times", "time"])]
    pub(crate) rule: Option<PathBuf>,
    /// Maximum number of calls
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub(crate) times: Option<u64>,
    /// How long it is valid
    #[arg(long = "for", value_name = "TIME", value_parser = duration)]
    pub(crate) time: Option<Duration>,
    /// Sign with the key in this file, which `eclusa people add --new-key` made
    #[arg(long, value_name = "FILE")]
    pub(crate) key: Option<PathBuf>,
    #[command(subcommand)]
    pub(crate) what: Option<AllowCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AllowCommand {
    /// What was agreed on, and how often it was used (default)
    List,
    /// Agree to what was proposed
    Yes {
        /// Which one, as `list` shows it
        allowance: u64,
        /// Sign with the key in this file
        #[arg(long, value_name = "FILE")]
        key: Option<PathBuf>,
    },
    /// Take one back, from this moment
    Revoke {
        /// Which one, as `list` shows it
        allowance: u64,
    },
}
