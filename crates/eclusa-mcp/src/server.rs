//! The server: what a client can ask of it, in both eras of the protocol.

use std::{borrow::Cow, io, sync::Arc};

use eclusa::{Gate, Malformed, Origin, Run, Scene, ToolCall};
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams,
        CompleteResult, ContentBlock, CustomRequest, CustomResult, ErrorCode,
        GetPromptRequestParams, GetPromptResponse, Implementation, InitializeRequestParams,
        InitializeResult, InputRequest, InputRequests, InputRequiredResult,
        ListResourceTemplatesResult, ListToolsResult, PaginatedRequestParams, ProtocolVersion,
        ReadResourceRequestParams, ReadResourceResponse, RequestMetaObject, ServerCapabilities,
        ServerConfig, SubscriptionFilter, Tool,
    },
    service::{NotificationContext, RequestContext, SubscriptionContext},
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::{
    answer,
    approver::Asked,
    call::{Call, Driven, Line, form},
    catalogue,
    hall::Hall,
    kept,
    opening::Opened,
    own,
    parked::{Bound, token},
};

/// The name of the one question of an `input_required` answer.
const QUESTION: &str = "approval";

const INSTRUCTIONS: &str = "Every call passes a gate: it is checked, judged by the person's rules, \
     put to them where the rules say so, and recorded. A refusal says why and what would be \
     accepted; do not repeat a refused call unchanged. An output that was cut names where the \
     whole is kept.";

/// One connection, or one request of a client that has none.
pub(crate) struct Server {
    hall: Arc<Hall>,
    conversation: Arc<str>,
    /// Cancelled when the connection ends.
    gone: CancellationToken,
}

impl Server {
    /// A server for one client, whose answers "for this conversation" hold while it is connected.
    pub(crate) fn new(hall: Arc<Hall>) -> io::Result<Server> {
        let conversation = format!("mcp-{}", token()?).into();
        let gone = hall.gone.child_token();
        Ok(Server { hall, conversation, gone })
    }

    /// A call, as the gate takes it. The client's own id for it is used where it gives one, so
    /// that its hooks and this record can be joined.
    fn asked(&self, request: &CallToolRequestParams, meta: &RequestMetaObject) -> ToolCall {
        let args = request.arguments.clone().unwrap_or_default();
        ToolCall::new(self.id(meta), &*request.name, Value::Object(args)).from(Origin::Mcp)
    }

    fn id(&self, meta: &RequestMetaObject) -> String {
        let fits = |it: &str| {
            (1..=128).contains(&it.len())
                && it.bytes().all(|it| it.is_ascii_alphanumeric() || b"_-.:".contains(&it))
        };
        let named = |key| meta.0.0.get(key).and_then(Value::as_str).filter(|it| fits(it));
        let given = named("claudecode/toolUseId").or_else(|| named("callId"));
        match given.filter(|it| !self.hall.calls.has(it)) {
            Some(id) => id.to_owned(),
            None => {
                format!("{}-{}", self.conversation, self.hall.number())
            }
        }
    }

    fn for_this(&self, gate: &Gate) -> Gate {
        gate.for_run(Run {
            conversation: self.conversation.clone(),
            cancel: self.gone.child_token(),
            ..gate.run().clone()
        })
    }

    /// The call that a request is about: a new one, one whose answer it brings, or one that it
    /// asks after.
    fn found(
        &self,
        gate: &Gate,
        request: &CallToolRequestParams,
        bound: &Bound,
        context: &RequestContext<RoleServer>,
    ) -> Result<Found, ErrorData> {
        if let Some(state) = &request.request_state {
            let parked = self.hall.parking.take(bound, state);
            let (call, asked) = parked.map_err(|_| no_longer_open())?;
            let said = request.input_responses.as_ref().and_then(|it| it.get(QUESTION));
            return Ok(match said.and_then(|said| asked.form.read(said)) {
                Some(answer) => {
                    // An error means that the time for it is over, which the call tells.
                    let _ = asked.answer.send(answer);
                    Found::Call(call)
                }
                None => Found::Unanswered(call, asked),
            });
        }
        if request.name == own::WAIT {
            let id = request.arguments.as_ref().and_then(|it| it.get("id")).and_then(Value::as_str);
            let call = id.and_then(|id| self.hall.parking.kept(&gate.run().principal, id));
            return call.map(Found::Call).ok_or_else(|| {
                let problem = "no call waits under this id: it was answered already, or its time \
                               is over; make the call again if it is still wanted";
                ErrorData::invalid_params(problem, None)
            });
        }
        let asks = asks(context);
        let call = self.asked(request, &context.meta);
        Ok(Found::Call(self.hall.calls.begin(self.for_this(gate), call, asks)))
    }

