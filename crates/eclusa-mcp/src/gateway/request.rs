//! What a call wants of a server, and the exchange there and back: rounds of questions, progress, and
//! the end of waiting.

use std::sync::{Mutex, MutexGuard, PoisonError};

use eclusa::{Job, ToolError, settings::ServerPermission};
use futures::{StreamExt as _, stream::FuturesUnordered};
use rmcp::{
    ErrorData, RoleClient,
    model::{
        CallToolRequest, CallToolRequestParams, CancelledNotificationParam, ClientRequest,
        GetPromptRequest, GetPromptRequestParams, InputResponses, JsonObject,
        ProgressNotificationParam, ReadResourceRequest, ReadResourceRequestParams, RequestId,
        RequestMetaObject, ServerResult,
    },
    service::{Peer, PeerRequestOptions, ServiceError},
};
use tokio::{runtime::Handle, sync::mpsc};

use super::{
    sanitize::{sanitize, visible},
    server_requests::{self, ServerQuestion},
    upstream::{Connection, Upstream},
};
use crate::{
    client::{CLIENT, Client, ClientMessage},
    era::Era,
};

/// How often a server may answer with questions before it is given up.
const MAX_ROUNDS: usize = 10;

/// How many words about its progress, and how many questions, a call may be behind.
const BACKLOG: usize = 64;

/// The most data that goes with an error, in bytes.
const MAX_ERROR_DATA: usize = 4 << 10;

/// What is wanted of a server, in its own words.
pub(super) enum UpstreamRequest {
    /// The result of a tool.
    Call(String, Option<JsonObject>),
    /// What is in a resource.
    Read(String),
    /// A prompt.
    Prompt(String, Option<JsonObject>),
}

impl UpstreamRequest {
    /// The request, with the answers and the state of the round before.
    fn to_message(&self, answers: Option<InputResponses>, state: Option<String>) -> ClientRequest {
        match self {
            UpstreamRequest::Call(tool, args) => {
                let mut params = CallToolRequestParams::new(tool.clone());
                params.arguments = args.clone();
                (params.input_responses, params.request_state) = (answers, state);
                ClientRequest::CallToolRequest(CallToolRequest::new(params))
            }
            UpstreamRequest::Read(uri) => {
                let mut params = ReadResourceRequestParams::new(uri);
                (params.input_responses, params.request_state) = (answers, state);
                ClientRequest::ReadResourceRequest(ReadResourceRequest::new(params))
            }
            UpstreamRequest::Prompt(name, args) => {
                let mut params = GetPromptRequestParams::new(name);
                params.arguments = args.clone();
                (params.input_responses, params.request_state) = (answers, state);
                ClientRequest::GetPromptRequest(GetPromptRequest::new(params))
            }
        }
    }
}

/// The calls that a server works on, oldest first.
#[derive(Default)]
pub(super) struct InFlightCalls(Mutex<Vec<InFlight>>);

/// A call that a server works on.
pub(super) struct InFlight {
    number: u64,
    session: String,
    /// The request that is out for it.
    request: Option<RequestId>,
    pub(super) client: Option<Client>,
    /// Where questions of the server go that came without a call.
    pub(super) ask: mpsc::Sender<ServerQuestion>,
}

impl InFlightCalls {
    fn all(&self) -> MutexGuard<'_, Vec<InFlight>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// True when the server works on nothing.
    pub(super) fn none(&self) -> bool {
        self.all().is_empty()
    }

    /// The call that something is about which a server said while it worked: the one whose request
    /// it came with, where that is known, and otherwise the newest, unless calls of more than one
    /// session are on their exchange: then nobody can tell.
    pub(super) fn about<T>(
        &self,
        origin: Option<&RequestId>,
        take: impl FnOnce(&InFlight) -> T,
    ) -> Option<T> {
        let all = self.all();
        let found = match origin {
            Some(_) => all.iter().find(|it| it.request.as_ref() == origin),
            None => {
                let newest = all.last()?;
                let same = all.iter().all(|it| it.session == newest.session);
                Some(newest).filter(|_| same)
            }
        };
        found.map(take)
    }
}

/// A call's guard among the calls that a server works on. Dropping it gives it up.
struct InFlightGuard<'a> {
    in_flight: &'a InFlightCalls,
    number: u64,
}

