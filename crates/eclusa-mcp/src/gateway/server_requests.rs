//! What a server asks while it works on a call, on its way to the client that made the call: only
//! what it may ask, only what the client can be asked, sanitize, and with the server's name on it.

use std::time::Duration;

use eclusa::{
    Job, Redactor,
    settings::{ServerPermission, ServerSettings},
};
use reqwest::Url;
use rmcp::{
    ErrorData,
    model::{
        ClientCapabilities, ElicitRequestParams, ErrorCode, InputRequest, InputRequests,
        InputResponses, JsonObject, RequestId, TASKS_EXTENSION_ID,
    },
};
use serde_json::Value;
use tokio::sync::oneshot;

use super::{
    sanitize::{MAX_TEXT_BYTES, sanitize, strip_hidden},
    upstream::Upstream,
};
use crate::client::{Client, ClientMessage, ClientQuestion};

/// The largest request or answer that is passed on, in bytes.
const MAX_QUESTION_BYTES: usize = 1 << 20;

/// The name of a question that came without one.
const UNNAMED: &str = "input";

/// A question of a server of the older era, which does not say which call it is for.
pub(super) struct ServerQuestion {
    request: InputRequest,
    answer: oneshot::Sender<Result<Value, ErrorData>>,
}

/// What of the client's abilities a server gets to know: what it may use.
pub(super) fn allowed(
    mut can: ClientCapabilities,
    settings: &ServerSettings,
) -> ClientCapabilities {
    can.elicitation = can.elicitation.filter(|_| settings.may(ServerPermission::Elicitation));
    can.sampling = can.sampling.filter(|_| settings.may(ServerPermission::Sampling));
    can.roots = can.roots.filter(|_| settings.may(ServerPermission::Roots));
    // A task of a server is followed here, whatever the client knows.
    let tasks = [(TASKS_EXTENSION_ID.to_owned(), JsonObject::new())];
    (can.experimental, can.extensions) = (None, Some(tasks.into()));
    can
}

/// Answers that a client brought before anybody asked, as some servers of the newer era take them.
pub(super) fn given(client: &Client) -> Option<InputResponses> {
    let given = client.profile.given.clone().filter(|it| size(it) <= MAX_QUESTION_BYTES)?;
    Some(redacted(&client.redactor, given))
}

fn size(answers: &InputResponses) -> usize {
    answers.values().map(|it| it.to_string().len()).sum()
}

/// Answers on their way to a server, without secrets.
fn redacted(redactor: &Redactor, answers: InputResponses) -> InputResponses {
    let clean = |(name, said): (String, Value)| (name, redactor.value(&said).0.into_owned());
    answers.into_iter().map(clean).collect()
}

impl Upstream {
    /// Asks what a server of the older era asks with a request of its own. `origin` is the request
    /// of ours that it came with, if that is known.
    pub(super) async fn asked(
        &self,
        request: InputRequest,
        origin: Option<&RequestId>,
    ) -> Result<Value, ErrorData> {
        let name = &self.settings.name;
        let ask = self.in_flight.about(origin, |it| it.ask.clone()).ok_or_else(|| {
            let why = "it is not clear which call it is for: it came outside of a call, or several \
            sessions have calls running";
            no(format!("`{name}` cannot ask this now: {why}"))
        })?;
        let (answer, answered) = oneshot::channel();
        let gone = || no("the call that this is for is over".to_owned());
        ask.send(ServerQuestion { request, answer }).await.map_err(|_| gone())?;
        answered.await.unwrap_or_else(|_| Err(gone()))
    }

    /// Puts a question to the client of a call that is on its way.
    pub(super) async fn answer(
        &self,
        question: ServerQuestion,
        client: Option<&Client>,
        job: &Job,
    ) {
        let ServerQuestion { request, mut answer } = question;
        let asking = job.asking();
        let requests = InputRequests::from([(UNNAMED.to_owned(), request)]);
        let said = tokio::select! {
            said = self.ask_client(client, requests, asking.time()) => said,
            // The server took it back.
            () = answer.closed() => return,
        };
        let said = said.and_then(|mut said| {
            said.remove(UNNAMED).ok_or_else(|| no("the client gave no answer".to_owned()))
        });
        let _ = answer.send(said);
    }

