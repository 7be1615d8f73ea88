//! What a server says along the way, heard in the order in which it was said: rmcp hands each
//! notification to a task of its own, and the answer may overtake it.

use std::{collections::HashSet, sync::Weak};

use eclusa::settings::ServerPermission;
use rmcp::{
    ErrorData, RoleClient,
    model::{
        ClientRequest, CustomResult, ErrorCode, InputRequiredResult, JsonRpcMessage, LoggingLevel,
        LoggingMessageNotificationParam, RequestId, ServerNotification, ServerResult,
        SetLevelRequest, SetLevelRequestParams,
    },
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
    transport::Transport,
};
use serde_json::Value;

use super::{
    notifications::Notification,
    sanitize::sanitize,
    upstream::{Connection, Upstream},
};
use crate::{
    client::{Client, ClientMessage},
    era::Era,
};

/// The largest message that is passed on, in bytes.
const MAX_LOG_BYTES: usize = 64 << 10;

/// How many questions of a server wait for an answer at once.
const MAX_OPEN_QUESTIONS: usize = 64;

/// A transport with an ear at it.
pub(super) struct OrderedTransport<T> {
    transport: T,
    upstream: Weak<Upstream>,
    /// What was received and not yet listened to: receiving may be dropped at any await.
    held: Option<RxJsonRpcMessage<RoleClient>>,
    /// The request that asked which era the server is of.
    probe: Option<RequestId>,
    /// The same, once it was given up: a server that starts slowly still answers it, and rmcp would
    /// take that for the answer to its greeting.
    late: Option<RequestId>,
    /// What it has asked and was not answered yet.
    open: HashSet<RequestId>,
    /// Set when the connection began in the wrong era.
    given_up: bool,
}

