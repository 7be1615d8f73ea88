//! A request as a call through the gate, whichever of the protocol's methods it came by: new, or
//! back with the answers that it was sent away for.

use std::sync::{Arc, PoisonError};

use eclusa::{Gate, Origin, Reply, Run, ToolCall};
use futures::{FutureExt as _, future::BoxFuture};
use rmcp::{
    ErrorData, RoleServer,
    model::{
        InputRequiredResult, InputResponses, LoggingLevel, ProtocolVersion, RequestMetaObject,
    },
    service::RequestContext,
};
use serde_json::Value;

use crate::{
    approver::{Beside, Wishes},
    asked::Asked,
    call::{Call, Driven, Line},
    own,
    parked::Bound,
    server::Server,
};

/// What a request wants.
pub(crate) struct Wanted {
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
pub(crate) enum Passed {
    /// It is done. With it comes what it left beside the reply.
    Done(Box<Reply>, Arc<Beside>),
    /// The client must come back with answers.
    Asks(InputRequiredResult),
    /// A person takes long. The call can be asked for by this id.
    Waits(String),
}

/// Which call a request is about.
enum Found {
    Call(Call),
    /// It came back without an answer, and the question still stands.
    Unanswered(Call, Asked),
}

impl Server {
    /// Passes a request through the gate. On the heap, because rmcp moves what it is given to do
    /// about ten times, and the way through the gate is long.
    pub(crate) fn pass<'a>(
        &'a self,
        gate: &'a Gate,
        wanted: Wanted,
        context: &'a RequestContext<RoleServer>,
    ) -> BoxFuture<'a, Result<Passed, ErrorData>> {
        async move {
            let principal = &gate.run().principal;
            let bound = Bound::to(principal, wanted.method, &wanted.tool, &wanted.args);
            let call = match self.found(gate, wanted, &bound, context)? {
                Found::Call(call) => call,
                Found::Unanswered(call, asked) => return self.ask(&bound, asked, call),
            };
            let line = Line { context, by_answer: modern(context), patience: self.hall.patience };
            match call.drive(line).await {
                Driven::Asks(asked, call) => self.ask(&bound, asked, call),
                Driven::Waits(call) => {
                    let id = self.hall.parking.keep(principal, call);
                    id.map(Passed::Waits).map_err(|err| internal(&err.to_string()))
                }
                Driven::Done(reply, beside) => Ok(Passed::Done(reply, beside)),
            }
        }
        .boxed()
    }

    /// The call that a request is about: a new one, one whose answer it brings, or one that it
    /// asks after.
    fn found(
        &self,
        gate: &Gate,
        wanted: Wanted,
        bound: &Bound,
        context: &RequestContext<RoleServer>,
    ) -> Result<Found, ErrorData> {
        if let Some(state) = &wanted.state {
            let parked = self.hall.parking.take(bound, state);
            let (call, asked) = parked.map_err(|_| no_longer_open())?;
            return Ok(match asked.answered(wanted.answers.as_ref()) {
                Ok(()) => Found::Call(call),
                Err(asked) => Found::Unanswered(call, *asked),
            });
        }
        // A server that is wrapped may have a tool of that name.
        if wanted.tool == own::WAIT && !gate.setup().registry.has(own::WAIT) {
            let id = wanted.args.get("id").and_then(Value::as_str);
            let call = id.and_then(|id| self.hall.parking.kept(&gate.run().principal, id));
            return call.map(Found::Call).ok_or_else(|| {
                let problem = "no call waits under this id: it was answered already, or its time \
                               is over; make the call again if it is still wanted";
                ErrorData::invalid_params(problem, None)
            });
        }
        let call = ToolCall::new(self.id(&context.meta), wanted.tool, wanted.args);
        let wishes = self.wishes(wanted.answers, context);
        Ok(Found::Call(self.hall.calls.begin(
            self.for_this(gate, context),
            call.from(Origin::Mcp),
            wishes,
        )))
    }

    /// The answer that has the client ask (2026-07-28).
    fn ask(&self, bound: &Bound, asked: Asked, call: Call) -> Result<Passed, ErrorData> {
        let requests = asked.requests().ok_or_else(|| internal("the question has no form"))?;
        let state = self.hall.parking.park(bound, call, asked);
        let state = state.map_err(|err| internal(&format!("the call cannot wait: {err}")))?;
        Ok(Passed::Asks(InputRequiredResult::new(Some(requests), Some(state))))
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
        match given.filter(|it| !self.hall.calls.has(it)) {
            Some(id) => id.to_owned(),
            None => format!("{}-{}", self.conversation, self.hall.number()),
        }
    }

    pub(crate) fn for_this(&self, gate: &Gate, context: &RequestContext<RoleServer>) -> Gate {
        gate.for_run(Run {
            conversation: self.conversation(context),
            cancel: self.gone.child_token(),
            ..gate.run().clone()
        })
    }

    /// What the client said about itself: with this request, or when it connected.
    fn wishes(
        &self,
        given: Option<InputResponses>,
        context: &RequestContext<RoleServer>,
    ) -> Wishes {
        let can = context.client_capabilities().unwrap_or_default();
        match modern(context) {
            true => Wishes { can, level: context.meta.log_level(), given },
            false => Wishes { can, level: Some(self.level()), given: None },
        }
    }

    fn level(&self) -> LoggingLevel {
        *self.level.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// True for a request of the newer era, in which a server asks by answering.
pub(crate) fn modern(context: &RequestContext<RoleServer>) -> bool {
    let version = context.protocol_version();
    version.is_some_and(|it| it.as_str() >= ProtocolVersion::V_2026_07_28.as_str())
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
