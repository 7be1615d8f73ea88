//! What is told of a question, in the form that each receiver understands. It says where to look, and answers nothing.

use eclusa::settings::NotificationKind;
use serde_json::{Value, json};

use super::{OutgoingNotification, WebhookSecrets, escape, json_body, signature};

/// What is told, once it is said where the question waits.
#[derive(Debug, Clone, PartialEq)]
pub struct Announcement {
    /// The same at every attempt, so that a receiver knows a repeat.
    pub id: String,
    /// In one line: what waits, where, for how long.
    pub title: String,
    /// Whose answer is needed, and the first digits of the binding.
    pub details: String,
    /// Where to look.
    pub link: String,
    /// The same for programs.
    pub event: Value,
    /// Now, in milliseconds since 1970.
    pub now: u64,
}

impl Announcement {
    /// The request for this kind of receiver. Webhooks are signed with all secrets.
    pub fn outgoing(
        &self,
        kind: NotificationKind,
        secrets: Option<&WebhookSecrets>,
    ) -> OutgoingNotification {
        match kind {
            NotificationKind::Webhook => self.webhook(secrets),
            NotificationKind::Command => json_body(&self.event),
            NotificationKind::Slack => json_body(&self.slack()),
            NotificationKind::Ntfy => self.ntfy(),
        }
    }

    /// Standard Webhooks: the id is the same at every attempt, so that a receiver knows a repeat.
    fn webhook(&self, secrets: Option<&WebhookSecrets>) -> OutgoingNotification {
        let mut outgoing = json_body(&self.event);
        let id = format!("msg_{}", self.id);
        let timestamp = (self.now / 1_000).to_string();
        if let Some(secrets) = secrets {
            let signature = secrets.sign(&id, &timestamp, outgoing.body.as_bytes());
            outgoing.headers.push((signature::SIGNATURE, signature));
        }
        outgoing.headers.push((signature::ID, id));
        outgoing.headers.push((signature::TIMESTAMP, timestamp));
        outgoing
    }

    fn slack(&self) -> Value {
        let plain = |text: String| json!({"type": "plain_text", "text": text, "emoji": false});
        // Plain text is shown as it is: nothing that an agent wrote becomes a link or a mention.
        let (title, link) = (&self.title, &self.link);
        let button = json!({"type": "button", "text": plain("Look at it".to_owned()), "url": link});
        json!({
            "text": escape(title),
            "blocks": [
                {"type": "section", "text": plain(title.clone())},
                {"type": "context", "elements": [plain(self.details.clone())]},
                {"type": "actions", "elements": [button]},
            ],
        })
    }

    fn ntfy(&self) -> OutgoingNotification {
        // Headers hold nothing but ASCII.
        let ascii = |text: &str| text.replace(|it: char| !(' '..='~').contains(&it), "?");
        let headers = vec![
            ("title", ascii(&self.title)),
            ("click", ascii(&self.link)),
            ("tags", "lock".to_owned()),
            ("content-type", "text/plain; charset=utf-8".to_owned()),
        ];
        OutgoingNotification { headers, body: self.details.clone() }
    }
}
