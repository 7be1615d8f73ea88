//! Time that is not a tool's: a person is asked, or what it did is read.

use std::time::Duration;

use tokio::time::Instant;

use super::Job;

/// How long it may take to read what a tool changed: some hundred thousand files on a busy machine.
const READING_BACK: Duration = Duration::from_secs(600);

impl Job {
    /// Somebody is asked something for the call, by the tool itself. Until this is dropped, the
    /// time is a person's and not the tool's, for as long as a person has to answer.
    pub fn asking(&self) -> Asking<'_> {
        let time = self.gate.time_to_answer();
        self.until.send_modify(|until| *until += time);
        Asking { job: self, time, since: Instant::now() }
    }

    /// What the tool ran has ended, and what it changed is read. Until this is dropped, the time is not the
    /// tool's, for as long as reading much of it may take.
    pub fn reading_back(&self) -> Asking<'_> {
        self.until.send_modify(|until| *until += READING_BACK);
        Asking { job: self, time: READING_BACK, since: Instant::now() }
    }
}

/// Time that is not a tool's: a person is asked something for a call that runs, or what it did is read.
#[must_use = "the tool's time runs on when it is dropped"]
pub struct Asking<'a> {
    job: &'a Job,
    time: Duration,
    since: Instant,
}

impl Asking<'_> {
    /// How long that may take.
    pub fn time(&self) -> Duration {
        self.time
    }
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        let rest = self.time.saturating_sub(self.since.elapsed());
        self.job.until.send_modify(|until| *until -= rest);
    }
}
