//! Servers that answer with a task: it is followed to its end, and its end is judged.

use std::borrow::Cow;

use rmcp::{
    RoleServer,
    model::{
        CallToolRequest, CallToolResponse, CancelTaskParams, ClientRequest, ContentBlock,
        CreateTaskResult, DetailedTask, GetTaskParams, GetTaskResult, ListToolsResult,
        PaginatedRequestParams, ServerCapabilities, ServerConfig, Task, TaskPayload, TaskStatus,
        Tool, UpdateTaskParams,
    },
    service::PeerRequestOptions,
};

use super::*;

/// A server whose calls all go on as tasks. The id of a task is the name of its tool.
#[derive(Clone, Default)]
struct Tasked {
    heard: Arc<Mutex<Vec<String>>>,
}

impl Tasked {
    fn heard(&self, what: &str) -> usize {
        let mut heard = self.heard.lock().unwrap();
        heard.push(what.to_owned());
        heard.iter().filter(|it| *it == what).count()
    }

    fn has_heard(&self, what: &str) -> bool {
        self.heard.lock().unwrap().iter().any(|it| it == what)
    }
}

fn object(value: Value) -> rmcp::model::JsonObject {
    value.as_object().unwrap().clone()
}

fn said(words: &str) -> TaskPayload {
    let result = CallToolResult::success(vec![ContentBlock::text(words)]);
    TaskPayload::Completed { result: object(serde_json::to_value(result).unwrap()) }
}

fn task(id: &str) -> Task {
    Task::new(id, TaskStatus::Working, "2026-11-19T00:00:00Z", "2026-11-19T00:00:00Z")
}

impl ServerHandler for Tasked {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().enable_tasks().build())
    }

    /// The older era has no tasks.
    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Owned(vec![ProtocolVersion::V_2026_07_28])
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let names = ["ends", "asks", "fails", "hangs", "odd", "nameless", "leaks"];
        let tool = |name: &&'static str| {
            Tool::new(*name, "goes on later", Arc::new(object(json!({"type": "object"}))))
        };
        Ok(ListToolsResult::with_all_items(names.iter().map(tool).collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let id = if request.name == "nameless" { "" } else { &*request.name };
        Ok(CreateTaskResult::new(task(id).with_poll_interval_ms(1)).into())
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        let times = self.heard(&request.task_id);
        let payload = match &*request.task_id {
            "ends" if times < 3 => TaskPayload::Working,
            "ends" => said("it took a while"),
            "asks" if self.has_heard("Alice") => said("hello, Alice"),
            "asks" => {
                let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}});
                let form = json!({"mode": "form", "message": "What is your name?", "requestedSchema": schema});
                let request = json!({"name": {"method": "elicitation/create", "params": form}});
                let input_requests = serde_json::from_value(request).unwrap();
                TaskPayload::InputRequired { input_requests }
            }
            "fails" => TaskPayload::Failed {
                error: object(json!({"code": -32603, "message": "the disk is full"})),
            },
            "odd" => TaskPayload::Completed { result: object(json!({"content": 7})) },
            "leaks" => said(&format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8")),
            _ => TaskPayload::Working,
        };
        let task = task(&request.task_id).with_poll_interval_ms(1);
        Ok(GetTaskResult::new(DetailedTask::new(task, payload)))
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let answer = &request.input_responses["name"]["content"]["name"];
        self.heard(answer.as_str().unwrap_or("nobody"));
        Ok(())
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.heard(&format!("cancelled {}", request.task_id));
        Ok(())
    }
}

/// Clients of both eras, none of which knows tasks, in front of this server.
async fn stages() -> Vec<(Tasked, Stage)> {
    let mut stages = Vec::new();
    for client in [Era::Old, Era::New] {
        let server = Tasked::default();
        let serve = server.clone();
        stages.push((server, Scene::with(client, move || serve.clone()).open().await));
    }
    stages
}

#[tokio::test]
async fn a_task_is_followed_to_its_end() {
    for (server, stage) in stages().await {
        let result = stage.call(&theirs("ends"), json!({})).await;
        assert_eq!((result.is_error, text(&result).as_str()), (Some(false), "it took a while"));
        assert!(!server.has_heard("cancelled ends"));
    }
}

#[tokio::test]
async fn what_a_task_asks_is_put_to_the_client_once() {
    for (_, stage) in stages().await {
        let result = stage.call(&theirs("asks"), json!({})).await;
        assert_eq!(text(&result), "hello, Alice");
        assert_eq!(stage.person.asked(), ["asked: fixture asks: What is your name?"]);
    }
}

#[tokio::test]
async fn what_a_task_ends_with_is_judged_like_every_answer() {
    for (_, stage) in stages().await {
        let leaked = text(&stage.call(&theirs("leaks"), json!({})).await);
        assert!(leaked.contains("[redacted"), "{leaked}");
        let cases =
            [("fails", "the disk is full"), ("odd", "unreadable state"), ("nameless", "usable id")];
        for (tool, why) in cases {
            let result = stage.call(&theirs(tool), json!({})).await;
            assert!(
                result.is_error == Some(true) && text(&result).contains(why),
                "{tool}: {result:?}"
            );
        }
    }
}

#[tokio::test]
async fn a_task_that_nobody_waits_for_is_taken_back() {
    for (server, stage) in stages().await {
        let hears = async |what: &str| {
            let told = async {
                while !server.has_heard(what) {
                    tokio::task::yield_now().await;
                }
            };
            tokio::time::timeout(Duration::from_secs(60), told).await.unwrap();
        };
        let params = CallToolRequestParams::new(theirs("hangs"));
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let options = PeerRequestOptions::no_options();
        let calling = stage.client.peer().send_cancellable_request(request, options).await.unwrap();
        hears("hangs").await;
        calling.cancel(None).await.unwrap();
        hears("cancelled hangs").await;
    }
}