impl<T> OrderedTransport<T> {
    pub(super) fn new(transport: T, upstream: Weak<Upstream>) -> OrderedTransport<T> {
        OrderedTransport {
            transport,
            upstream,
            held: None,
            probe: None,
            late: None,
            open: HashSet::new(),
            given_up: false,
        }
    }
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for OrderedTransport<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        match &item {
            JsonRpcMessage::Request(it)
                if matches!(it.request, ClientRequest::DiscoverRequest(_)) =>
            {
                self.probe = Some(it.id.clone());
            }
            JsonRpcMessage::Request(it)
                if matches!(it.request, ClientRequest::InitializeRequest(_)) =>
            {
                self.late = self.probe.take();
            }
            JsonRpcMessage::Response(it) => drop(self.open.remove(&it.id)),
            JsonRpcMessage::Error(it) => {
                it.id.as_ref().map(|id| self.open.remove(id));
            }
            _ => {}
        }
        self.transport.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        while self.held.is_none() {
            if self.given_up {
                return None;
            }
            let message = self.transport.receive().await?;
            self.held = self.taken(message);
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

impl<T> OrderedTransport<T> {
    /// The server is of the newer era, and took longer to say so than rmcp waits: it was greeted in
    /// the older one, and is started again in its own.
    fn give_up(&mut self) {
        self.given_up = true;
        if let Some(upstream) = self.upstream.upgrade() {
            *upstream.era.known() = Some(Era::Stateless);
        }
    }

    /// The message, unless it asks more than can be listened to: each question waits in memory, and
    /// one that has the number of another could not be told from it.
    fn taken(
        &mut self,
        message: RxJsonRpcMessage<RoleClient>,
    ) -> Option<RxJsonRpcMessage<RoleClient>> {
        match &message {
            JsonRpcMessage::Request(it) => {
                let room = self.open.len() < MAX_OPEN_QUESTIONS;
                if !room || !self.open.insert(it.id.clone()) {
                    tracing::debug!("a question of a server was passed over");
                    return None;
                }
            }
            JsonRpcMessage::Notification(it) => {
                if let ServerNotification::CancelledNotification(it) = &it.notification
                    && let Some(id) = &it.params.request_id
                {
                    self.open.remove(id);
                }
            }
            JsonRpcMessage::Response(it) if Some(&it.id) == self.late.as_ref() => {
                if matches!(it.result, ServerResult::DiscoverResult(_)) {
                    self.give_up();
                }
                return None;
            }
            JsonRpcMessage::Error(it) if it.id.is_some() && it.id == self.late => return None,
            _ => {}
        }
        Some(repaired(message))
    }

    /// A server that refuses the newer era, whichever way, is a server of the older one: it names
    /// only old versions, or answers something that is no answer. rmcp gives up on it otherwise.
    fn read(&self, message: RxJsonRpcMessage<RoleClient>) -> RxJsonRpcMessage<RoleClient> {
        if let (JsonRpcMessage::Response(it), Some(upstream)) = (&message, self.upstream.upgrade())
            && let ServerResult::DiscoverResult(found) = &it.result
        {
            upstream.era.discovered(found);
        }
        let (id, old) = match &message {
            JsonRpcMessage::Error(it) => (it.id.clone(), Era::is_legacy_refusal(&it.error)),
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

/// A question that leads to an address has no number of its own in the newer era, and rmcp takes none
/// without.
fn repaired(mut message: RxJsonRpcMessage<RoleClient>) -> RxJsonRpcMessage<RoleClient> {
    let JsonRpcMessage::Response(response) = &mut message else { return message };
    let ServerResult::CustomResult(CustomResult(said)) = &mut response.result else {
        return message;
    };
    if said.get("resultType").and_then(Value::as_str) != Some("input_required") {
        return message;
    }
    let asks = said.get_mut("inputRequests").and_then(Value::as_object_mut);
    for (name, ask) in asks.into_iter().flatten() {
        let params = ask.get_mut("params").and_then(Value::as_object_mut);
        let Some(params) = params.filter(|it| it.get("mode").is_some_and(|it| it == "url")) else {
            continue;
        };
        params.entry("elicitationId").or_insert_with(|| name.as_str().into());
    }
    if let Ok(asks) = serde_json::from_value::<InputRequiredResult>(said.clone()) {
        response.result = ServerResult::InputRequiredResult(asks);
    }
    message
}

impl Upstream {
    /// Passes a message on to the client whose call the server works on, if it wants to hear it.
    fn said(&self, said: &LoggingMessageNotificationParam) {
        if !self.settings.may(ServerPermission::Logging)
            || said.data.to_string().len() > MAX_LOG_BYTES
        {
            return;
        }
        let name = &self.settings.name;
        if !self.log_rate.take() {
            tracing::debug!(server = name, "it logs too much");
            return;
        }
        let mut told = LoggingMessageNotificationParam::new(said.level, said.data.clone());
        told.logger = Some(match &said.logger {
            Some(logger) => format!("{name}/{}", sanitize(logger)),
            None => name.clone(),
        });
        let client = self.in_flight.about(None, |it| it.client.clone()).flatten();
        let Some(client) = client else {
            match self.in_flight.none() {
                // It belongs to no call: whoever is there and listens may hear it.
                true => self.handle_notification(Notification::Said(told.into())),
                false => tracing::debug!(server = name, "a message came for no call"),
            }
            return;
        };
        if client.profile.level.is_none_or(|level| (said.level as u8) < (level as u8)) {
            return;
        }
        told.data = client.redactor.value(&told.data).0.into_owned();
        // Full: the client is behind, and what it misses are words.
        let _ = client.tell.try_send(ClientMessage::Message(told));
    }

    /// Has a server of the older era say as much as the client of the next call wants to hear. It
    /// keeps one level for everybody; who wants to hear less is spared here.
    pub(super) async fn raise_log_level(&self, connection: &Connection, client: Option<&Client>) {
        let logs = connection.peer.peer_info().is_some_and(|it| it.capabilities.logging.is_some());
        let level = client.and_then(|it| it.profile.level);
        let Some(level) = level.filter(|_| logs && connection.era == Era::Legacy) else { return };
        if !self.settings.may(ServerPermission::Logging) {
            return;
        }
        let mut now: tokio::sync::MutexGuard<'_, Option<LoggingLevel>> =
            connection.level.lock().await;
        if now.is_none_or(|now| (level as u8) < (now as u8)) {
            let request = SetLevelRequest::new(SetLevelRequestParams::new(level));
            // Without it the server says what it likes.
            let _ = connection.peer.send_request(ClientRequest::SetLevelRequest(request)).await;
            *now = Some(level);
        }
    }
}

#[cfg(test)]
mod tests;
