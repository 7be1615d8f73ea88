//! A question on its way to a client: whether a call may run, or what a server needs to go on.

use std::{sync::Arc, time::Duration};

use eclusa::workspace::digest;
use rmcp::{
    ErrorData, RoleServer,
    model::{
        CancelledNotificationParam, ClientResult, CreateMessageResult, ElicitRequest,
        ElicitRequestParams, ElicitResult, GetExtensions, InputRequest, InputRequests,
        InputResponses, ListRootsResult, RequestId, ServerRequest,
    },
    service::{OriginatingRequestId, Peer, PeerRequestOptions, ServiceError},
};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::{
    runtime::Handle,
    sync::{Mutex, mpsc, oneshot},
};
use tokio_util::sync::CancellationToken;

use crate::client::{
    ClientMessage,
    form::{Form, FormAnswer},
};

/// The name of the one question of an approval.
const APPROVAL: &str = "approval";

/// A question that waits for the client's answer. Dropping it without one is a no.
pub(crate) enum ClientQuestion {
    /// Whether the call may run.
    Approval {
        /// What is asked.
        form: Form,
        /// Where the answer goes. Closed when nobody waits for it any more.
        answer: oneshot::Sender<FormAnswer>,
        /// Where the call tells what its client has to do: a question that the client dropped
        /// without an answer waits there.
        tell: mpsc::Sender<ClientMessage>,
    },
    /// What the server that works on the call needs to go on.
    Input {
        /// What it asks, each under a name.
        requests: InputRequests,
        /// Where the answers go, under the same names.
        answers: oneshot::Sender<Result<InputResponses, ErrorData>>,
        /// How long answers are waited for.
        time: Duration,
    },
}

impl ClientQuestion {
    /// The requests that a client of the newer era gets.
    pub(crate) fn requests(&mut self) -> Option<InputRequests> {
        match self {
            ClientQuestion::Approval { form, .. } => {
                form.goes_out();
                let request = InputRequest::Elicitation(ElicitRequest::new(form_request(form)?));
                Some(InputRequests::from([(APPROVAL.to_owned(), request)]))
            }
            ClientQuestion::Input { requests, .. } => Some(requests.clone()),
        }
    }

    /// How long an answer is waited for.
    pub(crate) fn time(&self) -> Duration {
        match self {
            ClientQuestion::Approval { form, .. } => form.time,
            ClientQuestion::Input { time, .. } => *time,
        }
    }

    /// What an answer is bound to.
    pub(crate) fn binding(&self) -> String {
        match self {
            ClientQuestion::Approval { form, .. } => form.binding.clone(),
            ClientQuestion::Input { requests, .. } => {
                digest(&serde_json::to_value(requests).unwrap_or_default()).to_string()
            }
        }
    }

    /// True when nobody waits for the answer any more.
    pub(crate) fn is_closed(&self) -> bool {
        match self {
            ClientQuestion::Approval { answer, .. } => answer.is_closed(),
            ClientQuestion::Input { answers, .. } => answers.is_closed(),
        }
    }

    /// Waits until nobody waits for the answer any more.
    async fn closed(&mut self) {
        match self {
            ClientQuestion::Approval { answer, .. } => answer.closed().await,
            ClientQuestion::Input { answers, .. } => answers.closed().await,
        }
    }

    /// Takes the client's answers. The question comes back when they are none, and still stands.
    pub(crate) fn answered(self, said: Option<&InputResponses>) -> Result<(), Box<ClientQuestion>> {
        let none = InputResponses::new();
        let said = said.unwrap_or(&none);
        // An error of `send` means that the time for it is over, which the call tells.
        match self {
            ClientQuestion::Approval { form, answer, tell } => {
                match said.get(APPROVAL).and_then(|said| form.read(said)) {
                    Some(said) => drop(answer.send(said)),
                    None => return Err(Box::new(ClientQuestion::Approval { form, answer, tell })),
                }
            }
            ClientQuestion::Input { requests, answers, time } => match answering(&requests, said) {
                Some(said) => drop(answers.send(Ok(said))),
                None => return Err(Box::new(ClientQuestion::Input { requests, answers, time })),
            },
        }
        Ok(())
    }

