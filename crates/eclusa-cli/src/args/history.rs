//! What can be said to the commands that look at the past and at what is set up.

use clap::{Args as Group, Subcommand};

use crate::since::{Since, parse_since};

/// Which calls to take back.
#[derive(Debug, Group)]
pub(crate) struct UndoArgs {
    /// Numbers of the calls, as `eclusa changes` lists them
    #[arg(value_name = "CALL", conflicts_with_all = ["last", "turn", "since"])]
    pub(crate) calls: Vec<u64>,
    /// The last change that stands; so it is without any of these
    #[arg(long, conflicts_with_all = ["turn", "since"])]
    pub(crate) last: bool,
    /// Everything that the turn of the last change did
    #[arg(long, conflicts_with = "since")]
    pub(crate) turn: bool,
    /// Everything since a call (`12`), a while (`10m`) or a time (`2026-03-01 09:30`, UTC)
    #[arg(long, value_parser = parse_since, value_name = "WHEN")]
    pub(crate) since: Option<Since>,
}

/// Which undo to take back.
#[derive(Debug, Group)]
pub(crate) struct RedoArgs {
    /// The number of the undo, or of a call that it undid [default: the last undo that stands]
    pub(crate) call: Option<u64>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ChangesCommand {
    /// The last calls that changed something, newest last
    List {
        /// How many
        #[arg(short = 'n', long, default_value_t = 20)]
        count: usize,
    },
    /// What one call did, for people
    Show {
        /// Its number [default: the last]
        call: Option<u64>,
    },
    /// What one call did, as a patch that `git apply` takes
    Diff {
        /// Its number [default: the last]
        call: Option<u64>,
    },
    /// Make what is kept for undo smaller, now
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
    /// The last calls, newest last
    List {
        /// How many
        #[arg(short = 'n', long, default_value_t = 20)]
        count: usize,
    },
    /// Everything on record about one call
    Show {
        /// Its number, or the model's id for it
        call: String,
    },
    /// The last records, one JSON object a line
    Tail {
        /// How many to begin with
        #[arg(short = 'n', long, default_value_t = 10)]
        count: usize,
        /// Go on as records are written, until interrupted
        #[arg(short, long)]
        follow: bool,
    },
    /// All records, one JSON object a line
    Export,
    /// Check that no record was changed, dropped, added or cut off
    Verify {
        /// The hash that the last record is known to have
        #[arg(long, value_name = "HASH")]
        head: Option<String>,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Every setting, its value and where it comes from
    Show,
    /// Say whether the files can be used
    Check,
    /// The JSON schema of eclusa.toml
    Schema,
    /// Trust the workspace's own file as it is now; any change takes it back
    Trust,
    /// Trust it no longer: it can only tighten again
    Untrust,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ApprovalsCommand {
    /// What waits for an answer
    List,
    /// Let a call run, this once
    Yes {
        /// The question's number, as `list` shows it
        id: u64,
    },
    /// Refuse a call
    No {
        /// The question's number, as `list` shows it
        id: u64,
        /// What to tell the model
        #[arg(default_value = "")]
        reason: String,
    },
}
