//! The client of a call: as a way to ask a person, and as the one who hears of the call.

use std::sync::{Arc, OnceLock};

use eclusa::{Answer, Approver, NotAsked, Question, Redactor};
use futures::future::BoxFuture;
use rmcp::{
    ErrorData,
    model::{ClientCapabilities, InputResponses, LoggingLevel, LoggingMessageNotificationParam},
};
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};

use crate::era::Era;

mod address;
mod elicitation;
pub(crate) mod form;

pub use address::{client_opens_addresses, open_address};
pub(crate) use elicitation::ClientQuestion;
use form::{Form, FormAnswer};

tokio::task_local! {
    /// The client whose call the current task carries through the gate.
    pub(crate) static CLIENT: Client;
}

/// How a call reaches the client that made it.
#[derive(Clone)]
pub(crate) struct Client {
    /// Whoever answers the client.
    pub(crate) tell: mpsc::Sender<ClientMessage>,
    /// What the client said about itself.
    pub(crate) profile: Arc<ClientProfile>,
    /// Takes secrets out of what passes by the gate.
    pub(crate) redactor: Arc<Redactor>,
    pub(crate) side_results: Arc<SideResults>,
}

/// What a client said about itself with a request.
#[derive(Default)]
pub(crate) struct ClientProfile {
    /// Which era it speaks.
    pub(crate) era: Era,
    /// What it can be asked.
    pub(crate) can: ClientCapabilities,
    /// Which messages of servers it wants to hear: from this level on.
    pub(crate) level: Option<LoggingLevel>,
    /// Answers that it brought before anybody asked.
    pub(crate) given: Option<InputResponses>,
}

/// What leaves a call beside its reply.
#[derive(Default)]
pub(crate) struct SideResults {
    /// What `approve` was permitted.
    pub(crate) permitted: OnceLock<Value>,
    /// How a server refused the request, where the client must know it in the protocol's words.
    pub(crate) refused: OnceLock<ErrorData>,
}

/// What a call has to tell its client before it is done.
pub(crate) enum ClientMessage {
    /// How far it has come.
    Progress {
        /// More than the last time.
        progress: f64,
        /// What it comes to in the end, if that is known.
        total: Option<f64>,
        /// What it is at.
        detail: String,
    },
    /// Somebody must be asked.
    Question(ClientQuestion),
    /// A message of the server that works on it.
    Message(LoggingMessageNotificationParam),
}

impl ClientProfile {
    /// True when it can be asked anything at all.
    pub(crate) fn can_be_asked(&self) -> bool {
        self.can.elicitation.is_some() || self.can.sampling.is_some() || self.can.roots.is_some()
    }

    /// True when the client can show a form. `elicitation: {}` means that it can.
    pub(crate) fn shows_forms(&self) -> bool {
        self.can.elicitation.as_ref().is_some_and(|it| it.form.is_some() || it.url.is_none())
    }

    /// True when the client can send a person to an address.
    pub(crate) fn opens_addresses(&self) -> bool {
        self.can.elicitation.as_ref().is_some_and(|it| it.url.is_some())
    }
}

/// Said of a question that came back before anybody can have read it.
const UNREAD: &str = "the client dismissed the question unseen; a person can add an allow rule, or set \
`on_no_approver = \"queue\"` and answer with `eclusa approvals`";

/// Puts questions to people through the MCP client that a call came from.
///
/// The first of a gate's approvers: a client that cannot ask passes the question on to the next.
#[derive(Debug, Default, Clone, Copy)]
pub struct ThroughClient;

impl Approver for ThroughClient {
    fn name(&self) -> &str {
        "mcp-client"
    }

    /// A client shows as many questions as it has calls: one that it never comes back to must not
    /// hold the others up, of this client or of another.
    fn takes_several(&self) -> bool {
        CLIENT.try_with(|client| client.profile.shows_forms()).unwrap_or(false)
    }

    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Result<Answer, NotAsked>> {
        Box::pin(async move {
            let none = |why: &str| NotAsked::Unavailable(why.to_owned());
            let client = CLIENT.try_with(Client::clone);
            let client = client.map_err(|_| none("the call came from no MCP client"))?;
            if !client.profile.shows_forms() {
                return Err(none("the MCP client does not declare elicitation"));
            }
            let (answer, answered) = oneshot::channel();
            let (form, tell) = (Form::new(question), client.tell.clone());
            let asked = ClientQuestion::Approval { form, answer, tell };
            let told = client.tell.send(ClientMessage::Question(asked)).await;
            told.map_err(|_| none("the MCP client is gone"))?;
            match answered.await {
                Ok(FormAnswer::Given(answer)) => Ok(answer),
                Ok(FormAnswer::Unread) => Err(NotAsked::Unread(UNREAD.to_owned())),
                Err(_) => {
                    let why = "the MCP client did not come back with an answer";
                    Err(NotAsked::Failed(why.to_owned()))
                }
            }
        })
    }
}
