//! The gateway between a client and a server that are in memory, each in either era.

use std::{
    path::Path,
    sync::{Arc, Mutex},
    time::Duration,
};

use eclusa::{
    Decision, Gate, MemoryLog, Registry, Rule, Rules,
    settings::{Endpoint, ServerPermission, ServerSettings},
};
use futures::future::BoxFuture;
use rmcp::{
    ClientHandler, ErrorData, RoleClient, ServerHandler, ServiceExt as _,
    model::{
        CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig,
        CreateMessageRequestParams, CreateMessageResult, ElicitRequestParams, ElicitResult,
        ElicitationAction, Implementation, ListRootsResult, LoggingMessageNotificationParam,
        ProgressNotificationParam, ProtocolVersion, ResourceUpdatedNotificationParam,
        SamplingMessage,
    },
    service::{
        ClientLifecycleMode, NotificationContext, RequestContext, RunningService,
        serve_client_with_lifecycle, serve_directly,
    },
};
use serde_json::{Value, json};
use tokio::io::DuplexStream;

use super::{
    Credentials, Gateway, GatewaySetup, LaunchedServer, Launcher, PinStore, PinnedDefinitions,
    ServerProcess, ServerStatus,
};
use crate::{
    client::ThroughClient,
    server::{Pipe, Server, ServerState, StartedGate, Startup, WaitLimits},
};

mod elicitation;
mod notifications;
mod policy;
mod resources;
mod slow;
mod tasks;

#[path = "../../examples/fixture/server.rs"]
mod fixture;

/// The two eras of the protocol.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Era {
    Old,
    New,
}

/// Every client with every server.
const ERAS: [(Era, Era); 4] =
    [(Era::Old, Era::Old), (Era::Old, Era::New), (Era::New, Era::Old), (Era::New, Era::New)];

/// What a test is about.
struct Scene {
    client: Era,
    can: Value,
    settings: ServerSettings,
    /// A second server, which is the same under another name.
    second: Option<&'static str>,
    rules: Vec<Rule>,
    plain: bool,
    asks: bool,
    serve: Arc<Serve>,
    pins: Arc<MemoryPins>,
    registry: Arc<Registry>,
}

impl Scene {
    /// The fixture behind a gate that lets everything of it through.
    fn new((client, server): (Era, Era)) -> Scene {
        let state = Arc::new(fixture::State::new(server == Era::Old));
        Scene::with(client, move || fixture::Fixture::new(state.clone()))
    }

    /// Another server.
    fn with<S: ServerHandler>(
        client: Era,
        server: impl Fn() -> S + Send + Sync + 'static,
    ) -> Scene {
        let rule = Rule::new(Decision::Allow).server(["fixture"]).unwrap().tainted();
        Scene {
            client,
            can: json!({"elicitation": {}, "sampling": {}, "roots": {}}),
            settings: ServerSettings::new("fixture", Endpoint::Command(Vec::new())),
            second: None,
            rules: vec![rule],
            plain: false,
            asks: false,
            serve: Arc::new(move |_, pipe| {
                let server = server();
                tokio::spawn(async move {
                    if let Ok(running) = server.serve(tokio::io::split(pipe)).await {
                        let _ = running.waiting().await;
                    }
                });
            }),
            pins: Arc::default(),
            registry: Arc::new(Registry::new()),
        }
    }

    fn may(mut self, ask: ServerPermission) -> Scene {
        self.settings.may.push(ask);
        self
    }

    /// Opened, with every server up.
    async fn open(&self) -> Stage {
        let stage = self.open_at_once().await;
        stage.gateway.ready().await;
        stage
    }

