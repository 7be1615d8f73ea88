//! The end of a job: waited for, and put on record with what became of what it wrote.

use std::{path::Path, sync::PoisonError};

use eclusa_sandbox::{Ended, Exit, How, Sandbox};

use super::{
    held_job::{JobInside, tidy},
    kept_run::keep_at_end,
    records::{JobRecord, JobRecords, LostBytes},
    wire::JobAbout,
};

/// Waits for the end of a job, and puts on record what became of it. Its view is closed before its layer goes.
pub(super) fn watch_job(
    sandbox: Sandbox,
    close_view: impl FnOnce(),
    inside: &JobInside,
    (records, state): (&JobRecords, &Path),
    record: JobRecord,
    lost: &LostBytes,
) {
    let about = &inside.about;
    let ended = match sandbox.wait() {
        Ok(exit) => in_words(&exit, about),
        Err(err) => err.to_string(),
    };
    let ended = lost.told().map_or_else(|| ended.clone(), |lost| format!("{ended}; {lost}"));
    close_view();
    // Whoever copies from its layer comes first.
    let keeping = inside.keeping.lock().unwrap_or_else(PoisonError::into_inner);
    let changes = keep_at_end(about, record.job, state);
    tidy(about);
    drop(keeping);
    let record = JobRecord { ended: Some(ended), changes, layer: None, ..record };
    if let Err(err) = records.write(&record) {
        tracing::warn!("the end of job {} is not on record: {err}", record.job);
    }
}

/// How a job ended. Of what a command left nobody knows with which code.
fn in_words(exit: &Exit, about: &JobAbout) -> String {
    let is_left = about.is_left;
    let how = match exit.how {
        _ if is_left && exit.ended == Some(Ended::Cancelled) => "was ended".to_owned(),
        _ if is_left => "ended".to_owned(),
        How::Code(code) => format!("ended with exit code {code}"),
        How::Signal(signal) => format!("ended by signal {signal}"),
    };
    match exit.ended {
        Some(Ended::Memory) => {
            format!("{how}: it used more memory than `commands.memory` allows")
        }
        Some(Ended::Disk) => {
            format!("{how}: it wrote more than `commands.disk` allows, or the disk is nearly full")
        }
        Some(Ended::Processes) => {
            let most = about.processes.unwrap_or_default();
            format!(
                "{how}: it had more than {most} processes; `commands.job_processes` in eclusa.toml lets jobs have more"
            )
        }
        _ => how,
    }
}