    /// Puts questions to a client, and waits for its answers.
    pub(super) async fn ask_client(
        &self,
        client: Option<&Client>,
        requests: InputRequests,
        time: Duration,
    ) -> Result<InputResponses, ErrorData> {
        let none = || no("the caller cannot be asked".to_owned());
        let client = client.ok_or_else(none)?;
        let dress = |(key, request)| Ok((key, self.dressed(request, client)?));
        let requests = requests.into_iter().map(dress).collect::<Result<_, ErrorData>>()?;
        let (answers, answered) = oneshot::channel();
        let asked = ClientQuestion::Input { requests, answers, time };
        client.tell.send(ClientMessage::Question(asked)).await.map_err(|_| none())?;
        let said = tokio::time::timeout(time, answered)
            .await
            .map_err(|_| no(format!("no answer within {} s", time.as_secs())))?;
        let said = said.map_err(|_| no("the client did not come back".to_owned()))??;
        let size = size(&said);
        if size > MAX_QUESTION_BYTES {
            return Err(no(format!(
                "the answer has {size} bytes, and {MAX_QUESTION_BYTES} are passed on"
            )));
        }
        Ok(redacted(&client.redactor, said))
    }

    /// A request as the client gets it. The error says why it does not.
    fn dressed(&self, request: InputRequest, client: &Client) -> Result<InputRequest, ErrorData> {
        let (ask, can) = match &request {
            InputRequest::Elicitation(it) => match &it.params {
                ElicitRequestParams::UrlElicitationParams { .. } => {
                    (ServerPermission::Elicitation, client.profile.opens_addresses())
                }
                _ => (ServerPermission::Elicitation, client.profile.shows_forms()),
            },
            InputRequest::CreateMessage(it) => {
                let can = client.profile.can.sampling.as_ref();
                let tools = it.params.tools.is_some() || it.params.tool_choice.is_some();
                (ServerPermission::Sampling, can.is_some_and(|it| !tools || it.tools.is_some()))
            }
            InputRequest::ListRoots(_) => {
                (ServerPermission::Roots, client.profile.can.roots.is_some())
            }
            _ => return Err(no("this request is not known".to_owned())),
        };
        self.may(ask)?;
        if !can {
            return Err(no("the client cannot be asked this".to_owned()));
        }
        let unreadable = |err| no(format!("it cannot be read: {err}"));
        let whole = serde_json::to_value(&request).map_err(unreadable)?;
        let size = whole.to_string().len();
        if size > MAX_QUESTION_BYTES {
            return Err(no(format!("it has {size} bytes, and {MAX_QUESTION_BYTES} are passed on")));
        }
        let clean = client.redactor.value(&whole).0.into_owned();
        let mut request = serde_json::from_value(clean).map_err(unreadable)?;
        self.name_itself(&mut request)?;
        Ok(request)
    }

    /// Says which server asks, where the person reads it.
    fn name_itself(&self, request: &mut InputRequest) -> Result<(), ErrorData> {
        let name = &self.settings.name;
        match request {
            InputRequest::Elicitation(it) => match &mut it.params {
                ElicitRequestParams::FormElicitationParams { message, .. } => {
                    *message = format!("{name} asks: {}", sanitize(message));
                }
                ElicitRequestParams::UrlElicitationParams { message, url, .. } => {
                    *message = format!("{name} asks: {}", sanitize(message));
                    let web = Url::parse(url)
                        .is_ok_and(|it| matches!(it.scheme(), "http" | "https") && it.has_host());
                    if !web || url.len() > MAX_TEXT_BYTES || strip_hidden(url) != *url {
                        return Err(no(
                            "it leads to something that is not a readable web address".to_owned()
                        ));
                    }
                }
                _ => {}
            },
            InputRequest::CreateMessage(it) => {
                let said = it.params.system_prompt.take().unwrap_or_default();
                let words = if said.is_empty() { "" } else { ". It says:\n\n" };
                it.params.system_prompt =
                    Some(format!("The MCP server `{name}` asks for this{words}{said}"));
                // To the client all servers here are one, and none gets the words of another.
                it.params.include_context = None;
            }
            _ => {}
        }
        Ok(())
    }

    /// Whether the server may ask this at all.
    pub(super) fn may(&self, ask: ServerPermission) -> Result<(), ErrorData> {
        let name = &self.settings.name;
        match self.settings.may(ask) {
            true => Ok(()),
            false => {
                let what = match ask {
                    ServerPermission::Elicitation => "elicitation",
                    ServerPermission::Sampling => "sampling",
                    ServerPermission::Roots => "roots",
                    ServerPermission::Logging => "logging",
                };
                Err(no(format!("[servers.{name}] does not say that it may ask for {what}")))
            }
        }
    }
}

fn no(why: String) -> ErrorData {
    ErrorData::new(ErrorCode::INVALID_REQUEST, why, None)
}
