//! A server's pipe as a transport: one message a line, of bounded length.

use std::{
    io,
    sync::{Arc, Mutex, PoisonError},
};

use rmcp::{
    RoleClient,
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
    transport::Transport,
};
use tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt as _},
    sync::Mutex as AsyncMutex,
};

use crate::lines::{LONGEST, Lines, Read, at_once, bare, write};

/// How many lines that are no messages a server may write before it is given up. Some print a
/// greeting.
const NONSENSE: usize = 100;

/// Why a pipe was given up, for whoever has to say so.
#[derive(Clone, Default)]
pub(super) struct Complaint(Arc<Mutex<Option<String>>>);

impl Complaint {
    fn make(&self, why: String) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(why);
    }

    /// What there is to complain of, once.
    pub(super) fn take(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// The two ends of a server.
pub(super) struct Wire<R, W> {
    lines: Lines<R>,
    write: Arc<AsyncMutex<W>>,
    nonsense: usize,
    complaint: Complaint,
}

impl<R: AsyncRead + Unpin, W> Wire<R, W> {
    pub(super) fn new(read: R, write: W, complaint: Complaint) -> Wire<R, W> {
        let write = Arc::new(AsyncMutex::new(write));
        Wire { lines: Lines::impatient(read), write, nonsense: 0, complaint }
    }
}

impl<R, W> Transport<RoleClient> for Wire<R, W>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let to = self.write.clone();
        at_once(async move { write(&to, &item).await })
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            let line = match self.lines.next().await {
                Read::Line(line) => line,
                Read::TooLong => {
                    self.complaint.make(format!("it sent a message of over {LONGEST} bytes"));
                    return None;
                }
                Read::End => return None,
            };
            let text = bare(&line);
            match serde_json::from_slice(text) {
                Ok(message) => return Some(message),
                Err(_) if text.is_empty() => {}
                Err(err) => {
                    tracing::debug!("a line of a server is no message: {err}");
                    self.nonsense += 1;
                    if self.nonsense > NONSENSE {
                        self.complaint.make("it writes lines that are no messages".to_owned());
                        return None;
                    }
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.write.lock().await.shutdown().await
    }
}
