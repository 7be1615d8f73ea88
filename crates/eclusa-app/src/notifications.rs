//! Tells people of questions that wait: whatever process is there sends what is due, tries again what
//! failed, and answers nothing.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use eclusa::{
    approve::{DueNotification, NotificationTarget, Outbox, QueueError},
    audit::{Clock as _, SystemClock},
    settings::Endpoint,
    store::{ApprovalQueue, Store},
};
use eclusa_approvals::{
    Announcement, NotificationText, OutgoingNotification, WebhookSecrets, test_message,
};
use eclusa_config::{ApprovalsSettings, NotificationSettings};
use tokio::sync::Mutex;

use crate::{
    context::AppContext,
    reviewers::service::Service,
    spawn::{Program, Streams},
};

/// How long one attempt may take.
const ATTEMPT: Duration = Duration::from_secs(10);

/// How often what is due is looked for while somebody waits.
const LOOK: Duration = Duration::from_millis(300);

/// Where links lead unless the configuration says otherwise.
const DEFAULT_PAGE: &str = "http://localhost:8378";

/// The address that links to the page begin with.
pub fn page(settings: &ApprovalsSettings) -> &str {
    settings.url.as_deref().unwrap_or(DEFAULT_PAGE)
}

/// True of an address that no other machine reaches.
pub fn is_local(page: &str) -> bool {
    let host = page.split_once("://").map_or(page, |it| it.1);
    ["localhost", "127.", "[::1]"].iter().any(|it| host.starts_with(it))
}

/// Sends the notifications of one queue.
pub struct NotificationSender {
    outbox: Arc<dyn Outbox>,
    settings: Vec<NotificationSettings>,
    /// The workspace, as addresses of the page name it, and as people do.
    workspace: (String, String),
    page: String,
    directory: PathBuf,
    /// Held by whoever sends: one is enough.
    sending: Mutex<()>,
}

impl AppContext {
    /// The approval queue of this workspace. Notifications are kept in it for whoever is configured.
    pub fn approval_queue(&self, store: &dyn Store) -> Arc<dyn ApprovalQueue> {
        let target = |it: &NotificationSettings| NotificationTarget {
            name: it.name.clone(),
            after: it.after,
            answers: it.answers,
        };
        let targets = self.config.notifications.iter().map(target).collect();
        store.approval_queue(targets)
    }

    /// The workspace, as addresses of the page name it.
    pub fn workspace_key(&self) -> String {
        let key = self.paths.store.parent().and_then(|it| it.file_name()).unwrap_or_default();
        key.to_string_lossy().into()
    }

    /// Sends the notifications of this queue, as this workspace is configured.
    pub fn notification_sender(&self, queue: Arc<dyn ApprovalQueue>) -> NotificationSender {
        let name = self.paths.workspace.file_name().unwrap_or_default();
        NotificationSender {
            outbox: queue,
            settings: self.config.notifications.clone(),
            workspace: (self.workspace_key(), name.to_string_lossy().into()),
            page: page(&self.config.approvals).to_owned(),
            directory: self.paths.workspace.clone(),
            sending: Mutex::default(),
        }
    }
}