    async fn open_at_once(&self) -> Stage {
        let rules = Rules::new(self.rules.clone(), Path::new("/nowhere"));
        let log = Arc::new(MemoryLog::default());
        let mut setup =
            Gate::builder().registry(self.registry.clone()).policy(rules).log(log.clone());
        if self.asks {
            setup = setup.approver(ThroughClient);
        }
        let world = GatewaySetup {
            registry: self.registry.clone(),
            launcher: Arc::new(InMemory(self.serve.clone())),
            pins: self.pins.clone(),
            keys: Arc::new(NoCredentials),
            names: std::iter::once(&*self.settings.name)
                .chain(self.second)
                .map(Into::into)
                .collect(),
            plain: self.plain,
        };
        let second = self.second.map(|name| {
            let name = name.to_owned();
            ServerSettings { name, ..self.settings.clone() }
        });
        let servers = std::iter::once(self.settings.clone()).chain(second).collect();
        let gateway = Gateway::open(servers, world);
        let opened = StartedGate { gate: setup.build().unwrap(), gateway: Some(gateway.clone()) };
        let shared = ServerState::new(Startup::ready(opened), WaitLimits::default()).unwrap();
        let (client, person) = self.connect(shared.clone(), self.client).await;
        Stage { client, person, gateway, log, shared }
    }

    /// Another client of the same gateway.
    async fn join(&self, stage: &Stage, era: Era) -> Stage {
        let (client, person) = self.connect(stage.shared.clone(), era).await;
        let (gateway, log, shared) =
            (stage.gateway.clone(), stage.log.clone(), stage.shared.clone());
        Stage { client, person, gateway, log, shared }
    }

    async fn connect(
        &self,
        shared: Arc<ServerState>,
        era: Era,
    ) -> (RunningService<RoleClient, Person>, Person) {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let (read, write) = tokio::io::split(theirs);
        let pipe = Pipe::new(read, write, shared.clone());
        let running = serve_directly(Server::new(shared).unwrap(), pipe, None);
        tokio::spawn(running.waiting());
        let person = Person {
            can: serde_json::from_value(self.can.clone()).unwrap(),
            heard: Arc::default(),
            news: Arc::default(),
        };
        let lifecycle = match era {
            Era::Old => ClientLifecycleMode::Initialize,
            Era::New => ClientLifecycleMode::Discover {
                preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            },
        };
        let ends = tokio::io::split(ours);
        let client = serve_client_with_lifecycle(person.clone(), ends, lifecycle).await.unwrap();
        (client, person)
    }
}

/// A client that is connected.
struct Stage {
    client: RunningService<RoleClient, Person>,
    person: Person,
    gateway: Arc<Gateway>,
    log: Arc<MemoryLog>,
    shared: Arc<ServerState>,
}

impl Stage {
    async fn call(&self, tool: &str, args: Value) -> CallToolResult {
        self.try_call(tool, args).await.unwrap()
    }

    async fn try_call(
        &self,
        tool: &str,
        args: Value,
    ) -> Result<CallToolResult, rmcp::ServiceError> {
        let mut params = CallToolRequestParams::new(tool.to_owned());
        params.arguments = args.as_object().cloned();
        let calling = self.client.call_tool(params);
        tokio::time::timeout(Duration::from_secs(60), calling).await.unwrap()
    }

    fn condition(&self) -> ServerStatus {
        self.gateway.conditions().remove(0)
    }

    /// Waits until the client has heard this.
    async fn heard(&self, what: &str) -> String {
        let hearing = async {
            loop {
                let news = self.person.news.notified();
                if let Some(it) = self.person.said().into_iter().find(|it| it.contains(what)) {
                    return it;
                }
                news.await;
            }
        };
        let heard = tokio::time::timeout(Duration::from_secs(60), hearing).await;
        heard.unwrap_or_else(|_| panic!("`{what}` was not heard, but {:?}", self.person.said()))
    }
}

/// What a tool of the fixture is called at the gate.
fn theirs(tool: &str) -> String {
    super::tool_name("fixture", tool)
}

/// The text of a result.
fn text(result: &CallToolResult) -> String {
    let texts = result.content.iter().filter_map(|it| it.as_text());
    texts.map(|it| it.text.clone()).collect::<Vec<_>>().join("\n")
}

/// The client's side, with somebody who answers everything.
#[derive(Clone)]
struct Person {
    can: ClientCapabilities,
    heard: Arc<Mutex<Vec<String>>>,
    news: Arc<tokio::sync::Notify>,
}

