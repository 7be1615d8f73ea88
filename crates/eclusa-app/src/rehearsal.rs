//! A process that rehearses a job: it has a scratch layer over the workspace, writes its log beside it, and
//! hands over a plan at its end.

use std::{ffi::OsString, fs, io, os::fd::OwnedFd, path::PathBuf, sync::OnceLock};

use eclusa::{RehearsalPlan, Workspace, workspace::ScratchWorkspace};
use rustix::process::{Signal, set_parent_process_death_signal};
use serde_json::Value;

use crate::failure::Failure;

/// The word that this program starts itself with, inside the layer.
pub const WORD: &str = "rehearse";

/// The file that the plan is handed over in.
pub(crate) const PLAN: &str = "plan.json";

/// What this process knows of the rehearsal that it is.
struct Entered {
    directory: PathBuf,
    /// The workspace itself, which no name leads to.
    real: OwnedFd,
    plan: RehearsalPlan,
}

static ENTERED: OnceLock<Entered> = OnceLock::new();

/// Enters the layer that the words name, and gives the words of the job. Called before there are threads.
pub fn enter(words: &[OsString]) -> io::Result<Vec<OsString>> {
    let [directory, root, upper, work, job @ ..] = words else {
        return Err(io::Error::other("`--dry-run` of `ask`, `chat` and `feed` starts this"));
    };
    let entered = eclusa_sandbox::enter_scratch(root.as_ref(), upper.as_ref(), work.as_ref());
    let real = entered.map_err(io::Error::other)?;
    // Whoever started it waits for its plan: without them it is for nobody. A new user namespace forgets it.
    set_parent_process_death_signal(Some(Signal::KILL))?;
    let entered = Entered { directory: directory.into(), real, plan: RehearsalPlan::default() };
    // The first of the words is this program.
    let _ = ENTERED.set(entered);
    Ok(std::iter::once(OsString::from("eclusa")).chain(job.iter().cloned()).collect())
}

/// Where this process keeps what it writes down, if it is a rehearsal.
pub fn directory() -> Option<PathBuf> {
    ENTERED.get().map(|it| it.directory.clone())
}

/// The workspace as a rehearsal has it, and where its plan is noted; `None` for every other process.
pub(crate) fn scratch(
    workspace: &Workspace,
) -> Result<Option<(ScratchWorkspace, RehearsalPlan)>, Failure> {
    let Some(entered) = ENTERED.get() else { return Ok(None) };
    let scratch = ScratchWorkspace::new(workspace.clone(), &entered.real);
    Ok(Some((scratch.map_err(Failure::failed)?, entered.plan.clone())))
}

/// Hands the plan over, when the job has ended.
pub fn finish() -> io::Result<()> {
    let Some(entered) = ENTERED.get() else { return Ok(()) };
    let calls: Vec<Value> = entered.plan.calls().iter().map(|it| it.as_json()).collect();
    #[expect(clippy::disallowed_methods, reason = "a file of its own, outside every workspace")]
    fs::write(entered.directory.join(PLAN), Value::Array(calls).to_string())
}
