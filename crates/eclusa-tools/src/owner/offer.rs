//! What a job that runs has written since the last look, copied while it stands still for a moment, so that rules can
//! let it pass unasked. Nobody decides here: whoever asks for it takes what rules let pass, and leaves the rest.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use eclusa::Workspace;
use eclusa_sandbox::{
    scan::{copy_layer_parts, discard, list_layer},
    while_stopped_until,
};

use super::{
    job_mount::stamp,
    kept_run::{Copied, keep, new_copy, not_its_own},
    wire::JobAbout,
};

/// For how long a job stands still at most, with the copy.
const STANDS: Duration = Duration::from_millis(50);
/// The most names of a layer that are looked at: more waits for the end of the job.
const MAX_NAMES: usize = 20_000;
/// Offers are numbered from here on among the runs that are kept.
const FIRST_OFFER: u64 = 1 << 41;
/// Where the copy lies, in the layer of the job.
const COPY: &str = "offer";

/// Under which number what a job has written lately is kept.
pub(crate) fn offer_of_job(job: u64) -> u64 {
    FIRST_OFFER.saturating_add(job)
}

/// What was offered of a job before: each path with what tells it from a later version.
#[derive(Debug, Default)]
pub(super) struct Offered {
    /// What rules have judged.
    judged: BTreeMap<PathBuf, String>,
    /// What was offered last, and nobody has said what became of it.
    last: BTreeMap<PathBuf, String>,
}

impl Offered {
    /// Rules have judged what was offered last: the same is not offered again.
    pub(super) fn note_judged(&mut self) {
        self.judged.append(&mut self.last);
    }
}

/// Keeps what a job that runs has written since the last look, and says how many paths that are. What cannot be
/// copied in time waits for its end.
pub(super) fn offer(
    about: &JobAbout,
    job: u64,
    offered: &mut Offered,
    state: &Path,
) -> Result<usize, String> {
    let Some(layer) = &about.layer else { return Ok(0) };
    let (upper, copy) = (layer.join("upper"), layer.join(COPY));
    let text = |err: io::Error| err.to_string();
    let Some(listed) = list_layer(&upper, MAX_NAMES).map_err(text)? else { return Ok(0) };
    let known = not_its_own(layer);
    let mut fresh: BTreeMap<PathBuf, String> =
        listed.into_iter().map(|(path, it)| (path, stamp(Some(&it)))).collect();
    fresh.retain(|path, it| !known.contains(path) && offered.judged.get(path) != Some(it));
    if fresh.is_empty() {
        return Ok(0);
    }
    let wanted: BTreeSet<PathBuf> = fresh.keys().cloned().collect();
    new_copy(&copy).map_err(text)?;
    let until = Instant::now() + STANDS;
    let copied =
        while_stopped_until(about.pid, until, || copy_layer_parts(&upper, &copy, &wanted, until));
    let kept = match copied {
        Some(Ok(_)) => {
            offered.last = fresh;
            let copied = Copied { place: &copy, not_its_own: &known };
            let kept = keep(about, offer_of_job(job), &copied, state);
            if kept == Ok(0) {
                // It is what the workspace has.
                offered.note_judged();
            }
            kept
        }
        Some(Err(err)) if err.kind() != io::ErrorKind::TimedOut => Err(err.to_string()),
        _ => Ok(0),
    };
    if let Err(err) = discard(&copy) {
        tracing::warn!("`{}` could not be removed: {err}", copy.display());
    }
    kept
}

/// What is offered of a job, by its paths.
pub(crate) fn offered_paths(state: &Path, root: &Path, job: u64) -> Vec<PathBuf> {
    let run =
        Workspace::attach(root, state).ok().and_then(|it| it.pending_run(offer_of_job(job)).ok());
    run.map_or_else(Vec::new, |run| run.changes.iter().map(|it| it.path.clone()).collect())
}

/// Forgets what was offered of a job: what was not taken of it is still in its layer.
pub(crate) fn forget_offer(state: &Path, root: &Path, job: u64) {
    if let Ok(workspace) = Workspace::attach(root, state) {
        workspace.forget_pending(offer_of_job(job));
    }
}
