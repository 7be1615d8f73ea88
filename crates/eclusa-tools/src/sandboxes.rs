//! Where commands run: a sandbox for each, made from what the program was told of this machine and
//! this workspace.
//!
//! Nothing here comes from a model but the shell text and the directory it starts in. What a
//! command writes to the workspace goes to a layer of its own and is read back as
//! [`Changes`](eclusa::Changes); what it writes to the home directory or to `/tmp` is gone when it
//! ends.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
    time::Duration,
};

use eclusa::RequiredEnforcement;
use eclusa_sandbox::{
    Enforcement, HostCapabilities, Identity, Limits, PROXY_PORT, Plan, Sandbox, StagingMethod,
    git_environment_of, personal_git_settings,
    proxy::{Hosts, Proxy},
};

mod attempts;
mod changes;
mod running;
mod settings;
mod stage;
mod survey;

pub(crate) use changes::ReadBack;
pub use running::{Ran, RunError, Running};
pub use settings::SandboxSettings;

use attempts::Attempts;
use running::{Kept, Network};
use stage::{LayerPools, Stage};
use survey::{Found, Survey};

/// Makes sandboxes. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Sandboxes(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    settings: SandboxSettings,
    hosts: Hosts,
    capabilities: OnceLock<HostCapabilities>,
    write_tracking: OnceLock<WriteTracking>,
    /// The harmless part of the person's own git configuration.
    git_settings: OnceLock<Vec<(String, String)>>,
    survey: Survey,
    pools: LayerPools,
}

/// How what a command writes to the workspace is kept in hand here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteTracking {
    /// It goes to a layer.
    Overlay,
    /// It is applied at once, and cannot be taken back.
    Nothing,
}

/// What becomes of what a command writes to the workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Writes {
    /// Nothing can be written.
    Refused,
    /// It is staged, and read back.
    Staged,
    /// It is real at once, and cannot be undone.
    Real,
}

/// One command.
#[derive(Debug, Clone)]
pub struct CommandOrder {
    /// The shell text, which bash gets byte for byte.
    pub command: String,
    /// Where it starts: an absolute path.
    pub cwd: PathBuf,
    /// What becomes of what it writes.
    pub writes: Writes,
    /// How long it may run.
    pub time: Duration,
}

