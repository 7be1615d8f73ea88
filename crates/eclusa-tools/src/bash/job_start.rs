//! What goes on after a call: handed to the owner of the session, and told.

use std::time::Duration;

use eclusa::{Job, Output, ToolError};

use super::{Bash, JobView, report};
use crate::{
    owner::{HeldJob, JobHome, OutputSlot},
    sandboxes::{CommandOrder, Ran, RunError},
};

impl Bash {
    /// Has what a command left running go on, and says what became of it.
    pub(super) async fn keep_left(&self, ran: &mut Ran, job: &Job) {
        if let Some(left) = ran.left.take() {
            let kept = self.keep(left, job).await;
            ran.notes.push(kept.map_or_else(
                |err| format!("the processes that it left were ended: {err}"),
                |view| format!("{}; {}", view.goes_on(), self.hint(&view)),
            ));
        }
        let (left, settings) = (ran.exit.left, self.sandboxes.settings());
        let most = settings.job_processes.filter(|_| settings.jobs != JobHome::Nowhere);
        match most.filter(|most| usize::try_from(*most).is_ok_and(|it| left > it)) {
            Some(most) => ran.notes.push(report::too_many_left(left, most)),
            None if left > 0 => ran.notes.push(report::ended_left(left)),
            None => {}
        }
    }

    /// Starts a command that goes on.
    pub(super) async fn start_job(
        &self,
        order: CommandOrder,
        job: &Job,
    ) -> Result<Output, ToolError> {
        let (sandboxes, slot) = (self.sandboxes.clone(), OutputSlot::default());
        let sink = slot.clone();
        // A year is as good as no limit, and can be added to any clock.
        let order = CommandOrder { time: Duration::from_secs(365 * 86_400), ..order };
        let started = tokio::task::spawn_blocking(move || {
            let running = sandboxes.start(&order, move |bytes| sink.add(bytes))?;
            Ok::<_, RunError>(running.into_job(slot))
        });
        let crashed = |_| ToolError::new("the thread that started it crashed");
        let started = started.await.map_err(crashed)?;
        let started = started.map_err(|err| ToolError::new(err.to_string()))?;
        match started {
            Ok(held) => {
                let view = self.keep(held, job).await.map_err(ToolError::new)?;
                Ok(report::started(&view, &self.hint(&view), &self.sandboxes))
            }
            Err(ended) => Err(ToolError::new(match &ended.0 {
                Some(exit) => {
                    format!("it ended at once, with {}{}", report::how(exit), report::said(exit))
                }
                None => ended.1.to_string(),
            })),
        }
    }

    /// Has a job held by the owner of the session, and looks how it begins.
    async fn keep(&self, held: HeldJob, job: &Job) -> Result<JobView, String> {
        let (background, session) = (self.background.clone(), job.session().to_owned());
        let call = job.number();
        let kept = tokio::task::spawn_blocking(move || background.keep(&session, held, call));
        let kept = kept.await.map_err(|_| "the thread that kept it crashed".to_owned())?;
        kept.map_err(|err| err.to_string())
    }

    /// How the model learns more of a job.
    fn hint(&self, view: &JobView) -> String {
        let id = view.record.job;
        match self.sandboxes.settings().jobs {
            JobHome::Here | JobHome::Nowhere => {
                format!("`jobs` with {{\"action\": \"read\", \"id\": {id}}} reads its output")
            }
            JobHome::Apart { .. } => {
                let reach = match (&view.record.log, view.runs()) {
                    (Some(log), true) => format!("reach it, and read its output with `tail {log}`"),
                    (Some(log), false) => format!("read its output with `tail {log}`"),
                    (None, _) => "reach it while it runs".to_owned(),
                };
                format!(
                    "later commands of this session {reach}; a person reads it with `eclusa jobs output {id}` and \
                     ends it with `eclusa jobs end {id}`"
                )
            }
        }
    }
}