impl Person {
    fn hears(&self, what: String) {
        self.heard.lock().unwrap().push(what);
        self.news.notify_waiters();
    }

    fn said(&self) -> Vec<String> {
        self.heard.lock().unwrap().clone()
    }

    /// What it was asked, without what it was told.
    fn asked(&self) -> Vec<String> {
        let asks =
            |it: &String| ["asked", "sampled", "roots"].iter().any(|ask| it.starts_with(ask));
        self.said().into_iter().filter(asks).collect()
    }
}

impl ClientHandler for Person {
    fn get_info(&self) -> ClientConfig {
        ClientConfig::new(self.can.clone(), Implementation::new("person", "1"))
    }

    async fn create_elicitation(
        &self,
        asked: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let asked = serde_json::to_value(asked).unwrap();
        self.hears(format!("asked: {}", asked["message"].as_str().unwrap()));
        let answers = json!({"name": "Alice", "color": "blue", "ok": true, "answer": "yes"});
        Ok(ElicitResult::new(ElicitationAction::Accept).with_content(answers))
    }

    async fn create_message(
        &self,
        asked: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        let by = asked.system_prompt.unwrap_or_default();
        self.hears(format!("sampled: {by}: {}", serde_json::to_value(asked.messages).unwrap()));
        let message = SamplingMessage::assistant_text("It is Paris.");
        Ok(CreateMessageResult::new(message, "a model".to_owned()))
    }

    async fn list_roots(
        &self,
        _: RequestContext<RoleClient>,
    ) -> Result<ListRootsResult, ErrorData> {
        self.hears("roots".to_owned());
        Ok(serde_json::from_value(json!({"roots": [{"uri": "file:///here"}]})).unwrap())
    }

    async fn on_logging_message(
        &self,
        said: LoggingMessageNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.hears(format!("message of {}: {}", said.logger.unwrap_or_default(), said.data));
    }

    async fn on_progress(
        &self,
        told: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.hears(format!("progress: {} of {:?}", told.progress, told.total));
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.hears("other tools".to_owned());
    }

    async fn on_prompt_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.hears("other prompts".to_owned());
    }

    async fn on_resource_updated(
        &self,
        told: ResourceUpdatedNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.hears(format!("updated: {}", told.uri));
    }
}

/// Starts servers in memory.
struct InMemory(Arc<Serve>);

/// Serves the server of this name on a pipe.
type Serve = dyn Fn(&str, DuplexStream) + Send + Sync;

impl Launcher for InMemory {
    fn launch<'a>(
        &'a self,
        server: &'a ServerSettings,
    ) -> BoxFuture<'a, std::io::Result<LaunchedServer>> {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        (self.0)(&server.name, theirs);
        let (read, write) = tokio::io::split(ours);
        let (input, output) = (Box::new(write), Box::new(read));
        let process = Box::new(Endless);
        let launched =
            LaunchedServer { input, output, process, sandbox: None, denied_access: None };
        Box::pin(async { Ok(launched) })
    }
}

struct Endless;

impl ServerProcess for Endless {
    fn ended(&mut self) -> BoxFuture<'_, String> {
        Box::pin(std::future::pending())
    }
}

/// No server in memory is shown anything.
struct NoCredentials;

impl Credentials for NoCredentials {
    fn variable(&self, _: &str) -> Option<String> {
        None
    }

    fn load(&self, _: &str) -> std::io::Result<Option<Vec<u8>>> {
        Ok(None)
    }

    fn keep(&self, _: &str, _: Option<&[u8]>) -> std::io::Result<()> {
        Ok(())
    }
}

/// Pins in memory.
#[derive(Default)]
struct MemoryPins(Mutex<PinnedDefinitions>);

impl PinStore for MemoryPins {
    fn pinned(&self, _: &str) -> std::io::Result<PinnedDefinitions> {
        Ok(self.0.lock().unwrap().clone())
    }

    fn pin(&self, _: &str, pinned: &PinnedDefinitions) -> std::io::Result<()> {
        *self.0.lock().unwrap() = pinned.clone();
        Ok(())
    }
}
