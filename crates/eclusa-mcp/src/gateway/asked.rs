//! What a server asks of us and tells us while it works: we are its client.

use std::sync::{Arc, Weak};

use eclusa::Ask;
use rmcp::{
    ClientHandler, RoleClient,
    model::{ClientCapabilities, ClientConfig, Implementation, ProgressNotificationParam},
    service::NotificationContext,
};

use super::upstream::Upstream;

/// The client that a server sees.
pub(super) struct Asked {
    pub(super) upstream: Weak<Upstream>,
}

impl Asked {
    fn upstream(&self) -> Option<Arc<Upstream>> {
        self.upstream.upgrade()
    }
}

impl ClientHandler for Asked {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        if let Some(upstream) = self.upstream() {
            if upstream.settings.may(Ask::Elicitation) {
                capabilities.elicitation = Some(Default::default());
            }
        }
        let us = Implementation::new("eclusa", env!("CARGO_PKG_VERSION")).with_title("Eclusa");
        ClientConfig::new(capabilities, us)
    }

    async fn on_progress(
        &self,
        told: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        if let Some(upstream) = self.upstream() {
            upstream.progressed(told).await;
        }
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        if let Some(upstream) = self.upstream() {
            upstream.list_again();
        }
    }
}
