//! `eclusa guard`: a whole agent in a sandbox, and the key of its model outside. Staged, what it
//! changes is judged and shown at its end; live, it changes things by calls of our tools alone.

use std::{
    env, fs, io,
    os::{fd::OwnedFd, unix::fs::DirBuilderExt as _},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use clap::Args;
use eclusa::{Blocked, Files, Hash};
use eclusa_tools::{JobHome, Sandboxes, WriteTracking};
use rustix::{
    fs::{AtFlags, Mode, OFlags, mkdirat, openat, renameat, unlinkat},
    io::Errno,
};

use crate::commands::{
    context::AppContext,
    exec::{self, ExecArgs},
    failure::{Exit, Failure},
    global::Global,
    screen::{note, sanitize},
    shell,
    tickets::random_name,
    values::duration,
};
use crate::{
    AGENTS, AgentSpec,
    guard::{GuardForm, GuardSpec},
};

mod agent_screen;
mod model_proxy;
mod terminal_modes;
mod tool_service;

use agent_screen::AgentScreen;
use model_proxy::{Destination, ModelProxy};
use tool_service::ToolService;

/// Which agent runs in a sandbox.
#[derive(Debug, Args)]
pub struct GuardArgs {
    /// The workspace is read-only for it; it works with Eclusa's tools, and each call is judged by itself
    /// (default for an agent on a terminal)
    #[arg(long, conflicts_with_all = ["staged", "apply", "discard"])]
    pub live: bool,
    /// Its changes are staged, and judged together at the end (default for a headless agent)
    #[arg(long)]
    pub staged: bool,
    /// Apply its changes without asking, if the rules allow it
    #[arg(long, conflicts_with = "discard")]
    pub apply: bool,
    /// Preview: show what it would change, and change nothing
    #[arg(long)]
    pub discard: bool,
    /// A host that it may reach, besides its model and those of the configuration; repeatable
    #[arg(long, value_name = "HOST")]
    pub allow_net: Vec<String>,
    /// The variable that holds the key of its model [default: the agent's own]
    #[arg(long, value_name = "VARIABLE")]
    pub key: Option<String>,
    /// Time limit, as `90`, `90s`, `2m` or `2h` [default: none]
    #[arg(long, value_parser = duration, value_name = "TIME")]
    pub timeout: Option<Duration>,
    /// The agent and its arguments
    #[arg(last = true, required = true, value_name = "AGENT")]
    pub command: Vec<String>,
}

pub(super) async fn run(global: &Global, args: GuardArgs) -> Result<Exit, Failure> {
    let ctx = AppContext::open(global)?;
    let program = args.command.first().map(String::as_str).unwrap_or_default();
    let (agent, row) = AgentSpec::of_program(program).ok_or_else(|| unsupported(program))?;
    let headless = row.is_headless(&args.command);
    let form = form(agent, row, &args, headless)?;
    let key = key(agent, row, args.key.as_deref())?;
    let (screen, terminal) = match headless {
        true => (None, None),
        false => {
            let (screen, theirs) = AgentScreen::open()?;
            (Some(screen), Some(theirs))
        }
    };
    let (tools, destination) = match form {
        GuardForm::Staged => (None, None),
        GuardForm::Live => {
            let (tools, destination) = ToolService::open(global, &ctx, screen.clone()).await?;
            (Some(tools), Some(destination))
        }
    };
    let model_proxy = open_model_proxy(row, &key, destination).await?;
    let home = own_directory(&place_of(&ctx, agent), row, form)?;
    let place = AgentPlace { home, terminal, headless, form };
    let sandboxes = sandboxes(&ctx, &args, row, place, &model_proxy)?;
    let changes = match form {
        GuardForm::Staged => "its changes are staged",
        GuardForm::Live => "it changes things with Eclusa's tools alone",
    };
    let hosts = sandboxes.settings().hosts.iter().map(String::as_str);
    let hosts: Vec<&str> =
        std::iter::once(model_proxy.service().host.as_str()).chain(hosts).collect();
    note(&format!(
        "{agent} runs in a sandbox: {changes}, its key stays outside, and it reaches {}",
        hosts.join(", "),
    ));
    let exec = ExecArgs {
        keep: false,
        apply: args.apply,
        discard: args.discard,
        allow_net: Vec::new(),
        timeout: args.timeout,
        ticket: None,
        ask: None,
        command: vec![row.command(&args.command, form)],
    };
    let relaying = screen.as_ref().map(AgentScreen::relay).transpose()?;
    let ended = exec::run_in(&ctx, exec, sandboxes, global.json, relaying).await;
    if let Some(tools) = tools {
        tools.close().await;
    }
    ended
}

/// What is said of a program that is no agent's.
fn unsupported(program: &str) -> Failure {
    let guarded = |it: &&&AgentSpec| it.launch.as_ref().is_some_and(|it| it.guard.is_some());
    let names: Vec<&str> = AGENTS.iter().filter(guarded).map(|it| it.program).collect();
    let names = names.join(", ");
    Failure::usage(format!("cannot guard `{}`", sanitize(program)))
        .hint(format!("supported: {names}; `eclusa exec` runs any other program"))
}

/// What the agent does with the workspace: beside a person who works there, nothing is staged.
fn form(
    agent: &AgentSpec,
    row: &GuardSpec,
    args: &GuardArgs,
    headless: bool,
) -> Result<GuardForm, Failure> {
    let staged = args.staged || args.apply || args.discard;
    if headless {
        return Ok(if args.live { GuardForm::Live } else { GuardForm::Staged });
    }
    let program = args.command.first().map(String::as_str).unwrap_or_default();
    let word = row.headless.first().copied().unwrap_or_default();
    let headless = format!("start it headless: `{program} {word} …`");
    if staged {
        let text = format!("{agent} on a terminal is not staged");
        return Err(Failure::usage(text).hint(headless));
    }
    if !AgentScreen::is_there() {
        let text = format!("{agent} wants a terminal, and there is none");
        return Err(Failure::usage(text).hint(headless));
    }
    Ok(GuardForm::Live)
}

/// The key of the agent's model, from the person's environment.
fn key(agent: &AgentSpec, row: &GuardSpec, variable: Option<&str>) -> Result<String, Failure> {
    let variable = variable.unwrap_or(row.key);
    env::var(variable).ok().filter(|it| !it.is_empty()).ok_or_else(|| {
        Failure::usage(format!("the key of {agent}'s model is not in `{variable}`"))
            .hint("set it, or name another variable: `--key VARIABLE`; subscription logins are not supported")
    })
}

/// The proxy of the agent's model, which has the person's key.
async fn open_model_proxy(
    row: &GuardSpec,
    key: &str,
    tools: Option<Destination>,
) -> Result<ModelProxy, Failure> {
    let (name, otherwise) = row.service;
    let service = env::var(name).ok().filter(|it| !it.is_empty());
    let service = service.unwrap_or_else(|| otherwise.to_owned());
    ModelProxy::open(&service, row.header, key, random_name()?, tools)
        .await
        .map_err(|why| Failure::usage(format!("`{}` cannot be used: {why}", sanitize(&service))))
}

/// Where an agent keeps what is its own in this workspace: what one that worked elsewhere wrote there, which
/// nobody has judged, does not reach it.
fn place_of(ctx: &AppContext, agent: &AgentSpec) -> PathBuf {
    let workspace = Hash::sha256(ctx.paths.workspace.as_os_str().as_encoded_bytes()).to_string();
    let name = workspace.get(..16).unwrap_or(&workspace);
    ctx.paths.agent_homes().join(agent.name).join(name)
}

/// The directories of other agents and of other workspaces.
fn places_of_others(all: &Path, own: &Path) -> Vec<PathBuf> {
    let above = own.ancestors().skip(1).take_while(|it| it.starts_with(all));
    let beside = above.filter_map(|it| fs::read_dir(it).ok()).flatten().flatten();
    beside.map(|it| it.path()).filter(|it| !own.starts_with(it)).collect()
}

/// The agent's own directory, which it may write to: its settings are ours each time.
fn own_directory(home: &Path, row: &GuardSpec, form: GuardForm) -> Result<PathBuf, Failure> {
    let failed = |err: io::Error| {
        Failure::failed(format!("`{}` cannot be made ready: {err}", home.display()))
            .hint("files of the agent may be in the way: move that directory away")
    };
    let ready = || -> io::Result<PathBuf> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(home)?;
        let own = Files::open(home, Blocked::nothing()).map_err(io::Error::other)?;
        for (name, text) in row.files(form) {
            write_beneath(&own, Path::new(name), text)?;
        }
        home.canonicalize()
    };
    ready().map_err(failed)
}

