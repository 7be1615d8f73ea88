//! Serving: an instance and the requests that it answers, until it is asked to end.

use tokio::net::TcpListener;

use crate::{
    ServerError, http, operations,
    server::{ServerOptions, start},
};

/// Serves until `stop` resolves.
pub async fn serve(
    mut options: ServerOptions,
    listener: TcpListener,
    stop: impl Future<Output = ()>,
) -> Result<(), ServerError> {
    let operations = options.operations.take();
    let port = listener.local_addr().map_or(0, |it| it.port());
    let (server, mut beside) = start(options, port).await?;
    if let Some(listener) = operations {
        beside.spawn(operations::accept(server.clone(), listener));
    }
    tokio::select! {
        served = http::accept(server, listener) => served,
        () = stop => Ok(()),
    }
}
