//! `eclusa install`, `uninstall` and `status`: other people's agents and their settings.

use std::{path::Path, time::Duration};

use clap::{
    Args, Subcommand,
    builder::{PossibleValue, PossibleValuesParser, TypedValueParser},
};

use eclusa_app::values::duration;

use crate::commands::{
    acp::AcpArgs,
    failure::{Exit, Failure},
    global::Global,
    guard::GuardArgs,
    screen::Screen,
    tickets::random_name,
};
use crate::{AGENTS, AgentSpec, InstallFacts};

mod apparmor;
mod backup;
mod install;
pub(super) mod pause;
mod prove;
mod redirected;
mod runner_cache;
mod settings_files;
mod status;
pub(super) mod watch;

pub use settings_files::server_files;

/// The commands for other people's agents.
#[derive(Debug, Subcommand)]
pub enum AgentsCommand {
    /// Answer another agent's hook: an event in, the verdict out
    #[command(after_help = "\
`eclusa install AGENT` writes the line that runs this into the agent's settings. The agent then asks \
before each of its own tool calls. The call is judged by your rules and recorded; a shell command \
that may run is run in the sandbox instead (`[agents] shell = \"plain\"` switches that off).

Every failure is a denial: an event or a configuration that cannot be read, a log that cannot be \
written, a crash, more than 10 seconds. The exit code is 2 then, and the reason on stderr.")]
    Hook {
        /// The agent
        #[arg(help = agent_help(AgentSpec::has_hooks))]
        agent: String,
        /// Only see whether the hook before this one allowed the call as it is now: for agents that run a call
        /// whose hook ran out of time
        #[arg(long, hide = true)]
        second: bool,
    },
    /// Connect an agent: its tools ask the gate
    #[command(after_help = "\
Examples:
  eclusa install                                every agent that is found here; asks first
  eclusa install claude-code                    for you, in every project
  eclusa install codex --project                for everybody who works in this project
  eclusa install gemini --dry-run               show what would be written
  eclusa install codex --observe                judge and record its calls, and stop nothing

Writes hooks that ask before each of the agent's own tool calls, connects the MCP server, which offers \
Eclusa's tools, and lets these run without a question of the agent's own. The agent's other servers are \
started by `eclusa mcp --wrap` from then on: their calls pass the gate, and their programs run in \
sandboxes without a network. Add `--allow-net HOST` before `--` in their arguments to open one.

Comments and order of the files are kept; a file that cannot be parsed is left alone. `eclusa \
uninstall` restores the files byte for byte where nobody has changed them since. `eclusa status` shows what is covered, and what you must still confirm.")]
    Install {
        /// The agent
        #[arg(help = agent_help(|_| true))]
        agent: Option<String>,
        /// For whom.
        #[command(flatten)]
        scope: ScopeArgs,
        /// Leave the agent's other servers outside the gate
        #[arg(long)]
        plain_servers: bool,
        /// Judge and record its calls, and stop nothing: asks at the terminal
        #[arg(long, conflicts_with_all = ["project", "managed"], requires = "agent")]
        observe: bool,
        /// Let this program use user namespaces where AppArmor restricts them (Ubuntu); needs root
        #[arg(long, conflicts_with_all = ["agent", "ScopeArgs", "plain_servers"])]
        apparmor: bool,
    },
    /// Remove Eclusa from an agent's settings
    #[command(after_help = "\
Examples:
  eclusa uninstall claude-code        one agent, for you
  eclusa uninstall --all              every agent: for you, in this project, and on this machine where you may
  eclusa uninstall --all --managed    every agent, for the whole machine

Run `eclusa uninstall --all` before you remove the program: an agent whose hook program is missing has every call denied.")]
    Uninstall {
        /// The agent
        #[arg(help = agent_help(|_| true), required_unless_present_any = ["all", "apparmor"])]
        agent: Option<String>,
        /// For whom.
        #[command(flatten)]
        scope: ScopeArgs,
        /// Every agent
        #[arg(long, conflicts_with = "agent")]
        all: bool,
        /// Remove the profile of `install --apparmor`; needs root
        #[arg(long, conflicts_with_all = ["agent", "all", "ScopeArgs"])]
        apparmor: bool,
    },
    /// Show which agents are connected and what is not covered
    #[command(after_help = status_help())]
    Status {
        /// One agent alone
        agent: Option<String>,
        /// Start the real agent with a scripted model on loopback, and see whether it obeys
        #[arg(long)]
        prove: bool,
    },
    /// Refuse every call of an agent for a while
    #[command(after_help = "\
Examples:
  eclusa pause claude-code --for 10m    its hooks refuse every call, and tell the model until when
  eclusa pause claude-code --end        end the pause

Asks at the terminal, and nowhere else. It is recorded, and `eclusa status` shows it. Running commands continue (`eclusa jobs`).")]
    Pause {
        /// The agent
        #[arg(help = agent_help(AgentSpec::has_hooks))]
        agent: String,
        /// For how long
        #[arg(long = "for", value_name = "TIME", value_parser = duration, required_unless_present = "end")]
        time: Option<Duration>,
        /// End its pause now
        #[arg(long, conflicts_with = "time")]
        end: bool,
    },
    /// Run a whole agent in a sandbox, its model's key outside
    #[command(after_help = guard_help())]
    Guard(GuardArgs),
    /// Stand between an editor and its agent (Agent Client Protocol)
    #[command(after_help = "\
Put this where the editor has the agent's command, for example in Zed's settings:
  \"agent_servers\": {\"Gemini\": {\"command\": \"eclusa\", \"args\": [\"acp\", \"--\", \"gemini\", \"--acp\"]}}

Requests of the agent to its editor pass the gate: permissions, files that the editor reads and writes, \
commands in the editor's terminals, which run in the sandbox. The editor shows the questions. Servers \
of a session go behind `eclusa mcp --wrap`. Everything else passes unchanged. Eclusa does not see here \
what the agent does without asking: `eclusa install` covers that.

Exit codes: 0 the editor or the agent ended, 1 the agent failed.")]
    Acp(AcpArgs),
}

