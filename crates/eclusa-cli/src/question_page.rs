//! The approval queue for clients that open addresses: whoever sits there is sent to the page of the
//! question that waits. Opening it answers nothing.

use std::{sync::Arc, time::Duration};

use eclusa::{Answer, Approver, NotAsked, Question, approve::Said, one_line};
use eclusa_mcp::{client_opens_addresses, open_address};
use eclusa_store::ApprovalQueue;
use futures::future::BoxFuture;

/// How often the number of a question is looked for until it is queued.
const LOOK: Duration = Duration::from_millis(50);

/// An approval queue with a page.
pub(crate) struct PagedQueue {
    /// Who asks.
    pub(crate) asks: Arc<dyn Approver>,
    /// Where the question waits then.
    pub(crate) queue: ApprovalQueue,
    /// The address of the page, with the workspace.
    pub(crate) inbox: String,
}

impl PagedQueue {
    /// Sends whoever sits at the client to the question, once it waits.
    async fn show(&self, question: &Question) {
        let id = loop {
            match self.queue.pending_number(&question.call, &question.binding) {
                Ok(Some(id)) => break id,
                // A queue that cannot be read is reported by whoever asks.
                Ok(None) | Err(_) => tokio::time::sleep(LOOK).await,
            }
        };
        let tool = one_line(&question.tool);
        let message = format!("`{tool}` waits for approval {id}. It is answered on this page.");
        let (name, url) = (format!("approval-{id}"), format!("{}/{id}", self.inbox));
        open_address(name, message, url, question.time).await;
    }
}

impl Approver for PagedQueue {
    fn name(&self) -> &str {
        self.asks.name()
    }

    fn takes_several(&self) -> bool {
        self.asks.takes_several()
    }

    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Result<Answer, NotAsked>> {
        Box::pin(async move { self.submit(question, true).await.map(|it| it.answer) })
    }

    fn submit<'a>(
        &'a self,
        question: &'a Question,
        wait: bool,
    ) -> BoxFuture<'a, Result<Said, NotAsked>> {
        let mut waiting = self.asks.submit(question, wait);
        if !wait || !client_opens_addresses() {
            return waiting;
        }
        Box::pin(async move {
            tokio::select! {
                said = &mut waiting => return said,
                () = self.show(question) => {}
            }
            waiting.await
        })
    }

    fn withdraw(&self, question: &Question) {
        self.asks.withdraw(question);
    }
}
