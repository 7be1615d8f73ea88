//! The command line, as typed.

use std::{ops::Range, time::Duration};

use clap::{Args as Group, Parser, Subcommand};
use clap_complete::Shell;
pub(crate) use eclusa_app::{
    exec::ExecArgs,
    global::Global,
    undo::{RedoArgs, UndoArgs},
};

mod allow;
mod approvals;
mod conversation;
mod groups;
mod history;
mod mcp;
mod one_command;
mod people;
mod policy;
mod servers;
mod setup;
#[cfg(test)]
mod tests;

pub(crate) use allow::{AllowArgs, AllowCommand};
pub(crate) use approvals::{ApprovalsCommand, ResumeArgs, ServeArgs};
pub(crate) use conversation::ConversationCommand;
use eclusa_app::values::{duration, range};
use eclusa_chat::ui::feed::WireShape;
pub(crate) use eclusa_connect::commands::agents::AgentsCommand;
pub(crate) use history::{
    ChangesCommand, ChangesList, ConfigCommand, LogCommand, LogList, ToolsCommand,
};
pub(crate) use mcp::{McpArgs, UpArgs, WrapArgs};
pub(crate) use people::PeopleCommand;
pub(crate) use policy::{Agent, PolicyCommand};
pub(crate) use servers::{AddArgs, Client, ServersCommand};
pub(crate) use setup::{InitArgs, ManArgs, WordKind};

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

/// The one gate that every tool call of an AI agent passes.
///
/// A call is validated, reviewed, judged by rules, approved by a person where the rules say so, run,
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

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run one tool call through the gate
    #[command(after_help = "\
Examples:
  eclusa run read path=README.md limit:=20      `=` for text, `:=` for numbers and other JSON
  eclusa run read '{\"path\": \"README.md\"}'       arguments as JSON
  eclusa run write - < arguments.json           arguments from stdin
  eclusa --dry-run run write path=x content=y   decide, and do nothing
  eclusa run --discard write path=x content=y   show what it would change, and do nothing

Prints the tool's output. Where a person must approve, asks on the terminal; without one the call is \
refused (exit code 3), unless the configuration says otherwise. With --park the question waits in the \
approval queue (exit code 4), and `eclusa resume` takes it up.")]
    Run(RunArgs),
    /// Run a command in a sandbox, review its changes, then apply or discard them
    #[command(after_help = "\
Examples:
  eclusa exec -- make test                      a program and its arguments, each as typed
  eclusa exec -- 'make && ./run | tail'         one word alone is shell text, as with `sh -c`
  eclusa exec --discard -- ./configure          preview: show what it would change
  eclusa exec --apply -- cargo fmt              apply without asking, if the rules allow it
  eclusa exec --allow-net packages.example -- cargo fetch

It runs in a sandbox: no network unless allowed, nothing outside the workspace is written. Its \
changes are shown, and applied all together or not at all. Its output and errors come on standard \
output, in order. Ends with the exit code of the command (128 and more: a signal), with 3 where the \
rules refuse it or its changes, and with 130 when it was interrupted.")]
    Exec(ExecArgs),
    #[command(flatten)]
    Agents(AgentsCommand),
    /// Check how well this machine can sandbox commands
    #[command(after_help = "\
Exit codes: 0 the sandbox is complete, 1 something is missing.")]
    Doctor,
    /// Explain what the rules decide about a call
    ///
    /// Runs nothing, records nothing, asks nobody; reviewers are not consulted.
    #[command(after_help = "\
Examples:
  eclusa check bash command='npm install'
  eclusa --mode yolo check read path=.env
  eclusa check --jsonl < calls.jsonl            one {\"id\", \"tool\", \"args\"} a line

With --jsonl, writes one {\"id\", \"decision\", \"class\", \"because\"} a line, in order. A line that \
cannot be read is denied in its place. Exit code 3 when a single call would be denied.")]
    Check(CheckArgs),
    /// List, show and search the tools
    Tools {
        /// Start the servers behind the gate, and show their tools too
        #[arg(long, global = true)]
        servers: bool,
        /// Print the declarations for a model's request, or the text that teaches `tool` blocks
        #[arg(long, value_enum, value_name = "SHAPE")]
        shape: Option<WireShape>,
        #[command(subcommand)]
        what: Option<ToolsCommand>,
    },
    #[command(flatten)]
    Conversation(ConversationCommand),
    /// Undo what calls changed in the workspace
    #[command(after_help = "\
Examples:
  eclusa undo                                   the latest change
  eclusa undo 7                                 what call 7 changed, keeping what came later
  eclusa undo 7 9                               both, or neither
  eclusa undo --turn                            all of the last turn
  eclusa undo --since 10m                       all of the last ten minutes (or a call, or a time)
  eclusa undo --dry-run --since 7               what that would be

All of it is undone or nothing. A call in the middle can be undone while nothing later touches the \
same files; otherwise the calls or edits that stand in the way are named (exit code 1). The undo is \
a call of its own in the log, and `eclusa redo` takes it back.")]
    Undo(UndoArgs),
    /// Redo what was undone
    #[command(after_help = "\
Examples:
  eclusa redo                                   the latest undo
  eclusa redo 7                                 the undo of call 7, or the undo that is call 7")]
    Redo(RedoArgs),
    /// Show what calls changed in the workspace
    #[command(after_help = "\
