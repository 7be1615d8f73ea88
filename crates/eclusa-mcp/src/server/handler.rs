//! The server: what a client can ask of it, in both eras of the protocol.

use std::{
    borrow::Cow,
    io,
    sync::{Arc, Mutex, PoisonError, atomic::AtomicBool},
    time::Duration,
};

use eclusa::{Origin, call::Malformed};
use futures::FutureExt as _;
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CancelTaskParams, CompleteRequestParams,
        CompleteResult, CustomRequest, CustomResult, DiscoverResult, GetPromptRequestParams,
        GetPromptResponse, GetTaskParams, GetTaskResult, InitializeRequestParams, InitializeResult,
        ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
        LoggingLevel, PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams,
        ReadResourceResponse, Reference, ServerConfig, SetLevelRequestParams,
        SubscribeRequestParams, SubscriptionFilter, Tool, UnsubscribeRequestParams,
        UpdateTaskParams,
    },
    service::{NotificationContext, RequestContext, SubscriptionContext},
};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::{
    era::Era,
    gateway::Gateway,
    server::{
        answer, catalogue, info, methods,
        notifications::{self, LevelFilter, Subscriptions},
        own_resources,
        pending::token,
        server_tools,
        startup::StartedGate,
        state::ServerState,
    },
    uris::OWN_SCHEME,
};

/// How long a list waits for servers that have not started yet.
const LIST_GRACE: Duration = Duration::from_secs(1);

/// One connection, or one request of a client that has none.
pub(crate) struct Server {
    pub(crate) shared: Arc<ServerState>,
    pub(crate) session: Arc<str>,
    /// Cancelled when the connection ends.
    pub(crate) gone: CancellationToken,
    /// Which messages of servers a client of the older era wants to hear.
    pub(crate) level: LevelFilter,
    watches: Subscriptions,
    /// Held while a question of ours is open at the client.
    pub(crate) asking: Arc<tokio::sync::Mutex<()>>,
    /// Whether a client stays connected, whatever its era.
    pub(crate) stays: bool,
    /// Set by the first call that is part of the session of this connection.
    pub(crate) spoken: AtomicBool,
}

impl Server {
    /// A server for one client, whose answers "for this session" hold while it is connected.
    pub(crate) fn new(shared: Arc<ServerState>) -> io::Result<Server> {
        let session = format!("mcp-{}", token()?).into();
        let gone = shared.gone.child_token();
        let level = Arc::new(Mutex::new(LoggingLevel::Info));
        let (watches, spoken) = (Subscriptions::default(), AtomicBool::new(false));
        let asking = Arc::default();
        Ok(Server { shared, session, gone, level, watches, asking, stays: true, spoken })
    }

    /// The gate and the servers behind it. Those that are about to come up get a moment, because
    /// many clients list once and never again; a slow one delays nobody but itself: one that is
    /// wrapped alone is waited for, as the client would without us.
    pub(crate) async fn listable(&self) -> Result<(StartedGate, Option<Arc<Gateway>>), ErrorData> {
        let opened = self.shared.opened().await?;
        if let Some(gateway) = &opened.gateway {
            match gateway.is_plain() {
                true => gateway.ready().await,
                // Those who are late are told of as a change of the lists.
                false => drop(tokio::time::timeout(LIST_GRACE, gateway.ready()).await),
            }
        }
        let gateway = opened.gateway.clone();
        Ok((opened, gateway))
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        info::of_eclusa()
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        let mut answer = self.negotiate_initialize(&request)?;
        let info = self.info_now().boxed().await;
        (answer.instructions, answer.server_info) = (info.instructions, info.server_info);
        // The older era has no extensions.
        answer.capabilities.extensions = None;
        // What was agreed on holds from here, not what was requested.
        let mut agreed = request;
        agreed.protocol_version = answer.protocol_version.clone();
        context.peer.set_peer_info(agreed);
        Ok(answer)
    }

    async fn discover(&self, _: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let versions = self.supported_protocol_versions().into_owned();
        Ok(DiscoverResult::from_server_info(versions, self.info_now().boxed().await))
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let gone = self.gone.clone();
        let (shared, watches, level) = (&self.shared, &self.watches, &self.level);
        let telling =
            notifications::forward(shared.clone(), watches.clone(), level.clone(), context.peer);
        tokio::spawn(async move {
            tokio::select! {
                () = telling => {}
                () = gone.cancelled() => {}
            }
        });
    }

