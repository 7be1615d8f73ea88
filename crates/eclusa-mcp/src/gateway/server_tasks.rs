//! Tasks of servers (2026-07-28): a call that a server works on after it has answered. It is followed to
//! its end, and what it comes to is judged like every other answer; its id is known to nobody else.

use std::{collections::BTreeSet, time::Duration};

use eclusa::ToolError;
use rmcp::{
    ErrorData, RoleClient,
    model::{
        CallToolResult, CancelTaskParams, CancelTaskRequest, ClientRequest, GetTaskParams,
        GetTaskRequest, InputRequests, ServerResult, Task, TaskPayload, UpdateTaskParams,
        UpdateTaskRequest,
    },
    service::{Peer, PeerRequestOptions, ServiceError},
};
use serde_json::Value;
use tokio::runtime::Handle;

use super::{
    request::Exchange,
    sanitize::{sanitize, visible},
    upstream::Upstream,
};

/// How often a server is asked that does not say.
const POLL: Duration = Duration::from_secs(1);

/// No server is asked more often, or less often, than this.
const POLLS: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(30));

/// The longest id of a task that is taken, in bytes.
const MAX_ID_BYTES: usize = 1024;

/// So many questions one task may ask.
const MAX_QUESTIONS: usize = 10;

impl Upstream {
    /// Waits for the end of a task. The time of the call bounds it, and when nobody waits any more the
    /// server is told.
    pub(super) async fn follow(
        &self,
        task: Task,
        exchange: &mut Exchange<'_>,
    ) -> Result<ServerResult, ToolError> {
        let name = &self.settings.name;
        if task.task_id.is_empty() || task.task_id.len() > MAX_ID_BYTES {
            return Err(ToolError::new(format!(
                "the server `{name}` gave a task without a usable id"
            )));
        }
        let peer = exchange.connection.peer.clone();
        let mut guard = CancelTaskOnDrop {
            peer,
            id: Some(task.task_id.clone()),
            options: Some(self.options(exchange)),
        };
        let (mut answered, mut poll) = (BTreeSet::new(), task.poll_interval_ms);
        let mut said = String::new();
        loop {
            tokio::time::sleep(interval(poll)).await;
            let params = GetTaskParams::new(task.task_id.clone());
            let request = ClientRequest::GetTaskRequest(GetTaskRequest::new(params));
            let got = match self.exchange(request, exchange).await {
                Ok(ServerResult::GetTaskResult(got)) => got.task,
                Ok(_) => return Err(self.odd_task()),
                Err(err) => return Err(self.refused(&err, exchange.client.as_ref()).await),
            };
            poll = got.task.poll_interval_ms;
            let now = got.task.status_message.unwrap_or_default();
            if now != said {
                exchange.job.progress(0.0, &sanitize(&now));
                said = now;
            }
            match got.payload {
                TaskPayload::Working => {}
                TaskPayload::InputRequired { input_requests } => {
                    let fresh = |(key, _): &(String, _)| !answered.contains(key);
                    let fresh: InputRequests = input_requests.into_iter().filter(fresh).collect();
                    if !fresh.is_empty() {
                        answered.extend(fresh.keys().cloned());
                        if answered.len() > MAX_QUESTIONS {
                            return Err(ToolError::new(format!(
                                "the server `{name}` asked more than {MAX_QUESTIONS} questions about one call"
                            )));
                        }
                        self.answer_task(&task.task_id, fresh, exchange).await?;
                    }
                }
                TaskPayload::Completed { result } => {
                    guard.id = None;
                    let result: Result<CallToolResult, _> =
                        serde_json::from_value(Value::Object(result));
                    return result.map(ServerResult::CallToolResult).map_err(|_| self.odd_task());
                }
                TaskPayload::Failed { error } => {
                    guard.id = None;
                    let error = serde_json::from_value::<ErrorData>(Value::Object(error));
                    let error = ServiceError::McpError(error.map_err(|_| self.odd_task())?);
                    return Err(self.refused(&error, exchange.client.as_ref()).await);
                }
                _ => {
                    guard.id = None;
                    let why = if said.is_empty() {
                        String::new()
                    } else {
                        format!(": {}", visible(said))
                    };
                    return Err(ToolError::new(format!(
                        "the server `{name}` gave the call up{why}"
                    )));
                }
            }
        }
    }

    /// Puts what a task asks to the client of the call, and gives the server the answers.
    async fn answer_task(
        &self,
        id: &str,
        requests: InputRequests,
        exchange: &mut Exchange<'_>,
    ) -> Result<(), ToolError> {
        let asking = exchange.job.asking();
        let said = self.ask_client(exchange.client.as_ref(), requests, asking.time()).await;
        drop(asking);
        let said = said.map_err(|err| ToolError::new(err.message.into_owned()))?;
        let params = UpdateTaskParams::new(id, said);
        let request = ClientRequest::UpdateTaskRequest(UpdateTaskRequest::new(params));
        match self.exchange(request, exchange).await {
            Ok(_) => Ok(()),
            Err(err) => Err(self.refused(&err, exchange.client.as_ref()).await),
        }
    }

    fn odd_task(&self) -> ToolError {
        let name = &self.settings.name;
        ToolError::new(format!("the server `{name}` sent an unreadable state of its task"))
    }
}

fn interval(poll: Option<u64>) -> Duration {
    poll.map_or(POLL, Duration::from_millis).clamp(POLLS.0, POLLS.1)
}

/// Takes a task back when nobody waits for it any more.
struct CancelTaskOnDrop {
    peer: Peer<RoleClient>,
    id: Option<String>,
    /// What goes with every request: without it a server takes us for a client that knows no tasks.
    options: Option<PeerRequestOptions>,
}

impl Drop for CancelTaskOnDrop {
    fn drop(&mut self) {
        if let (Some(id), Some(options)) = (self.id.take(), self.options.take())
            && let Ok(runtime) = Handle::try_current()
        {
            let peer = self.peer.clone();
            let params = CancelTaskParams::new(id);
            let request = ClientRequest::CancelTaskRequest(CancelTaskRequest::new(params));
            // An error means that the server is gone.
            runtime.spawn(async move {
                drop(peer.send_cancellable_request(request, options).await);
            });
        }
    }
}