Examples:
  eclusa changes                                the last calls that changed something
  eclusa changes show 7                         what call 7 did, for people
  eclusa changes diff 7                         the same as a patch
  eclusa changes --discarded                    what discarded calls would have changed
  eclusa changes apply 7                        apply discarded changes after all
  eclusa changes compact                        shrink the undo history now")]
    #[command(args_conflicts_with_subcommands = true)]
    Changes {
        #[command(flatten)]
        list: ChangesList,
        #[command(subcommand)]
        what: Option<ChangesCommand>,
    },
    /// Read and verify the audit log of this workspace
    #[command(after_help = "\
Examples:
  eclusa log -n 50                              the last calls
  eclusa log --tool bash --outcome denied_by_policy --since 7d
  eclusa log --grep migrations                  calls that mention this
  eclusa log stats                              counts, times, and what is asked most
  eclusa log show 12                            everything about one call
  eclusa log tail -f                            as it happens
  eclusa log export > log.jsonl                 all records, one a line
  eclusa log verify --head HASH                 the chain holds, and ends where you noted it")]
    #[command(args_conflicts_with_subcommands = true)]
    Log {
        #[command(flatten)]
        list: LogList,
        #[command(subcommand)]
        what: Option<LogCommand>,
    },
    /// Show and check the configuration
    Config {
        #[command(subcommand)]
        what: Option<ConfigCommand>,
    },
    /// Test, lint, replay, suggest and import rules
    #[command(after_help = "\
Examples:
  eclusa policy test                            every example of every rule, in all layers
  eclusa policy lint                            rules that never decide, or decide too much
  eclusa policy replay new.toml --since 7d      what new.toml would have decided
  eclusa policy suggest                         rules that would have saved questions
  eclusa policy import claude-code .claude/settings.json

`test` and `lint` end with exit code 1 when there is something to fix.")]
    Policy {
        #[command(subcommand)]
        what: PolicyCommand,
    },
    /// List and answer pending approvals of all your workspaces
    #[command(after_help = approvals::EXAMPLES)]
    Approvals {
        #[command(subcommand)]
        what: Option<ApprovalsCommand>,
    },
    /// Who may answer approvals, in which groups and with which keys
    #[command(after_help = people::EXAMPLES)]
    People {
        #[command(subcommand)]
        what: Option<PeopleCommand>,
    },
    /// Pre-approve calls: a rule limited by count and time
    #[command(after_help = allow::EXAMPLES)]
    Allow(AllowArgs),
    /// Run calls that waited for an approval, once somebody has said yes
    #[command(after_help = approvals::RESUME)]
    Resume(ResumeArgs),
    /// Print a saved output that was too long for the model
    Output {
        /// The reference that the reply gave
        reference: String,
        /// Bytes to read, as `A..B`, `A..` or `..B`
        #[arg(long, value_parser = range)]
        range: Option<Range<usize>>,
    },
    /// Serve the tools to an agent over MCP, on stdin and stdout
    #[command(after_help = mcp::EXAMPLES)]
    Mcp(McpArgs),
    /// Serve the tools to agents over MCP, on HTTP
    #[command(after_help = mcp::UP_EXAMPLES)]
    Up(UpArgs),
    /// Manage other MCP servers behind the gate
    #[command(after_help = servers::EXAMPLES)]
    Servers {
        #[command(subcommand)]
        what: Option<ServersCommand>,
    },
    /// Write an eclusa.toml for this project
    #[command(after_help = "\
Looks for cargo, npm, python, go and make, allows the test, lint and format commands that it finds, \
and prints what it wrote. An eclusa.toml that is there is never overwritten.")]
    Init(InitArgs),
    /// See it at work, in a scratch workspace
    Demo,
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print a manual page, or write all of them
    #[command(after_help = "\
Examples:
  eclusa man | man -l -                         the program
  eclusa man servers add | man -l -             one command
  eclusa man eclusa.toml | man -l -             the configuration file
  eclusa man --dir ~/.local/share/man/man1      all pages, as files")]
    Man(ManArgs),
    /// Print words for completion scripts
    #[command(hide = true)]
    CompleteWords {
        /// What to print
        kind: WordKind,
    },
}

/// One call.
#[derive(Debug, Group)]
pub(crate) struct RunArgs {
    /// Name or alias of the tool
    pub(crate) tool: String,
    /// Arguments: `key=text` and `key:=json` words, or one JSON object; `-` reads it from stdin
    #[arg(value_name = "ARGS")]
    pub(crate) args: Vec<String>,
    /// Why it should run; shown to whoever is asked, and recorded
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
    /// Time limit, as `90`, `90s`, `2m` or `2h`; the configured limit holds
    #[arg(long, value_parser = duration, value_name = "TIME")]
    pub(crate) timeout: Option<Duration>,
    /// Never wait for a person: put the question into the approval queue and end with code 4
    #[arg(long)]
    pub(crate) park: bool,
    /// Preview: run it staged, show what it would change and what the rules say of that, and
    /// change nothing
    #[arg(long, conflicts_with = "park")]
    pub(crate) discard: bool,
}

/// One call, or many on stdin.
#[derive(Debug, Group)]
pub(crate) struct CheckArgs {
    /// Name or alias of the tool
    #[arg(required_unless_present = "jsonl")]
    pub(crate) tool: Option<String>,
    /// Arguments: `key=text` and `key:=json` words, or one JSON object; `-` reads it from stdin
    #[arg(value_name = "ARGS")]
    pub(crate) args: Vec<String>,
    /// Read calls from stdin, one JSON object a line
    #[arg(long, conflicts_with = "tool")]
    pub(crate) jsonl: bool,
    /// Start the servers behind the gate first; for a single call that is done where it is needed
    #[arg(long)]
    pub(crate) servers: bool,
}