/// The names of agents, as a sentence has them.
fn names(is_one: fn(&AgentSpec) -> bool, last: &str) -> String {
    let names: Vec<&str> = AGENTS.iter().filter(|it| is_one(it)).map(|it| it.name).collect();
    match names.split_last() {
        Some((end, [])) => (*end).to_owned(),
        Some((end, rest)) => format!("{} {last} {end}", rest.join(", ")),
        None => String::new(),
    }
}

fn agent_help(is_one: fn(&AgentSpec) -> bool) -> String {
    format!("The agent: {}", names(is_one, "or"))
}

fn status_help() -> String {
    let agents = names(|it| it.launch.is_some(), "and");
    format!(
        "\
Levels: `managed` (only an administrator can switch it off), `hooked` (you, or the files that are \
named, can), `watched` (calls are judged and recorded, and nothing stops them), `none`. A level is \
about the settings; `proven` means that the real agent was seen to obey them here.

--prove starts the agent four times, with a copy of your settings in a home of its own and a \
scripted model on loopback: an allowed command must run, a denied one must not, with eclusa missing \
none may run, and a secret that a command prints must not reach the model. Your key is not used. The \
result counts until the agent's program or its settings change. Works with {agents}.

Exit codes: 0 every agent that was asked about is covered (with --prove: and proven), 1 one is not."
    )
}

fn guard_help() -> String {
    let headless = AGENTS.iter().filter_map(|it| {
        let guard = it.launch.as_ref()?.guard.as_ref()?;
        Some(format!("{} {}", it.program, guard.headless.first()?))
    });
    let headless = headless.collect::<Vec<_>>().join(", ");
    format!(
        "\
Examples:
  eclusa guard -- claude                                live, on your terminal
  eclusa guard -- claude -p 'fix the tests'             staged, without a terminal
  eclusa guard --allow-net packages.example -- codex exec 'update the lock file'
  eclusa guard --discard -- gemini -p 'what would you change?'

The agent and everything that it starts run in a sandbox. Secrets are hidden, nothing outside the \
workspace can be written except a directory of the agent's own, and it reaches its model and the hosts \
of --allow-net. The key of its model is read from your environment and added outside the sandbox: the \
agent gets a token. It starts without your settings, servers, hooks and \
logins.

Live (default on a terminal), it cannot write the workspace: it works with Eclusa's tools; each call is \
judged by itself and runs in a sandbox of its own, and you are asked on your terminal. \
Staged (default for {headless}), it writes to a layer; at the end all its changes are judged, shown, \
and applied together or not at all; single commands and edits inside are not judged. `eclusa undo` \
undoes either.

Exit codes: that of the agent; 3 where the rules refuse it or its changes; 130 when interrupted."
    )
}

// For whom something is installed. (A doc comment would replace the command's own text.)
#[derive(Debug, Clone, Copy, Args)]
#[expect(
    missing_docs,
    reason = "a doc comment would replace the text of the command that flattens it"
)]
pub struct ScopeArgs {
    /// For you, in every project (default)
    #[arg(long, conflicts_with_all = ["project", "managed"])]
    pub user: bool,
    /// For everybody who works in this project
    #[arg(long, conflicts_with = "managed")]
    pub project: bool,
    /// For everybody on this machine; needs root, and nobody else can switch it off
    #[arg(long)]
    pub managed: bool,
}

/// True when an agent's settings have it ask before its calls.
pub(super) fn holds(global: &Global, agent: &'static AgentSpec) -> Result<bool, Failure> {
    status::holds(global, agent)
}

/// The agents of this person that are watched and not held, a line for each.
pub fn watched_lines(global: &Global) -> Vec<String> {
    let line = |it: &&AgentSpec| Some(format!("{}: {}", it.name, watch::line(global, it)?));
    AGENTS.iter().filter_map(line).collect()
}

