//! Where commands run: a cell for each, made from what the program was told of this machine and
//! this workspace.
//!
//! Nothing here comes from a model but the shell text and the directory it starts in. What a
//! command writes to the workspace goes to a layer of its own and is read back as
//! [`Changes`](eclusa::Changes); what it writes to the home directory or to `/tmp` is gone when it
//! ends.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, OnceLock, PoisonError},
    time::Duration,
};

use eclusa::Least;
use eclusa_sandbox::{
    Cell, Enforcement, Ground, Identity, Limits, PROXY_PORT, Plan, Rung, git_environment_of,
    proxy::{Hosts, Proxy},
};

mod changes;
mod in_place;
mod running;
mod settings;
mod stage;
mod survey;

pub(crate) use changes::ReadBack;
pub use running::{Ran, RunError, Running};
pub use settings::CellSettings;

use in_place::InPlace;
use running::{Kept, Network};
use stage::{Shelves, Stage};
use survey::{Found, Survey};

/// Makes cells. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Cells(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    settings: CellSettings,
    hosts: Hosts,
    ground: OnceLock<Ground>,
    keeping: OnceLock<Keeping>,
    survey: Survey,
    shelves: Shelves,
}

/// How what a command writes to the workspace is kept in hand here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keeping {
    /// It goes to a layer.
    Overlay,
    /// It is real while the command runs, and recorded; then it is taken back until it was judged.
    UndoLog,
    /// It is real, and cannot be taken back.
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
pub struct Order {
    /// The shell text, which bash gets byte for byte.
    pub command: String,
    /// Where it starts: an absolute path.
    pub cwd: PathBuf,
    /// What becomes of what it writes.
    pub writes: Writes,
    /// How long it may run.
    pub time: Duration,
}

impl Cells {
    /// Cells with these settings. An entry of `hosts` that cannot be read is an error.
    pub fn new(settings: CellSettings) -> Result<Cells, String> {
        let hosts = Hosts::new(&settings.hosts).map_err(|err| err.to_string())?;
        let survey = Survey::new(&settings.root, settings.blocked.clone());
        let shelves = Shelves::new(&settings.state, &settings.scratch);
        Ok(Cells(Arc::new(Inner {
            survey,
            shelves,
            settings,
            hosts,
            ground: OnceLock::new(),
            keeping: OnceLock::new(),
        })))
    }

    /// The settings.
    pub fn settings(&self) -> &CellSettings {
        &self.0.settings
    }

    /// What this machine can hold a command to: found by trying, once.
    pub fn ground(&self) -> &Ground {
        self.0.ground.get_or_init(|| {
            // Where it cannot be made, the self-test says that nothing can be staged.
            let _ = private(&self.0.settings.state);
            eclusa_sandbox::probe(&self.0.settings.state)
        })
    }

    /// Whether every layer holds here.
    pub fn is_full(&self) -> bool {
        self.ground().enforcement() == Enforcement::Full
    }

    /// Starts a command. `progress` gets its output as it comes.
    pub fn start(
        &self,
        order: &Order,
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
        if settings.least != Least::Full {
            plan.may_lack = self.ground().missing();
        }
        let made = |source| RunError::Layer { path: settings.state.clone(), source };
        let (shelves, live) = (&self.0.shelves, self.live());
        let mut kept = Kept::Nothing;
        match (order.writes, self.keeping()) {
            (Writes::Refused, _) => {
                // Named, because a workspace beneath /tmp would be covered by the cell's own.
                plan.read = vec![PathBuf::from("/"), settings.root.clone()];
            }
            (Writes::Staged, Keeping::Overlay) => {
                let stage = Stage::new(shelves, settings.home.as_deref(), &settings.root);
                let stage = stage.map_err(made)?;
                plan.stage.extend(stage.over(&settings.root, &live));
                plan.hide.extend(shelves.places());
                kept = Kept::Layer(stage);
            }
            (Writes::Staged, Keeping::UndoLog) => {
                let log = InPlace::new(shelves, &settings.state, self.ground()).map_err(made)?;
                log.furnish(&mut plan, &settings.root);
                plan.hide.extend(shelves.places());
                kept = Kept::Log(log);
            }
            (Writes::Staged, Keeping::Nothing) | (Writes::Real, _) => {
                plan.write.push(settings.root.clone());
            }
        }
        let mut cell = Cell::spawn(&plan, self.ground(), progress)?;
        if let Kept::Log(log) = &mut kept {
            let most = settings.limits.disk.unwrap_or(u64::MAX);
            log.begin(&mut cell, &settings.root, most, &live).map_err(made)?;
        }
        let network = cell.take_listener().map(|listener| self.serve(listener)).transpose()?;
        Ok(Running { cell, plan, root: settings.root.clone(), live, kept, network })
    }

    /// Removes what processes that died have left behind, and says how much that was.
    pub fn sweep(&self) -> std::io::Result<usize> {
        self.0.shelves.sweep()
    }

    /// Waits until what commands have left is cleared, which nobody else has to: for benchmarks and
    /// tests.
    #[doc(hidden)]
    pub fn settle(&self) {
        self.0.shelves.settle();
    }

    /// Whether a command that does this with its writes is held as well as the settings want; a
    /// person must be asked otherwise. One that would be refused needs no question.
    pub fn is_held(&self, writes: Writes) -> bool {
        let staged = writes == Writes::Refused || self.keeping() != Keeping::Nothing;
        match self.settings().least {
            Least::Full => true,
            Least::FullOrAsk => self.is_full(),
            Least::Partial => staged,
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
        let CellSettings { root, live, .. } = self.settings();
        live.iter().filter(|it| root.join(it).is_dir()).cloned().collect()
    }

    /// How what a command writes is kept in hand here: found out once.
    pub fn keeping(&self) -> Keeping {
        *self.0.keeping.get_or_init(|| {
            match self.ground().rung() {
                Rung::OverlayInUserNamespace | Rung::OverlayAsRoot => Keeping::Overlay,
                // Where nothing can be saved, nothing can be taken back.
                Rung::UndoLog if self.0.shelves.take(true).is_ok() => Keeping::UndoLog,
                _ => Keeping::Nothing,
            }
        })
    }

    /// What is hidden: what the settings say, and the secrets that are there now.
    fn hidden(&self, found: Found) -> Vec<PathBuf> {
        let CellSettings { root, home, hide, .. } = self.settings();
        let mut hidden = eclusa_sandbox::secrets(home.as_deref(), &[]);
        // Home may lie in the workspace, and the workspace in a place of secrets.
        hidden.retain(|it| !root.starts_with(it));
        hidden.extend(found.hidden);
        hidden.extend(hide.iter().cloned());
        hidden
    }

    fn environment(&self, cwd: &Path, found: &Found) -> Vec<(OsString, OsString)> {
        let CellSettings { root, env, hosts, identity, .. } = self.settings();
        let identity = identity.as_ref().map(|(name, email)| Identity { name, email });
        let mut env = env.clone();
        let places = [cwd.to_owned(), root.clone()];
        env.extend(git_environment_of(&places, &found.trees, identity));
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
        let attempts = Arc::new(Mutex::new(Vec::new()));
        let noted = attempts.clone();
        let report = move |attempt| {
            noted.lock().unwrap_or_else(PoisonError::into_inner).push(attempt);
        };
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
