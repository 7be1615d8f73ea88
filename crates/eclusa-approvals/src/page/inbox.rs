//! The inbox: what waits in all workspaces, identical ones together, and one of them in full.

use eclusa::{
    approve::{QuestionPage, Questions, QueuedQuestion},
    one_line,
};
use serde_json::Value;

use super::{
    PageView,
    html::{Html, ago, span},
    layout,
    question::{self, IdenticalQuestion},
};
use crate::workspaces::WorkspaceEntry;

/// So many of each workspace are shown.
const PAGE: usize = 100;

/// Identical questions of one workspace.
struct IdenticalQuestions {
    workspace: usize,
    first: QueuedQuestion,
    count: usize,
}

/// The inbox, with one question in full: the one that is named, or the first.
pub(crate) async fn inbox(view: &PageView, named: Option<(&str, u64)>) -> Option<String> {
    let workspaces = view.workspaces.list();
    let now = now();
    let search = view.parameter("q").to_lowercase();
    let (mut groups, mut pending): (Vec<IdenticalQuestions>, u64) = (Vec::new(), 0);
    let (mut more, mut failed) = (false, Vec::new());
    for (at, workspace) in workspaces.iter().enumerate() {
        let Some(questions) = view.workspaces.questions(&workspace.key) else { continue };
        pending = pending.saturating_add(questions.pending().await.unwrap_or_default());
        failed.extend(questions.failed_notifications().await.unwrap_or_default());
        let matches = |it: &QueuedQuestion| {
            let text = format!("{} {} {}", it.question.tool, headline(it), workspace.name);
            text.to_lowercase().contains(&search)
        };
        let (waiting, rest) = first_matching(&*questions, matches).await;
        more |= rest;
        for queued in waiting {
            let same = |it: &&mut IdenticalQuestions| {
                it.workspace == at && it.first.question.binding == queued.question.binding
            };
            match groups.iter_mut().find(same) {
                Some(group) => group.count += 1,
                None => groups.push(IdenticalQuestions { workspace: at, first: queued, count: 1 }),
            }
        }
    }
    groups.sort_by_key(|it| it.first.created);
    let first = groups.first().and_then(|it| Some((workspaces.get(it.workspace)?, it.first.id)));
    let open = match named {
        Some((key, id)) => Some((workspaces.iter().find(|it| it.key == key)?, id)),
        None => first,
    };
    let mut body = Html::default();
    // On a narrow screen a question that is named stands alone, and the list without one.
    let alone = if named.is_some() || groups.is_empty() { " alone" } else { "" };
    body.element("<div class=\"columns", alone, "\">");
    body.raw("<section class=\"list\" aria-label=\"Pending approvals\"><h1>Pending approvals</h1>");
    search_form(view.parameter("q"), "Search what waits", &mut body);
    for it in failed {
        body.element(
            "<p class=\"note\" role=\"alert\">Notification <b>",
            &it.target,
            "</b> was not ",
        );
        body.element("sent after ", it.attempts, " attempts: ");
        body.text(one_line(&it.error)).raw("</p>");
    }
    list(&groups, &workspaces, open, now, &mut body);
    if more {
        body.raw("<p class=\"faint\">These are the first. Answer some, or search.</p>");
    }
    body.raw("</section><section class=\"detail\" aria-live=\"off\">");
    if named.is_some() {
        body.raw("<p class=\"back\"><a href=\"/inbox\">← Inbox</a></p>");
    }
    match open {
        Some((workspace, id)) => body.raw(full(view, workspace, id, now).await?.as_str()),
        None => body.raw("<div class=\"empty card\"><img src=\"/icon.svg\" alt=\"\" width=\"64\" height=\"64\"><h1>No pending approvals</h1><p>New questions appear here by themselves.</p></div>"),
    };
    body.raw("</section></div>");
    let title = format!("Inbox ({pending})");
    Some(layout(view, "inbox", &title, Some(pending), &body))
}

/// The first pending questions that match, and whether more may wait behind them.
async fn first_matching(
    questions: &dyn Questions,
    matches: impl Fn(&QueuedQuestion) -> bool,
) -> (Vec<QueuedQuestion>, bool) {
    let (mut found, mut after) = (Vec::new(), 0);
    while found.len() < PAGE {
        let page = QuestionPage { after, limit: PAGE };
        let waiting = questions.list(page).await.unwrap_or_default();
        let Some(last) = waiting.last() else { return (found, false) };
        after = last.id;
        found.extend(waiting.into_iter().filter(&matches));
    }
    found.truncate(PAGE);
    (found, true)
}

