//! What the server says about itself: Eclusa's own words, or those of the one server that is wrapped.

use rmcp::model::{Implementation, ServerCapabilities, ServerConfig};

use crate::server::handler::Server;

const INSTRUCTIONS: &str = "Every call passes a gate: it is checked, judged by the person's rules, \
     put to them where the rules say so, and recorded. A refusal says why and what would be \
     accepted; do not repeat a refused call unchanged. An output that was cut names where the \
     whole is kept.";

/// What Eclusa says about itself.
pub(super) fn of_eclusa() -> ServerConfig {
    let capabilities = ServerCapabilities::builder()
        .enable_tools()
        .enable_tool_list_changed()
        .enable_prompts()
        .enable_prompts_list_changed()
        .enable_resources()
        .enable_resources_list_changed()
        .enable_resources_subscribe()
        .enable_completions()
        .enable_logging()
        .enable_tasks()
        .build();
    let server = Implementation::new("eclusa", env!("CARGO_PKG_VERSION")).with_title("Eclusa");
    ServerConfig::new(capabilities).with_server_info(server).with_instructions(INSTRUCTIONS)
}

impl Server {
    /// What there is to say about this server now. One that is wrapped alone speaks for itself, once
    /// it has started. What several say about themselves is in it when they are up: nobody waits for
    /// them here.
    pub(super) async fn info_now(&self) -> ServerConfig {
        let mut info = of_eclusa();
        if let Some(wrapped) = self.shared.wrapped().await {
            let (server, said) = wrapped.about_itself();
            info.server_info = server.unwrap_or(info.server_info);
            let said = said.into_iter().chain([INSTRUCTIONS.to_owned()]);
            info.instructions = Some(said.collect::<Vec<_>>().join("\n\n"));
            return info;
        }
        let gateway = self.shared.opened_now().and_then(|it| it.gateway);
        if let Some(said) = gateway.and_then(|it| it.instructions()) {
            info.instructions = Some(format!("{INSTRUCTIONS}\n\n{said}"));
        }
        info
    }
}
