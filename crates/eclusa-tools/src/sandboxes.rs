//! Where commands run: a sandbox for each, made from what is known of machine and workspace.
//!
//! Nothing here comes from a model but the shell text and the directory it starts in. What a command writes to the
//! workspace goes to a layer of its own and is read back as [`Changes`](eclusa::Changes). `/tmp` lasts for the session;
//! the home directory is read-only but for caches, of which the workspace has a copy.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use eclusa::{policy::HiddenPaths, settings::RequiredEnforcement, workspace::SnapshotError};
use eclusa_git::linked_repository;
use eclusa_sandbox::{
    Hooks, HostCapabilities, Identity, Limits, Missing, Sandbox, SandboxError, Staging,
    git_environment_of,
    proxy::{HostRule, Hosts, Proxy, ProxyListener},
};

use crate::owner::{JobRecords, all_sessions, sweep_sessions};

mod attempts;
mod bound_layer;
mod caches;
mod company;
mod hooks;
mod order;
mod outliving;
mod running;
mod scratch;
mod session;
mod settings;
pub(crate) mod signing;
mod stage;
mod survey;
mod tracking;
mod unnamed_file;

pub use order::{CommandOrder, ProgramStart, Writes};
pub use running::{Ran, RunError, Running};
pub use scratch::{ScratchChanges, ScratchLayer};
pub use settings::SandboxSettings;
pub use signing::SigningPlace;

use attempts::Attempts;
use caches::{CacheLayers, Caches};
use company::Company;
use running::{Kept, Network};
use session::SandboxSessions;
use stage::{LayerPools, RepositoryStage, SnapshotStage, Stage};
use survey::{Found, Survey};

pub(crate) use survey::hidden_beneath;
pub use tracking::WriteTracking;
pub(crate) use unnamed_file::unnamed_file;

/// Makes sandboxes. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Sandboxes(Arc<SandboxesInner>);

#[derive(Debug)]
struct SandboxesInner {
    settings: SandboxSettings,
    hosts: Hosts,
    capabilities: OnceLock<HostCapabilities>,
    write_tracking: OnceLock<WriteTracking>,
    /// The harmless part of the person's own git configuration.
    git_settings: OnceLock<Vec<(String, String)>>,
    survey: Survey,
    /// The same with what rules hide from commands, as the last command had it.
    ruled_survey: Mutex<Option<Arc<Survey>>>,
    pools: LayerPools,
    sessions: SandboxSessions,
    caches: Caches,
}

impl Sandboxes {
    /// Sandboxes with these settings. An entry of `hosts` that cannot be read is an error.
    pub fn new(settings: SandboxSettings) -> Result<Sandboxes, HostRule> {
        let hosts = Hosts::new(&settings.hosts)?;
        let survey = Survey::new(&settings.root, settings.blocked.clone(), HiddenPaths::nothing());
        let pools = LayerPools::new(&settings.state);
        let sessions = SandboxSessions::new(&settings.state);
        let caches = Caches::new(&settings.state);
        Ok(Sandboxes(Arc::new(SandboxesInner {
            survey,
            ruled_survey: Mutex::default(),
            pools,
            sessions,
            caches,
            settings,
            hosts,
            capabilities: OnceLock::new(),
            write_tracking: OnceLock::new(),
            git_settings: OnceLock::new(),
        })))
    }

    /// The settings.
    pub fn settings(&self) -> &SandboxSettings {
        &self.0.settings
    }

    /// What this machine can hold a command to: found by trying, once until it is started again.
    pub fn capabilities(&self) -> &HostCapabilities {
        self.0.capabilities.get_or_init(|| {
            // Where it cannot be made, the self-test says that nothing can be staged.
            let _ = private(&self.0.settings.state);
            let SandboxSettings { state, root, .. } = &self.0.settings;
            eclusa_sandbox::recall_or_probe(state, root)
        })
    }