async fn full(view: &PageView, workspace: &WorkspaceEntry, id: u64, now: u64) -> Option<Html> {
    let questions = view.workspaces.questions(&workspace.key)?;
    let queued = questions.get(id).await.ok()?;
    let identical = identical(&*questions, id, now).await;
    let queue = questions.queue().await.ok()?;
    let votes = questions.votes(id).await.unwrap_or_default();
    let known = (&identical[..], &votes[..]);
    Some(question::question(workspace, &queue, &view.person, &queued, known, now))
}

/// So many are answered together at most.
const MAX_TOGETHER: usize = 1_000;

/// Of so many identical ones it is said whose they are.
const MAX_LOOKED_UP: usize = 50;

/// The pending questions that are identical to this one, itself included.
async fn identical(questions: &dyn Questions, id: u64, now: u64) -> Vec<IdenticalQuestion> {
    let ids = questions.identical(id).await.unwrap_or_default();
    let mut all = Vec::new();
    for id in ids.into_iter().take(MAX_TOGETHER) {
        let looked_up = match all.len() < MAX_LOOKED_UP {
            true => questions.get(id).await.ok(),
            false => None,
        };
        let about = looked_up.map(|it| {
            let session = one_line(&it.question.session);
            format!("session {session}, asked {}", ago(it.created, now))
        });
        all.push(IdenticalQuestion { id, about: about.unwrap_or_default() });
    }
    all
}

pub(super) fn search_form(value: &str, label: &str, body: &mut Html) {
    body.raw(
        "<form class=\"search\" role=\"search\"><input id=\"search\" type=\"search\" name=\"q\"",
    );
    body.element(" aria-label=\"", label, "\"").element(" placeholder=\"", label, "\"");
    body.element(" value=\"", value, "\"></form>");
}

fn list(
    groups: &[IdenticalQuestions],
    workspaces: &[WorkspaceEntry],
    open: Option<(&WorkspaceEntry, u64)>,
    now: u64,
    body: &mut Html,
) {
    if groups.is_empty() {
        body.raw("<p class=\"faint\">No pending approvals.</p>");
        return;
    }
    body.raw("<ol class=\"rows\">");
    for group in groups {
        let Some(workspace) = workspaces.get(group.workspace) else { continue };
        let queued = &group.first;
        let current = open.is_some_and(|(it, id)| it.key == workspace.key && id == queued.id);
        body.raw("<li><a class=\"row\"").element(" href=\"/inbox/", &workspace.key, "/");
        body.text(queued.id).raw("\"").raw(if current { " aria-current=\"true\"" } else { "" });
        body.raw("><span class=\"top\">").element("<span class=\"number\">", queued.id, "</span>");
        body.element("<span class=\"tool\">", &queued.question.tool, "</span>");
        if group.count > 1 {
            body.element("<span class=\"times\">×", group.count, "</span>");
        }
        body.element("<span class=\"where\">", &workspace.name, "</span>");
        body.element("<time data-expires=\"", queued.expires, "\">");
        body.text(span(queued.expires.saturating_sub(now))).raw(" left</time></span>");
        body.element("<span class=\"what\" dir=\"ltr\">", headline(queued), "</span>");
        if queued.asker_away {
            body.raw("<span class=\"away\">the caller has gone</span>");
        }
        body.raw("</a></li>");
    }
    body.raw("</ol>");
}

/// What a question is about, in one line.
pub fn headline(queued: &QueuedQuestion) -> String {
    let question = &queued.question;
    let args = question.shown_args.as_ref().unwrap_or(&question.args);
    let first = ["command", "path", "url", "pattern", "text"];
    let said = first.iter().find_map(|it| args.get(it)).and_then(Value::as_str);
    let said = match (said, question.preview()) {
        (Some(said), Some(preview)) => format!("{said}: {}", preview.summary),
        (None, Some(preview)) => preview.summary.clone(),
        (Some(said), None) => said.to_owned(),
        (None, None) => args.to_string(),
    };
    one_line(&said).chars().take(160).collect()
}

pub(super) fn now() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    u64::try_from(since.unwrap_or_default().as_millis()).unwrap_or(u64::MAX)
}