/// Writes a file below a directory that somebody else may have put links into: none is followed.
fn write_beneath(own: &Files, name: &Path, text: &str) -> io::Result<()> {
    let mut above: Vec<&Path> = name.ancestors().skip(1).collect();
    above.retain(|it| !it.as_os_str().is_empty());
    for directory in above.into_iter().rev() {
        let (parent, name) = own.parent(directory).map_err(io::Error::other)?;
        match mkdirat(&parent, name, Mode::from(0o700)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(err) => return Err(err.into()),
        }
    }
    let (parent, name) = own.parent(name).map_err(io::Error::other)?;
    let new = format!(".eclusa-{}", random_name()?);
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let made = openat(&parent, new.as_str(), flags, Mode::from(0o600))?;
    let written = io::Write::write_all(&mut fs::File::from(made), text.as_bytes())
        .and_then(|()| Ok(renameat(&parent, new.as_str(), &parent, name)?));
    if written.is_err() {
        let _ = unlinkat(&parent, new.as_str(), AtFlags::empty());
    }
    written
}

/// What the agent is given.
struct AgentPlace {
    /// Its own directory.
    home: PathBuf,
    /// Its terminal, if it has one.
    terminal: Option<OwnedFd>,
    headless: bool,
    form: GuardForm,
}

