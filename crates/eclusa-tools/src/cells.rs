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

use eclusa::{Changes, Least, Staged};
use eclusa_sandbox::{
    Cancel, Cell, CellError, Enforcement, Exit, Ground, Identity, Keep, Limits,
    PROXY_PORT, Plan, Refusal, Rung, git_environment,
    proxy::{Attempt, Hosts, Proxy, Serving},
    refusals,
};

mod changes;
mod in_place;
mod stage;

pub(crate) use changes::ReadBack;
use in_place::InPlace;
use stage::Stage;

/// What every command of a workspace has in common.
#[derive(Debug, Clone)]
pub struct CellSettings {
    /// The workspace. Commands start in it, and what they write there is staged.
    pub root: PathBuf,
    /// Where layers are made: outside the workspace, on its filesystem.
    pub state: PathBuf,
    /// The home directory, if there is one: readable, and what is written there is lost.
    pub home: Option<PathBuf>,
    /// Where the layer over the home directory is made: outside it, on any filesystem.
    pub scratch: PathBuf,
    /// The whole environment, besides what keeps git and the proxy in order:
    /// [`clean_environment`](eclusa_sandbox::clean_environment) makes one.
    pub env: Vec<(OsString, OsString)>,
    /// Name and address of whoever commits, where a repository does not say.
    pub identity: Option<(String, String)>,
    /// What is neither read nor listed, besides the secrets that everybody has.
    pub hide: Vec<PathBuf>,
    /// Hosts that may be reached: `example.org`, `*.example.org`, `example.org:8080`.
    pub hosts: Vec<String>,
    /// Directories of the workspace that are written at once and cannot be undone, where they
    /// exist.
    pub live: Vec<PathBuf>,
    /// The least that must hold a command.
    pub least: Least,
    /// How much a command may use; the time is that of the call.
    pub limits: Limits,
    /// How much of the output is kept.
    pub keep: Keep,
}

