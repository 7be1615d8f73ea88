//! Sessions: the sessions that the log knows, what came into each from outside, what it may still
//! change, and what waits in it.

use std::collections::BTreeMap;

use eclusa::{
    approve::QuestionPage,
    audit::calls::{CallRecord, LoggedChanges, OutcomeKind},
    one_line,
};

use super::{
    PageView,
    calls::newest,
    html::{Html, ago},
    inbox::now,
    layout,
};
use crate::workspaces::WorkspaceEntry;

/// So many calls of each workspace are looked through.
const LOOKED_AT: usize = 500;

/// What is known of one session.
#[derive(Default)]
struct Talk {
    client: String,
    principal: String,
    last: u64,
    calls: usize,
    asked: usize,
    denied: usize,
    changed: usize,
    waiting: usize,
    /// What has brought text from outside into it, by the last call that ran; empty where nothing has.
    taint: Option<String>,
    /// What it has used of what it may change without a question; empty where nothing bounds that.
    budget: String,
}

/// What the last changes left of a budget: `files 3/20, lines 12/500`.
fn budget(call: &CallRecord) -> String {
    let parts = call.changes().map(LoggedChanges::budget).unwrap_or_default();
    let part = |(name, used, of)| format!("{name} {used}/{of}");
    parts.into_iter().map(part).collect::<Vec<_>>().join(", ")
}

/// The sessions of all workspaces, the latest first.
pub(crate) async fn sessions(view: &PageView) -> Option<String> {
    let mut rows: Vec<(WorkspaceEntry, String, String, Talk)> = Vec::new();
    for workspace in view.workspaces.list() {
        let mut talks: BTreeMap<String, Talk> = BTreeMap::new();
        if let Some(log) = view.workspaces.log(&workspace.key) {
            for call in newest(&*log, None, LOOKED_AT, |_| true).0 {
                let talk = talks.entry(call.session().to_owned()).or_default();
                talk.last = talk.last.max(call.at());
                talk.calls += 1;
                talk.asked += usize::from(call.was_asked());
                talk.denied += usize::from(call.outcome_kind() == OutcomeKind::Refused);
                talk.changed += usize::from(call.changes().is_some());
                if let Some(taint) = call.taint() {
                    talk.taint.get_or_insert_with(|| one_line(taint));
                }
                if talk.budget.is_empty() {
                    talk.budget = budget(&call);
                }
                if talk.client.is_empty() {
                    talk.client = call.client().to_owned();
                }
                if talk.principal.is_empty() {
                    talk.principal = call.principal().to_owned();
                }
            }
        }
        let mut queue = String::new();
        if let Some(questions) = view.workspaces.questions(&workspace.key) {
            queue = questions.queue().await.unwrap_or_default();
            let page = QuestionPage { after: 0, limit: 1_000 };
            for queued in questions.list(page).await.unwrap_or_default() {
                let talk = talks.entry(queued.question.session.clone()).or_default();
                talk.waiting += 1;
                talk.last = talk.last.max(queued.created);
            }
        }
        let row = |(name, talk)| (workspace.clone(), queue.clone(), name, talk);
        rows.extend(talks.into_iter().map(row));
    }
    rows.sort_by_key(|it| std::cmp::Reverse(it.3.last));
    let mut body = Html::default();
    body.raw("<div class=\"wide\"><h1>Sessions</h1>");
    if rows.is_empty() {
        body.raw("<p class=\"faint\">No calls yet.</p></div>");
        return Some(layout(view, "sessions", "Sessions", None, &body));
    }
    body.raw("<div class=\"scroll\"><table class=\"calls\"><thead><tr><th scope=\"col\">Session</th><th scope=\"col\">Workspace</th><th scope=\"col\">Client</th><th scope=\"col\">For</th><th scope=\"col\">Last call</th><th scope=\"col\" class=\"right\">Calls</th><th scope=\"col\" class=\"right\">Asked</th><th scope=\"col\" class=\"right\">Refused</th><th scope=\"col\" class=\"right\">Changed files</th><th scope=\"col\">Budget</th><th scope=\"col\">Text from outside</th><th scope=\"col\" class=\"right\">Waiting</th></tr></thead><tbody>");
    let now = now();
    for (workspace, queue, name, talk) in rows {
        body.element("<tr><td><code>", &name, "</code></td>");
        body.element("<td>", &workspace.name, "</td>");
        body.element("<td>", talk.client, "</td>").element("<td>", talk.principal, "</td>");
        body.element("<td class=\"faint nowrap\">", ago(talk.last, now), "</td>");
        for number in [talk.calls, talk.asked, talk.denied, talk.changed] {
            body.element("<td class=\"right\">", number, "</td>");
        }
        for text in [talk.budget, talk.taint.unwrap_or_default()] {
            if text.is_empty() {
                body.raw("<td class=\"faint\">none</td>")
            } else {
                body.element("<td>", text, "</td>")
            };
        }
        match talk.waiting {
            0 => body.raw("<td class=\"right faint\">0</td></tr>"),
            some => {
                body.element("<td class=\"right\"><span class=\"count\">", some, "</span> ");
                body.element("<button type=\"button\" class=\"no\" data-end=\"", name, "\"");
                body.element(" data-workspace=\"", workspace.key, "\"");
                body.element(" data-queue=\"", queue, "\"");
                body.element(" data-person=\"", &view.person, "\">End</button></td></tr>")
            }
        };
    }
    body.raw("</tbody></table></div></div>");
    Some(layout(view, "sessions", "Sessions", None, &body))
}
