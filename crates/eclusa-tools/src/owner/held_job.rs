//! A job as it is held: what runs, what must not be touched while it does, and what becomes of what it wrote.

use std::{
    fs,
    os::fd::OwnedFd,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use eclusa_sandbox::{
    Keep, LeftParts, LeftRunning, Limits, Sandbox, SandboxError, SharedNetwork, scan::discard,
};

use super::{offer::Offered, records::JobOutput, wire::JobAbout};

/// From the polite end of a job to the certain one.
const GRACE: Duration = Duration::from_secs(5);
/// How much of a command is shown.
const MAX_COMMAND: usize = 4096;

/// How much of what a job prints at once is handed over with it.
const MAX_EARLY: usize = 4096;

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

/// What is known of a job that runs.
#[derive(Debug)]
pub(super) struct JobInside {
    pub(super) about: JobAbout,
    /// What was offered of it. Held by whoever copies from its layer, or removes it.
    pub(super) keeping: Mutex<Offered>,
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

    /// What came before anybody held it, as far as a message has room for it.
    pub(crate) fn take_early(&self) -> String {
        let mut slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let early = std::mem::take(&mut slot.early);
        let text = String::from_utf8_lossy(&early);
        let start = text.len().saturating_sub(MAX_EARLY);
        let start = (start..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        let end = text.get(start..).unwrap_or_default();
        if start == 0 {
            end.to_owned()
        } else {
            format!("[{start} bytes before are not kept]\n{end}")
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
            written: about.written.clone(),
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
                    going_on: about.processes,
                    ..Limits::default()
                };
                let keep = Keep { head: 0, tail: 0 };
                Sandbox::adopt(left, &limits, keep, move |bytes| output.add(bytes))
            }
        }
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
