//! A request as a call through the gate, whichever of the protocol's methods it came by: new, or
//! back with the answers that it was sent away for.

use std::sync::{Arc, PoisonError};

use eclusa::{Gate, Origin, Reply, Run, ToolCall};
use futures::{FutureExt as _, future::BoxFuture};
use rmcp::{
    ErrorData, RoleServer,
    model::{InputRequiredResult, InputResponses, LoggingLevel, RequestMetaObject},
    service::RequestContext,
};
use serde_json::Value;

use crate::{
    client::{ClientProfile, ClientQuestion, SideResults},
    era::Era,
    server::{
        call::{Call, CallOutcome, ClientLink},
        handler::Server,
        pending::TicketBinding,
        server_tools,
    },
};

/// What a request wants.
pub(crate) struct Request {
    /// The protocol's word for it.
    pub(crate) method: &'static str,
    /// The tool that does it.
    pub(crate) tool: String,
    pub(crate) args: Value,
    /// The ticket that it brings.
    pub(crate) state: Option<String>,
    /// The answers that it brings.
    pub(crate) answers: Option<InputResponses>,
}

/// What became of it.
pub(crate) enum Dispatched {
    /// It is done. With it comes what it left side_results the reply.
    Done(Box<Reply>, Arc<SideResults>),
    /// The client must come back with answers.
    Asks(InputRequiredResult),
    /// A person takes long. The call can be asked for by this id.
    Waits(String),
}

/// Which call a request is about.
enum CallTarget {
    Call(Call),
    /// It came back without an answer, and the question still stands.
    Unanswered(Call, ClientQuestion),
}

impl Server {
    /// Passes a request through the gate. On the heap, because rmcp moves what it is given to do
    /// about ten times, and the way through the gate is long.
    pub(crate) fn pass<'a>(
        &'a self,
        gate: &'a Gate,
        request: Request,
        context: &'a RequestContext<RoleServer>,
    ) -> BoxFuture<'a, Result<Dispatched, ErrorData>> {
        async move {
            let principal = &gate.run().principal;
            let bound = TicketBinding::new(principal, request.method, &request.tool, &request.args);
            let call = match self.resolve_call(gate, request, &bound, context)? {
                CallTarget::Call(call) => call,
                CallTarget::Unanswered(call, asked) => return self.ask(&bound, asked, call),
            };
            let link = ClientLink {
                context,
                era: Era::of_request(context),
                wait_limits: self.shared.wait_limits,
            };
            match call.drive(link).await {
                CallOutcome::Asks(asked, call) => self.ask(&bound, asked, call),
                CallOutcome::Waits(call) => {
                    let id = self.shared.pending.keep_waiting(principal, call);
                    id.map(Dispatched::Waits).map_err(|err| internal(&err.to_string()))
                }
                CallOutcome::Done(reply, side_results) => Ok(Dispatched::Done(reply, side_results)),
            }
        }
        .boxed()
    }

    /// The call that a request is about: a new one, one whose answer it brings, or one that it
    /// asks after.
    fn resolve_call(
        &self,
        gate: &Gate,
        request: Request,
        bound: &TicketBinding,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallTarget, ErrorData> {
        if let Some(state) = &request.state {
            let parked = self.shared.pending.resume(bound, state);
            let (call, asked) = parked.map_err(|_| no_longer_open())?;
            return Ok(match asked.answered(request.answers.as_ref()) {
                Ok(()) => CallTarget::Call(call),
                Err(asked) => CallTarget::Unanswered(call, *asked),
            });
        }
        // A server that is wrapped may have a tool of that name.
        if request.tool == server_tools::WAIT && !gate.setup().registry.has(server_tools::WAIT) {
            let id = request.args.get("id").and_then(Value::as_str);
            let call =
                id.and_then(|id| self.shared.pending.take_waiting(&gate.run().principal, id));
            return call.map(CallTarget::Call).ok_or_else(|| {
                let problem = "no call waits under this id: it was answered already, or its time \
                               is over; make the call again if it is still request";
                ErrorData::invalid_params(problem, None)
            });
        }
        let call = ToolCall::new(self.id(&context.meta), request.tool, request.args);
        let profile = self.profile(request.answers, context);
        Ok(CallTarget::Call(self.shared.calls.begin(
            self.gate_for(gate, context),
            call.from(Origin::Mcp),
            profile,
        )))
    }

    /// The answer that has the client ask (2026-07-28).
    fn ask(
        &self,
        bound: &TicketBinding,
        asked: ClientQuestion,
        call: Call,
    ) -> Result<Dispatched, ErrorData> {
        let requests = asked.requests().ok_or_else(|| internal("the question has no form"))?;
        let state = self.shared.pending.suspend(bound, call, asked);
        let state = state.map_err(|err| internal(&format!("the call cannot wait: {err}")))?;
        Ok(Dispatched::Asks(InputRequiredResult::new(Some(requests), Some(state))))
    }

    /// The client's own id for a call is used where it gives one, so that its hooks and this
    /// record can be joined.
    pub(crate) fn id(&self, meta: &RequestMetaObject) -> String {
        let fits = |it: &str| {
            (1..=128).contains(&it.len())
                && it.bytes().all(|it| it.is_ascii_alphanumeric() || b"_-.:".contains(&it))
        };
        let named = |key| meta.0.0.get(key).and_then(Value::as_str).filter(|it| fits(it));
        let given = named("claudecode/toolUseId").or_else(|| named("callId"));
        match given.filter(|it| !self.shared.calls.has(it)) {
            Some(id) => id.to_owned(),
            None => format!("{}-{}", self.conversation, self.shared.number()),
        }
    }

    pub(crate) fn gate_for(&self, gate: &Gate, context: &RequestContext<RoleServer>) -> Gate {
        gate.for_run(Run {
            conversation: self.conversation(context),
            cancel: self.gone.child_token(),
            ..gate.run().clone()
        })
    }

    /// What the client said about itself: with this request, or when it connected.
    fn profile(
        &self,
        given: Option<InputResponses>,
        context: &RequestContext<RoleServer>,
    ) -> ClientProfile {
        let can = context.client_capabilities().unwrap_or_default();
        match Era::of_request(context) {
            Era::Stateless => ClientProfile { can, level: context.meta.log_level(), given },
            Era::Legacy => ClientProfile { can, level: Some(self.level()), given: None },
        }
    }

    fn level(&self) -> LoggingLevel {
        *self.level.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn internal(problem: &str) -> ErrorData {
    ErrorData::internal_error(problem.to_owned(), None)
}

fn no_longer_open() -> ErrorData {
    let problem = "the question that this answers is not open: it was answered, its time is over, \
                   or it was about another call; nothing was run for it. Make the call again \
                   without requestState";
    ErrorData::invalid_params(problem, None)
}
