//! What is watched for while a command runs.

use std::path::PathBuf;

use super::leases::Leases;
use super::left::LeftRunning;
use super::memory::MemoryWatch;
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
    pub(super) disk: Option<(PathBuf, u64)>,
    pub(super) memory: Option<MemoryWatch>,
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
        let place = place.or(plan.tmp.as_ref());
        let disk = plan.limits.disk.zip(place).and_then(|(most, place)| {
            let free = free(place)?;
            Some((place.clone(), free.saturating_sub(most)))
        });
        let memory = plan.limits.memory.filter(|_| plan.cgroup.is_none()).map(MemoryWatch::new);
        let limits = plan.limits.clone();
        let real = |one: &Staging| one.lower.canonicalize().ok();
        let staged = match plan.hold {
            Hold::Renames => plan.stage.iter().filter_map(real).collect(),
            Hold::Nothing => Vec::new(),
        };
        let (keep, outlives) = (plan.keep, plan.outlives);
        Watch { limits, keep, cancel, enforcement, disk, memory, leases, staged, own, outlives }
    }

    /// The watch over what somebody else has left running.
    pub(super) fn adopted(
        left: &LeftRunning,
        limits: &Limits,
        keep: Keep,
        cancel: Cancel,
    ) -> Result<Watch, SandboxError> {
        let place = left.layer().filter(|_| limits.disk.is_some());
        let disk = limits.disk.zip(place).and_then(|(most, place)| {
            let free = free(place)?;
            Some((place.clone(), free.saturating_sub(most)))
        });
        let memory = limits.memory.filter(|_| !left.is_counted()).map(MemoryWatch::new);
        Ok(Watch {
            limits: limits.clone(),
            keep,
            cancel,
            enforcement: Enforcement::Full,
            disk,
            memory,
            leases: Leases::take(&[])?,
            staged: left.staged().to_vec(),
            own: None,
            outlives: Outlives::All,
        })
    }
}

/// The free bytes of a filesystem.
pub(super) fn free(place: &PathBuf) -> Option<u64> {
    let stat = rustix::fs::statvfs(place).ok()?;
    Some(stat.f_bavail.saturating_mul(stat.f_frsize))
}
