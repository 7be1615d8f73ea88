//! The approval queue of a gate. While a question waits people are told of it, and a client that opens
//! addresses is sent to its page. Neither answers it.

use std::{convert::Infallible, sync::Arc, time::Duration};

use eclusa::{
    Answer, Approver, NotAsked, Question,
    approve::AnswerGiven,
    one_line,
    store::{ApprovalQueue, Store},
};
use eclusa_mcp::{client_opens_addresses, open_address};
use futures::future::BoxFuture;

use crate::{context::AppContext, notifications::NotificationSender};

/// How often the number of a question is looked for until it is queued.
const LOOK: Duration = Duration::from_millis(50);

/// How long a program that parks its question stays to tell people of it.
const PARKING: Duration = Duration::from_secs(5);

/// An approval queue, and what is done while somebody waits for it.
struct QueueApprover {
    queue: Arc<dyn ApprovalQueue>,
    /// Tells people, where notifications are configured.
    sender: Option<NotificationSender>,
    /// The address of the page, with the workspace, where it is configured.
    inbox: Option<String>,
}

impl AppContext {
    /// The approval queue for a gate.
    pub fn queue_approver(&self, store: &dyn Store) -> Arc<dyn Approver> {
        let queue = self.approval_queue(store);
        let told = !self.config.notifications.is_empty();
        // Nobody is sent to a page that may not be there.
        let inbox = self.config.approvals.url.as_ref();
        Arc::new(QueueApprover {
            sender: told.then(|| self.notification_sender(queue.clone())),
            inbox: inbox
                .map(|it| format!("{}/inbox/{}", it.trim_end_matches('/'), self.workspace_key())),
            queue,
        })
    }
}

impl QueueApprover {
    /// Tells people of what waits, for as long as this is polled.
    async fn tell(&self, question: &Question) -> Infallible {
        let send = async {
            if let Some(sender) = &self.sender {
                sender.keep_sending().await;
            }
        };
        let show = async {
            if let Some(inbox) = self.inbox.as_deref().filter(|_| client_opens_addresses()) {
                self.show(question, inbox).await;
            }
        };
        futures::join!(send, show);
        std::future::pending().await
    }

    /// Sends whoever sits at the client to the question, once it waits.
    async fn show(&self, question: &Question, inbox: &str) {
        let id = loop {
            match self.queue.pending_number(&question.call, &question.binding).await {
                Ok(Some(id)) => break id,
                // A queue that cannot be read is reported by whoever asks.
                Ok(None) | Err(_) => tokio::time::sleep(LOOK).await,
            }
        };
        let tool = one_line(&question.tool);
        let message = format!("`{tool}` waits for approval {id}. It is answered on this page.");
        let (name, url) = (format!("approval-{id}"), format!("{inbox}/{id}"));
        open_address(name, message, url, question.time).await;
    }
}

impl Approver for QueueApprover {
    fn name(&self) -> &str {
        Approver::name(&*self.queue)
    }

    fn takes_several(&self) -> bool {
        self.queue.takes_several()
    }

    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Result<Answer, NotAsked>> {
        Box::pin(async move { self.submit(question, true).await.map(|it| it.answer) })
    }

    fn submit<'a>(
        &'a self,
        question: &'a Question,
        wait: bool,
    ) -> BoxFuture<'a, Result<AnswerGiven, NotAsked>> {
        Box::pin(async move {
            let said = match wait {
                true => tokio::select! {
                    said = self.queue.submit(question, true) => said,
                    never = self.tell(question) => match never {},
                },
                false => self.queue.submit(question, false).await,
            };
            // That it waits, or was answered.
            if let (Some(sender), Err(NotAsked::Parked(_)) | Ok(_)) = (&self.sender, &said) {
                // What cannot be sent now is sent by whoever looks next.
                drop(tokio::time::timeout(PARKING, sender.send_due()).await);
            }
            said
        })
    }

    fn withdraw(&self, question: &Question) {
        self.queue.withdraw(question);
    }
}