    fn accepted_subscription_filter(
        &self,
        asked: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(asked.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        notifications::listen(&self.shared, &context).boxed().await
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        match self.listable().await? {
            (opened, Some(gateway)) => {
                gateway.ready_until(|it| it.reading(&request.uri).is_some()).await;
                self.watches.watch(&opened.gate, &gateway, request.uri)
            }
            // What is kept here does not change.
            (_, None) => Ok(()),
        }
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.watches.forget(&request.uri);
        Ok(())
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if Era::of_request(&context) == Era::Stateless {
            return Err(methods::unknown("logging/setLevel"));
        }
        *self.level.lock().unwrap_or_else(PoisonError::into_inner) = request.level;
        Ok(())
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let (opened, gateway) = self.listable().await?;
        let approves = context.client_info().is_some_and(|it| server_tools::approves(&it.name));
        let registry = opened.gate.registry();
        let all = catalogue::tools(registry, gateway.as_deref(), approves);
        let (tools, next) = catalogue::page(all, |it| &it.name, request)?;
        Ok(ListToolsResult { next_cursor: next, ..ListToolsResult::with_all_items(tools) })
    }

    /// For the headers that repeat arguments (2026-07-28): rmcp holds them against the schema.
    fn get_tool(&self, name: &str) -> Option<Tool> {
        let opened = self.shared.opened_now()?;
        let registry = opened.gate.registry();
        catalogue::tool(registry, opened.gateway.as_deref(), name)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.tool_call(request, &context).await
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        self.task(&request.task_id, &context).await
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.answer_task(&request.task_id, &request.input_responses, &context).await
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.cancel_task_of(&request.task_id, &context).await
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let (_, gateway) = self.listable().await?;
        let all = gateway.map(|it| it.prompts()).unwrap_or_default();
        let (prompts, next) = catalogue::page(all, |it| &it.name, request)?;
        Ok(ListPromptsResult { next_cursor: next, ..ListPromptsResult::with_all_items(prompts) })
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        self.prompt(request, &context).await
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let name = match &request.r#ref {
            Reference::Prompt(it) => &it.name,
            Reference::Resource(it) if it.uri.starts_with(OWN_SCHEME) => {
                // Nobody guesses what an output is kept as.
                return Ok(CompleteResult::default());
            }
            Reference::Resource(it) => &it.uri,
            _ => return Ok(CompleteResult::default()),
        };
        match self.listable().await? {
            (opened, Some(gateway)) => gateway.complete(&opened.gate, request).boxed().await,
            (_, None) => Err(ErrorData::invalid_params(format!("there is no `{name}`"), None)),
        }
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let (_, gateway) = self.listable().await?;
        let all = gateway.map(|it| it.resources()).unwrap_or_default();
        let (resources, next) = catalogue::page(all, |it| &it.uri, request)?;
        let result = ListResourcesResult::with_all_items(resources);
        Ok(ListResourcesResult { next_cursor: next, ..result })
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let (_, gateway) = self.listable().await?;
        let mut all = gateway.map(|it| it.templates()).unwrap_or_default();
        all.extend(own_resources::templates());
        let (templates, next) = catalogue::page(all, |it| &it.uri_template, request)?;
        let result = ListResourceTemplatesResult::with_all_items(templates);
        Ok(ListResourceTemplatesResult { next_cursor: next, ..result })
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        self.resource(request, &context).await
    }

    /// What the protocol does not know, and what is known but could not be read.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let CustomRequest { method, params, .. } = request;
        // The newer era has no such method, whatever its parameters.
        if method == "initialize" && Era::of_request(&context) == Era::Stateless {
            return Err(methods::unknown(&method));
        }
        if method != "tools/call" {
            return Err(methods::unreadable(&method));
        }
        // A call with a name is the model's mistake, and the model is told.
        let name = params.as_ref().and_then(|it| it.get("name")).and_then(Value::as_str);
        let Some(name) = name else { return Err(methods::unreadable(&method)) };
        let gate = self.shared.gate().await?;
        let bad = Malformed {
            id: self.id(&context.meta),
            tool: Some(name.to_owned()),
            problem: "`arguments` is not a JSON object; send the tool's arguments as one".into(),
            origin: Origin::Mcp,
        };
        let reply = self.gate_for(&gate, &context).pass(bad).boxed().await;
        let mut result = answer::result(&reply, gate.registry());
        if Era::of_request(&context) == Era::Legacy {
            result.result_type = None;
        }
        serde_json::to_value(result).map(CustomResult).map_err(|err| {
            ErrorData::internal_error(format!("the answer cannot be written: {err}"), None)
        })
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(ProtocolVersion::KNOWN_VERSIONS)
    }
}

#[cfg(test)]
mod tests;