    /// Starts a command. `progress` gets its output as it comes.
    pub fn start(
        &self,
        order: &CommandOrder,
        progress: impl FnMut(&[u8]) + Send + 'static,
    ) -> Result<Running, RunError> {
        let settings = self.settings();
        let failed = |source| RunError::Layer { path: settings.state.clone(), source };
        let mut plan = order.plan(&settings.state).map_err(failed)?;
        let found = self.look(&order.hidden);
        let (hooks, mut told) = hooks::hooks(settings, &order.command, order.writes);
        plan.env = self.environment(&order.cwd, &found, order.hosts.opens_any(), hooks);
        let ruled_out = found.by_rules.len();
        plan.hide = self.hidden(found);
        plan.hosts = order.hosts_or(&settings.hosts).to_vec();
        order.signing.iter().for_each(|it| it.furnish(&mut plan));
        if let Some(program) = &order.program {
            plan.env.extend(program.env.iter().cloned());
            plan.hide.extend(program.hide.iter().cloned());
        }
        plan.limits = Limits { wall: Some(order.time), ..settings.limits.clone() };
        plan.keep = settings.keep;
        plan.cgroup.clone_from(&settings.cgroup);
        // With less than everything the rules were told before the call ran, and have let it.
        if settings.least != RequiredEnforcement::Full {
            plan.may_lack = self.capabilities().missing();
        }
        let (pool, live) = (self.0.pools.on(self.capabilities()), self.live());
        let made = |source| RunError::Layer { path: pool.place().to_owned(), source };
        let session = order.session.as_deref();
        let jobs = session.map(|it| self.owner(it)).transpose()?.unwrap_or_default();
        let (owner, mut covers) = (jobs.owner, jobs.layers);
        told.extend(jobs.notes);
        let is_alone = owner.is_some()
            && !order.hosts.granted.is_empty()
            && order.session.as_deref().is_some_and(|it| !self.jobs_that_run(it).is_empty());
        let session = session.map(|it| self.0.sessions.get(it, settings.limits.tmp));
        let (mut kept, mut caches, mut bound, mut repository) = (Kept::Nothing, None, None, None);
        let mut quiet = None;
        let writes = match (order.writes, self.write_tracking()) {
            // Nobody else could change the workspace while a command in the background did.
            (Writes::Staged, WriteTracking::Snapshot) if order.background => Writes::Outside,
            // What jobs have written shows only through a layer.
            (Writes::Refused, WriteTracking::Overlay) if !covers.is_empty() => Writes::Staged,
            // Nor does what programs have written for themselves below the home.
            (Writes::Refused, WriteTracking::Overlay)
                if session
                    .as_ref()
                    .and_then(|it| it.home())
                    .is_some_and(Caches::hold_something) =>
            {
                Writes::Staged
            }
            (writes, _) => writes,
        };
        match (writes, self.write_tracking()) {
            (Writes::Refused | Writes::Outside, _) => {
                // Named, because a workspace beneath /tmp would be covered by the sandbox's own.
                plan.read = vec![PathBuf::from("/"), settings.root.clone()];
                plan.read.extend(linked_repository(&settings.root).map(|it| it.common));
                if writes == Writes::Outside {
                    quiet = self.let_write_outside(&mut plan, order)?;
                }
            }
            (Writes::Staged, WriteTracking::Overlay) => {
                let stage = Stage::new(pool, &settings.root).map_err(made)?;
                bound = bound_layer::lay(pool, settings, &live, &order.bound).map_err(made)?;
                covers.splice(0..0, bound.iter().map(Stage::upper));
                plan.stage.push(Staging { covers, ..stage.over(&settings.root, &live) });
                repository = RepositoryStage::new(pool, &settings.root).map_err(made)?;
                plan.stage.extend(repository.iter().map(RepositoryStage::staging));
                kept = Kept::Layer(stage);
                let (capabilities, alone) = (self.capabilities(), order.background);
                let home = session.as_ref().and_then(|it| it.home());
                let all = [Some(&self.0.caches), home].into_iter().flatten();
                let furnish =
                    |it: &Caches| it.furnish(&mut plan, settings, capabilities, pool, alone);
                caches = CacheLayers::of(all.map(furnish)).map_err(made)?;
                plan.write.extend(settings.writable_now());
            }
            (Writes::Staged, WriteTracking::Snapshot) => {
                let workspace = self.workspace().map_err(SnapshotError::Failed)?;
                let stage = SnapshotStage::new(pool, &workspace, live, order.time)?;
                kept = Kept::Snapshot(Box::new(stage));
                plan.write.push(settings.root.clone());
                plan.write.extend(settings.writable_now());
            }
            (Writes::Staged, WriteTracking::Nothing) | (Writes::Real, _) => {
                plan.write.push(settings.root.clone());
            }
        }
        let covered = |it: &&PathBuf| ["/tmp", "/var/tmp"].iter().any(|tmp| it.starts_with(tmp));
        if let Some(home) = settings.home.as_ref().filter(covered) {
            plan.read.extend([PathBuf::from("/"), home.clone()]);
        }
        plan.hide.push(pool.place().to_owned());
        plan.hide.extend([self.0.sessions.place(), self.0.caches.place()].map(Path::to_owned));
        let records = JobRecords::new(&settings.state);
        plan.hide.extend([all_sessions(&settings.state), records.place().to_owned()]);
        plan.proxy = order.writes != Writes::Refused;
        if settings.model_proxy.is_some()
            && self.capabilities().missing().contains(&Missing::Namespaces)
        {
            // Its listener would be the machine's, and whoever found it could use the person's models.
            plan.hosts.clear();
            plan.proxy = false;
        }
        if let Some(session) = &session {
            session.furnish(&mut plan);
            // A host that a person opened for this command alone is not opened for jobs.
            if is_alone {
                told.push(
                    "it had a network of its own, without the jobs of its session: a host was opened for it alone"
                        .to_owned(),
                );
            } else if settings.model_proxy.is_none() {
                plan.network = session.network(self.capabilities(), owner)?;
                plan.servers = session.servers();
            }
        }
        plan.terminal.clone_from(&settings.terminal);
        let may_outlive = session.is_some() && order.program.is_none();
        if matches!(kept, Kept::Nothing | Kept::Layer(_)) && may_outlive {
            self.let_outlive(&mut plan, order.background);
        }
        let spawned = Sandbox::spawn(&plan, self.capabilities(), progress);
        drop(quiet);
        if let Err(SandboxError::Step { .. }) = &spawned {
            // What was found may be true no longer: the next process looks again.
            eclusa_sandbox::forget(&settings.state);
        }
        let mut sandbox = spawned?;
        if let Kept::Snapshot(stage) = &mut kept {
            stage.started(sandbox.group())?;
        }
        let serve = |listener| self.serve(listener, order);
        let network = sandbox.take_listener().map(serve).transpose()?;
        let root = settings.root.clone();
        let level = match &kept {
            Kept::Snapshot(_) => self.level(),
            Kept::Nothing | Kept::Layer(_) => self.capabilities().enforcement().to_string(),
        };
        let (pool, command) = (pool.clone(), order.command.clone());
        let name = order.session.clone().filter(|_| self.capabilities().opens_sockets());
        let company = name.map(|name| Company { records, name });
        Ok(Running {
            sandbox,
            plan,
            root,
            kept,
            network,
            caches,
            bound,
            repository,
            session,
            company,
            ruled_out,
            told,
            level,
            pool,
            command,
        })
    }

