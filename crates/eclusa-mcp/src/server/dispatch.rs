//! A request as a call through the gate, whichever of the protocol's methods it came by: new, or
//! back with the answers that it was sent away for.

use std::{
    sync::{Arc, PoisonError},
    time::Duration,
};

use eclusa::{
    Gate, Origin, Reply, Run, ToolCall,
    approve::{QuestionState, QueuedQuestion},
    one_line,
};
use futures::{FutureExt as _, future::BoxFuture};
use rmcp::{
    ErrorData, RoleServer,
    model::{InputRequiredResult, InputResponses, LoggingLevel, RequestMetaObject, Task},
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
        task_requests::knows_tasks,
    },
};

/// The longest name of a client that goes on record, in bytes.
const MAX_CLIENT_NAME: usize = 100;

/// How long a call that waits for a person is waited for before it becomes a task. Most calls that wait
/// for anything wait for their turn.
const TASK_GRACE: Duration = Duration::from_secs(1);

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
    /// It is done. With it comes what it left beside the reply.
    Done(Box<Reply>, Arc<SideResults>),
    /// The client must come back with answers.
    Asks(InputRequiredResult),
    /// A person takes long. The call can be asked for by this id.
    Waits(String),
    /// It goes on as this task.
    Task(Task),
    /// A person has ended the turn: the call was not run.
    Stopped,
}

/// Which call a request is about.
enum CallTarget {
    Call(Call),
    /// A call that waits for a person, and the id that it has.
    Waiting(Call, String),
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
            let is_tool_call = request.method == "tools/call";
            let bound = TicketBinding::new(principal, request.method, &request.tool, &request.args);
            let left = self.left_behind(gate, &request, context).await?;
            let target = match left {
                Some(target) => target,
                None => self.resolve_call(gate, request, &bound, context)?,
            };
            let (call, id) = match target {
                CallTarget::Call(call) => (call, None),
                CallTarget::Waiting(call, id) => (call, Some(id)),
                CallTarget::Unanswered(call, asked) => return self.ask(&bound, asked, call),
            };
            let is_task = is_tool_call && id.is_none() && knows_tasks(context);
            let mut wait_limits = self.shared.wait_limits;
            if is_task {
                wait_limits.elsewhere = wait_limits.elsewhere.min(TASK_GRACE);
            }
            let era = Era::of_request(context);
            let link = ClientLink { context, era, wait_limits, asking: &self.asking };
            match call.drive(link).await {
                CallOutcome::Asks(asked, call) if is_task => {
                    self.begin_task(principal, (call, Some(asked)), context).map(Dispatched::Task)
                }
                CallOutcome::Waits(call) if is_task => {
                    self.begin_task(principal, (call, None), context).map(Dispatched::Task)
                }
                CallOutcome::Asks(asked, call) => self.ask(&bound, asked, call),
                CallOutcome::Waits(call) => {
                    let name = call.id.clone();
                    let id = self.shared.pending.keep_waiting(principal, call, id);
                    let id = id.map_err(|err| internal(&err.to_string()))?;
                    if let Some(questions) = gate.questions()
                        && let Err(err) = questions.set_ticket(&name, &id).await
                    {
                        tracing::warn!("`wait` finds call {name} only until a restart: {err}");
                    }
                    Ok(Dispatched::Waits(id))
                }
                CallOutcome::Done(reply, side_results) => {
                    if let Some(id) = id {
                        self.shared.pending.answered(&id);
                    }
                    let session = self.session(context);
                    if reply.aborted() {
                        self.shared.end_turn(&session);
                    }
                    Ok(match self.shared.turn_ended(&session) && reply.code() == "cancelled" {
                        true => Dispatched::Stopped,
                        false => Dispatched::Done(reply, side_results),
                    })
                }
            }
        }
        .boxed()
    }

    /// The call that `wait` asks after, where another process made it: its question is still in the
    /// approval queue, so the call is made again and takes the answer, or waits for it.
    async fn left_behind(
        &self,
        gate: &Gate,
        request: &Request,
        context: &RequestContext<RoleServer>,
    ) -> Result<Option<CallTarget>, ErrorData> {
        let own = request.tool == server_tools::WAIT
            && !gate.registry().has(server_tools::WAIT)
            && request.state.is_none();
        let Some(questions) = gate.questions().filter(|_| own) else {
            return Ok(None);
        };
        let id = server_tools::wait_id(&request.args)?;
        if self.shared.pending.knows(&id) {
            return Ok(None);
        }
        let found = questions.find_ticket(&id).await.map_err(|err| internal(&err.to_string()))?;
        let ours = |it: &QueuedQuestion| *it.question.principal == *gate.run().principal;
        let Some(queued) = found.filter(ours) else { return Ok(None) };
        let invalid = |problem: String| Err(ErrorData::invalid_params(problem, None));
        if !queued.state.is_open() {
            let (number, state) = (queued.id, queued.state);
            let became = match (state, queued.question.pending) {
                (QuestionState::Taken, Some(_)) => {
                    "it had run, and its approved changes are applied; look at the files"
                }
                _ => "the call was not run",
            };
            return invalid(format!("approval {number} is {state}; {became}"));
        }
        if !queued.asker_away {
            return invalid("another process waits for this call".to_owned());
        }
        let question = queued.question;
        let call = ToolCall {
            reason: question.reason,
            ..ToolCall::new(self.id(&context.meta), question.tool, question.args)
        };
        let profile = self.profile(None, context);
        let gate = self.gate_for(gate, context);
        let call = self.shared.calls.begin(gate, call.from(Origin::Mcp), profile);
        Ok(Some(CallTarget::Waiting(call, id)))
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
        if request.tool == server_tools::WAIT && !gate.registry().has(server_tools::WAIT) {
            let id = server_tools::wait_id(&request.args)?;
            let call = self.shared.pending.take_waiting(&gate.run().principal, &id);
            let invalid = |problem| ErrorData::invalid_params(problem, None);
            return call.map(|call| CallTarget::Waiting(call, id)).map_err(invalid);
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
        mut asked: ClientQuestion,
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
            None => format!("{}-{}", self.session, self.shared.number()),
        }
    }

    pub(crate) fn gate_for(&self, gate: &Gate, context: &RequestContext<RoleServer>) -> Gate {
        let (session, cancel) = (self.session(context), self.gone.child_token());
        if self.shared.turn_ended(&session) {
            cancel.cancel();
        }
        let client = context.client_info().map(|it| client_name(&it.name, &it.version));
        // A client that goes away may come back for the answers to its questions.
        let leave = self.gone.clone();
        gate.for_run(Run { session, cancel, leave, client, ..gate.run().clone() })
    }

    /// What the client said about itself: with this request, or when it connected.
    fn profile(
        &self,
        given: Option<InputResponses>,
        context: &RequestContext<RoleServer>,
    ) -> ClientProfile {
        let can = context.client_capabilities().unwrap_or_default();
        let era = Era::of_request(context);
        match era {
            Era::Stateless => ClientProfile { era, can, level: context.meta.log_level(), given },
            Era::Legacy => ClientProfile { era, can, level: Some(self.level()), given: None },
        }
    }

    fn level(&self) -> LoggingLevel {
        *self.level.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a client calls itself, in one short line.
fn client_name(name: &str, version: &str) -> Arc<str> {
    let mut text = one_line(&format!("{name} {version}"));
    text.truncate(text.floor_char_boundary(MAX_CLIENT_NAME));
    text.trim().into()
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
