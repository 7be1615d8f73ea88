//! What a job wrote to the workspace, kept as one run that a person can apply: at its end, or while it goes on. Nothing
//! of a layer that somebody may still write to is moved: what is kept of a job that runs is a copy.

use std::{
    collections::BTreeSet,
    fs::{self, DirBuilder},
    io,
    os::unix::fs::{DirBuilderExt as _, MetadataExt as _},
    path::{Path, PathBuf},
};

use eclusa::{
    Durability, Workspace, kept_job,
    workspace::{PendingError, PendingTerms, private_file},
};
use eclusa_sandbox::{
    scan::{LayerScan, Moment, copy_layer, discard},
    while_stopped,
};

use super::{
    job_mount::{SETTLED, SHOWN, stamps_at},
    wire::JobAbout,
};
use crate::read_back;

/// Jobs are numbered from here on among the runs that are kept, beyond all calls.
const FIRST_RUN: u64 = 1 << 40;
/// Where the copy lies, in the layer of the job.
const COPY: &str = "copy";

/// Under which number what a job wrote is kept.
pub fn run_of_job(job: u64) -> u64 {
    FIRST_RUN.saturating_add(job)
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

/// What lies in a layer and is not the job's doing: it was judged before, or brought in.
pub(super) fn not_its_own(layer: &Path) -> BTreeSet<PathBuf> {
    let upper = layer.join("upper");
    let known = [SETTLED, SHOWN].into_iter().flat_map(|it| stamps_at(layer, it));
    known.filter(|(path, known)| stamp(&upper.join(path)) == *known).map(|it| it.0).collect()
}

/// Keeps what a job that has ended wrote to the workspace, and says so.
pub(super) fn keep_at_end(about: &JobAbout, job: u64, state: &Path) -> Option<String> {
    let layer = about.layer.as_ref()?;
    let (place, not_its_own) = (&layer.join("upper"), &not_its_own(layer));
    match keep(about, run_of_job(job), &Copied { place, not_its_own }, state) {
        Ok(0) => None,
        Ok(count) => {
            let paths = if count == 1 { "path" } else { "paths" };
            Some(format!(
                "its changes to {count} {paths} of the workspace are not applied; they are kept for a day: \
                 `eclusa jobs diff {job}`, `eclusa jobs apply {job}`"
            ))
        }
        Err(why) => Some(format!("its changes to the workspace are lost: {why}")),
    }
}

/// Keeps what a job that runs has written to the workspace, copied while none of its processes runs. Says how many
/// paths that are.
pub(super) fn keep_running(about: &JobAbout, job: u64, state: &Path) -> Result<usize, String> {
    let Some(layer) = &about.layer else {
        return Err(format!("job {job} writes to no layer, so nothing of it waits to be applied"));
    };
    let (upper, copy) = (layer.join("upper"), layer.join(COPY));
    let copied = try_copy(about.pid, layer, &upper, &copy);
    let kept = match copied.map_err(|err| err.to_string()) {
        Ok(Some(known)) => {
            let copied = Copied { place: &copy, not_its_own: &known };
            keep(about, run_of_job(job), &copied, state)
        }
        Ok(None) => Err(format!("the processes of job {job} could not be stopped; try again")),
        Err(why) => Err(why),
    };
    if let Err(err) = discard(&copy) {
        tracing::warn!("`{}` could not be removed: {err}", copy.display());
    }
    kept
}

fn try_copy(
    pid: i32,
    layer: &Path,
    upper: &Path,
    copy: &Path,
) -> io::Result<Option<BTreeSet<PathBuf>>> {
    new_copy(copy)?;
    let copied = while_stopped(pid, || copy_layer(upper, copy).map(|_| not_its_own(layer)));
    copied.transpose()
}

/// A place for a copy, empty.
pub(super) fn new_copy(copy: &Path) -> io::Result<()> {
    if copy.exists() {
        discard(copy)?;
    }
    DirBuilder::new().mode(0o700).create(copy)
}

/// A layer, or what was copied of one.
pub(super) struct Copied<'a> {
    pub(super) place: &'a Path,
    /// What lies there and is not the job's doing.
    pub(super) not_its_own: &'a BTreeSet<PathBuf>,
}

/// Keeps it under a number, but for what is not the job's own. Says how many paths that are.
pub(super) fn keep(
    about: &JobAbout,
    number: u64,
    Copied { place, not_its_own }: &Copied<'_>,
    state: &Path,
) -> Result<usize, String> {
    let text = |err: &dyn std::fmt::Display| err.to_string();
    let began = Moment(about.began.parse().map_err(|_| "its beginning is not known")?);
    let layer = LayerScan::open(&about.root, place, began).map_err(|err| text(&err))?;
    let mut effects = layer.scan().map_err(|err| text(&err))?;
    effects.entries.retain(|it| !not_its_own.contains(&it.path));
    let workspace = Workspace::attach(&about.root, state).map_err(|err| text(&err))?;
    // What was kept before is part of what there is now.
    match workspace.claim_pending(number) {
        Err(PendingError::Busy(_)) => {
            return Err("its earlier changes are being applied right now".to_owned());
        }
        _ => workspace.forget_pending(number),
    }
    if effects.entries.is_empty() {
        return Ok(0);
    }
    layer.release(&mut effects).map_err(|err| text(&err))?;
    let (changes, _) = read_back::changes(|path| Some(layer.staged(path)), effects);
    let about = kept_job(&about.command);
    let kept = workspace.keep_pending(number, about, &changes, PendingTerms::DISCARDED);
    kept.map(|_| changes.len()).map_err(|err| text(&err))
}