    /// Asks with requests of our own (2025-06-18, 2025-11-25), and takes them back when nobody
    /// waits for the answer any more. `within` is the request that they are about; `asking` is held
    /// while a question is open, so that a client has one at a time. `over` is cancelled when the
    /// request has its answer: a client that closes the form because of that has said nothing, and
    /// is asked again when it comes back for the call.
    pub(crate) async fn ask(
        mut self,
        peer: Peer<RoleServer>,
        within: RequestId,
        asking: Arc<Mutex<()>>,
        over: CancellationToken,
    ) {
        let _turn = tokio::select! {
            turn = asking.lock() => turn,
            () = self.closed() => return,
        };
        match self {
            ClientQuestion::Approval { mut form, mut answer, tell } => {
                let Some(params) = form_request(&form) else { return };
                form.goes_out();
                let request = ServerRequest::ElicitRequest(ElicitRequest::new(params));
                let said = tokio::select! {
                    said = send_request(&peer, request, &within) => said,
                    () = answer.closed() => return,
                };
                let closed = |it: &Value| it.get("action").is_some_and(|it| it == "cancel");
                if over.is_cancelled() && said.as_ref().is_ok_and(closed) {
                    let asked = ClientQuestion::Approval { form, answer, tell: tell.clone() };
                    // Full or gone: nobody comes back for it.
                    let _ = tell.try_send(ClientMessage::Question(asked));
                    return;
                }
                let said = said.ok().and_then(|said| form.read(&said));
                if let Some(said) = said {
                    // An error means that it comes too late.
                    let _ = answer.send(said);
                }
            }
            ClientQuestion::Input { requests, mut answers, .. } => {
                let put_all = async {
                    let mut all = InputResponses::new();
                    for (name, request) in requests {
                        all.insert(name, send_request(&peer, sent(request), &within).await?);
                    }
                    Ok(all)
                };
                let said = tokio::select! {
                    said = put_all => said,
                    () = answers.closed() => return,
                };
                let _ = answers.send(said);
            }
        }
    }
}

/// The answers to these requests and to nothing else; `None` when one is missing or no answer.
fn answering(requests: &InputRequests, said: &InputResponses) -> Option<InputResponses> {
    let answer = |(name, request): (&String, &InputRequest)| {
        let said = said.get(name).filter(|said| answers(request, said))?;
        Some((name.clone(), said.clone()))
    };
    requests.iter().map(answer).collect()
}

/// True when this is an answer to that request, whatever it says.
fn answers(request: &InputRequest, said: &Value) -> bool {
    fn reads<T: DeserializeOwned>(said: &Value) -> bool {
        said.is_object() && T::deserialize(said).is_ok()
    }
    match request {
        InputRequest::Elicitation(_) => reads::<ElicitResult>(said),
        InputRequest::CreateMessage(_) => reads::<CreateMessageResult>(said),
        InputRequest::ListRoots(_) => reads::<ListRootsResult>(said),
        _ => false,
    }
}

/// The same request as a server of the older era makes it.
fn sent(request: InputRequest) -> ServerRequest {
    match request {
        InputRequest::Elicitation(it) => ServerRequest::ElicitRequest(it),
        InputRequest::CreateMessage(it) => ServerRequest::CreateMessageRequest(it),
        InputRequest::ListRoots(it) => ServerRequest::ListRootsRequest(it),
        _ => ServerRequest::PingRequest(Default::default()),
    }
}

/// Takes a request back when it is dropped before it was answered.
struct CancelOnDrop {
    peer: Peer<RoleServer>,
    id: Option<RequestId>,
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        if let Some(id) = self.id.take() {
            let peer = self.peer.clone();
            let reason = "the caller no longer waits for the answer".to_owned();
            let told = CancelledNotificationParam::new(Some(id), Some(reason));
            // Without a runtime everything ends. An error means that the client is gone.
            if let Ok(runtime) = Handle::try_current() {
                runtime.spawn(async move { drop(peer.notify_cancelled(told).await) });
            }
        }
    }
}

async fn send_request(
    peer: &Peer<RoleServer>,
    mut request: ServerRequest,
    within: &RequestId,
) -> Result<Value, ErrorData> {
    // So that it comes on the stream of the request that it is about.
    request.extensions_mut().insert(OriginatingRequestId(within.clone()));
    let failed = |err: ServiceError| match err {
        ServiceError::McpError(err) => err,
        err => ErrorData::internal_error(format!("the client did not answer: {err}"), None),
    };
    let options = PeerRequestOptions::no_options();
    let mut handle = peer.send_cancellable_request(request, options).await.map_err(failed)?;
    let mut guard = CancelOnDrop { peer: peer.clone(), id: Some(handle.id.clone()) };
    let said = (&mut handle.rx).await;
    guard.id = None;
    let said = said.unwrap_or(Err(ServiceError::TransportClosed)).map_err(failed)?;
    let said = match said {
        ClientResult::ElicitResult(it) => serde_json::to_value(it),
        ClientResult::CreateMessageResult(it) => serde_json::to_value(it),
        ClientResult::ListRootsResult(it) => serde_json::to_value(it),
        _ => return Err(ErrorData::internal_error("the client answered something else", None)),
    };
    said.map_err(|err| ErrorData::internal_error(err.to_string(), None))
}

/// The parameters of an elicitation.
fn form_request(form: &Form) -> Option<ElicitRequestParams> {
    Some(ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: form.message.clone(),
        requested_schema: serde_json::from_value(form.schema()).ok()?,
    })
}
