//! A server that is a program of this machine: started, greeted, and listened to when it ends.

use std::{sync::Arc, time::Duration};

use futures::future::BoxFuture;
use rmcp::{
    RoleClient,
    service::{ClientLifecycleMode, RunningService, serve_client_with_lifecycle},
};
use tokio::time::{sleep, timeout};

use super::{
    DeniedAccess, ServerProcess,
    client_handler::UpstreamHandler,
    names::reads_like,
    ordered_transport::OrderedTransport,
    pipe_transport::{LastError, PipeTransport},
    upstream::Upstream,
};

/// How long a server that closed its pipe is given for its last words.
pub(super) const LAST_WORDS: Duration = Duration::from_secs(1);

/// A program that has been greeted, and what holds it.
type StartedProcess = (
    RunningService<RoleClient, UpstreamHandler>,
    Box<dyn ServerProcess>,
    Option<String>,
    Option<Arc<dyn DeniedAccess>>,
);

impl Upstream {
    /// Starts the program and greets it. The error says why it cannot be talked to, in its own
    /// last words where it has some.
    pub(super) async fn start_process(
        self: &Arc<Upstream>,
        handler: UpstreamHandler,
        lifecycle: ClientLifecycleMode,
        last_error: &LastError,
    ) -> Result<StartedProcess, String> {
        let launched = self.world.launcher.launch(&self.settings).await;
        let mut launched = launched.map_err(|err| err.to_string())?;
        let wire = PipeTransport::new(launched.output, launched.input, last_error.clone());
        let wire = OrderedTransport::new(wire, Arc::downgrade(self));
        let late = sleep(self.settings.start);
        let serving: BoxFuture<'static, _> =
            Box::pin(serve_client_with_lifecycle(handler, wire, lifecycle));
        let served = tokio::select! {
            served = serving => served,
            how = launched.process.ended() => return Err(last_error.take().unwrap_or(how)),
            () = late => {
                let told = launched.process.told().map(|it| format!("; {it}"));
                return Err(self.too_slow() + &told.unwrap_or_default());
            }
        };
        match served {
            Ok(running) => {
                Ok((running, launched.process, launched.sandbox, launched.denied_access))
            }
            Err(err) => {
                let how = timeout(LAST_WORDS, launched.process.ended()).await.ok();
                Err(last_error.take().or(how).unwrap_or_else(|| err.to_string()))
            }
        }
    }

    /// Whether a tool of this name would be one of this server's.
    pub(super) fn owns_name(&self, tool: &str) -> bool {
        let prefix = format!("mcp_{}_", self.settings.name);
        self.world.plain || tool.starts_with(&prefix) && self.reads_like(tool).is_none()
    }

    /// The other server that this name reads like something of.
    pub(super) fn reads_like(&self, name: &str) -> Option<&str> {
        let all = if self.world.plain { &[][..] } else { &self.world.names };
        reads_like(name, &self.settings.name, all)
    }

    pub(super) fn too_slow(&self) -> String {
        let time = self.settings.start.as_secs_f32();
        format!("it did not start within {time} s; `start` in its settings gives it more")
    }
}