impl Sandboxes {
    /// Sandboxes with these settings. An entry of `hosts` that cannot be read is an error.
    pub fn new(settings: SandboxSettings) -> Result<Sandboxes, String> {
        let hosts = Hosts::new(&settings.hosts).map_err(|err| err.to_string())?;
        let survey = Survey::new(&settings.root, settings.blocked.clone());
        let pools = LayerPools::new(&settings.state, &settings.scratch);
        Ok(Sandboxes(Arc::new(Inner {
            survey,
            pools,
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

    /// What this machine can hold a command to: found by trying, once.
    pub fn capabilities(&self) -> &HostCapabilities {
        self.0.capabilities.get_or_init(|| {
            // Where it cannot be made, the self-test says that nothing can be staged.
            let _ = private(&self.0.settings.state);
            eclusa_sandbox::probe(&self.0.settings.state)
        })
    }

    /// Whether every layer holds here.
    pub fn is_full(&self) -> bool {
        self.capabilities().enforcement() == Enforcement::Full
    }

    /// Starts a command. `progress` gets its output as it comes.
    pub fn start(
        &self,
        order: &CommandOrder,
        progress: impl FnMut(&[u8]) + Send + 'static,
    ) -> Result<Running, RunError> {
        let settings = self.settings();
        let mut plan = Plan::bash(&order.command, &order.cwd);
        let found = self.0.survey.look();
        plan.env = self.environment(&order.cwd, &found);
        plan.hide = self.hidden(found);
        plan.hosts = settings.hosts.clone();
        plan.limits = Limits { wall: Some(order.time), ..settings.limits.clone() };
        plan.keep = settings.keep;
        plan.cgroup.clone_from(&settings.cgroup);
        // With less than everything the rules were told before the call ran, and have let it.
        if settings.least != RequiredEnforcement::Full {
            plan.may_lack = self.capabilities().missing();
        }
        let made = |source| RunError::Layer { path: settings.state.clone(), source };
        let (pools, live) = (&self.0.pools, self.live());
        let mut kept = Kept::Nothing;
        match (order.writes, self.write_tracking()) {
            (Writes::Refused, _) => {
                // Named, because a workspace beneath /tmp would be covered by the sandbox's own.
                plan.read = vec![PathBuf::from("/"), settings.root.clone()];
            }
            (Writes::Staged, WriteTracking::Overlay) => {
                let stage = Stage::new(pools, settings.home.as_deref(), &settings.root);
                let stage = stage.map_err(made)?;
                plan.stage.extend(stage.over(&settings.root, &live));
                plan.hide.extend(pools.places());
                kept = Kept::Layer(stage);
            }
            (Writes::Staged, WriteTracking::Nothing) | (Writes::Real, _) => {
                plan.write.push(settings.root.clone());
            }
        }
        let mut sandbox = Sandbox::spawn(&plan, self.capabilities(), progress)?;
        let network = sandbox.take_listener().map(|listener| self.serve(listener)).transpose()?;
        Ok(Running { sandbox, plan, root: settings.root.clone(), kept, network })
    }

    /// Removes what processes that died have left behind, and says how much that was.
    pub fn sweep(&self) -> std::io::Result<usize> {
        self.0.pools.sweep()
    }

    /// Waits until what commands have left is cleared, which nobody else has to: for benchmarks and
    /// tests.
    #[doc(hidden)]
    pub fn settle(&self) {
        self.0.pools.settle();
    }

    /// Whether a command that does this with its writes is held as well as the settings want; a
    /// person must be asked otherwise. One that would be refused needs no question.
    pub fn is_held(&self, writes: Writes) -> bool {
        let staged = writes == Writes::Refused || self.write_tracking() != WriteTracking::Nothing;
        match self.settings().least {
            RequiredEnforcement::Full => true,
            RequiredEnforcement::FullOrAsk => self.is_full(),
            RequiredEnforcement::Partial => staged,
        }
    }

    /// Looks at the workspace as every start of a command does, for benchmarks.
    #[doc(hidden)]
    pub fn surveyed(&self) -> usize {
        let found = self.0.survey.look();
        let environment = self.environment(&self.settings().root, &found);
        environment.len() + self.hidden(found).len()
    }

    /// The live directories that are there. One that is not would have to be made in every
    /// workspace of a person who has named it.
    fn live(&self) -> Vec<PathBuf> {
        let SandboxSettings { root, live, .. } = self.settings();
        live.iter().filter(|it| root.join(it).is_dir()).cloned().collect()
    }

    /// How what a command writes is kept in hand here: found out once.
    pub fn write_tracking(&self) -> WriteTracking {
        *self.0.write_tracking.get_or_init(|| match self.capabilities().staging_method() {
            StagingMethod::OverlayInUserNamespace | StagingMethod::OverlayAsRoot => {
                WriteTracking::Overlay
            }
            _ => WriteTracking::Nothing,
        })
    }

    /// What is hidden: what the settings say, and the secrets that are there now.
    fn hidden(&self, found: Found) -> Vec<PathBuf> {
        let SandboxSettings { root, home, hide, .. } = self.settings();
        let mut hidden = eclusa_sandbox::secrets(home.as_deref(), &[]);
        // Home may lie in the workspace, and the workspace in a place of secrets.
        hidden.retain(|it| !root.starts_with(it));
        hidden.extend(found.hidden);
        hidden.extend(hide.iter().cloned());
        hidden
    }

    fn environment(&self, cwd: &Path, found: &Found) -> Vec<(OsString, OsString)> {
        let SandboxSettings { root, env, hosts, identity, home, .. } = self.settings();
        let identity = identity.as_ref().map(|(name, email)| Identity { name, email });
        let mut env = env.clone();
        let places = [cwd.to_owned(), root.clone()];
        let person = self.0.git_settings.get_or_init(|| {
            home.as_ref().map(|it| personal_git_settings(it, root)).unwrap_or_default()
        });
        env.extend(git_environment_of(&places, &found.trees, identity, person));
        if !env.iter().any(|(name, _)| name == "HOME") {
            env.push(("HOME".into(), "/tmp".into()));
        }
        if !hosts.is_empty() {
            let proxy = format!("http://127.0.0.1:{PROXY_PORT}");
            for name in ["http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"] {
                env.push((name.into(), proxy.clone().into()));
            }
        }
        env
    }

    fn serve(&self, listener: std::os::fd::OwnedFd) -> Result<Network, RunError> {
        let attempts = Attempts::default();
        let noted = attempts.clone();
        let report = move |attempt| noted.add(attempt);
        let serving = Proxy::new(self.0.hosts.clone(), report).serve(listener);
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
