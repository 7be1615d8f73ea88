//! The command line, as typed.

use std::{ops::Range, path::PathBuf, time::Duration};

use clap::{
    Args as Group, Parser, Subcommand,
    builder::{PossibleValuesParser, TypedValueParser},
};
use clap_complete::Shell;
use eclusa::Mode;

mod history;
mod mcp;
mod policy;
mod servers;

pub(crate) use history::{
    ApprovalsCommand, ChangesCommand, ConfigCommand, LogCommand, RedoArgs, ToolsCommand, UndoArgs,
};
pub(crate) use mcp::{McpArgs, UpArgs, WrapArgs};
pub(crate) use policy::{Agent, PolicyCommand};
pub(crate) use servers::{AddArgs, Client, ServersCommand};

const EXAMPLES: &str = "\
Examples:
  eclusa demo                                   see every gate at work, in a scratch workspace
  eclusa tools                                  what can be called here
  eclusa check note '{\"text\": \"hello\"}'         would it run, and why
  eclusa run note '{\"text\": \"hello\"}'           run it, if it may
  eclusa exec -- make test                      run a command, see what it changes, then decide
  eclusa changes                                what calls changed, newest last
  eclusa undo                                   take the last change back
  eclusa log                                    what was decided, newest last
  eclusa log verify                             nothing was changed since

Exit codes: 0 done, 1 the tool failed, 2 usage or configuration, 3 refused, 130 aborted.";

/// The one gate that every tool call of an AI agent passes.
///
/// A call is validated, reviewed, judged by rules, put to a person where the rules say so, run,
/// and recorded before anybody gets its answer.
#[derive(Debug, Parser)]
#[command(name = "eclusa", version, after_help = EXAMPLES, max_term_width = 100)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What every command understands.
#[derive(Debug, Clone, Group)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Global {
    /// Directory that calls work in [default: the current one]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
    /// Since people are asked; denials, path rules and checkpoints hold in every mode
    #[arg(long, global = true, value_parser = modes())]
    pub(crate) mode: Option<Mode>,
    /// Decide everything, do nothing, ask nobody
    #[arg(long, global = true)]
    pub(crate) dry_run: bool,
    /// Write JSON, for programs
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// A further file of rules and settings; can be given several times
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) policy: Vec<PathBuf>,
    /// Configuration to use instead of your own
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Where the log is kept [default: under your state directory]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) state: Option<PathBuf>,
    /// Tell on stderr what happens; twice for more
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
}

