//! A command that runs, and what is known of it when it has ended.

use std::{
    fs::File,
    path::{Path, PathBuf},
    sync::Arc,
};

use eclusa::{Changes, Staged, workspace::SnapshotError};
use eclusa_sandbox::{
    Cancel, Enforcement, Exit, LayerPool, Missing, Outlives, Plan, Refusal, Sandbox, SandboxError,
    proxy::{Attempt, Serving},
    refusals,
};

use super::{
    attempts::Attempts,
    caches::CacheLayers,
    company::Company,
    session::SandboxSession,
    stage::{RepositoryStage, SnapshotStage, Stage},
};
use crate::{
    owner::{HeldJob, HeldRun, JobAbout, OutputSlot, OwnerError, keep_stamps, shown},
    read_back::ReadBack,
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
    /// What a person said yes to, over the workspace. Held until it has ended.
    pub(super) bound: Option<Stage>,
    /// The layer over a repository that lies elsewhere.
    pub(super) repository: Option<RepositoryStage>,
    pub(super) session: Option<Arc<SandboxSession>>,
    /// Who else may have been handed a descriptor of the layer; `None`: nobody can have been.
    pub(super) company: Option<Company>,
    /// How many paths rules hide from it.
    pub(super) ruled_out: usize,
    /// What is told of hooks that do not run, and of what jobs do not see.
    pub(super) told: Vec<String>,
    /// How it is held here, in words.
    pub(super) level: String,
    /// Where layers come from.
    pub(super) pool: LayerPool,
    pub(super) command: String,
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
    /// What it left running.
    pub(crate) left: Option<HeldJob>,
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
    /// A host that it may reach cannot be read.
    #[error("a host that it may reach cannot be read: {0}")]
    Host(String),
    /// There is no snapshot of the real files, or they were not put back.
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
    /// What it changed cannot be read back. Nothing of it is real.
    #[error("the changes of the command could not be determined, so they were discarded: {0}")]
    Effects(String),
    /// The owner of the session cannot hold it, or does not say what the session has.
    #[error(transparent)]
    Owner(#[from] OwnerError),
}

impl Running {
    /// Its first process.
    pub(crate) fn first(&self) -> i32 {
        self.sandbox.group()
    }

    /// Ends the command from elsewhere.
    pub fn canceller(&self) -> Cancel {
        self.sandbox.canceller()
    }

    /// The command as a job, for an owner to hold; its output goes to this slot where it is watched here. The
    /// error is how it ended, if it has.
    pub(crate) fn into_job(
        self,
        slot: OutputSlot,
    ) -> Result<HeldJob, Box<(Option<Exit>, SandboxError)>> {
        let pid = self.sandbox.group();
        let run = match self.plan.outlives {
            Outlives::All => HeldRun::Left(self.sandbox.let_go()?),
            Outlives::Nothing | Outlives::Left => HeldRun::Here(self.sandbox, slot.clone()),
        };
        let mut about = about(&self.plan, &self.root, &self.command, pid);
        if matches!(run, HeldRun::Left(_)) {
            about.early = slot.take_early();
        }
        let mut locks = Vec::new();
        match self.kept {
            Kept::Layer(stage) => locks.extend(leave_layer(stage, &mut about)),
            Kept::Nothing | Kept::Snapshot(_) => {}
        }
        let kept = self.network.map(|it| Box::new(it.serving) as Box<dyn Send>);
        let network = self.plan.network;
        leave_rest((self.caches, self.bound), self.session.as_ref(), &mut about, &mut locks);
        leave_repository(self.repository, &mut about, &mut locks);
        let locks = locks.into_iter().map(Into::into).collect();
        Ok(HeldJob { about, run, locks, network, kept })
    }

    /// Waits for the end, and reads back what it changed.
    pub fn wait(self) -> Result<Ran, RunError> {
        self.wait_and_tell(|| {})
    }

    /// The same, and tells when it has ended: to read back much takes long.
    pub(crate) fn wait_and_tell(mut self, has_ended: impl FnOnce()) -> Result<Ran, RunError> {
        let pid = self.sandbox.group();
        let (exit, left) = match self.sandbox.wait_or_leave() {
            Ok((exit, left)) => (Ok(exit), left),
            Err(err) => (Err(err), None),
        };
        has_ended();
        let mut held = None;
        if let Some(left) = left {
            let mut about = about(&self.plan, &self.root, &self.command, pid);
            about.is_left = true;
            let mut locks = Vec::new();
            // What is judged now is a copy: those who are left still write to the layer.
            if let Kept::Layer(stage) = self.kept {
                let copied = left.while_stopped(|| {
                    let (copy, paths) = stage.copied(&self.pool)?;
                    keep_stamps(&stage.upper(), &paths)?;
                    let repository = self.repository.as_ref().map(|it| it.copied(&self.pool));
                    Ok::<_, std::io::Error>((copy, repository.transpose()?))
                });
                let moving =
                    || std::io::Error::other("the processes that it left could not be stopped");
                let copied = copied.ok_or_else(moving).and_then(|it| it);
                let (copy, repository) =
                    copied.map_err(|err| RunError::Effects(err.to_string()))?;
                locks.extend(leave_layer(stage, &mut about));
                let left = std::mem::replace(&mut self.repository, repository);
                leave_repository(left, &mut about, &mut locks);
                self.kept = Kept::Layer(copy);
            }
            let layers = (self.caches.take(), self.bound.take());
            leave_rest(layers, self.session.as_ref(), &mut about, &mut locks);
            let locks = locks.into_iter().map(Into::into).collect();
            let network = self.plan.network.clone();
            let run = HeldRun::Left(left);
            held = Some(HeldJob { about, run, locks, network, kept: None });
        } else if let (Some(company), Some(session)) = (&self.company, &self.session)
            && company.is_there(session)
            && let Kept::Layer(stage) = &self.kept
        {
            let copied = || {
                let repository = self.repository.as_ref().map(|it| it.copied(&self.pool));
                Ok::<_, std::io::Error>((stage.copied(&self.pool)?.0, repository.transpose()?))
            };
            let (copy, repository) = copied().map_err(|err| RunError::Effects(err.to_string()))?;
            (self.kept, self.repository) = (Kept::Layer(copy), repository);
        }
        drop((self.caches, self.bound, self.session));
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
                let read = read.map_err(|err| RunError::Effects(err.to_string()))?;
                match self.repository {
                    Some(repository) => repository.read_back(read).map_err(RunError::Effects)?,
                    None => read,
                }
            }
        };
        let exit = exit?;
        let (attempts, more_attempts) = self.network.map_or_else(Default::default, |network| {
            let attempts = network.attempts.take();
            match &mut held {
                Some(held) => held.kept = Some(Box::new(network.serving)),
                None => network.serving.stop(),
            }
            attempts
        });
        let ReadBack { changes, staged, notes } = read;
        let said = if exit.output.is_binary() { String::new() } else { complaints(&exit) };
        let refused = refusals(&said, &self.plan);
        let foreign = foreign_tmp(&exit.enforcement, &said).then(|| FOREIGN_TMP.to_owned());
        let notes = self.told.into_iter().chain(notes).chain(foreign).collect();
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
            left: held,
        })
    }
}

