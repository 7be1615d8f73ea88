//! What a client asks of its tasks: how far one is, what it answers, and that it is taken back.

use std::sync::Arc;

use futures::FutureExt as _;
use rmcp::{
    ErrorData, RoleServer,
    model::{
        ClientCapabilities, DetailedTask, GetTaskResult, InputResponses, JsonObject, Task,
        TaskPayload,
    },
    service::RequestContext,
};
use serde::Serialize;
use serde_json::Value;

use crate::{
    client::ClientQuestion,
    era::Era,
    server::{
        call::Call,
        handler::Server,
        tasks::{EndedTask, TaskEntry, TaskOwner, TaskView},
    },
};

/// True when the client of a request can be given a task. Only the newer era has them.
pub(super) fn knows_tasks(context: &RequestContext<RoleServer>) -> bool {
    let declared =
        context.client_capabilities().as_ref().is_some_and(ClientCapabilities::supports_tasks);
    declared && Era::of_request(context) == Era::Stateless
}

impl Server {
    /// Has a call go on as a task of the client that made it.
    pub(super) fn begin_task(
        &self,
        principal: &Arc<str>,
        (call, asked): (Call, Option<ClientQuestion>),
        context: &RequestContext<RoleServer>,
    ) -> Result<Task, ErrorData> {
        let owner = self.task_owner(principal, context);
        let (shared, session) = (self.shared.clone(), owner.session.clone());
        let begun = self.shared.tasks.begin(owner, call, asked, move |reply| {
            if reply.aborted() {
                shared.end_turn(&session);
            }
        });
        begun.map_err(|err| ErrorData::internal_error(format!("the call cannot wait: {err}"), None))
    }

    fn task_owner(&self, principal: &Arc<str>, context: &RequestContext<RoleServer>) -> TaskOwner {
        TaskOwner { principal: principal.clone(), session: self.session(context) }
    }

    async fn find_task(
        &self,
        id: &str,
        context: &RequestContext<RoleServer>,
    ) -> Result<Arc<TaskEntry>, ErrorData> {
        let gate = self.shared.gate().await?;
        let owner = self.task_owner(&gate.run().principal, context);
        self.shared.tasks.find(&owner, id).ok_or_else(|| {
            let problem = "there is no task by this id: its time is over, another client has it, or it \
                           ended with the server; make the call again";
            ErrorData::invalid_params(problem, None)
        })
    }

    /// How far a task is: what it asks, or the result of its call.
    pub(super) async fn task(
        &self,
        id: &str,
        context: &RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        let task = self.find_task(id, context).await?;
        let payload = match task.view() {
            TaskView::Works => TaskPayload::Working,
            TaskView::Asks(input_requests) => TaskPayload::InputRequired { input_requests },
            TaskView::Ended(EndedTask { taken_back: true, .. }) => TaskPayload::Cancelled,
            TaskView::Ended(EndedTask { reply, side_results, .. }) => {
                let gate = self.shared.gate().await?;
                let result = self.result_of(&gate, &reply, &side_results, context).boxed();
                match result.await {
                    Ok(result) => TaskPayload::Completed { result: object(&result)? },
                    Err(error) => TaskPayload::Failed { error: object(&error)? },
                }
            }
        };
        let about = task.task(payload.status());
        Ok(GetTaskResult::new(DetailedTask::new(about, payload)))
    }

    /// Answers to what a task asks.
    pub(super) async fn answer_task(
        &self,
        id: &str,
        said: &InputResponses,
        context: &RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.find_task(id, context).await?.answer(said);
        Ok(())
    }

    /// Takes the call of a task back.
    pub(super) async fn cancel_task_of(
        &self,
        id: &str,
        context: &RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.find_task(id, context).await?.cancel();
        Ok(())
    }
}

fn object(it: &impl Serialize) -> Result<JsonObject, ErrorData> {
    match serde_json::to_value(it) {
        Ok(Value::Object(object)) => Ok(object),
        _ => Err(ErrorData::internal_error("the answer cannot be written", None)),
    }
}