    /// The answer that has the client ask a person (2026-07-28).
    fn ask(&self, bound: &Bound, asked: Asked, call: Call) -> Result<CallToolResponse, ErrorData> {
        let internal = |problem: &str| ErrorData::internal_error(problem.to_owned(), None);
        let params = form(&asked).ok_or_else(|| internal("the question has no form"))?;
        let request = InputRequest::Elicitation(rmcp::model::ElicitRequest::new(params));
        let state = self.hall.parking.park(bound, call, asked);
        let state = state.map_err(|err| internal(&format!("the call cannot wait: {err}")))?;
        let requests = InputRequests::from([(QUESTION.to_owned(), request)]);
        Ok(InputRequiredResult::new(Some(requests), Some(state)).into())
    }

    /// Tells a client of the older era when tools come and go, while it is there.
    async fn tell_of_changes(hall: Arc<Hall>, context: NotificationContext<RoleServer>) {
        let Ok(gate) = hall.gate().await else { return };
        let mut changes = gate.house().registry.changes();
        while changes.changed().await.is_ok() {
            if context.peer.notify_tool_list_changed().await.is_err() {
                return;
            }
        }
    }
}

/// Which call a request is about.
enum Found {
    Call(Call),
    /// It came back without an answer, and the question still stands.
    Unanswered(Call, Asked),
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_prompts()
            .enable_resources()
            .build();
        let server = Implementation::new("eclusa", env!("CARGO_PKG_VERSION")).with_title("Eclusa");
        ServerConfig::new(capabilities).with_server_info(server).with_instructions(INSTRUCTIONS)
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        let answer = self.negotiate_initialize(&request)?;
        // What was agreed on holds from here, not what was wished for.
        let mut agreed = request;
        agreed.protocol_version = answer.protocol_version.clone();
        context.peer.set_peer_info(agreed);
        Ok(answer)
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let (hall, gone) = (self.hall.clone(), self.gone.clone());
        tokio::spawn(async move {
            tokio::select! {
                () = Server::tell_of_changes(hall, context) => {}
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
        let gate = self.hall.gate().await?;
        let mut changes = gate.house().registry.changes();
        loop {
            tokio::select! {
                () = context.cancelled() => return Ok(()),
                () = self.gone.cancelled() => return Ok(()),
                changed = changes.changed() => {
                    if changed.is_err() {
                        return Ok(());
                    }
                    // An error means that the client did not want to know, or is gone.
                    let _ = context.sink().notify_tool_list_changed().await;
                }
            }
        }
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let Opened { gate, gateway } = self.hall.opened().await?;
        if let Some(gateway) = gateway {
            // Many clients ask once and never again.
            gateway.ready().await;
        }
        let cursor = request.and_then(|it| it.cursor);
        let registry = &gate.house().registry;
        let (tools, next) = catalogue::page(registry, &Scene::default(), cursor.as_deref())?;
        Ok(ListToolsResult { next_cursor: next, ..ListToolsResult::with_all_items(tools) })
    }

    fn get_tool(&self, _: &str) -> Option<Tool> {
        None
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Opened { gate, gateway } = self.hall.opened().await?;
        let gateway = gateway.filter(|_| !gate.house().registry.has(&request.name));
        if let Some(gateway) = &gateway {
            // It may be a tool of a server that still starts.
            gateway.ready().await;
        }
        let bound = Bound::to(&gate.run().principal, &request);
        let call = match self.found(&gate, &request, &bound, &context)? {
            Found::Call(call) => call,
            Found::Unanswered(call, asked) => return self.ask(&bound, asked, call),
        };
        let by_answer = modern(&context);
        let line = Line { context: &context, by_answer, patience: self.hall.patience };
        match call.drive(line).await {
            Driven::Asks(asked, call) => self.ask(&bound, asked, call),
            Driven::Waits(call) => {
                let id = self.hall.parking.keep(&gate.run().principal, call);
                let id = id.map_err(|err| ErrorData::internal_error(err.to_string(), None))?;
                Ok(answer::still_waiting(&id).into())
            }
            Driven::Done(reply, _) if reply.code() == "unknown_tool" => {
                if let Some(why) = gateway.and_then(|it| it.excuse(&request.name)) {
                    return Ok(CallToolResult::error(vec![ContentBlock::text(why)]).into());
                }
                Err(ErrorData::invalid_params(reply.content().into_owned(), None))
            }
            Driven::Done(reply, permitted) if reply.tool() == own::APPROVE => {
                Ok(own::approval(&reply, permitted).into())
            }
            Driven::Done(reply, _) => Ok(answer::result(&reply, &gate.house().registry).into()),
        }
    }

    // The list of prompts is there, and empty: personas will be in it.
    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let problem = format!("there is no prompt `{}`", request.name);
        Err(ErrorData::invalid_params(problem, None))
    }

    // Not declared, so not there: rmcp would answer with nothing in it.
    async fn complete(
        &self,
        _: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        Err(unreadable("completion/complete"))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(vec![kept::template()]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let gate = self.hall.gate().await?;
        kept::read(gate.house(), &request.uri).await.map(Into::into)
    }

    /// What the protocol does not know, and what is known but could not be read.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let CustomRequest { method, params, .. } = request;
        if method != "tools/call" {
            return Err(unreadable(&method));
        }
        // A call with a name is the model's mistake, and the model is told.
        let name = params.as_ref().and_then(|it| it.get("name")).and_then(Value::as_str);
        let Some(name) = name else { return Err(unreadable(&method)) };
        let gate = self.hall.gate().await?;
        let bad = Malformed {
            id: self.id(&context.meta),
            tool: Some(name.to_owned()),
            problem: "`arguments` is not a JSON object; send the tool's arguments as one".into(),
            origin: Origin::Mcp,
        };
        let reply = self.for_this(&gate).pass(bad).await;
        let mut result = answer::result(&reply, &gate.house().registry);
        if !modern(&context) {
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

/// True for a request of the newer era, in which a server asks by answering.
fn modern(context: &RequestContext<RoleServer>) -> bool {
    let version = context.protocol_version();
    version.is_some_and(|it| it.as_str() >= ProtocolVersion::V_2026_07_28.as_str())
}

/// True when the client can show a form. `elicitation: {}` means that it can.
fn asks(context: &RequestContext<RoleServer>) -> bool {
    let declared = context.client_capabilities().and_then(|it| it.elicitation);
    declared.is_some_and(|it| it.form.is_some() || it.url.is_none())
}

/// A method that nobody knows, or one whose parameters nobody can read.
fn unreadable(method: &str) -> ErrorData {
    const KNOWN: [&str; 6] = [
        "initialize",
        "tools/call",
        "tools/list",
        "resources/read",
        "resources/list",
        "subscriptions/listen",
    ];
    match KNOWN.contains(&method) {
        true => ErrorData::invalid_params(
            format!("the parameters of `{method}` are not what the protocol says"),
            None,
        ),
        false => ErrorData::new(
            ErrorCode::METHOD_NOT_FOUND,
            format!("there is no method `{method}`"),
            Some(json!({"method": method})),
        ),
    }
}

fn no_longer_open() -> ErrorData {
    let problem = "the question that this answers is not open: it was answered, its time is over, \
                   or it was about another call; nothing was run for it. Make the call again \
                   without requestState";
    ErrorData::invalid_params(problem, None)
}

#[cfg(test)]
mod tests;
