//! Sending whoever sits at a client to an address. It is a request to look, and answers nothing.

use std::time::Duration;

use rmcp::model::{ElicitRequest, ElicitRequestParams, InputRequest, InputRequests};
use tokio::sync::oneshot;

use super::{CLIENT, Client, ClientMessage, ClientQuestion};

/// What the request is called among those of a call.
const PAGE: &str = "page";

/// Whether the client whose call the current task carries can send a person to an address.
pub fn client_opens_addresses() -> bool {
    CLIENT.try_with(|client| client.profile.opens_addresses()).unwrap_or(false)
}

/// Sends whoever sits at the client of this call to an address, and waits until the client says that it
/// has done so or will not. Dropped before that, it takes the request back.
pub async fn open_address(name: String, message: String, url: String, time: Duration) {
    let Ok(client) = CLIENT.try_with(Client::clone) else { return };
    if !client.profile.opens_addresses() {
        return;
    }
    let elicitation_id = name;
    let params =
        ElicitRequestParams::UrlElicitationParams { meta: None, message, url, elicitation_id };
    let request = InputRequest::Elicitation(ElicitRequest::new(params));
    let requests = InputRequests::from([(PAGE.to_owned(), request)]);
    let (answers, answered) = oneshot::channel();
    let asked = ClientQuestion::Input { requests, answers, time };
    // Whatever it says, it is no answer to the question: that is given on the page.
    if client.tell.send(ClientMessage::Question(asked)).await.is_ok() {
        drop(answered.await);
    }
}