impl InFlightGuard<'_> {
    fn sent(&self, request: &RequestId) {
        let mut all = self.in_flight.all();
        if let Some(flight) = all.iter_mut().find(|it| it.number == self.number) {
            flight.request = Some(request.clone());
        }
    }
}

impl Drop for InFlightGuard<'_> {
    fn drop(&mut self) {
        self.in_flight.all().retain(|it| it.number != self.number);
    }
}

/// Tells the server when nobody waits for a request any more: the call was taken back, or its time
/// is up.
struct CancelOnDrop {
    peer: Peer<RoleClient>,
    id: Option<RequestId>,
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        if let Some(id) = self.id.take() {
            let peer = self.peer.clone();
            let reason = "the caller no longer waits for it".to_owned();
            let told = CancelledNotificationParam::new(Some(id), Some(reason));
            // Without a runtime everything ends. An error means that the server is gone.
            if let Ok(runtime) = Handle::try_current() {
                runtime.spawn(async move { drop(peer.notify_cancelled(told).await) });
            }
        }
    }
}

/// What one call needs while it is on its exchange.
pub(super) struct Exchange<'a> {
    pub(super) job: &'a Job,
    pub(super) connection: &'a Connection,
    guard: InFlightGuard<'a>,
    pub(super) client: Option<Client>,
    questions: mpsc::Receiver<ServerQuestion>,
}

impl Upstream {
    /// Has the server send a request for a call, whatever it asks meanwhile.
    pub(super) async fn send(
        &self,
        request: &UpstreamRequest,
        job: &Job,
    ) -> Result<UpstreamAnswer, ToolError> {
        let client = CLIENT.try_with(Client::clone).ok();
        let connection = self.connection().await.map_err(ToolError::new)?;
        let (ask, questions) = mpsc::channel(BACKLOG);
        let guard = self.guard(job, client.clone(), ask);
        self.raise_log_level(&connection, client.as_ref()).await;
        let mut answers = client
            .as_ref()
            .filter(|_| connection.era == Era::Stateless)
            .and_then(server_requests::given);
        let mut state = None;
        let mut exchange = Exchange { job, connection: &connection, guard, client, questions };
        for _ in 0..MAX_ROUNDS {
            let message = request.to_message(answers.take(), state.take());
            let said = self.exchange(message, &mut exchange).await;
            let said = match said {
                Ok(ServerResult::CreateTaskResult(begun)) => {
                    self.follow(begun.task, &mut exchange).await?
                }
                Ok(said) => said,
                Err(err) => return Err(self.refused(&err, exchange.client.as_ref()).await),
            };
            let ServerResult::InputRequiredResult(more) = said else {
                return Ok(UpstreamAnswer {
                    said,
                    sandbox: connection.sandbox.as_deref().map(str::to_owned),
                });
            };
            state = more.request_state;
            if let Some(requests) = more.input_requests.filter(|it| !it.is_empty()) {
                let asking = job.asking();
                let said = self.ask_client(exchange.client.as_ref(), requests, asking.time()).await;
                answers = Some(said.map_err(|err| ToolError::new(err.message.into_owned()))?);
            }
        }
        let name = &self.settings.name;
        Err(ToolError::new(format!(
            "the server `{name}` asked {MAX_ROUNDS} times and gave no answer"
        )))
    }

