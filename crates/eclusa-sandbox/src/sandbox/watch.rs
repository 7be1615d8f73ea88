//! What is watched for while a command runs.

use std::path::{Path, PathBuf};

use super::disk::DiskWatch;
use super::leases::Leases;
use super::left::LeftRunning;
use super::memory::MemoryWatch;
use super::process_count::ProcessCount;
use crate::capabilities::Enforcement;
use crate::notify::OwnSide;
use crate::plan::{Hold, Keep, Limits, Outlives, Plan, Staging};
use crate::reach::Cancel;
use crate::step::SandboxError;

/// What is watched for.
pub(super) struct Watch {
    pub(super) limits: Limits,
    pub(super) keep: Keep,
    pub(super) cancel: Cancel,
    pub(super) enforcement: Enforcement,
    /// One for each filesystem that it writes to.
    pub(super) disk: Vec<DiskWatch>,
    /// Where it writes to, as far as that is counted of a job.
    pub(super) written: Vec<PathBuf>,
    pub(super) memory: Option<MemoryWatch>,
    /// Of a job, as long as it runs.
    pub(super) processes: Option<ProcessCount>,
    /// On what nobody of the command may open.
    pub(super) leases: Leases,
    /// Where renames of directories are helped.
    pub(super) staged: Vec<PathBuf>,
    /// Without namespaces: what the command may change.
    pub(super) own: Option<OwnSide>,
    /// What may go on without us.
    pub(super) outlives: Outlives,
}

impl Watch {
    pub(super) fn new(
        plan: &Plan,
        cancel: Cancel,
        enforcement: Enforcement,
        leases: Leases,
        own: Option<OwnSide>,
    ) -> Watch {
        let place = plan.stage.first().map(|one| &one.upper).or(plan.write.first());
        let places = place.into_iter().chain(&plan.tmp);
        // What goes on is a job from the start, unless it is what a command leaves.
        let job = plan.limits.going_on.filter(|_| plan.outlives != Outlives::Left);
        let written = plan.written();
        let counted = if job.is_some() { written.clone() } else { Vec::new() };
        let disk = watches(places, &counted, plan.limits.disk);
        let processes = job.map(ProcessCount::new);
        let memory = plan.limits.memory.filter(|_| plan.cgroup.is_none()).map(MemoryWatch::new);
        let limits = plan.limits.clone();
        let real = |one: &Staging| one.lower.canonicalize().ok();
        let staged = match plan.hold {
            Hold::Renames => plan.stage.iter().filter_map(real).collect(),
            Hold::Nothing => Vec::new(),
        };
        let (keep, outlives) = (plan.keep, plan.outlives);
        Watch {
            limits,
            keep,
            cancel,
            enforcement,
            disk,
            written,
            memory,
            processes,
            leases,
            staged,
            own,
            outlives,
        }
    }

    /// The watch over what somebody else has left running.
    pub(super) fn adopted(
        left: &LeftRunning,
        limits: &Limits,
        keep: Keep,
        cancel: Cancel,
    ) -> Result<Watch, SandboxError> {
        let disk = watches(left.written().iter(), left.written(), limits.disk);
        let memory = limits.memory.filter(|_| !left.is_counted()).map(MemoryWatch::new);
        Ok(Watch {
            limits: limits.clone(),
            keep,
            cancel,
            enforcement: Enforcement::Full,
            disk,
            written: left.written().to_vec(),
            memory,
            processes: limits.going_on.map(ProcessCount::new),
            leases: Leases::take(&[])?,
            staged: left.staged().to_vec(),
            own: None,
            outlives: Outlives::All,
        })
    }
}

/// A watch over each filesystem of these places. What a job has as `/tmp` may lie on another than its layer.
fn watches<'a>(
    places: impl Iterator<Item = &'a PathBuf>,
    counted: &[PathBuf],
    most: Option<u64>,
) -> Vec<DiskWatch> {
    let device = |place: &Path| rustix::fs::stat(place).ok().map(|it| it.st_dev);
    let mut seen = Vec::new();
    let mut watches = Vec::new();
    for place in places {
        let here = device(place);
        if seen.contains(&here) {
            continue;
        }
        seen.push(here);
        let own = counted.iter().filter(|it| device(it) == here).cloned().collect();
        watches.extend(most.and_then(|most| DiskWatch::new(place, own, most)));
    }
    watches
}
