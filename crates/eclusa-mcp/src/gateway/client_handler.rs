//! The client that a server sees: us. What it asks goes to the client of the call.

use std::sync::{Arc, Weak};

use eclusa::settings::ServerPermission;
use rmcp::{
    ClientHandler, ErrorData, RoleClient,
    model::{
        ClientCapabilities, ClientConfig, CreateMessageRequest, CreateMessageRequestParams,
        CreateMessageResult, ElicitRequest, ElicitRequestParams, ElicitResult,
        ElicitationCapability, FormElicitationCapability, Implementation, InputRequest,
        ListRootsRequest, ListRootsResult, ResourceUpdatedNotificationParam, RootsCapabilities,
        SamplingCapability, UrlElicitationCapability,
    },
    service::{InboundStreamOrigin, NotificationContext, RequestContext},
};
use serde::de::DeserializeOwned;

use super::{notifications::Notification, upstream::Upstream};

/// The client that a server sees.
pub(super) struct UpstreamHandler {
    pub(super) upstream: Weak<Upstream>,
}

impl UpstreamHandler {
    fn upstream(&self) -> Option<Arc<Upstream>> {
        self.upstream.upgrade()
    }

    /// Asks, and reads the answer as what the server expects.
    async fn ask<T: DeserializeOwned>(
        &self,
        request: InputRequest,
        context: RequestContext<RoleClient>,
    ) -> Result<T, ErrorData> {
        let gone = || ErrorData::internal_error("the client has left", None);
        let upstream = self.upstream().ok_or_else(gone)?;
        let origin = match context.extensions.get::<InboundStreamOrigin>() {
            Some(InboundStreamOrigin::OutboundRequest(id)) => Some(id),
            _ => None,
        };
        let said = tokio::select! {
            said = upstream.asked(request, origin) => said?,
            () = context.ct.cancelled() => return Err(gone()),
        };
        serde_json::from_value(said)
            .map_err(|err| ErrorData::internal_error(format!("the answer is none: {err}"), None))
    }

    fn news(&self, news: Notification) {
        if let Some(upstream) = self.upstream() {
            upstream.handle_notification(news);
        }
    }
}

impl ClientHandler for UpstreamHandler {
    /// What a server of the older era may count on: what it may ask. Whether the client of a call
    /// can be asked is seen when it asks.
    fn get_info(&self) -> ClientConfig {
        let mut can = ClientCapabilities::default();
        if let Some(upstream) = self.upstream() {
            let may = |ask| upstream.settings.may(ask);
            can.elicitation = may(ServerPermission::Elicitation).then(|| {
                ElicitationCapability::new()
                    .with_form(FormElicitationCapability::default())
                    .with_url(UrlElicitationCapability::default())
            });
            can.sampling = may(ServerPermission::Sampling).then(SamplingCapability::default);
            can.roots = may(ServerPermission::Roots).then(RootsCapabilities::default);
        }
        let us = Implementation::new("eclusa", env!("CARGO_PKG_VERSION")).with_title("Eclusa");
        ClientConfig::new(can, us)
    }

    async fn create_elicitation(
        &self,
        params: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        self.ask(InputRequest::Elicitation(ElicitRequest::new(params)), context).await
    }

    async fn create_message(
        &self,
        params: CreateMessageRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        self.ask(InputRequest::CreateMessage(CreateMessageRequest::new(params)), context).await
    }

    async fn list_roots(
        &self,
        context: RequestContext<RoleClient>,
    ) -> Result<ListRootsResult, ErrorData> {
        self.ask(InputRequest::ListRoots(ListRootsRequest::default()), context).await
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.news(Notification::Tools);
    }

    async fn on_prompt_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.news(Notification::Prompts);
    }

    async fn on_resource_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.news(Notification::Resources);
    }

    async fn on_resource_updated(
        &self,
        told: ResourceUpdatedNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.news(Notification::Updated(told.uri.into()));
    }
}