    /// Removes what processes that died have left behind, and says how much that was.
    pub fn sweep(&self) -> std::io::Result<usize> {
        let state = &self.settings().state;
        let jobs = JobRecords::new(state).sweep() + sweep_sessions(state);
        Ok(self.0.pools.sweep()? + self.0.sessions.sweep()? + self.0.caches.sweep()? + jobs)
    }

    /// A session is over: its `/tmp` and its network go with the last of its commands.
    pub fn end_session(&self, session: &str) {
        self.0.sessions.end(session);
    }

    /// Waits until what commands have left is cleared, which nobody else has to: for benchmarks and
    /// tests.
    #[doc(hidden)]
    pub fn settle(&self) {
        self.0.pools.settle();
    }

    /// Looks at the workspace as every start of a command does, for benchmarks.
    #[doc(hidden)]
    pub fn surveyed(&self) -> usize {
        let found = self.0.survey.look();
        let environment = self.environment(&self.settings().root, &found, false, Hooks::Skip);
        environment.len() + self.hidden(found).len()
    }

    /// The live directories that are there. One that is not would have to be made in every
    /// workspace of a person who has named it.
    fn live(&self) -> Vec<PathBuf> {
        let SandboxSettings { root, live, .. } = self.settings();
        live.iter().filter(|it| root.join(it).is_dir()).cloned().collect()
    }