/// What in a project's settings has an agent's hooks go by other rules than the person's.
pub(super) fn redirected(agent: &AgentSpec, root: &Path) -> Option<String> {
    redirected::redirected(agent, root)
}

/// Does what the command says.
pub async fn run(global: &Global, command: AgentsCommand) -> Result<Exit, Failure> {
    let command = match command {
        // It has stdout for itself.
        AgentsCommand::Acp(args) => return super::acp::run(global, args).await,
        AgentsCommand::Guard(args) => return super::guard::run(global, args).await,
        other => other,
    };
    let mut screen = Screen::stdout();
    let exit = match command {
        // They are seen to elsewhere: a hook is answered before there is a runtime.
        AgentsCommand::Hook { .. } | AgentsCommand::Acp(_) | AgentsCommand::Guard(_) => {
            Ok(Exit::Usage)
        }
        AgentsCommand::Install { apparmor: true, .. } => apparmor::install(global, &mut screen),
        AgentsCommand::Uninstall { apparmor: true, .. } => apparmor::uninstall(global, &mut screen),
        AgentsCommand::Install { agent, scope, plain_servers, observe, .. } => {
            let scope = InstallScope::new(scope);
            let what = install::Installation { global, scope, plain_servers, observe };
            match agent {
                Some(agent) => what.of_named(find_agent(&agent)?, &mut screen),
                None => what.of_all_found(&mut screen),
            }
        }
        AgentsCommand::Uninstall { agent: Some(agent), scope, .. } => {
            let (agent, scope) = (find_agent(&agent)?, InstallScope::new(scope));
            install::uninstall(global, agent, scope, &mut screen)
        }
        AgentsCommand::Uninstall { scope, .. } => {
            install::uninstall_all(global, &InstallScope::chosen(scope), &mut screen)
        }
        AgentsCommand::Pause { agent, time, .. } => {
            pause::run(global, find_agent(&agent)?, time, &mut screen).await
        }
        AgentsCommand::Status { agent, prove } => {
            status::run(global, agent.as_deref(), prove, &mut screen).await
        }
    }?;
    screen.flush()?;
    Ok(exit)
}

/// For whom something is installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum InstallScope {
    User,
    Project,
    Managed,
}

impl AgentsCommand {
    /// Whether it runs no call, so that it needs no workspace.
    pub fn works_anywhere(&self) -> bool {
        use AgentsCommand::{Install, Status, Uninstall};
        matches!(self, Install { .. } | Uninstall { .. } | Status { .. })
    }
}

impl InstallScope {
    const ALL: [InstallScope; 3] =
        [InstallScope::Managed, InstallScope::User, InstallScope::Project];

    /// The scopes that were named; all of them where none was.
    fn chosen(args: ScopeArgs) -> Vec<InstallScope> {
        match args.user || args.project || args.managed {
            true => vec![InstallScope::new(args)],
            false => InstallScope::ALL.to_vec(),
        }
    }

    fn new(args: ScopeArgs) -> InstallScope {
        match (args.project, args.managed) {
            (true, _) => InstallScope::Project,
            (_, true) => InstallScope::Managed,
            _ => InstallScope::User,
        }
    }

    fn name(self) -> &'static str {
        match self {
            InstallScope::User => "user",
            InstallScope::Project => "project",
            InstallScope::Managed => "managed",
        }
    }

    /// What is written into settings for it. A file that others share names no path of this
    /// machine.
    fn facts(self) -> Result<InstallFacts, Failure> {
        let program = match self {
            InstallScope::Project => "eclusa".to_owned(),
            InstallScope::User | InstallScope::Managed => {
                let program = std::env::current_exe()?;
                let lost = || Failure::failed("the path of this program is not UTF-8");
                program.to_str().ok_or_else(lost)?.to_owned()
            }
        };
        let nonce = random_name()?.get(..16).unwrap_or_default().to_owned();
        Ok(InstallFacts {
            program,
            nonce,
            managed: self == InstallScope::Managed,
            project: self == InstallScope::Project,
        })
    }
}

/// Reads the name of an agent that is one of these.
pub fn agent_parser(
    is_one: fn(&AgentSpec) -> bool,
) -> impl TypedValueParser<Value = &'static AgentSpec> {
    let mut agents: Vec<&AgentSpec> = AGENTS.iter().copied().filter(|it| is_one(it)).collect();
    agents.sort_by_key(|it| it.name);
    let value = |it: &AgentSpec| PossibleValue::new(it.name).aliases(it.aliases).help(it.title);
    PossibleValuesParser::new(agents.into_iter().map(value)).try_map(|word| AgentSpec::named(&word))
}

fn find_agent(word: &str) -> Result<&'static AgentSpec, Failure> {
    AgentSpec::named(word).map_err(Failure::usage)
}
