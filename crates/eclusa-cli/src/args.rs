//! The command line of the program: options of every command, and which command. Each command has its
//! own arguments and help beside what it does.

use clap::Parser;
use eclusa_app::global::Global;

use crate::commands::Command;

mod groups;
mod help;
mod one_command;
#[cfg(test)]
mod tests;

const EXAMPLES: &str = "\
Examples:
  eclusa demo                                   see it at work, in a scratch workspace
  eclusa tools                                  the tools of this workspace
  eclusa check read path=README.md              would it run, and why
  eclusa run read path=README.md limit:=20      run one call
  eclusa exec -- make test                      run a command, review its changes, then decide
  eclusa changes                                what calls changed, newest last
  eclusa undo                                   undo the latest change
  eclusa log                                    what was decided, newest last
  eclusa log verify                             check that nobody has altered the log

Exit codes: 0 done, 1 the tool failed, 2 wrong usage or configuration, 3 refused, 4 waits for an \
approval (see `eclusa resume`), 130 aborted.";

/// Checks every tool call of an AI agent, shows what it changes, and can undo it.
///
/// A call is validated, reviewed, judged by rules, approved by a person where the rules say so, run in a sandbox,
/// and recorded before anybody gets its answer.
#[derive(Debug, Parser)]
#[command(name = "eclusa", version, max_term_width = 100)]
#[command(help_template = groups::HELP, after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}
