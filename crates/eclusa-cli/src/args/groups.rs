//! The help of the program itself: its commands, in groups. A test compares it with the commands.

/// Clap lists all commands of a program in one list, so the list is written here. The headings look as
/// clap's own do; where there are no colours it takes their codes out.
pub(super) const HELP: &str = "\
{before-help}{about-with-newline}
{usage-heading} {usage}

\x1b[1m\x1b[4mWork:\x1b[0m
  run          Run one tool call through the gate
  exec         Run a command in a sandbox, review its changes, then apply or discard them
  jobs         List, show, follow, apply and end what commands left running
  ask          Ask a model to do one job, and print its answer
  chat         Talk with a model; its calls pass the gate
  feed         Pass the calls in a model's answer, from stdin, and print the results for the model
  check        Explain what the rules decide about a call
  tools        List, show and search the tools

\x1b[1m\x1b[4mAgents:\x1b[0m
  install      Connect an agent: its tools ask the gate, and the gate's tools are offered to it
  uninstall    Take out of an agent's settings what install put in
  status       Show which agents are connected and what is not covered
  pause        Refuse every call of an agent for a while
  guard        Run a whole agent in a sandbox: its changes are judged, its key stays outside
  acp          Stand between an editor and an agent that speak the Agent Client Protocol
  mcp          Serve the tools to an agent over MCP, on stdin and stdout
  up           Serve the tools to agents over MCP, on HTTP
  servers      Manage other MCP servers behind the gate
  hook         Answer another agent's hook: one event on stdin, the verdict on stdout

\x1b[1m\x1b[4mAnswer:\x1b[0m
  approvals    List and answer pending approvals of all your workspaces
  resume       Run calls that waited for an approval, once somebody has said yes
  allow        Pre-approve calls: a rule limited by count and time
  people       Who may answer approvals, in which groups and with which keys

\x1b[1m\x1b[4mLook back:\x1b[0m
  changes      Show what calls changed in the workspace
  undo         Undo what calls changed in the workspace
  redo         Redo what was undone
  log          Read and verify the audit log of this workspace
  sessions     List, show, search, resume, copy and hand over sessions with models
  output       Print a saved output that was too long for the model

\x1b[1m\x1b[4mSet up:\x1b[0m
  init         Write an eclusa.toml for this project
  doctor       Check how well this machine can sandbox commands
  disk         Show what Eclusa keeps on this disk, and clean up what can go
  config       Show and check the configuration
  fleet        Put many machines under one signed policy
  policy       Test, lint, replay, suggest and import rules
  models       List the models and personas of the configuration, and try one
  personas     List the personas: how a model is asked to behave, and what it is kept to
  demo         See it at work, in a scratch workspace
  completions  Print a completion script for a shell
  man          Print a manual page, or write all of them
  help         Print this message or the help of the given subcommand(s)

\x1b[1m\x1b[4mOptions:\x1b[0m
{options}{after-help}";