/// Told where a command wanted to write to `/tmp`, and that is the machine's.
const FOREIGN_TMP: &str = "`/tmp` is the machine's own here and is not written: `$TMPDIR` names a directory for \
                           temporary files, which lasts for the conversation";

/// Whether a command without mounts of its own was refused something in `/tmp`.
fn foreign_tmp(held: &Enforcement, said: &str) -> bool {
    let refused = |line: &str| {
        line.contains("Permission denied") && (line.contains("/tmp/") || line.contains("/tmp:"))
    };
    matches!(held, Enforcement::Partial(it) if it.contains(&Missing::Namespaces))
        && said.lines().any(refused)
}

/// What is known of a job from its plan.
fn about(plan: &Plan, root: &Path, command: &str, pid: i32) -> JobAbout {
    JobAbout {
        command: shown(command),
        call: None,
        root: root.to_owned(),
        pid,
        is_left: false,
        layer: None,
        began: String::new(),
        discard: Vec::new(),
        written: Vec::new(),
        early: String::new(),
        tmp: plan.tmp.clone(),
        staged: Vec::new(),
        group: None,
        mount: false,
        memory: plan.limits.memory,
        disk: plan.limits.disk,
        processes: plan.limits.going_on,
    }
}

/// Leaves the layer of the workspace to the job.
fn leave_layer(stage: Stage, about: &mut JobAbout) -> Option<File> {
    let (path, lock, began) = stage.leave()?;
    (about.layer, about.began) = (Some(path), began.0.to_string());
    Some(lock)
}

/// Leaves the layer of a repository that lies elsewhere: what the job writes there goes with it.
fn leave_repository(
    repository: Option<RepositoryStage>,
    about: &mut JobAbout,
    locks: &mut Vec<File>,
) {
    if let Some((path, lock)) = repository.and_then(RepositoryStage::leave) {
        locks.push(lock);
        about.discard.push(path);
    }
}

/// Leaves what else it uses to the job.
fn leave_rest(
    (caches, bound): (Option<CacheLayers>, Option<Stage>),
    session: Option<&Arc<SandboxSession>>,
    about: &mut JobAbout,
    locks: &mut Vec<File>,
) {
    if let Some((path, lock, _)) = bound.and_then(Stage::leave) {
        locks.push(lock);
        about.discard.push(path);
    }
    if let Some(caches) = caches {
        let (more, discard) = caches.leave();
        locks.extend(more);
        about.discard.extend(discard);
    }
    locks.extend(session.and_then(|it| it.lock()));
}

/// The end of what a command wrote, where it says what went wrong.
fn complaints(exit: &Exit) -> String {
    const MAX_LOOKED_AT: usize = 64 << 10;
    let output = &exit.output;
    let end = if output.tail().is_empty() { output.head() } else { output.tail() };
    let start = end.len().saturating_sub(MAX_LOOKED_AT);
    String::from_utf8_lossy(end.get(start..).unwrap_or_default()).into_owned()
}
