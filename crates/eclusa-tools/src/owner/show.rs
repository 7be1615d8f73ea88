//! Changes as they come to the jobs of a workspace, whoever makes them: a tool, a command, an undo, a yes elsewhere.

use std::path::{Path, PathBuf};

use eclusa::workspace::{Blocked, ComingStep};

use super::{
    client::{OwnerClient, OwnerError},
    job_mount::JobMount,
    person_edits::Edits,
};

/// Shows each change of a workspace to its jobs before it is made, and says to which it could not be shown. What is a
/// secret by its name is shown to none; nor is a job shown what the call that started it has written.
pub fn show_to_jobs(
    state: PathBuf,
    blocked: Blocked,
) -> impl Fn(u64, &mut dyn Iterator<Item = ComingStep>) -> Vec<String> + Send + Sync + 'static {
    move |call, steps| {
        let mut told = Vec::new();
        let mut mounts = Vec::new();
        for owner in OwnerClient::all(&state) {
            match owner.and_then(mounts_of) {
                Ok(more) => mounts.extend(more.into_iter().filter(|it| it.0 != Some(call))),
                Err(err) => told.push(format!("jobs may not see these changes: {err}")),
            }
        }
        if mounts.is_empty() {
            return told;
        }
        // A later job reads through the layers of earlier ones, and sees each step before they have it.
        mounts.sort_by_key(|it| std::cmp::Reverse(it.1.job()));
        for mut step in steps {
            if blocked.by(&step.path).is_none() {
                mounts.iter_mut().for_each(|it| it.1.show(&mut step));
            }
        }
        told.extend(mounts.into_iter().flat_map(|it| it.1.finish()));
        told
    }
}

/// The views of the jobs that an owner holds, each with the call that started it.
fn mounts_of(owner: OwnerClient) -> Result<Vec<(Option<u64>, JobMount)>, OwnerError> {
    let mut mounts = Vec::new();
    for (about, mount) in owner.views()? {
        // One that is gone has ended.
        if about.layer.join("upper").is_dir() {
            mounts.push((about.call, JobMount::new(about, mount)?));
        }
    }
    Ok(mounts)
}

/// Brings the views of all jobs of a workspace up to date: what was applied of them is theirs no longer.
pub fn refresh_jobs(state: &Path, root: &Path, blocked: &Blocked) {
    for owner in OwnerClient::all(state).into_iter().flatten() {
        heal(owner, root, blocked, |_| Edits::unknown());
    }
}

/// Brings the views of jobs up to date where what they were shown has changed since, and where a person has edited
/// something. Says where nobody looks for that.
pub(crate) fn heal_views(owner: OwnerClient, root: &Path, blocked: &Blocked) -> Vec<String> {
    heal(owner, root, blocked, |since| Edits::since(root, since))
}

fn heal(
    owner: OwnerClient,
    root: &Path,
    blocked: &Blocked,
    edits: impl FnOnce(i64) -> Edits,
) -> Vec<String> {
    let mut mounts = mounts_of(owner).unwrap_or_default();
    let Some(since) = mounts.iter().map(|it| it.1.since()).min() else { return Vec::new() };
    let edits = edits(since);
    let mut told = Vec::new();
    // A later job reads through the layers of earlier ones.
    mounts.sort_by_key(|it| std::cmp::Reverse(it.1.job()));
    for (_, mut mount) in mounts {
        if let Err(err) = mount.heal(root, &edits, blocked) {
            tracing::debug!("a job is not shown what has changed: {err}");
        }
        told.extend(mount.take_notes());
        for told in mount.finish() {
            tracing::debug!("{told}");
        }
    }
    told
}
