//! A job as it is held: what runs, what must not be touched while it does, and what becomes of what it wrote.

use std::{
    fs, io,
    os::{fd::OwnedFd, unix::fs::MetadataExt as _},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use eclusa::{
    Durability, Workspace, kept_job,
    workspace::{PendingTerms, private_file},
};
use eclusa_sandbox::{
    Keep, LeftParts, LeftRunning, Limits, Sandbox, SandboxError, SharedNetwork,
    scan::{LayerScan, Moment, discard},
};

use super::{
    job_mount::{SETTLED, SHOWN, stamps_at},
    records::JobOutput,
    wire::JobAbout,
};
use crate::read_back;

/// From the polite end of a job to the certain one.
const GRACE: Duration = Duration::from_secs(5);
/// How much of a command is shown.
const MAX_COMMAND: usize = 4096;

/// A job that nobody holds yet. Dropped, it ends.
pub(crate) struct HeldJob {
    pub(crate) about: JobAbout,
    pub(crate) run: HeldRun,
    /// Held until it has ended.
    pub(crate) locks: Vec<OwnedFd>,
    /// The network that it is in, which may become that of the session.
    pub(crate) network: Option<SharedNetwork>,
    /// What this process does for it. Another process does not.
    pub(crate) kept: Option<Box<dyn Send>>,
}

/// What runs.
pub(crate) enum HeldRun {
    /// Nobody watches it.
    Left(LeftRunning),
    /// It is watched here.
    Here(Sandbox, OutputSlot),
}

/// The command as it is shown.
pub(crate) fn shown(command: &str) -> String {
    let end = (0..=command.len().min(MAX_COMMAND)).rev().find(|at| command.is_char_boundary(*at));
    command.get(..end.unwrap_or(0)).unwrap_or_default().to_owned()
}

/// Where the output of a command goes that runs before anybody holds it.
#[derive(Debug, Clone, Default)]
pub(crate) struct OutputSlot(Arc<Mutex<EarlyOutput>>);

#[derive(Debug, Default)]
struct EarlyOutput {
    early: Vec<u8>,
    file: Option<JobOutput>,
}

impl OutputSlot {
    pub(crate) fn add(&self, bytes: &[u8]) {
        let mut slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut slot.file {
            Some(file) => file.add(bytes),
            None => slot.early.extend_from_slice(bytes),
        }
    }

    fn keep_in(&self, mut file: JobOutput) {
        let mut slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        file.add(&std::mem::take(&mut slot.early));
        slot.file = Some(file);
    }
}

impl std::fmt::Debug for HeldJob {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HeldJob").field("about", &self.about).finish_non_exhaustive()
    }
}

impl HeldJob {
    /// The job from what another process has sent.
    pub(super) fn received(
        about: JobAbout,
        command: Vec<OwnedFd>,
        locks: Vec<OwnedFd>,
        network: Vec<OwnedFd>,
    ) -> Result<HeldJob, SandboxError> {
        let parts = LeftParts {
            pid: about.pid,
            layer: about.layer.as_ref().map(|it| it.join("upper")),
            staged: about.staged.clone(),
            group: about.group.clone(),
            mount: about.mount,
        };
        let run = HeldRun::Left(LeftRunning::from_parts(parts, command)?);
        let network = match network.is_empty() {
            true => None,
            false => Some(SharedNetwork::from_descriptors(network)?),
        };
        Ok(HeldJob { about, run, locks, network, kept: None })
    }

    /// Watches it, in a thread of this process. Its output goes to this file.
    pub(super) fn watch(
        run: HeldRun,
        about: &JobAbout,
        mut output: JobOutput,
    ) -> Result<Sandbox, SandboxError> {
        match run {
            HeldRun::Here(sandbox, slot) => {
                slot.keep_in(output);
                Ok(sandbox)
            }
            HeldRun::Left(left) => {
                let limits = Limits {
                    wall: None,
                    grace: GRACE,
                    memory: about.memory,
                    disk: about.disk,
                    ..Limits::default()
                };
                let keep = Keep { head: 0, tail: 0 };
                Sandbox::adopt(left, &limits, keep, move |bytes| output.add(bytes))
            }
        }
    }
}

/// What tells whether a path of a layer was written since.
fn stamp(path: &Path) -> String {
    fs::symlink_metadata(path).map_or_else(
        |_| "-".to_owned(),
        |it| format!("{}:{}.{}:{}", it.ino(), it.ctime(), it.ctime_nsec(), it.len()),
    )
}

/// Keeps beside a layer what it holds now, path by path: that is judged with the call, and is not the job's doing.
pub(crate) fn keep_stamps(upper: &Path, paths: &[PathBuf]) -> io::Result<()> {
    let stamps: Vec<(&PathBuf, String)> =
        paths.iter().map(|it| (it, stamp(&upper.join(it)))).collect();
    private_file::write(
        &upper.with_file_name(SETTLED),
        serde_json::to_vec(&stamps)?,
        Durability::Crash,
    )
}

/// Keeps what a job that has ended wrote to the workspace, as discarded changes are, and says so. What was
/// judged with the call that started it is not its doing.
pub(super) fn keep_changes(about: &JobAbout, state: &Path) -> Option<String> {
    let upper = about.layer.as_ref()?.join("upper");
    let kept = try_keep(about, &upper, state);
    kept.unwrap_or_else(|why| Some(format!("what it wrote to the workspace is lost: {why}")))
}

fn try_keep(about: &JobAbout, upper: &Path, state: &Path) -> Result<Option<String>, String> {
    let began = Moment(about.began.parse().map_err(|_| "its beginning is not known")?);
    let text = |err: &dyn std::fmt::Display| err.to_string();
    let layer = LayerScan::open(&about.root, upper, began).map_err(|err| text(&err))?;
    let mut effects = layer.scan().map_err(|err| text(&err))?;
    let layer_place = upper.parent().unwrap_or(upper);
    let known = [SETTLED, SHOWN].map(|it| stamps_at(layer_place, it));
    effects.entries.retain(|it| {
        let now = stamp(&upper.join(&it.path));
        !known.iter().any(|known| known.get(&it.path) == Some(&now))
    });
    if effects.entries.is_empty() {
        return Ok(None);
    }
    layer.release(&mut effects).map_err(|err| text(&err))?;
    let (changes, _) = read_back::changes(|path| Some(layer.staged(path)), effects);
    let count = changes.len();
    let Some(call) = about.call else { return Err("its call has no number".to_owned()) };
    let workspace = Workspace::attach(&about.root, state).map_err(|err| text(&err))?;
    let terms = PendingTerms::DISCARDED;
    match workspace.keep_pending(call, kept_job(&about.command), &changes, terms) {
        Ok(_) => {
            let paths = if count == 1 { "path" } else { "paths" };
            Ok(Some(format!(
                "what it wrote to {count} {paths} of the workspace is not applied; it is kept for a day: \
                 `eclusa changes show {call}`, `eclusa changes apply {call}`"
            )))
        }
        Err(err) => Err(text(&err)),
    }
}

/// Removes what was the job's alone.
#[expect(clippy::disallowed_methods, reason = "a mark of our own state")]
pub(super) fn tidy(about: &JobAbout) {
    for path in about.layer.iter().chain(&about.discard) {
        let removed = match path.is_dir() {
            true => discard(path),
            false => fs::remove_file(path),
        };
        if let Err(err) = removed {
            tracing::warn!("`{}` could not be removed: {err}", path.display());
        }
    }
}
