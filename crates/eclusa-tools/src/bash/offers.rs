//! The end of a command: what jobs of its session have written and rules let pass unasked is applied.

use std::path::PathBuf;

use eclusa::{Changes, Job, Stop};

use super::Bash;
use crate::owner::{OwnerClient, forget_offer, offer_of_job, offered_paths, refresh_jobs};

impl Bash {
    /// Applies what jobs of the session have written since the last look, as far as rules let it pass unasked and
    /// the command has not written it too. The rest stays with the jobs; what could not be applied is tried again.
    pub(super) async fn take_offers(&self, own: &Changes, job: &Job) {
        for (number, _) in self.sandboxes.jobs_that_run(job.session()) {
            if let Err(why) = self.take_offer(number, own, job).await {
                tracing::debug!("what job {number} has written is not applied: {why}");
            }
        }
    }

    async fn take_offer(&self, number: u64, own: &Changes, job: &Job) -> Result<(), String> {
        let settings = self.sandboxes.settings();
        let (state, root) = (settings.state.clone(), settings.root.clone());
        let session = job.session().to_owned();
        let offered = {
            let (state, root) = (state.clone(), root.clone());
            blocking(move || {
                let owner =
                    OwnerClient::connect(&state, &session).map_err(|err| err.to_string())?;
                let Some(owner) = owner else { return Ok(Vec::new()) };
                match owner.offer(number).map_err(|err| err.to_string())? {
                    0 => Ok(Vec::new()),
                    _ => Ok::<Vec<PathBuf>, String>(offered_paths(&state, &root, number)),
                }
            })
            .await??
        };
        if offered.is_empty() {
            return Ok(());
        }
        let both = offered.iter().any(|it| own.get(it).is_some());
        let taken = if both { None } else { job.take_unasked(offer_of_job(number)).await };
        // What could not be applied at this moment is offered again.
        let judged = taken
            .as_ref()
            .is_some_and(|it| !it.is_error() || matches!(it.stop(), Some(Stop::Discarded(_))));
        let applied = taken.is_some_and(|it| !it.is_error());
        let session = job.session().to_owned();
        let blocked = settings.blocked.clone();
        blocking(move || {
            forget_offer(&state, &root, number);
            if judged && let Ok(Some(owner)) = OwnerClient::connect(&state, &session) {
                let _ = owner.note_judged(number);
            }
            if applied {
                refresh_jobs(&state, &root, &blocked);
            }
        })
        .await
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, String> {
    tokio::task::spawn_blocking(work).await.map_err(|_| "the thread that looked crashed".to_owned())
}