fn modes() -> impl TypedValueParser<Value = Mode> {
    PossibleValuesParser::new(Mode::ALL.map(Mode::as_str)).try_map(|word| word.parse::<Mode>())
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Pass one call through the gate
    #[command(after_help = "\
Examples:
  eclusa run time                               a call without arguments
  eclusa run note '{\"text\": \"hello\"}'           arguments as JSON
  eclusa run note - < arguments.json            arguments from stdin
  eclusa --dry-run run note '{\"text\": \"x\"}'     decide, and do nothing

Prints what the tool produced. Where a person must approve, asks on the terminal; without one the
call is refused (exit code 3), unless the configuration says otherwise.")]
    Run(RunArgs),
    /// Run a shell command where nothing is real, then commit what it did or discard it
    #[command(after_help = "\
Examples:
  eclusa exec -- make test                      a program and its arguments, each as typed
  eclusa exec -- 'make && ./run | tail'         one word alone is shell text, as with `sh -c`
  eclusa exec --discard -- ./configure          see what it would do
  eclusa exec --commit -- cargo fmt             no question, if the rules let it
  eclusa exec --allow-net packages.example -- cargo fetch

It runs in a sandbox: no network unless allowed, nothing outside the workspace is written. What it
changed is shown, and becomes real all together or not at all. Standard output and error come on
standard output, in order. Ends with the exit code of the command (128 and more: a signal), with 3
where the rules refuse it or what it did, and with 130 when it was interrupted.")]
    Exec(ExecArgs),
    /// Say what holds shell commands on this machine, and what is missing
    #[command(after_help = "\
Exit codes: 0 everything holds, 1 something is missing.")]
    Doctor,
    /// Say what the rules make of a call, and why
    ///
    /// Runs nothing, records nothing, asks nobody; reviewers are not consulted.
    #[command(after_help = "\
Examples:
  eclusa check note '{\"text\": \"hello\"}'
  eclusa --mode yolo check note '{\"text\": \"hello\"}'
  eclusa check --jsonl < calls.jsonl            one {\"id\", \"tool\", \"args\"} a line

With --jsonl, writes one {\"id\", \"decision\", \"class\", \"because\"} a line, in order. A line that
cannot be read is denied in its place. Exit code 3 when a single call would be denied.")]
    Check(CheckArgs),
    /// List, show and search the tools
    Tools {
        /// Start the servers behind the gate, and show their tools too
        #[arg(long, global = true)]
        servers: bool,
        #[command(subcommand)]
        what: Option<ToolsCommand>,
    },
    /// Take back what calls changed in the workspace
    #[command(after_help = "\
Examples:
  eclusa undo                                   the last change that stands
  eclusa undo 7                                 what call 7 changed, keeping what came later
  eclusa undo 7 9                               both, or neither
  eclusa undo --turn                            all of the last turn
  eclusa undo --since 10m                       all of the last ten minutes (or a call, or a time)
  eclusa undo --dry-run --since 7               what that would be

All of it is undone or nothing. A call in the middle can be undone while nothing later touches the
same files; otherwise the calls or edits that stand in the way are named (exit code 1). The undo is
a call of its own in the log, and `eclusa redo` takes it back.")]
    Undo(UndoArgs),
    /// Take an undo back
    #[command(after_help = "\
Examples:
  eclusa redo                                   the last undo that stands
  eclusa redo 7                                 the undo of call 7, or the undo that is call 7")]
    Redo(RedoArgs),
    /// Show what calls changed in the workspace, and whether it stands
    #[command(after_help = "\
Examples:
  eclusa changes                                the last calls that changed something
  eclusa changes show 7                         what call 7 did, for people
  eclusa changes diff 7                         the same as a patch
  eclusa changes compact                        make what is kept for undo smaller, now")]
    Changes {
        #[command(subcommand)]
        what: Option<ChangesCommand>,
    },
    /// Read and verify the audit log of this workspace
    #[command(after_help = "\
Examples:
  eclusa log                                    the last calls
  eclusa log show 12                            everything about one call
  eclusa log tail -f                            as it happens
  eclusa log export > log.jsonl                 all records, one a line
  eclusa log verify --head HASH                 the chain holds, and ends where you noted it")]
    Log {
        #[command(subcommand)]
        what: Option<LogCommand>,
    },
    /// Show and check the configuration
    Config {
        #[command(subcommand)]
        what: Option<ConfigCommand>,
    },
    /// Test, lint, replay, suggest, import and export rules
    #[command(after_help = "\
Examples:
  eclusa policy test                            every example of every rule, in all layers
  eclusa policy lint                            rules that never decide, or decide too much
  eclusa policy replay new.toml --since 7d      what new.toml would have decided
  eclusa policy suggest                         rules that would have saved questions
  eclusa policy import claude-code .claude/settings.json
  eclusa policy export codex

`test` and `lint` end with exit code 1 when there is something to mend.")]
    Policy {
        #[command(subcommand)]
        what: PolicyCommand,
    },
    /// Answer questions that wait at the desk (on_no_approver = "queue")
    Approvals {
        #[command(subcommand)]
        what: Option<ApprovalsCommand>,
    },
    /// Read an output that was too long for the model
    Output {
        /// The reference that the reply named
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
    /// Other people's MCP servers behind the gate
    #[command(after_help = servers::EXAMPLES)]
    Servers {
        #[command(subcommand)]
        what: Option<ServersCommand>,
    },
    /// See every gate at work, in a scratch workspace
    Demo,
    /// Write a completion script for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Write the manual page
    Man,
}

/// One call.
#[derive(Debug, Group)]
pub(crate) struct RunArgs {
    /// Name or alias of the tool
    pub(crate) tool: String,
    /// Arguments as a JSON object; `-` reads them from stdin
    #[arg(value_name = "ARGS-JSON")]
    pub(crate) args: Option<String>,
    /// Why it should run; shown to whoever is asked, and recorded
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
    /// How long it may run, as `90`, `90s`, `2m` or `2h`; the configured cap holds
    #[arg(long, value_parser = duration, value_name = "TIME")]
    pub(crate) timeout: Option<Duration>,
}

/// One command.
#[derive(Debug, Group)]
pub(crate) struct ExecArgs {
    /// Make what it changes real without asking, if the rules let it
    #[arg(long, conflicts_with = "discard")]
    pub(crate) commit: bool,
    /// Show what it would change, and change nothing
    #[arg(long)]
    pub(crate) discard: bool,
    /// A host that it may reach, besides those of the configuration; can be given several times
    #[arg(long, value_name = "HOST")]
    pub(crate) allow_net: Vec<String>,
    /// How long it may run, as `90`, `90s`, `2m` or `2h`; as long as it takes unless said
    #[arg(long, value_parser = duration, value_name = "TIME")]
    pub(crate) timeout: Option<Duration>,
    /// The command: a program and its arguments, or one word of shell text
    #[arg(required = true, last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

/// One call, or many on stdin.
#[derive(Debug, Group)]
pub(crate) struct CheckArgs {
    /// Name or alias of the tool
    #[arg(required_unless_present = "jsonl")]
    pub(crate) tool: Option<String>,
    /// Arguments as a JSON object; `-` reads them from stdin
    #[arg(value_name = "ARGS-JSON")]
    pub(crate) args: Option<String>,
    /// Read calls from stdin, one JSON object a line
    #[arg(long, conflicts_with = "tool")]
    pub(crate) jsonl: bool,
    /// Start the servers behind the gate first; for a single call that is done where it is needed
    #[arg(long)]
    pub(crate) servers: bool,
}

/// Reads a time: a number of seconds, or a number with a unit.
fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.find(|it: char| !it.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let wrong = || format!("`{text}` is not a time; write `90s`, `500ms`, `2m` or `2h`");
    let number: u64 = number.parse().map_err(|_| wrong())?;
    match unit {
        "" | "s" => Ok(Duration::from_secs(number)),
        "ms" => Ok(Duration::from_millis(number)),
        "m" => Ok(Duration::from_secs(number.saturating_mul(60))),
        "h" => Ok(Duration::from_secs(number.saturating_mul(3_600))),
        "d" => Ok(Duration::from_secs(number.saturating_mul(86_400))),
        _ => Err(wrong()),
    }
}

/// Reads a range of bytes.
fn range(text: &str) -> Result<Range<usize>, String> {
    let wrong = || format!("`{text}` is not a range; write `A..B`, `A..` or `..B`");
    let (from, to) = text.split_once("..").ok_or_else(wrong)?;
    let number = |text: &str, other: usize| match text {
        "" => Ok(other),
        text => text.parse().map_err(|_| wrong()),
    };
    Ok(number(from, 0)?..number(to, usize::MAX)?)
}
