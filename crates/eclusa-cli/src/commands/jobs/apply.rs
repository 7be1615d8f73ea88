//! `eclusa jobs diff` and `eclusa jobs apply`: what a job wrote to the workspace, kept as one run and applied by a person.

use eclusa::workspace::{Bounds, Diff, PendingError};
use eclusa_tools::{OwnerClient, refresh_jobs, run_of_job};
use serde_json::json;

use super::{super::changes, found};
use crate::{
    context::AppContext,
    failure::{Exit, Failure},
    screen::Screen,
};

/// Shows what a job has written and nobody has applied.
pub(super) fn diff(ctx: &AppContext, job: u64, json: bool) -> Result<Exit, Failure> {
    let Some(run) = kept(ctx, job)? else { return nothing(job, json) };
    let workspace = ctx.workspace()?;
    let changes = workspace.pending_run(run).map_err(Failure::failed)?.changes;
    let diff = Diff::of(&changes, &workspace, Bounds::default());
    let mut screen = Screen::stdout();
    match json {
        true => screen.json(&json!({"job": job, "changes": diff.json()}))?,
        false => changes::print_patch(&diff, &mut screen)?,
    }
    screen.flush()?;
    Ok(Exit::Done)
}

/// Applies it. The job goes on, if it runs.
pub(super) async fn apply(ctx: &AppContext, job: u64, json: bool) -> Result<Exit, Failure> {
    let Some(run) = kept(ctx, job)? else { return nothing(job, json) };
    let applied = changes::apply::run(ctx, run, json).await;
    refresh_jobs(&ctx.paths.undo(), &ctx.paths.workspace, &ctx.config.blocked);
    applied
}

/// The run that is kept of a job, as it is now. `None`: there is nothing to apply.
fn kept(ctx: &AppContext, job: u64) -> Result<Option<u64>, Failure> {
    let (state, run) = (ctx.paths.undo(), run_of_job(job));
    let view = found(&state, job)?;
    if view.runs() {
        let owner = OwnerClient::connect(&state, &view.record.session).map_err(Failure::failed)?;
        let ending = || Failure::failed(format!("job {job} is ending; try again"));
        let count = owner.ok_or_else(ending)?.keep(job).map_err(Failure::failed)?;
        return Ok((count > 0).then_some(run));
    }
    match ctx.workspace()?.pending_run(run) {
        Ok(_) => Ok(Some(run)),
        Err(PendingError::Unknown(_)) => Ok(None),
        Err(PendingError::Applied { by, .. }) => {
            Err(Failure::failed(format!("what job {job} wrote is applied already, as call {by}")))
        }
        Err(err) => Err(Failure::failed(err)),
    }
}

fn nothing(job: u64, json: bool) -> Result<Exit, Failure> {
    let mut screen = Screen::stdout();
    match json {
        true => screen.json(&json!({"job": job, "changes": []}))?,
        false => screen.line(&format!("job {job} has written nothing that waits to be applied"))?,
    }
    screen.flush()?;
    Ok(Exit::Done)
}
