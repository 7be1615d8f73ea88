//! A server's pipe as a transport: one message a line, of bounded length.

use std::{
    io,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use rmcp::{
    RoleClient,
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
    transport::Transport,
};
use tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt as _},
    sync::Mutex as AsyncMutex,
    time::timeout,
};
use tokio_util::sync::CancellationToken;

use crate::{
    call_messages,
    lines::{Lines, MAX_LINE_BYTES, Read, at_once, bare},
};

/// How many lines that are no messages a server may write before it is given up. Some print a
/// greeting.
const MAX_BAD_LINES: usize = 100;

/// How long a server may leave unread what it is sent before it is given up. Some read nothing
/// while they work.
const WRITE_TIMEOUT: Duration = Duration::from_secs(120);

/// Why a pipe was given up, for whoever has to say so.
#[derive(Clone, Default)]
pub(super) struct LastError(Arc<Mutex<Option<String>>>);

impl LastError {
    pub(super) fn make(&self, why: String) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(why);
    }

    /// What there is to complain of, once.
    pub(super) fn take(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// The two ends of a server.
pub(super) struct PipeTransport<R, W> {
    lines: Lines<R>,
    write: Arc<AsyncMutex<W>>,
    nonsense: usize,
    last_error: LastError,
    /// Cancelled when nothing more comes of it: whoever still writes is let go.
    given_up: CancellationToken,
}

impl<R: AsyncRead + Unpin, W> PipeTransport<R, W> {
    pub(super) fn new(read: R, write: W, last_error: LastError) -> PipeTransport<R, W> {
        let write = Arc::new(AsyncMutex::new(write));
        let (lines, given_up) = (Lines::impatient(read), CancellationToken::new());
        PipeTransport { lines, write, nonsense: 0, last_error, given_up }
    }
}

impl<R, W> Transport<RoleClient> for PipeTransport<R, W>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let (to, last_error) = (self.write.clone(), self.last_error.clone());
        let given_up = self.given_up.clone();
        at_once(async move {
            let mut line = call_messages::to_server(&item)?;
            line.push(b'\n');
            let writing = async {
                let mut to = to.lock().await;
                let mut left = line.as_slice();
                while !left.is_empty() {
                    let Ok(written) = timeout(WRITE_TIMEOUT, to.write(left)).await else {
                        last_error.make("it does not read its input".to_owned());
                        given_up.cancel();
                        return Err(io::ErrorKind::TimedOut.into());
                    };
                    match written? {
                        0 => return Err(io::ErrorKind::WriteZero.into()),
                        written => left = left.get(written..).unwrap_or_default(),
                    }
                }
                to.flush().await
            };
            tokio::select! {
                biased;
                written = writing => written,
                () = given_up.cancelled() => Err(io::ErrorKind::BrokenPipe.into()),
            }
        })
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        let given_up = self.given_up.clone();
        let message = tokio::select! {
            biased;
            message = self.next() => message,
            () = given_up.cancelled() => None,
        };
        if message.is_none() {
            given_up.cancel();
        }
        message
    }

    async fn close(&mut self) -> io::Result<()> {
        self.given_up.cancel();
        self.write.lock().await.shutdown().await
    }
}

impl<R: AsyncRead + Unpin, W> PipeTransport<R, W> {
    async fn next(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            let line = match self.lines.next().await {
                Read::Line(line) => line,
                Read::TooLong => {
                    self.last_error
                        .make(format!("it sent a message of over {MAX_LINE_BYTES} bytes"));
                    return None;
                }
                Read::End => return None,
            };
            let text = bare(&line);
            match call_messages::from_server(text) {
                Ok(message) => return Some(message),
                Err(_) if text.is_empty() => {}
                Err(err) => {
                    tracing::debug!("a line of a server is not a message: {err}");
                    self.nonsense += 1;
                    if self.nonsense > MAX_BAD_LINES {
                        self.last_error.make("it writes lines that are not messages".to_owned());
                        return None;
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