    fn guard(
        &self,
        job: &Job,
        client: Option<Client>,
        ask: mpsc::Sender<ServerQuestion>,
    ) -> InFlightGuard<'_> {
        let mut all = self.in_flight.all();
        let number = all.last().map_or(0, |it| it.number + 1);
        let session = job.session().to_owned();
        all.push(InFlight { number, session, request: None, client, ask });
        InFlightGuard { in_flight: &self.in_flight, number }
    }

    /// Makes a request for a call. Meanwhile the call is told how far it comes, and the client is
    /// asked what the server asks.
    pub(super) async fn exchange(
        &self,
        request: ClientRequest,
        exchange: &mut Exchange<'_>,
    ) -> Result<ServerResult, ServiceError> {
        let (tell, mut told) = mpsc::channel(BACKLOG);
        let options = self.options(exchange);
        let mut handle = {
            // Held, so that nothing can be told before it is known whom to tell.
            let mut listening = self.listening.lock().await;
            let handle =
                exchange.connection.peer.send_cancellable_request(request, options).await?;
            listening.insert(handle.progress_token.clone(), tell);
            exchange.guard.sent(&handle.id);
            handle
        };
        let token = handle.progress_token.clone();
        let mut waiting =
            CancelOnDrop { peer: exchange.connection.peer.clone(), id: Some(handle.id.clone()) };
        let (job, client) = (exchange.job, exchange.client.clone());
        let mut asking = FuturesUnordered::new();
        let answer = loop {
            tokio::select! {
                biased;
                Some(told) = told.recv() => progressed(job, client.as_ref(), told),
                Some(question) = exchange.questions.recv() => {
                    asking.push(self.answer(question, client.as_ref(), job));
                }
                Some(()) = asking.next(), if !asking.is_empty() => {}
                answer = &mut handle.rx => break answer.unwrap_or(Err(ServiceError::TransportClosed)),
            }
        };
        waiting.id = None;
        self.listening.lock().await.remove(&token);
        answer
    }

    /// What goes with a request to a server of the newer era: what the client can be asked, as far
    /// as this server may ask, and which messages it wants to hear.
    pub(super) fn options(&self, exchange: &Exchange<'_>) -> PeerRequestOptions {
        let options = PeerRequestOptions::no_options();
        if exchange.connection.era == Era::Legacy {
            return options;
        }
        let mut meta = RequestMetaObject::new();
        let profile = exchange.client.as_ref().map(|it| &*it.profile);
        meta.set_client_capabilities(server_requests::allowed(
            profile.map(|it| it.can.clone()).unwrap_or_default(),
            &self.settings,
        ));
        let level = profile
            .and_then(|it| it.level)
            .filter(|_| self.settings.may(ServerPermission::Logging));
        if let Some(level) = level {
            meta.set_log_level(level);
        }
        options.with_meta(meta)
    }

    /// What an error means, for the model; and for the client, where it may want to know it in the
    /// protocol's words.
    pub(super) async fn refused(&self, err: &ServiceError, client: Option<&Client>) -> ToolError {
        let name = &self.settings.name;
        ToolError::new(match err {
            ServiceError::McpError(err) => {
                if let Some(client) = client {
                    // An error means that it was refused before, for the same call.
                    let _ = client.side_results.refused.set(passed_on(err, client));
                }
                format!(
                    "the server `{name}` refused the call: {}",
                    visible(err.message.to_string())
                )
            }
            ServiceError::Cancelled { .. } => format!("the call of server `{name}` was cancelled"),
            _ => {
                let why = self.why_down().await;
                let why = why.map_or_else(String::new, |why| format!(" ({why})"));
                format!(
                    "the server `{name}` ended while it worked on this call{why}; it may have done part \
                    of it. It restarts by itself"
                )
            }
        })
    }

    /// Hears how far a request has come.
    pub(super) async fn progressed(&self, told: &ProgressNotificationParam) {
        let listening = self.listening.lock().await;
        if let Some(tell) = listening.get(&told.progress_token) {
            // Full: the call is behind, and the next one tells more.
            let _ = tell.try_send(told.clone());
        }
    }
}

/// What a server gave.
pub(super) struct UpstreamAnswer {
    pub(super) said: ServerResult,
    /// What held the program.
    pub(super) sandbox: Option<String>,
}

/// The same error without its words: those are in the reply, where secrets are taken out of them.
fn passed_on(err: &ErrorData, client: &Client) -> ErrorData {
    let data = err.data.as_ref().filter(|it| it.to_string().len() <= MAX_ERROR_DATA);
    let data = data.map(|it| client.redactor.value(it).0.into_owned());
    ErrorData::new(err.code, String::new(), data)
}

/// Tells a client in the server's own numbers, and anybody else in fractions.
fn progressed(job: &Job, client: Option<&Client>, told: ProgressNotificationParam) {
    let detail = told.message.unwrap_or_default();
    let Some(client) = client else {
        let whole = told.total.filter(|it| *it > 0.0).unwrap_or(1.0);
        return job.progress(told.progress / whole, &detail);
    };
    let detail = client.redactor.text(&sanitize(&detail)).0.into_owned();
    let (progress, total) = (told.progress, told.total);
    // Full: the client is behind, and the next one tells more.
    let _ = client.tell.try_send(ClientMessage::Progress { progress, total, detail });
}

#[cfg(test)]
mod tests;
