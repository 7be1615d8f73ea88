//! What a server says along the way, heard in the order in which it was said: rmcp hands each
//! notification to a task of its own, and the answer may overtake it.

use std::sync::Weak;

use eclusa::Ask;
use rmcp::{
    ErrorData, RoleClient,
    model::{
        ClientRequest, ErrorCode, JsonRpcMessage, LoggingLevel, LoggingMessageNotificationParam,
        ProtocolVersion, RequestId, ServerNotification, ServerResult, SetLevelRequest,
        SetLevelRequestParams,
    },
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
    transport::Transport,
};
use serde_json::Value;

use super::{
    asks::bounded,
    upstream::{Line, Upstream},
};
use crate::approver::{Client, Told};

/// The largest message that is passed on, in bytes.
const MESSAGE: usize = 64 << 10;

/// A transport with an ear at it.
pub(super) struct Heard<T> {
    transport: T,
    upstream: Weak<Upstream>,
    /// What was received and not yet listened to: receiving may be dropped at any await.
    held: Option<RxJsonRpcMessage<RoleClient>>,
    /// The request that asked which era the server is of.
    probe: Option<RequestId>,
}

impl<T> Heard<T> {
    pub(super) fn new(transport: T, upstream: Weak<Upstream>) -> Heard<T> {
        Heard { transport, upstream, held: None, probe: None }
    }
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for Heard<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        if let JsonRpcMessage::Request(it) = &item
            && matches!(it.request, ClientRequest::DiscoverRequest(_))
        {
            self.probe = Some(it.id.clone());
        }
        self.transport.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        if self.held.is_none() {
            self.held = Some(self.transport.receive().await?);
        }
        if let (Some(JsonRpcMessage::Notification(it)), Some(upstream)) =
            (&self.held, self.upstream.upgrade())
        {
            match &it.notification {
                ServerNotification::ProgressNotification(it) => {
                    upstream.progressed(&it.params).await;
                }
                ServerNotification::LoggingMessageNotification(it) => upstream.said(&it.params),
                _ => {}
            }
        }
        self.held.take().map(|it| self.read(it))
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.transport.close().await
    }
}

impl<T> Heard<T> {
    /// A server that refuses the newer era, whichever way, is a server of the older one: it names
    /// only old versions, or answers something that is no answer. rmcp gives up on it otherwise.
    fn read(&self, message: RxJsonRpcMessage<RoleClient>) -> RxJsonRpcMessage<RoleClient> {
        let (id, old) = match &message {
            JsonRpcMessage::Error(it) => (it.id.clone(), only_old_versions(&it.error)),
            JsonRpcMessage::Response(it) => {
                let answers = matches!(it.result, ServerResult::DiscoverResult(_));
                (Some(it.id.clone()), !answers)
            }
            _ => return message,
        };
        match old && id.is_some() && id == self.probe {
            true => {
                let no =
                    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "it is of the older era", None);
                JsonRpcMessage::error(no, id)
            }
            false => message,
        }
    }
}

fn only_old_versions(err: &ErrorData) -> bool {
    let newer = |it: &Value| it.as_str() >= Some(ProtocolVersion::V_2026_07_28.as_str());
    let supported = err.data.as_ref().and_then(|it| it.get("supported")).and_then(Value::as_array);
    let only_old = supported.is_some_and(|it| !it.is_empty() && !it.iter().any(newer));
    err.code == ErrorCode::UNSUPPORTED_PROTOCOL_VERSION && only_old
}

impl Upstream {
    /// Passes a message on to the client whose call the server works on, if it wants to hear it.
    fn said(&self, said: &LoggingMessageNotificationParam) {
        if !self.settings.may(Ask::Logging) || said.data.to_string().len() > MESSAGE {
            return;
        }
        let client = self.flights.about(None, |it| it.client.clone()).flatten();
        let Some(client) = client else {
            tracing::debug!(server = self.settings.name, "a message came for nobody");
            return;
        };
        if client.wishes.level.is_none_or(|level| (said.level as u8) < (level as u8)) {
            return;
        }
        let name = &self.settings.name;
        let mut told = LoggingMessageNotificationParam::new(
            said.level,
            client.redactor.value(&said.data).0.into_owned(),
        );
        told.logger = Some(match &said.logger {
            Some(logger) => format!("{name}/{}", bounded(logger)),
            None => name.clone(),
        });
        // Full: the client is behind, and what it misses are words.
        let _ = client.tell.try_send(Told::Message(told));
    }

    /// Has a server of the older era say as much as the client of the next call wants to hear. It
    /// keeps one level for everybody; who wants to hear less is spared here.
    pub(super) async fn listen_closely(&self, line: &Line, client: Option<&Client>) {
        let logs = line.peer.peer_info().is_some_and(|it| it.capabilities.logging.is_some());
        let level = client.and_then(|it| it.wishes.level);
        let Some(level) = level.filter(|_| logs && !line.modern()) else { return };
        if !self.settings.may(Ask::Logging) {
            return;
        }
        let mut now: tokio::sync::MutexGuard<'_, Option<LoggingLevel>> = line.level.lock().await;
        if now.is_none_or(|now| (level as u8) < (now as u8)) {
            let request = SetLevelRequest::new(SetLevelRequestParams::new(level));
            // Without it the server says what it likes.
            let _ = line.peer.send_request(ClientRequest::SetLevelRequest(request)).await;
            *now = Some(level);
        }
    }
}
