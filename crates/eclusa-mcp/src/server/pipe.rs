//! Standard input and output as a transport, where rmcp's own falls short.
//!
//! Its own transport drops a line that is not JSON, or too long, without a word, and keeps calls
//! running for five seconds after the client is gone. Here every such line is answered, what was
//! half written when the client went away is left alone, and calls get a second to end.

use std::{io, sync::Arc, time::Duration};

use rmcp::{
    ErrorData, RoleServer,
    model::{ErrorCode, JsonRpcMessage, RequestId, ServerJsonRpcMessage},
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
    transport::Transport,
};
use serde_json::Value;
use tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt as _},
    sync::{Mutex, watch},
};

use crate::{
    call_messages,
    lines::{Lines, MAX_LINE_BYTES, Read, at_once, bare, write, write_line},
    server::state::ServerState,
};

/// How long calls may go on after the client has closed its end. It may still be reading.
const CLOSE_GRACE: Duration = Duration::from_secs(1);

/// The two ends of a client.
pub(crate) struct Pipe<R, W> {
    lines: Lines<R>,
    ended: bool,
    /// How many requests have no answer yet.
    owed: Arc<watch::Sender<usize>>,
    write: Arc<Mutex<W>>,
    shared: Arc<ServerState>,
}

impl<R: AsyncRead + Send + Unpin, W: AsyncWrite + Send + Unpin + 'static> Pipe<R, W> {
    pub(crate) fn new(read: R, write: W, shared: Arc<ServerState>) -> Pipe<R, W> {
        Pipe {
            lines: Lines::new(read),
            ended: false,
            owed: Arc::new(watch::channel(0).0),
            write: Arc::new(Mutex::new(write)),
            shared,
        }
    }

    /// Says what is wrong with a message, with its id where there is one. Written by a task of its
    /// own: reading may be dropped at any await, and half a line must never go out.
    fn refuse(&self, code: ErrorCode, problem: String, id: Option<RequestId>) {
        let message = ServerJsonRpcMessage::error(ErrorData::new(code, problem, None), id);
        let to = self.write.clone();
        // An error means that nobody reads it.
        tokio::spawn(async move { drop(write(&to, &message).await) });
    }

    /// What the line says. A line that says nothing is answered here.
    fn read(&self, line: &[u8]) -> Option<RxJsonRpcMessage<RoleServer>> {
        let text = bare(line);
        if text.is_empty() {
            return None;
        }
        match call_messages::from_client(text) {
            Ok(message) => Some(message),
            Err(err) => {
                self.explain(text, &err);
                None
            }
        }
    }

    fn explain(&self, text: &[u8], err: &serde_json::Error) {
        let Ok(value) = serde_json::from_slice::<Value>(text) else {
            let problem = format!("this line is not JSON: {err}");
            return self.refuse(ErrorCode::PARSE_ERROR, problem, None);
        };
        let id = value.get("id").cloned().and_then(|id| serde_json::from_value(id).ok());
        let method = value.get("method").and_then(Value::as_str);
        if method.is_some() && value.get("id").is_none() {
            // A notification that nobody knows is none of our business.
            tracing::debug!("an unknown notification was passed over");
            return;
        }
        let problem = match value {
            Value::Array(_) => "batches are not part of this protocol: send one message a line",
            _ => "this is not a JSON-RPC message of the Model Context Protocol",
        };
        self.refuse(ErrorCode::INVALID_REQUEST, problem.to_owned(), id);
    }

    /// The client has closed its end. What it asked for is still answered, where that is a matter
    /// of a moment; then calls are taken back.
    async fn end(&mut self) {
        let mut owed = self.owed.subscribe();
        let grace = async {
            // A call that came in while the workspace was opening gets its moment too.
            let _ = self.shared.gate().await;
            tokio::time::sleep(CLOSE_GRACE).await;
        };
        tokio::select! {
            _ = owed.wait_for(|owed| *owed == 0) => {}
            () = grace => {}
        }
        self.shared.gone.cancel();
    }
}

impl<R, W> Transport<RoleServer> for Pipe<R, W>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let (to, owed) = (self.write.clone(), self.owed.clone());
        let gone = self.shared.gone.clone();
        at_once(async move {
            let written = match call_messages::to_client(&item) {
                Ok(line) => write_line(&to, line).await,
                Err(err) => Err(err.into()),
            };
            if written.is_err() {
                // Nobody will ever read an answer.
                gone.cancel();
            }
            if matches!(item, JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_)) {
                owed.send_modify(|it| *it = it.saturating_sub(1));
            }
            written
        })
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            if self.ended {
                self.end().await;
                return None;
            }
            match self.lines.next().await {
                Read::Line(line) => {
                    if let Some(message) = self.read(&line) {
                        if matches!(message, JsonRpcMessage::Request(_)) {
                            self.owed.send_modify(|it| *it += 1);
                        }
                        return Some(message);
                    }
                }
                Read::TooLong => {
                    let problem = format!(
                        "a message may have {MAX_LINE_BYTES} bytes, and this one is longer"
                    );
                    self.refuse(ErrorCode::INVALID_REQUEST, problem, None);
                }
                Read::End => self.ended = true,
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.write.lock().await.flush().await
    }
}
