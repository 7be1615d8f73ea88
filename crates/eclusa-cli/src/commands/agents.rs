//! `eclusa install`, `uninstall` and `status`: other people's agents and their settings.

use std::path::Path;

use eclusa_agents::{Agent, InstallFacts};

use crate::{
    args::{AgentsCommand, Global, InstallArgs},
    failure::{Exit, Failure},
    screen::Screen,
    tickets::random_name,
};

mod backup;
mod install;
mod prove;
mod settings_files;
mod status;

/// True when an agent's settings have it ask before its calls.
pub(super) fn holds(global: &Global, agent: Agent) -> Result<bool, Failure> {
    status::holds(global, agent)
}

/// What in a project's settings has an agent's hooks go by other rules than the person's.
pub(super) fn redirected(agent: Agent, root: &Path) -> Option<String> {
    status::redirected(agent, root)
}

pub(super) async fn run(global: &Global, command: AgentsCommand) -> Result<Exit, Failure> {
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
        AgentsCommand::Install { args, plain_servers } => {
            install::install(global, &args, plain_servers, &mut screen)
        }
        AgentsCommand::Uninstall(args) => install::uninstall(global, &args, &mut screen),
        AgentsCommand::Status { agent, prove } => {
            status::run(global, agent.as_deref(), prove, &mut screen).await
        }
    }?;
    screen.flush()?;
    Ok(exit)
}

/// For whom something is installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scope {
    User,
    Project,
    Managed,
}

impl Scope {
    const ALL: [Scope; 3] = [Scope::Managed, Scope::User, Scope::Project];

    fn new(args: &InstallArgs) -> Scope {
        match (args.project, args.managed) {
            (true, _) => Scope::Project,
            (_, true) => Scope::Managed,
            _ => Scope::User,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Scope::User => "user",
            Scope::Project => "project",
            Scope::Managed => "managed",
        }
    }

    /// What is written into settings for it. A file that others share names no path of this
    /// machine.
    fn facts(self) -> Result<InstallFacts, Failure> {
        let program = match self {
            Scope::Project => "eclusa".to_owned(),
            Scope::User | Scope::Managed => {
                let program = std::env::current_exe()?;
                let lost = || Failure::failed("the path of this program is not UTF-8");
                program.to_str().ok_or_else(lost)?.to_owned()
            }
        };
        let nonce = random_name()?.get(..16).unwrap_or_default().to_owned();
        Ok(InstallFacts {
            program,
            nonce,
            managed: self == Scope::Managed,
            project: self == Scope::Project,
        })
    }
}

fn named(agent: &str) -> Result<Agent, Failure> {
    agent.parse().map_err(Failure::usage)
}
