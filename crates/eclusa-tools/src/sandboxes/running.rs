//! A command that runs, and what is known of it when it has ended.

use std::{path::PathBuf, sync::Arc};

use eclusa::{Changes, Staged, workspace::SnapshotError};
use eclusa_sandbox::{
    Cancel, Exit, Plan, Refusal, Sandbox, SandboxError,
    proxy::{Attempt, Serving},
    refusals,
};

use super::{
    ReadBack,
    attempts::Attempts,
    caches::CacheLayers,
    session::SandboxSession,
    stage::{SnapshotStage, Stage},
};

/// A command that runs.
pub struct Running {
    pub(super) sandbox: Sandbox,
    pub(super) plan: Plan,
    pub(super) root: PathBuf,
    pub(super) kept: Kept,
    pub(super) network: Option<Network>,
    /// Held until it has ended.
    pub(super) caches: Option<CacheLayers>,
    pub(super) session: Option<Arc<SandboxSession>>,
    /// How many paths rules hide from it.
    pub(super) ruled_out: usize,
    /// How it is held here, in words.
    pub(super) level: String,
}

/// What keeps the effects of a command that runs.
pub(super) enum Kept {
    Nothing,
    Layer(Stage),
    Snapshot(Box<SnapshotStage>),
}

pub(super) struct Network {
    pub(super) serving: Serving,
    pub(super) attempts: Attempts,
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
    /// How many more attempts there were, of the same kind or beyond what is told one by one.
    pub more_attempts: u64,
    /// What the sandbox did not let it do, as far as its own words tell.
    pub refused: Vec<Refusal>,
    /// Directories that it could write at once: relative to the workspace, or the workspace
    /// itself.
    pub live: Vec<PathBuf>,
    /// How many paths of the workspace rules hid from it.
    pub ruled_out: usize,
    /// What held it, in words: `full`, `snapshot`, `partial` and what was missing.
    pub level: String,
}

/// Why a command was not run, or why what it did cannot be told.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// There is no sandbox for it.
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    /// The layer could not be made.
    #[error("could not make a layer for the changes in `{}`: {source}", path.display())]
    Layer {
        /// Where.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// There is no snapshot of the real files, or they were not put back.
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
    /// What it changed cannot be read back. Nothing of it is real.
    #[error("what the command changed cannot be told, so it was discarded: {0}")]
    Effects(String),
}

impl Running {
    /// Ends the command from elsewhere.
    pub fn canceller(&self) -> Cancel {
        self.sandbox.canceller()
    }

    /// Waits for the end. What it would have changed is thrown away.
    pub fn wait_and_discard(self) -> Result<Exit, RunError> {
        let exit = self.sandbox.wait();
        if let Some(network) = self.network {
            network.serving.stop();
        }
        drop((self.kept, self.caches, self.session));
        Ok(exit?)
    }

    /// Waits for the end, and reads back what it changed.
    pub fn wait(self) -> Result<Ran, RunError> {
        let exit = self.sandbox.wait();
        drop((self.caches, self.session));
        let live_in_place = match &self.kept {
            Kept::Snapshot(stage) => Some(stage.live.clone()),
            Kept::Nothing | Kept::Layer(_) => None,
        };
        let read = match self.kept {
            Kept::Nothing => ReadBack::default(),
            Kept::Layer(_) if exit.is_err() => ReadBack::default(),
            Kept::Snapshot(stage) => stage.read_back()?,
            Kept::Layer(stage) => {
                let read = stage.read_back(&self.root);
                read.map_err(|err| RunError::Effects(err.to_string()))?
            }
        };
        let exit = exit?;
        let (attempts, more_attempts) = self.network.map_or_else(Default::default, |network| {
            network.serving.stop();
            network.attempts.take()
        });
        let ReadBack { changes, staged, notes } = read;
        let refused = match exit.output.is_binary() {
            true => Vec::new(),
            false => refusals(&complaints(&exit), &self.plan),
        };
        let ruled_out = self.ruled_out;
        let real = |it: &PathBuf| live_in_place.is_none() || *it != self.root;
        let live = self.plan.stage.into_iter().flat_map(|it| it.live);
        let live = live.chain(live_in_place.iter().flatten().cloned());
        let live = live.chain(self.plan.write.into_iter().filter(real)).collect();
        let level = self.level;
        Ok(Ran {
            exit,
            changes,
            staged,
            notes,
            attempts,
            more_attempts,
            refused,
            live,
            ruled_out,
            level,
        })
    }
}

/// The end of what a command wrote, where it says what went wrong.
fn complaints(exit: &Exit) -> String {
    const MAX_LOOKED_AT: usize = 64 << 10;
    let output = &exit.output;
    let end = if output.tail().is_empty() { output.head() } else { output.tail() };
    let start = end.len().saturating_sub(MAX_LOOKED_AT);
    String::from_utf8_lossy(end.get(start..).unwrap_or_default()).into_owned()
}