    /// What is hidden from every command now: by the settings, and secrets of the person and the workspace.
    pub fn hidden_now(&self) -> Vec<PathBuf> {
        self.hidden(self.0.survey.look())
    }

    /// What is in the workspace now that a command must not see.
    fn look(&self, rules: &HiddenPaths) -> Found {
        if rules.is_nothing() {
            return self.0.survey.look();
        }
        let survey = {
            let mut last = self.0.ruled_survey.lock().unwrap_or_else(PoisonError::into_inner);
            match last.as_ref().filter(|it| it.rules().same_as(rules)) {
                Some(survey) => survey.clone(),
                None => {
                    let SandboxSettings { root, blocked, .. } = self.settings();
                    let new = Survey::new(root, blocked.clone(), rules.clone());
                    last.insert(Arc::new(new)).clone()
                }
            }
        };
        survey.look()
    }

    /// What is hidden: what the settings say, and the secrets that are there now.
    fn hidden(&self, found: Found) -> Vec<PathBuf> {
        let SandboxSettings { root, home, hide, .. } = self.settings();
        let mut hidden = eclusa_sandbox::secrets(home.as_deref(), &[]);
        // Home may lie in the workspace, and the workspace in a place of secrets.
        hidden.retain(|it| !root.starts_with(it));
        hidden.extend(found.hidden);
        hidden.extend(found.by_rules);
        hidden.extend(hide.iter().cloned());
        hidden
    }

    fn environment(
        &self,
        cwd: &Path,
        found: &Found,
        opens_hosts: bool,
        hooks: Hooks,
    ) -> Vec<(OsString, OsString)> {
        let SandboxSettings { root, env, hosts, identity, .. } = self.settings();
        let identity = identity.as_ref().map(|(name, email)| Identity { name, email });
        let mut env = env.clone();
        let places = [cwd.to_owned(), root.clone()];
        let person = self.git_settings();
        env.extend(git_environment_of(&places, &found.trees, identity, person, hooks));
        if !env.iter().any(|(name, _)| name == "HOME") {
            env.push(("HOME".into(), "/tmp".into()));
        }
        if hosts.is_empty() && !opens_hosts {
            // Nothing answers, so that trying again, or looking for a newer npm, is of no use.
            for name in ["CARGO_NET_RETRY", "PIP_RETRIES", "npm_config_fetch_retries"] {
                env.push((name.into(), "0".into()));
            }
            env.push(("npm_config_update_notifier".into(), "false".into()));
        }
        env
    }

    fn serve(&self, listener: ProxyListener, order: &CommandOrder) -> Result<Network, RunError> {
        let attempts = Attempts::default();
        let noted = attempts.clone();
        let report = move |attempt| noted.add(attempt);
        let hosts = match order.program.as_ref().and_then(|it| it.hosts.as_ref()) {
            Some(hosts) => Hosts::new(hosts).map_err(|err| RunError::Host(err.to_string()))?,
            None => self.0.hosts.clone(),
        };
        let proxy = Proxy::new(hosts.under(order.hosts.clone()), report);
        let proxy = match &self.settings().model_proxy {
            Some(service) => proxy.with_model_proxy(service.clone()),
            None => proxy,
        };
        let serving = proxy.serve(listener);
        let path = PathBuf::from("the proxy");
        let serving = serving.map_err(|source| RunError::Layer { path, source })?;
        Ok(Network { serving, attempts })
    }
}

/// Makes a directory that nobody else can look into, and those that lead to it.
pub(crate) fn private(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}