fn sandboxes(
    ctx: &AppContext,
    args: &GuardArgs,
    row: &GuardSpec,
    place: AgentPlace,
    model_proxy: &ModelProxy,
) -> Result<Sandboxes, Failure> {
    let AgentPlace { home, terminal, headless, form } = place;
    let lost = || Failure::failed("the path of the agent's own directory is not UTF-8");
    let own = home.to_str().ok_or_else(lost)?;
    let variables = row.variables(own, model_proxy.token(), headless);
    let mut settings = shell::settings(&ctx.paths, &ctx.config, &args.allow_net);
    settings.env.extend(variables.into_iter().map(|(name, value)| (name.into(), value.into())));
    let hidden: Vec<PathBuf> = settings.hide.extract_if(.., |it| home.starts_with(it)).collect();
    settings.hide.extend(hidden.iter().flat_map(|it| places_of_others(it, &home)));
    settings.writable.push(home);
    settings.model_proxy = Some(model_proxy.service().clone());
    settings.terminal = terminal.map(Arc::new);
    settings.read_only = form == GuardForm::Live;
    // What the agent leaves running could write to its own directory, which is real.
    settings.jobs = JobHome::Nowhere;
    let sandboxes = shell::with_settings(settings)?;
    match sandboxes.write_tracking() {
        WriteTracking::Overlay => Ok(sandboxes),
        WriteTracking::Snapshot | WriteTracking::Nothing => {
            Err(Failure::failed("this machine cannot stage changes, so no agent can be guarded")
                .hint("`eclusa doctor` says what is missing"))
        }
    }
}
