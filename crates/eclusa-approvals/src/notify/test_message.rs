//! A message that tries where notifications go: it is about no question, and says so.

use eclusa::settings::NotificationKind;
use serde_json::json;

use super::{OutgoingNotification, WebhookSecrets, escape, json_body, signature};

/// The message for this kind of receiver, in the form of its notifications.
pub fn test_message(
    kind: NotificationKind,
    secrets: Option<&WebhookSecrets>,
    page: &str,
    now: u64,
) -> OutgoingNotification {
    let link = format!("{}/inbox", page.trim_end_matches('/'));
    let title = "A test from Eclusa: no question waits";
    let event = json!({"type": "approval.test", "data": {"title": title, "link": link}});
    match kind {
        NotificationKind::Command => json_body(&event),
        NotificationKind::Webhook => {
            let mut outgoing = json_body(&event);
            let (id, timestamp) = (format!("msg_test_{now}"), (now / 1_000).to_string());
            if let Some(secrets) = secrets {
                let signed = secrets.sign(&id, &timestamp, outgoing.body.as_bytes());
                outgoing.headers.push((signature::SIGNATURE, signed));
            }
            outgoing.headers.push((signature::ID, id));
            outgoing.headers.push((signature::TIMESTAMP, timestamp));
            outgoing
        }
        NotificationKind::Slack => json_body(&json!({"text": escape(&format!("{title}: {link}"))})),
        NotificationKind::Ntfy => OutgoingNotification {
            headers: vec![
                ("title", title.to_owned()),
                ("click", link.replace(|it: char| !(' '..='~').contains(&it), "?")),
                ("tags", "lock".to_owned()),
                ("content-type", "text/plain; charset=utf-8".to_owned()),
            ],
            body: "If you can open the page from here, notifications work".to_owned(),
        },
    }
}
