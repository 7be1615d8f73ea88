//! Questions while the chat has the terminal: it is handed over for as long as one is asked.

use std::sync::Arc;

use eclusa::{
    Answer, Approver, NotAsked, Question, Validated,
    preflight::{Checkpoint, PreflightError},
};
use futures::future::BoxFuture;
use tokio::sync::{mpsc::UnboundedSender, oneshot};

use crate::ui::gates::GateParts;

/// Somebody needs the terminal.
pub(super) struct HandOver {
    /// Tells that it is free.
    pub(super) ready: oneshot::Sender<()>,
    /// Resolves, with an error, when it is no longer needed.
    pub(super) returned: oneshot::Receiver<()>,
}

/// Where the chat hears who needs the terminal.
pub(super) type HandOverRequests = UnboundedSender<HandOver>;

/// The terminal, until this is dropped.
pub(super) struct LentTerminal {
    _returned: oneshot::Sender<()>,
}

/// Waits until the terminal is free.
pub(super) async fn borrow(requests: &HandOverRequests) -> Result<LentTerminal, String> {
    let (ready, is_ready) = oneshot::channel();
    let (lent, returned) = oneshot::channel();
    let gone = "the chat is being closed";
    requests.send(HandOver { ready, returned }).map_err(|_| gone.to_owned())?;
    is_ready.await.map_err(|_| gone.to_owned())?;
    Ok(LentTerminal { _returned: lent })
}

/// Everybody who asks on the terminal borrows it from the chat first.
pub(super) fn lend_terminal(parts: &mut GateParts, requests: &HandOverRequests) {
    let approvers = std::mem::take(&mut parts.people);
    let borrowing = |approver| -> Arc<dyn Approver> {
        Arc::new(BorrowingApprover { approver, requests: requests.clone() })
    };
    parts.people = approvers.into_iter().map(borrowing).collect();
    if let Some(checkpoint) = parts.checkpoint.take() {
        let requests = requests.clone();
        parts.checkpoint = Some(Arc::new(BorrowingCheckpoint { checkpoint, requests }));
    }
}

struct BorrowingApprover {
    approver: Arc<dyn Approver>,
    requests: HandOverRequests,
}

impl Approver for BorrowingApprover {
    fn name(&self) -> &str {
        self.approver.name()
    }

    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Result<Answer, NotAsked>> {
        Box::pin(async move {
            let _terminal = borrow(&self.requests).await.map_err(NotAsked::Unavailable)?;
            self.approver.ask(question).await
        })
    }
}

struct BorrowingCheckpoint {
    checkpoint: Arc<dyn Checkpoint>,
    requests: HandOverRequests,
}

impl Checkpoint for BorrowingCheckpoint {
    fn open<'a>(&'a self, call: &'a Validated) -> BoxFuture<'a, Result<(), PreflightError>> {
        Box::pin(async move {
            let _terminal = borrow(&self.requests).await?;
            self.checkpoint.open(call).await
        })
    }
}
