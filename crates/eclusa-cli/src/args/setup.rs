//! Arguments of the commands that set the program up: manual pages, completions, a first file.

use std::path::PathBuf;

use clap::Args as Group;

/// Which manual page.
#[derive(Debug, Group)]
pub(crate) struct ManArgs {
    /// A command, or `eclusa.toml` [default: the program itself]
    #[arg(conflicts_with = "dir")]
    pub(crate) page: Vec<String>,
    /// Write all pages into this directory
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
}

/// What completion scripts ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum WordKind {
    /// Names of tools
    Tools,
    /// Numbers of calls
    Calls,
    /// Ids of rules
    Rules,
}

/// How a configuration for the project is made.
#[derive(Debug, Group)]
pub(crate) struct InitArgs {
    /// Do not trust the new file: it may only add restrictions
    #[arg(long)]
    pub(crate) no_trust: bool,
}
