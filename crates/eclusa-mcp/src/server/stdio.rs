//! Serving one client over standard input and output.

use std::{io, time::Duration};

use rmcp::{service::serve_directly, transport::stdio_pipes};

use crate::server::{
    call::WaitLimits, handler::Server, pipe::Pipe, startup::Startup, state::ServerState,
};

/// How long calls that were cancelled may take to get on record.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(10);

/// Serves the client on standard input and output until it closes its end, or until `stop`
/// resolves. When this returns, every call has ended and is on record.
///
/// Both eras of the protocol are spoken at once: a request that carries its own version is
/// answered by it (2026-07-28), and one that does not, by what `initialize` agreed on.
pub async fn serve_stdio(
    opening: Startup,
    wait_limits: WaitLimits,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    let shared = ServerState::new(opening, wait_limits)?;
    let (read, write) = stdio_pipes();
    let pipe = Pipe::new(read, write, shared.clone());
    // Without rmcp's own start, which knows one era a connection and ends it on a notification
    // that comes too early.
    let running = serve_directly(Server::new(shared.clone())?, pipe, None);
    let hang_up = running.cancellation_token();
    let mut ended = tokio::spawn(running.waiting());
    tokio::select! {
        () = shared.gone.cancelled() => {}
        () = stop => {}
        _ = &mut ended => {}
    }
    shared.gone.cancel();
    shared.calls.tracker.close();
    if tokio::time::timeout(SHUTDOWN_TIMEOUT, shared.calls.tracker.wait()).await.is_err() {
        tracing::error!("some calls did not end in time");
    }
    // What they answered goes out, if anybody reads it.
    if !ended.is_finished() {
        hang_up.cancel();
        let _ = tokio::time::timeout(Duration::from_secs(3), ended).await;
    }
    Ok(())
}
