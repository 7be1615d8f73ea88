//! The client of a call as a way to ask a person.

use std::sync::{Arc, OnceLock};

use eclusa::{Answer, Approver, NotAsked, Question};
use futures::future::BoxFuture;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};

use crate::question::Form;

tokio::task_local! {
    /// The client whose call the current task carries through the gate.
    pub(crate) static CLIENT: Client;
}

/// How a call reaches the client that made it.
#[derive(Clone)]
pub(crate) struct Client {
    /// Whoever answers the client.
    pub(crate) tell: mpsc::Sender<Told>,
    /// Whether the client said that it can show a form.
    pub(crate) asks: bool,
    /// What `approve` was permitted.
    pub(crate) permitted: Arc<OnceLock<Value>>,
}

/// What a call has to tell its client before it is done.
pub(crate) enum Told {
    /// How far it has come.
    Progress {
        /// From 0 to 1.
        fraction: f64,
        /// What it is at.
        detail: String,
    },
    /// Somebody must be asked.
    Asked(Asked),
}

/// A question that waits for the client's answer.
pub(crate) struct Asked {
    /// What is asked.
    pub(crate) form: Form,
    /// Where the answer goes. Closed when nobody waits for it any more.
    pub(crate) answer: oneshot::Sender<Answer>,
}

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
        CLIENT.try_with(|client| client.asks).unwrap_or(false)
    }

    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Result<Answer, NotAsked>> {
        Box::pin(async move {
            let none = |why: &str| NotAsked::Unavailable(why.to_owned());
            let client = CLIENT.try_with(Client::clone);
            let client = client.map_err(|_| none("the call came from no MCP client"))?;
            if !client.asks {
                return Err(none("the MCP client does not declare elicitation"));
            }
            let (answer, answered) = oneshot::channel();
            let asked = Asked { form: Form::of(question), answer };
            let told = client.tell.send(Told::Asked(asked)).await;
            told.map_err(|_| none("the MCP client is gone"))?;
            answered.await.map_err(|_| {
                NotAsked::Failed("the MCP client did not come back with an answer".to_owned())
            })
        })
    }
}
