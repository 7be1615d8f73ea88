//! Starting the programs of servers: in sandboxes, unless a person says otherwise.
//!
//! A server reads the machine but none of its secrets, writes to a directory of its own, sees the
//! workspace as its settings say, and reaches the hosts that they name.

use std::{
    env,
    ffi::{OsStr, OsString},
    fs, io,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
};

use eclusa::settings::{Endpoint, RequiredEnforcement, ServerSettings, WorkspaceAccess};
use eclusa_mcp::{LaunchedServer, Launcher};
use eclusa_sandbox::{Enforcement, Keep, Limits, Missing, Plan, proxy::Hosts};
use eclusa_tools::Sandboxes;
use futures::future::BoxFuture;

use super::{program, sandboxed, unsandboxed};
use crate::{context::AppContext, paths::Paths, spawn::Program};

/// Starts servers on this machine.
#[derive(Clone)]
pub(super) struct Launch {
    paths: Paths,
    /// The sandboxes of this workspace: a server's are made from the same capabilities.
    sandboxes: Sandboxes,
}

impl Launch {
    pub(super) fn new(ctx: &AppContext, sandboxes: Sandboxes) -> Launch {
        let launch = Launch { paths: ctx.paths.clone(), sandboxes };
        // All before the first starts: each is hidden from the others. What cannot be made is told
        // when that server starts.
        for server in ctx.config.servers.iter().filter(|it| it.sandbox) {
            let _ = launch.home(server);
        }
        launch
    }
}

impl Launcher for Launch {
    fn launch<'a>(
        &'a self,
        server: &'a ServerSettings,
    ) -> BoxFuture<'a, io::Result<LaunchedServer>> {
        Box::pin(async move {
            let Endpoint::Command(command) = &server.reach else {
                return Err(io::Error::other("it is no program"));
            };
            unset(server)?;
            if !server.sandbox {
                return unsandboxed::start(&Program {
                    command: command.clone(),
                    directory: self.paths.workspace.clone(),
                    env: server.env.clone(),
                    set: Vec::new(),
                });
            }
            let (this, server, command) = (self.clone(), server.clone(), command.clone());
            let starting = move || this.start(&server, &command);
            let (started, sandbox) =
                tokio::task::spawn_blocking(starting).await.map_err(io::Error::other)??;
            started.launched(sandbox)
        })
    }
}

/// A variable that a person has named and that is not set is a mistake, and the server would say
/// so in words of its own at best.
fn unset(server: &ServerSettings) -> io::Result<()> {
    let missing: Vec<&str> =
        server.env.iter().filter(|it| env::var_os(it).is_none()).map(String::as_str).collect();
    match missing.is_empty() {
        true => Ok(()),
        false => Err(io::Error::other(format!(
            "it needs the environment variable `{}`, which is not set here",
            missing.join("`, `")
        ))),
    }
}

impl Launch {
    fn start(
        &self,
        server: &ServerSettings,
        command: &[String],
    ) -> io::Result<(sandboxed::StartedServer, String)> {
        let sandbox = self.holds()?;
        let home = self.home(server)?;
        let settings = self.sandboxes.settings();
        let path = settings.env.iter().find(|(name, _)| name == "PATH");
        let path = path.map(|(_, value)| value.as_os_str()).unwrap_or(OsStr::new(""));
        let argv = program::found(command, path, &self.paths.workspace)?;
        let cwd = match server.workspace {
            WorkspaceAccess::Hidden => &home,
            WorkspaceAccess::Read | WorkspaceAccess::Write => &self.paths.workspace,
        };
        let mut plan = Plan::new(argv, cwd);
        plan.env = environment(&settings.env, server, &home);
        plan.may_lack = self.sandboxes.capabilities().missing();
        plan.keep = Keep { head: 0, tail: 0 };
        plan.limits = Limits { wall: None, disk: None, ..settings.limits.clone() };
        // There is always a proxy, so that what a server tries to reach can be told.
        plan.hosts = vec!["those that the proxy knows".to_owned()];
        self.places(&mut plan, server, home);
        let hosts = Hosts::new(&server.hosts).map_err(|err| {
            io::Error::other(format!("a host that it may reach cannot be read: {err}"))
        })?;
        Ok((sandboxed::start(&plan, self.sandboxes.capabilities(), hosts)?, sandbox))
    }

