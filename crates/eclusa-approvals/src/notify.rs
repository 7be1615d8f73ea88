//! What people are told of a question that waits, in the form that each receiver understands. It says
//! where to look, and answers nothing.

use eclusa::{
    approve::{DueNotification, NotificationEvent, QuestionState},
    one_line,
    settings::NotificationKind,
};
use serde_json::{Value, json};

use crate::page::{headline, span};

mod announcement;
pub(crate) mod signature;
mod test_message;

pub use announcement::Announcement;
pub use signature::WebhookSecrets;
pub use test_message::test_message;

/// So much of the arguments is told where they are told at all, in characters.
const MAX_ARGS: usize = 2_000;

/// What is told, and how much of it.
#[derive(Debug)]
pub struct NotificationText<'a> {
    /// The notification.
    pub due: &'a DueNotification,
    /// The queue that the question waits in.
    pub queue: &'a str,
    /// The workspace, as addresses of the page name it.
    pub workspace: &'a str,
    /// The workspace, as people call it.
    pub name: &'a str,
    /// The address of the page, without a path.
    pub page: &'a str,
    /// Whether the arguments are told, with secrets masked. They leave this machine.
    pub args: bool,
    /// Now, in milliseconds since 1970.
    pub now: u64,
}

/// A request that carries a notification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutgoingNotification {
    /// Headers besides those that are configured.
    pub headers: Vec<(&'static str, String)>,
    /// The body.
    pub body: String,
}

impl NotificationText<'_> {
    /// The request for this kind of receiver. Webhooks are signed with all secrets.
    pub fn outgoing(
        &self,
        kind: NotificationKind,
        secrets: Option<&WebhookSecrets>,
    ) -> OutgoingNotification {
        let told = Announcement {
            id: format!("{}_{}", self.queue, self.due.id),
            title: self.title(),
            details: self.details(),
            link: self.link(),
            event: self.event(),
            now: self.now,
        };
        told.outgoing(kind, secrets)
    }

    /// Where to look.
    fn link(&self) -> String {
        let page = self.page.trim_end_matches('/');
        format!("{page}/inbox/{}/{}", self.workspace, self.due.question.id)
    }

    /// In one line: what waits, where, for how long.
    fn title(&self) -> String {
        let queued = &self.due.question;
        let left = span(queued.expires.saturating_sub(self.now));
        let what = match self.due.event {
            NotificationEvent::Asked => "waits for approval",
            NotificationEvent::Escalated => "still waits for approval, and others may answer now",
            NotificationEvent::Answered => "was answered",
        };
        let (tool, name) = (one_line(&queued.question.tool), one_line(self.name));
        format!("{tool} in {name} {what} ({left} left)")
    }

    /// Whose answer is needed, the first digits of the binding, and the arguments where they are told.
    fn details(&self) -> String {
        let queued = &self.due.question;
        let needs = queued.question.verdict.requirements().map(|it| format!("needs {it}"));
        let mut lines: Vec<String> = needs.collect();
        let binding: String = queued.question.binding.chars().take(8).collect();
        lines.push(format!("approval {}, binding {binding}", queued.id));
        if self.args {
            lines.push(headline(queued));
        }
        lines.join("\n")
    }

    /// The event as JSON.
    fn event(&self) -> Value {
        let queued = &self.due.question;
        let question = &queued.question;
        let mut data = json!({
            "workspace": self.workspace,
            "workspace_name": self.name,
            "queue": self.queue,
            "question": queued.id,
            "tool": question.tool,
            "binding": question.binding,
            "principal": question.principal,
            "asked": queued.created,
            "expires": queued.expires,
            "needs": question.verdict.requirements().map(ToString::to_string).collect::<Vec<_>>(),
            "link": self.link(),
        });
        if let (true, Some(data)) = (self.args, data.as_object_mut()) {
            let args = question.shown_args.as_ref().unwrap_or(&question.args).to_string();
            let args: String = args.chars().take(MAX_ARGS).collect();
            data.insert("args".to_owned(), args.into());
        }
        if let (NotificationEvent::Answered, Some(data)) = (self.due.event, data.as_object_mut()) {
            let approved = matches!(queued.state, QuestionState::Approved | QuestionState::Taken);
            data.insert("approved".to_owned(), approved.into());
            data.insert("answer".to_owned(), queued.answer.clone().into());
            data.insert("by".to_owned(), queued.decided_by.clone().into());
        }
        json!({"type": format!("approval.{}", self.due.event.as_str()), "data": data})
    }
}

fn json_body(body: &Value) -> OutgoingNotification {
    let headers = vec![("content-type", "application/json".to_owned())];
    OutgoingNotification { headers, body: body.to_string() }
}

/// What Slack reads as markup, written so that it does not.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests;
