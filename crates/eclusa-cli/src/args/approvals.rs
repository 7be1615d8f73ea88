//! `eclusa approvals` and `eclusa resume`, as typed.

use std::{net::SocketAddr, path::PathBuf};

use clap::{Args as Group, Subcommand};

pub(crate) const EXAMPLES: &str = "\
Examples:
  eclusa approvals                              what waits, in all your workspaces
  eclusa approvals show 12                      one of them, in full
  eclusa approvals yes 12                       approve it, this once
  eclusa approvals yes web:12 --like            and every other one that is identical
  eclusa approvals no 12 'not on a Friday'      refuse it, and tell the model why
  eclusa approvals edit 12 command='make test'  run this instead, if the rules allow it
  eclusa approvals revoke 12                    take a yes back that was not used yet
  eclusa approvals serve                        the same, and the log, in a browser

A number means an approval of this workspace; `NAME:NUMBER`, as the list shows it, one of another. \
Calls wait here with on_no_approver = \"queue\", or with `eclusa run --park`. A yes is kept for five \
minutes; who asks the same again within that time gets it, once.";

pub(crate) const RESUME: &str = "\
Examples:
  eclusa run --park bash command='make deploy'  ends with code 4: waits for approval 12
  eclusa approvals yes 12                       somebody says yes
  eclusa resume 12                              and it runs

The call passes every gate again; only the approval is taken. Ends with code 4 where somebody still \
has to answer.";

#[derive(Debug, Subcommand)]
pub(crate) enum ApprovalsCommand {
    /// Pending approvals, oldest first (default)
    List {
        /// How many of each workspace
        #[arg(short = 'n', long, default_value_t = 20)]
        count: usize,
        /// Only those with a higher number
        #[arg(long, default_value_t = 0, value_name = "NUMBER")]
        after: u64,
    },
    /// Print pending approvals as they come in, until interrupted
    Watch,
    /// One approval in full, however it stands
    Show {
        /// Which one, as `list` shows it
        approval: String,
    },
    /// Approve a call, this once
    Yes {
        /// Which one, as `list` shows it
        approval: String,
        /// Approve every pending one that is identical, too
        #[arg(long)]
        like: bool,
        /// Do not ask again in this session for what `show` says
        #[arg(long)]
        session: bool,
        /// Sign with the key in this file, which `eclusa people add --new-key` made
        #[arg(long, value_name = "FILE")]
        key: Option<PathBuf>,
    },
    /// Refuse a call
    No {
        /// Which one, as `list` shows it
        approval: String,
        /// What to tell the model
        #[arg(default_value = "")]
        reason: String,
        /// Refuse every pending one that is identical, too
        #[arg(long)]
        like: bool,
    },
    /// Run the tool with other arguments instead; they are checked like any others
    Edit {
        /// Which one, as `list` shows it
        approval: String,
        /// The new arguments: `key=text` and `key:=json` words, or one JSON object
        #[arg(value_name = "ARGS", required = true)]
        args: Vec<String>,
    },
    /// Refuse a call and end the agent's turn
    Abort {
        /// Which one, as `list` shows it
        approval: String,
    },
    /// Take back a yes that was not used yet
    Revoke {
        /// Which one, as `list` shows it
        approval: String,
    },
    /// Serve the page where approvals are answered; prints a link that works once
    Serve(ServeArgs),
}

/// Where the page is served.
#[derive(Debug, Group)]
pub(crate) struct ServeArgs {
    /// Address and port to listen on
    #[arg(long, default_value = "127.0.0.1:8378", value_name = "ADDRESS")]
    pub(crate) listen: SocketAddr,
    /// Another address that the page is reached by, with TLS in front of it; repeatable
    #[arg(long, value_name = "URL")]
    pub(crate) url: Vec<String>,
}

/// Which calls to take up again.
#[derive(Debug, Group)]
pub(crate) struct ResumeArgs {
    /// The numbers of their approvals
    #[arg(value_name = "NUMBER", required_unless_present = "all")]
    pub(crate) approvals: Vec<u64>,
    /// All approvals that no other process is waiting for
    #[arg(long, conflicts_with = "approvals")]
    pub(crate) all: bool,
}