impl NotificationSender {
    /// Sends until nobody waits for it any more.
    pub async fn keep_sending(&self) {
        let _only = self.sending.lock().await;
        loop {
            if let Err(err) = self.send_due().await {
                tracing::warn!("notifications cannot be sent: {err}");
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Sends everything that is due.
    pub async fn send_due(&self) -> Result<(), QueueError> {
        while self.outbox.next_due().await?.is_some_and(|it| it <= SystemClock.unix_ms()) {
            let due = self.outbox.claim().await?;
            let queue = self.outbox.name().await?;
            let sending = due.iter().map(|it| async {
                let sent = tokio::time::timeout(ATTEMPT, self.send(it, &queue)).await;
                let outcome = sent.unwrap_or_else(|_| Err("it took too long".to_owned()));
                if let Err(why) = &outcome {
                    tracing::warn!("notification `{}` was not sent: {why}", it.target);
                }
                self.outbox.note_attempt(it.id, outcome).await
            });
            for noted in futures::future::join_all(sending).await {
                noted?;
            }
        }
        Ok(())
    }

    /// Sends a test to everybody who is configured: the name of each, and what came of it.
    pub async fn send_test(&self) -> Vec<(String, Result<(), String>)> {
        let sending = self.settings.iter().map(|it| async {
            let sent = tokio::time::timeout(ATTEMPT, self.send_one_test(it)).await;
            (it.name.clone(), sent.unwrap_or_else(|_| Err("it took too long".to_owned())))
        });
        futures::future::join_all(sending).await
    }

    async fn send_one_test(&self, settings: &NotificationSettings) -> Result<(), String> {
        let secrets = settings.secret.as_deref().map(secrets).transpose()?;
        let now = SystemClock.unix_ms();
        let outgoing = test_message(settings.kind, secrets.as_ref(), &self.page, now);
        self.deliver(settings, outgoing).await
    }

    /// Sends one.
    async fn send(&self, due: &DueNotification, queue: &str) -> Result<(), String> {
        let settings = self.settings.iter().find(|it| it.name == due.target);
        let settings = settings.ok_or("no notification of this name is configured any more")?;
        let text = NotificationText {
            due,
            queue,
            workspace: &self.workspace.0,
            name: &self.workspace.1,
            page: &self.page,
            args: settings.show_args,
            now: SystemClock.unix_ms(),
        };
        let secrets = settings.secret.as_deref().map(secrets).transpose()?;
        self.deliver(settings, text.outgoing(settings.kind, secrets.as_ref())).await
    }

    async fn deliver(
        &self,
        settings: &NotificationSettings,
        outgoing: OutgoingNotification,
    ) -> Result<(), String> {
        deliver(settings, &self.directory, outgoing).await
    }
}

/// Sends an announcement as its receiver is configured, within the time of one attempt.
pub async fn announce(
    settings: &NotificationSettings,
    directory: &Path,
    told: &Announcement,
) -> Result<(), String> {
    let secrets = settings.secret.as_deref().map(secrets).transpose()?;
    let sending = deliver(settings, directory, told.outgoing(settings.kind, secrets.as_ref()));
    let sent = tokio::time::timeout(ATTEMPT, sending).await;
    sent.unwrap_or_else(|_| Err("it took too long".to_owned()))
}

async fn deliver(
    settings: &NotificationSettings,
    directory: &Path,
    outgoing: OutgoingNotification,
) -> Result<(), String> {
    match &settings.reach {
        Endpoint::Command(command) => run(command, directory, outgoing).await,
        Endpoint::Url { url, headers } => {
            let mut all = Vec::new();
            for (name, variable) in headers {
                all.push((name.clone(), variable_of(variable)?));
            }
            let ours = outgoing.headers.into_iter().map(|(name, it)| (name.to_owned(), it));
            all.extend(ours);
            Service::new(url, &all, ATTEMPT)?.deliver(outgoing.body).await
        }
    }
}

/// Runs the program that takes it.
async fn run(
    command: &[String],
    directory: &Path,
    out: OutgoingNotification,
) -> Result<(), String> {
    let program = Program {
        command: command.to_vec(),
        directory: directory.to_owned(),
        env: Vec::new(),
        set: Vec::new(),
    };
    let ran = program.run(out.body.into_bytes(), Streams::Together).await;
    let ran = ran.map_err(|err| err.to_string())?;
    match ran.code {
        Some(0) => Ok(()),
        _ => Err(format!("{}: {}", ran.how(), ran.out.trim())),
    }
}

/// The secrets in this variable.
pub fn secrets(variable: &str) -> Result<WebhookSecrets, String> {
    WebhookSecrets::parse(&variable_of(variable)?).map_err(|why| format!("`{variable}`: {why}"))
}

fn variable_of(name: &str) -> Result<String, String> {
    std::env::var(name).map_err(|_| format!("the variable `{name}` is not set"))
}
