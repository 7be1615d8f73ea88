//! The end of a job, signed like an answer.

use hyper::{Request, StatusCode, body::Incoming};
use serde_json::json;

use super::{Answer, PageServer, Session, answers::done, text};
use crate::proof::end_job_statement;

impl PageServer {
    /// Ends a job.
    pub(super) async fn end_job(&self, request: Request<Incoming>, session: &Session) -> Answer {
        let taken = match self.taken(request, session, end_job_statement).await {
            Ok((taken, _)) => taken,
            Err(refusal) => return refusal,
        };
        match self.workspaces.end_job(&taken.workspace, taken.number).await {
            Ok(said) => done(json!({"undone": said})),
            Err(why) => text(StatusCode::CONFLICT, &why),
        }
    }
}
