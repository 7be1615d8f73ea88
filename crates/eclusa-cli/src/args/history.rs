//! Arguments of the commands about the log, changes, tools, configuration and approvals.

use std::path::PathBuf;

use clap::{Args as Group, Subcommand};

use crate::{
    since::{Since, parse_since},
    undo::call_number,
};

/// Which changes to list.
#[derive(Debug, Group)]
pub(crate) struct ChangesList {
    /// How many
    #[arg(short = 'n', long, default_value_t = 20)]
    pub(crate) count: usize,
    /// List calls whose changes were discarded, and what they would have changed
    #[arg(long)]
    pub(crate) discarded: bool,
}

/// Which calls of the log to list.
#[derive(Debug, Group)]
pub(crate) struct LogList {
    /// How many
    #[arg(short = 'n', long, default_value_t = 20)]
    pub(crate) count: usize,
    /// Only calls of this tool; repeatable
    #[arg(long, value_name = "TOOL")]
    pub(crate) tool: Vec<String>,
    /// Only calls with this outcome, such as `ok` or `denied_by_policy`; repeatable
    #[arg(long, value_name = "OUTCOME")]
    pub(crate) outcome: Vec<String>,
    /// Only calls since a call (`12`), a duration (`10m`) or a date (`2026-03-01 09:30`, UTC)
    #[arg(long, value_parser = parse_since, value_name = "WHEN")]
    pub(crate) since: Option<Since>,
    /// Only calls of this session
    #[arg(long, value_name = "SESSION")]
    pub(crate) session: Option<String>,
    /// Only calls whose records contain this text, in any case
    #[arg(long, value_name = "TEXT")]
    pub(crate) grep: Option<String>,
}

impl LogList {
    /// True when only some calls are wanted.
    pub(crate) fn is_filtered(&self) -> bool {
        !self.tool.is_empty()
            || !self.outcome.is_empty()
            || self.since.is_some()
            || self.session.is_some()
            || self.grep.is_some()
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum ChangesCommand {
    /// The last calls that changed something, newest last
    List(ChangesList),
    /// What one call did, for people
    Show {
        /// Its number [default: the latest]
        #[arg(value_parser = call_number)]
        call: Option<u64>,
        /// Show every file, also what git did and what it ignores
        #[arg(long)]
        all: bool,
    },
    /// What one call did, as a patch that `git apply` takes
    Diff {
        /// Its number [default: the latest]
        #[arg(value_parser = call_number)]
        call: Option<u64>,
    },
    /// Apply changes that were discarded, after all; they are kept for a day
    Apply {
        /// The number of the call, as `eclusa changes --discarded` lists it
        #[arg(value_parser = call_number)]
        call: u64,
    },
    /// Shrink the undo history now
    Compact,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ToolsCommand {
    /// All tools
    List,
    /// One tool: what it does, its facts and the schema of its arguments
    Show {
        /// Name or alias
        tool: String,
    },
    /// Tools that fit all of these words, best first
    Search {
        /// What to look for in names, hints and descriptions
        #[arg(required = true)]
        words: Vec<String>,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum LogCommand {
    /// The last calls, newest last (default)
    List(LogList),
    /// Counts, times, and what is asked most
    Stats {
        /// Only calls since a call (`12`), a duration (`10m`) or a date (`2026-03-01 09:30`, UTC)
        #[arg(long, value_parser = parse_since, value_name = "WHEN")]
        since: Option<Since>,
        /// Removed; says what took its place
        #[arg(long, hide = true, value_name = "FILE")]
        html: Option<PathBuf>,
    },
    /// Everything on record about one call
    Show {
        /// Its number, or the model's id for it
        call: String,
    },
    /// The last records, as they are written
    Tail {
        /// How many to start with
        #[arg(short = 'n', long, default_value_t = 10)]
        count: usize,
        /// Keep printing new records until interrupted
        #[arg(short, long)]
        follow: bool,
    },
    /// All records, one JSON object a line
    Export,
    /// Check that no record was changed, removed or added
    Verify {
        /// A hash that you noted earlier: it must still be in the log
        #[arg(long, value_name = "HASH")]
        head: Option<String>,
        /// Check only what came after the record with this hash: the head of an earlier check.
        /// What is before it is not looked at again
        #[arg(long, value_name = "HASH", conflicts_with = "head")]
        after: Option<String>,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Print every setting, its value and where it comes from
    Show,
    /// Check the configuration files
    Check,
    /// Print the JSON schema of eclusa.toml
    Schema,
    /// Trust the workspace's eclusa.toml until it changes
    Trust,
    /// Stop trusting it: it may only add restrictions
    Untrust,
}
