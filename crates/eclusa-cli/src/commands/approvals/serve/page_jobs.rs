//! Jobs as the page shows and ends them.

use std::path::{Path, PathBuf};

use eclusa::Redactor;
use eclusa_approvals::JobEntry;
use eclusa_tools::{JobRecords, JobView, OwnerClient, jobs_of};

/// How much of what a job printed is shown: the last part.
const MAX_SHOWN: usize = 64 << 10;

/// The jobs of a workspace.
pub(super) fn jobs(state: &Path) -> Vec<JobEntry> {
    jobs_of(state).iter().map(entry).collect()
}

fn entry(job: &JobView) -> JobEntry {
    let record = &job.record;
    JobEntry {
        number: record.job,
        session: record.session.clone(),
        command: record.command.clone(),
        call: record.call,
        since: record.since.saturating_mul(1000),
        state: job.state(),
        runs: job.runs(),
    }
}

/// The last part of what a job has printed. What is redacted is redacted in all that is kept: a part of a secret is
/// none that anybody would know.
pub(super) fn output(state: &Path, job: u64, redactor: &Redactor) -> Option<String> {
    let (bytes, ..) = JobRecords::new(state).output(job, 0).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let text = redactor.text(&text).0;
    let start = text.len().saturating_sub(MAX_SHOWN);
    let start = (start..=text.len()).find(|it| text.is_char_boundary(*it))?;
    text.get(start..).map(str::to_owned)
}

/// Ends a job, and says how it ended.
pub(super) async fn end(state: PathBuf, job: u64) -> Result<String, String> {
    let end = move || {
        let find = || jobs_of(&state).into_iter().find(|it| it.record.job == job);
        let none = || format!("there is no job {job}");
        let view = find().ok_or_else(none)?;
        let owner = OwnerClient::connect(&state, &view.record.session);
        if let Some(owner) = owner.map_err(|err| err.to_string())?.filter(|_| view.runs()) {
            owner.end(Some(vec![job])).map_err(|err| err.to_string())?;
        }
        Ok(format!("job {job} {}", find().ok_or_else(none)?.state()))
    };
    let ended = tokio::task::spawn_blocking(end).await;
    ended.map_err(|_| "the thread that ended the job crashed".to_owned())?
}
