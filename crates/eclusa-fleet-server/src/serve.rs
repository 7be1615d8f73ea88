//! Serving: an instance and the requests that it answers, until it is asked to end.

use tokio::net::TcpListener;

use crate::{
    ServerError, http,
    server::{ServerOptions, start},
};

/// Serves until `stop` resolves.
pub async fn serve(
    options: ServerOptions,
    listener: TcpListener,
    stop: impl Future<Output = ()>,
) -> Result<(), ServerError> {
    let (server, _beside) = start(options).await?;
    tokio::select! {
        served = http::accept(server, listener) => served,
        () = stop => Ok(()),
    }
}