    /// What holds a server here, in words, or why that is not enough. Nothing of a server is
    /// staged, so an overlay is not missed.
    fn holds(&self) -> io::Result<String> {
        let capabilities = self.sandboxes.capabilities();
        let doctor = "`eclusa doctor` says how to get it";
        if capabilities.enforcement() == Enforcement::None {
            return Err(io::Error::other(format!(
                "this machine cannot hold it in a sandbox; {doctor}. `sandbox = false` in its settings \
                 starts it without one"
            )));
        }
        let mut missing = capabilities.missing();
        missing.retain(|it| *it != Missing::Staging);
        if missing.is_empty() {
            return Ok(Enforcement::Full.to_string());
        }
        let partial = Enforcement::Partial(missing).to_string();
        match self.sandboxes.settings().least {
            RequiredEnforcement::Full => Err(io::Error::other(format!(
                "this machine would hold it only in part ({partial}), and `[commands] least` \
                 wants all; {doctor}"
            ))),
            RequiredEnforcement::FullOrAsk
            | RequiredEnforcement::Snapshot
            | RequiredEnforcement::Partial => Ok(partial),
        }
    }

    /// What it sees, writes and does not see.
    fn places(&self, plan: &mut Plan, server: &ServerSettings, home: PathBuf) {
        let root = &self.paths.workspace;
        plan.hide = self.sandboxes.hidden_now();
        plan.hide.extend(self.paths.state().map(Path::to_owned));
        // Of the homes, one is its own.
        let homes = self.paths.homes();
        plan.hide.retain(|it| *it != homes);
        // The other servers' are none of its business.
        plan.hide.extend(beside(&home));
        plan.read.push("/".into());
        match server.workspace {
            WorkspaceAccess::Hidden => plan.hide.push(root.clone()),
            // Named, because a workspace beneath /tmp would be covered by the sandbox's own.
            WorkspaceAccess::Read => plan.read.push(root.clone()),
            WorkspaceAccess::Write => plan.write.push(root.clone()),
        }
        plan.write.push(home);
        // A program beneath /tmp would be covered too. What lies in /tmp itself stays so.
        let beside = plan.argv.first().map(Path::new).and_then(Path::parent);
        let whole = |it: &&Path| ["/tmp", "/var/tmp", "/run", "/dev"].map(Path::new).contains(it);
        if let Some(beside) = beside.filter(|it| !whole(it) && !it.starts_with(root)) {
            plan.read.push(beside.to_owned());
        }
    }

    /// The directory of a server, made if it is missing.
    fn home(&self, server: &ServerSettings) -> io::Result<PathBuf> {
        let home = self.paths.home_of(server);
        let failed = |err: io::Error| {
            io::Error::other(format!("its directory `{}` cannot be made: {err}", home.display()))
        };
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&home).map_err(failed)?;
        let home = home.canonicalize().map_err(failed)?;
        if server.workspace == WorkspaceAccess::Hidden && home.starts_with(&self.paths.workspace) {
            return Err(io::Error::other(format!(
                "the workspace cannot be hidden from it, because its own directory `{}` is in it; \
                 keep state elsewhere with `--state DIR`, or let it read the workspace",
                home.display()
            )));
        }
        Ok(home)
    }
}

/// What lies beside a directory.
fn beside(home: &Path) -> Vec<PathBuf> {
    let entries = home.parent().and_then(|it| fs::read_dir(it).ok()).into_iter().flatten();
    entries.flatten().map(|it| it.path()).filter(|it| it != home).collect()
}

/// What it gets of our environment: what every command gets, what its settings name, and a home of
/// its own.
fn environment(
    clean: &[(OsString, OsString)],
    server: &ServerSettings,
    home: &Path,
) -> Vec<(OsString, OsString)> {
    let named = server.env.iter().filter_map(|name| Some((name.into(), env::var_os(name)?)));
    let mut all: Vec<(OsString, OsString)> = named.collect();
    all.push(("HOME".into(), home.into()));
    for (name, value) in clean {
        if !all.iter().any(|(taken, _)| taken == name) {
            all.push((name.clone(), value.clone()));
        }
    }
    all
}