impl CellSettings {
    /// Settings for a workspace, with nothing but a path to look for programs in.
    pub fn new(root: impl Into<PathBuf>, state: impl Into<PathBuf>) -> CellSettings {
        let state = state.into();
        CellSettings {
            root: root.into(),
            scratch: state.clone(),
            state,
            home: None,
            env: vec![("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())],
            identity: None,
            hide: Vec::new(),
            hosts: Vec::new(),
            live: Vec::new(),
            least: Least::default(),
            limits: Limits::default(),
            keep: Keep::default(),
        }
    }
}

/// Makes cells. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Cells(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    settings: CellSettings,
    hosts: Hosts,
    ground: OnceLock<Ground>,
    keeping: OnceLock<Keeping>,
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

/// A command that runs.
pub struct Running {
    cell: Cell,
    plan: Plan,
    root: PathBuf,
    live: Vec<PathBuf>,
    kept: Kept,
    network: Option<Network>,
}

/// What keeps the effects of a command that runs.
enum Kept {
    Nothing,
    Layer(Stage),
    Log(InPlace),
}

struct Network {
    serving: Serving,
    attempts: Arc<Mutex<Vec<Attempt>>>,
}

/// A command that has ended.
#[derive(Debug)]
pub struct Ran {
    /// How.
    pub exit: Exit,
    /// What it would change.
    pub changes: Changes,
    /// What holds the new contents.
    pub staged: Option<Staged>,
    /// What a person must know about its effects beyond the changes.
    pub notes: Vec<String>,
    /// Whom it tried to reach.
    pub attempts: Vec<Attempt>,
    /// What the cell did not let it do, as far as its own words tell.
    pub refused: Vec<Refusal>,
    /// Directories that it could write at once: relative to the workspace, or the workspace
    /// itself.
    pub live: Vec<PathBuf>,
    /// Whether it ran in place, with an undo log.
    pub in_place: bool,
}

/// Why a command was not run, or why what it did cannot be told.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// There is no cell for it.
    #[error(transparent)]
    Cell(#[from] CellError),
    /// The layer could not be made.
    #[error("could not make a layer for the changes in `{}`: {source}", path.display())]
    Layer {
        /// Where.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// What it changed cannot be read back. Nothing of it is real.
    #[error("what the command changed cannot be told, so it was discarded: {0}")]
    Effects(String),
    /// It ran in place, and what it changed could not be taken back.
    #[error(
        "the command ran in place, and what it changed could not be taken back, so that some or \
         all of it is real: {0}"
    )]
    Stays(String),
}

impl Cells {
    /// Cells with these settings. An entry of `hosts` that cannot be read is an error.
    pub fn new(settings: CellSettings) -> Result<Cells, String> {
        let hosts = Hosts::new(&settings.hosts).map_err(|err| err.to_string())?;
        Ok(Cells(Arc::new(Inner {
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
        plan.env = self.environment(&order.cwd);
        plan.hide = self.hidden();
        plan.hosts = settings.hosts.clone();
        plan.limits = Limits { wall: Some(order.time), ..settings.limits.clone() };
        plan.keep = settings.keep;
        // With less than everything the rules were told before the call ran, and have let it.
        if settings.least != Least::Full {
            plan.may_lack = self.ground().missing();
        }
        let made = |source| RunError::Layer { path: settings.state.clone(), source };
        let mut kept = Kept::Nothing;
        match (order.writes, self.keeping()) {
            (Writes::Refused, _) => {
                // Named, because a workspace beneath /tmp would be covered by the cell's own.
                plan.read = vec![PathBuf::from("/"), settings.root.clone()];
            }
            (Writes::Staged, Keeping::Overlay) => {
                let stage = Stage::new(&settings.state, &settings.scratch, &settings.root);
                let stage = stage.map_err(made)?;
                plan.stage.extend(stage.over_home(settings.home.as_deref(), &settings.root));
                plan.stage.push(stage.over(&settings.root, &self.live()));
                kept = Kept::Layer(stage);
            }
            (Writes::Staged, Keeping::UndoLog) => {
                let log = InPlace::new(&settings.state, &settings.scratch).map_err(made)?;
                log.furnish(&mut plan, &settings.root, self.ground());
                kept = Kept::Log(log);
            }
            (Writes::Staged, Keeping::Nothing) | (Writes::Real, _) => {
                plan.write.push(settings.root.clone());
            }
        }
        let mut cell = Cell::spawn(&plan, self.ground(), progress)?;
        if let Kept::Log(log) = &mut kept {
            let most = settings.limits.disk.unwrap_or(u64::MAX);
            log.begin(&mut cell, &settings.root, most, &self.live()).map_err(made)?;
        }
        let network = cell.take_listener().map(|listener| self.serve(listener)).transpose()?;
        let live = self.live();
        Ok(Running { cell, plan, root: settings.root.clone(), live, kept, network })
    }

    /// Removes what processes that died have left behind, and says how much that was.
    pub fn sweep(&self) -> std::io::Result<usize> {
        let CellSettings { state, scratch, .. } = self.settings();
        let swept = stage::sweep(&layers(state))?;
        Ok(swept + if scratch == state { 0 } else { stage::sweep(&layers(scratch))? })
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

    /// The live directories that are there. One that is not would have to be made in every
    /// workspace of a person who has named it.
    fn live(&self) -> Vec<PathBuf> {
        let CellSettings { root, live, .. } = self.settings();
        live.iter().filter(|it| root.join(it).is_dir()).cloned().collect()
    }

    /// How what a command writes is kept in hand here: found out once.
    pub fn keeping(&self) -> Keeping {
        *self.0.keeping.get_or_init(|| {
            let CellSettings { state, scratch, .. } = self.settings();
            match self.ground().rung() {
                Rung::OverlayInUserNamespace | Rung::OverlayAsRoot => Keeping::Overlay,
                // Where nothing can be saved, nothing can be taken back.
                Rung::UndoLog if InPlace::has_room(state, scratch) => Keeping::UndoLog,
                _ => Keeping::Nothing,
            }
        })
    }

    /// What is hidden: what the settings say, and the secrets that are there now.
    fn hidden(&self) -> Vec<PathBuf> {
        let CellSettings { root, home, hide, .. } = self.settings();
        let mut hidden = eclusa_sandbox::secrets(home.as_deref(), std::slice::from_ref(root));
        hidden.extend(hide.iter().cloned());
        hidden
    }

    fn environment(&self, cwd: &Path) -> Vec<(OsString, OsString)> {
        let CellSettings { root, env, hosts, identity, .. } = self.settings();
        let identity = identity.as_ref().map(|(name, email)| Identity { name, email });
        let mut env = env.clone();
        env.extend(git_environment(&[cwd.to_owned(), root.clone()], identity));
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

impl Running {
    /// Ends the command from elsewhere.
    pub fn canceller(&self) -> Cancel {
        self.cell.canceller()
    }

    /// Waits for the end, and reads back what it changed.
    pub fn wait(self) -> Result<Ran, RunError> {
        let exit = self.cell.wait();
        let in_place = matches!(self.kept, Kept::Log(_));
        // However it ended: what ran in place is taken back.
        let read = match self.kept {
            Kept::Nothing => ReadBack::default(),
            Kept::Layer(_) if exit.is_err() => ReadBack::default(),
            Kept::Layer(stage) => {
                let read = stage.read_back(&self.root);
                read.map_err(|err| RunError::Effects(err.to_string()))?
            }
            Kept::Log(log) => log.read_back()?,
        };
        let exit = exit?;
        let attempts = self.network.map_or_else(Vec::new, |network| {
            network.serving.stop();
            std::mem::take(&mut *network.attempts.lock().unwrap_or_else(PoisonError::into_inner))
        });
        let ReadBack { changes, staged, notes } = read;
        let refused = match exit.output.is_binary() {
            true => Vec::new(),
            false => refusals(&exit.output.text(), &self.plan),
        };
        let live = match in_place {
            true => self.live,
            false => {
                let live = self.plan.stage.into_iter().flat_map(|it| it.live);
                live.chain(self.plan.write).collect()
            }
        };
        Ok(Ran { exit, changes, staged, notes, attempts, refused, live, in_place })
    }
}

/// Makes a directory that nobody else can look into, and those that lead to it.
pub(crate) fn private(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Where layers are made in a directory of state.
pub(crate) fn layers(state: &Path) -> PathBuf {
    state.join("stages")
}
