//! The help of the program itself: its commands, in groups, those of every day first. A test compares it with the commands.

/// `eclusa help` and `-h`: the commands of every day, on one screen.
pub(super) const EVERYDAY: &str = "\
Checks every tool call of an AI agent, shows what it changes, and can undo it.

Usage: eclusa [OPTIONS] <COMMAND>

Start:
  demo       See it at work, in a scratch workspace
  init       Write an eclusa.toml for this project
  install    Connect an agent: its tools ask the gate
  status     Show which agents are connected and what is not covered
  doctor     Check how well this machine can sandbox commands

Work:
  exec       Run a command, review its changes, then apply or discard them
  check      Explain what the rules decide about a call
  chat       Talk with a model; its calls pass the gate
  approvals  List and answer pending approvals

Look back:
  changes    Show what calls changed
  undo       Undo what calls changed
  log        Read and verify the audit log

`eclusa help --all` lists every command, `eclusa COMMAND --help` has examples
";

/// Clap lists all commands of a program in one list, so the list is written here. The headings look as
/// clap's own do; where there are no colours it takes their codes out.
pub(super) const HELP: &str = "\
{before-help}{about-with-newline}
{usage-heading} {usage}

\x1b[1m\x1b[4mEvery day:\x1b[0m
  demo         See it at work, in a scratch workspace
  init         Write an eclusa.toml for this project
  install      Connect an agent: its tools ask the gate
  status       Show which agents are connected and what is not covered
  doctor       Check how well this machine can sandbox commands
  exec         Run a command, review its changes, then apply or discard them
  check        Explain what the rules decide about a call
  chat         Talk with a model; its calls pass the gate
  approvals    List and answer pending approvals of all your workspaces
  changes      Show what calls changed in the workspace
  undo         Undo what calls changed in the workspace
  log          Read and verify the audit log of this workspace

\x1b[1m\x1b[4mCalls and models:\x1b[0m
  run          Run one tool call through the gate
  jobs         List, show, follow, apply and end what commands left running
  tools        List, show and search the tools
  ask          Ask a model to do one job, and print its answer
  feed         Run the tool calls of a model's answer, read from stdin
  sessions     List, show, search, resume, copy and export chat sessions
  models       List the configured models and personas, and try a model
  personas     List the personas: how a model is asked to behave, and its limits
  output       Print a saved output that was too long for the model

\x1b[1m\x1b[4mAgents:\x1b[0m
  uninstall    Remove Eclusa from an agent's settings
  pause        Refuse every call of an agent for a while
  guard        Run a whole agent in a sandbox, its model's key outside
  acp          Stand between an editor and its agent (Agent Client Protocol)
  mcp          Serve the tools to an agent over MCP, on stdin and stdout
  up           Serve the tools to agents over MCP, on HTTP
  servers      Manage other MCP servers behind the gate
  hook         Answer another agent's hook: an event in, the verdict out

\x1b[1m\x1b[4mRules and answers:\x1b[0m
  policy       Test, lint, replay, suggest and import rules
  config       Show and check the configuration
  allow        Pre-approve calls: a rule limited by count and time
  resume       Run calls that were approved since
  people       Manage who may answer approvals, their groups and keys
  fleet        Put many machines under one signed policy
  redo         Redo what was undone

\x1b[1m\x1b[4mThis machine:\x1b[0m
  disk         Show what Eclusa keeps on this disk, and clean up
  completions  Print a completion script for a shell
  man          Print a manual page, or write all of them
  help         Print this message or the help of the given subcommand(s)

\x1b[1m\x1b[4mOptions:\x1b[0m
{options}{after-help}";

/// The help of one command: what holds for all of them stands in that of the program alone.
pub(super) const OF_A_COMMAND: &str = "\
{before-help}{about-with-newline}
{usage-heading} {usage}

{all-args}{after-help}

Options of every command, such as --json and --workspace: `eclusa --help`";
