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
pub(super) struct Halt {
    dropped: Arc<AtomicBool>,
    until: Instant,
}

impl Halt {
    /// Work that is wanted until then, or until the guard of it is dropped.
    pub(super) fn until(until: Instant) -> Halt {
        Halt { dropped: Arc::default(), until }
    }

    /// True when the call was taken back or its time is up.
    pub(super) fn is_called(&self) -> bool {
        self.dropped.load(Ordering::Relaxed) || Instant::now() >= self.until
    }
}

/// Calls the halt when the future that waits for the work is dropped.
pub(super) struct Waiting(pub(super) Halt);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.dropped.store(true, Ordering::Relaxed);
    }
}

/// Does the work where it may block, until the job is cancelled or its time is up.
pub(super) async fn blocking(
    job: &Job,
    work: impl FnOnce(&Halt) -> Result<Output, ToolError> + Send + 'static,
) -> Result<Output, ToolError> {
    let halt = Halt::until(job.deadline());
    let _waiting = Waiting(halt.clone());
    let done = tokio::task::spawn_blocking(move || {
        let output = work(&halt)?;
        // What was found by then is not all there is, and must not look like it.
        match halt.is_called() {
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
