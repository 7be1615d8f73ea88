//! Looking takes a thread of its own, and stops when nobody waits for the answer any more.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};

use eclusa::{Job, Output, ToolError};

/// Whether the work is still wanted. A clone is the same.
#[derive(Debug, Clone)]
pub(super) struct Cancel {
    dropped: Arc<AtomicBool>,
    until: Instant,
}

impl Cancel {
    /// Work that is wanted until then, or until the guard of it is dropped.
    pub(super) fn until(until: Instant) -> Cancel {
        Cancel { dropped: Arc::default(), until }
    }

    /// True when the call was taken back or its time is up.
    pub(super) fn is_called(&self) -> bool {
        self.dropped.load(Ordering::Relaxed) || Instant::now() >= self.until
    }
}

/// Calls the halt when the future that waits for the work is dropped.
pub(super) struct HaltOnDrop(pub(super) Cancel);

impl Drop for HaltOnDrop {
    fn drop(&mut self) {
        self.0.dropped.store(true, Ordering::Relaxed);
    }
}

/// Does the work where it may block, until the job is cancelled or its time is up.
pub(super) async fn blocking(
    job: &Job,
    work: impl FnOnce(&Cancel) -> Result<Output, ToolError> + Send + 'static,
) -> Result<Output, ToolError> {
    let cancel = Cancel::until(job.deadline());
    let _waiting = HaltOnDrop(cancel.clone());
    let done = tokio::task::spawn_blocking(move || {
        let output = work(&cancel)?;
        // What was found by then is not all there is, and must not look like it.
        match cancel.is_called() {
            true => Err(ToolError::new("time is up; narrow `path` or `glob` and try again")),
            false => Ok(output),
        }
    });
    match done.await {
        Ok(done) => done,
        Err(failed) => match failed.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => Err(ToolError::new("the program is shutting down; nothing was searched")),
        },
    }
}
