//! The log: calls by time, tool, outcome and text, and everything about one of them.

use eclusa::{
    Decision,
    audit::calls::{CallRecord, LoggedChanges, call_with},
    workspace::{LineNumbers, visible},
};
use serde_json::Value;

use super::{
    PageView,
    calls::{contains, headline, kind, newest, outcome as outcome_of},
    html::{Html, ago, span},
    inbox::now,
    layout,
    text_lines::sign,
};
use crate::workspaces::WorkspaceEntry;

/// So many calls of each workspace are shown.
const PAGE: usize = 50;

/// The newest calls of all workspaces, or of one.
pub(crate) fn log(view: &PageView) -> Option<String> {
    let workspaces = view.workspaces.list();
    let wanted = view.parameter("workspace");
    let (tool, outcome) = (view.parameter("tool"), view.parameter("outcome"));
    let search = view.parameter("q").to_lowercase();
    let before: Option<u64> = view.parameter("before").parse().ok();
    let matches = |call: &CallRecord| {
        (tool.is_empty() || call.tool() == tool)
            && (outcome.is_empty() || kind(call) == outcome || call.outcome() == outcome)
            && contains(call, &search)
    };
    let mut rows: Vec<(&WorkspaceEntry, CallRecord)> = Vec::new();
    let mut older = None;
    for workspace in workspaces.iter().filter(|it| wanted.is_empty() || it.key == wanted) {
        let Some(log) = view.workspaces.log(&workspace.key) else { continue };
        let (calls, next) = newest(&*log, before, PAGE, matches);
        rows.extend(calls.into_iter().map(|it| (workspace, it)));
        // Numbers are those of one workspace.
        older = next.filter(|_| wanted == workspace.key || workspaces.len() == 1);
    }
    rows.sort_by_key(|(_, call)| std::cmp::Reverse(call.at()));
    rows.truncate(PAGE);
    let mut body = Html::default();
    body.raw("<div class=\"wide\"><h1>Log</h1>");
    filters(view, &workspaces, &mut body);
    table(&rows, workspaces.len() > 1, now(), &mut body);
    if let Some(older) = older {
        body.element("<p><a class=\"button\" href=\"/log?workspace=", wanted, "");
        body.element("&amp;before=", older, "\">Older calls</a></p>");
    }
    body.raw("</div>");
    Some(layout(view, "log", "Log", None, &body))
}

fn filters(view: &PageView, workspaces: &[WorkspaceEntry], body: &mut Html) {
    body.raw("<form class=\"filters\" role=\"search\"><input id=\"search\" type=\"search\" name=\"q\" aria-label=\"Search the log\" placeholder=\"Search the log\"");
    body.element(" value=\"", view.parameter("q"), "\">");
    let mut select = |name: &str, label: &str, options: &[(String, String)]| {
        body.raw("<select").element(" name=\"", name, "\"").element(" aria-label=\"", label, "\">");
        for (value, text) in options {
            body.element("<option value=\"", value, "\"");
            body.raw(if view.parameter(name) == value { " selected>" } else { ">" });
            body.text(text).raw("</option>");
        }
        body.raw("</select>");
    };
    let mut all = vec![(String::new(), "All workspaces".to_owned())];
    all.extend(workspaces.iter().map(|it| (it.key.clone(), it.name.clone())));
    select("workspace", "Workspace", &all);
    let outcomes = [
        ("", "Every outcome"),
        ("good", "Went well"),
        ("warn", "Failed"),
        ("bad", "Refused"),
        ("open", "Not finished"),
    ];
    select(
        "outcome",
        "Outcome",
        &outcomes.map(|(value, text)| (value.to_owned(), text.to_owned())),
    );
    body.raw("<input name=\"tool\" aria-label=\"Tool\" placeholder=\"Tool\"");
    body.element(" value=\"", view.parameter("tool"), "\"><button>Filter</button></form>");
}

fn table(rows: &[(&WorkspaceEntry, CallRecord)], several: bool, now: u64, body: &mut Html) {
    if rows.is_empty() {
        body.raw("<p class=\"faint\">No calls.</p>");
        return;
    }
    body.raw("<div class=\"scroll\"><table class=\"calls\"><thead><tr><th scope=\"col\">Call</th><th scope=\"col\">When</th>");
    body.raw(if several { "<th scope=\"col\">Workspace</th>" } else { "" });
    body.raw("<th scope=\"col\">Tool</th><th scope=\"col\">What</th><th scope=\"col\">Decision</th><th scope=\"col\">Outcome</th><th scope=\"col\">By</th><th scope=\"col\" class=\"right\">Took</th></tr></thead><tbody>");
    for (workspace, call) in rows {
        body.raw("<tr><td><a class=\"row\"").element(" href=\"/log/", &workspace.key, "/");
        body.text(call.number()).raw("\">").text(call.number()).raw("</a></td>");
        body.element("<td class=\"faint nowrap\">", ago(call.at(), now), "</td>");
        if several {
            body.element("<td>", &workspace.name, "</td>");
        }
        body.element("<td><span class=\"tool\">", call.tool(), "</span></td>");
        body.element("<td class=\"what\" dir=\"ltr\">", headline(call), "</td>");
        body.element("<td>", call.decision().map_or("", Decision::as_str), "</td>");
        body.raw("<td><span class=\"state ").raw(kind(call));
        body.element("\">", outcome_of(call), "</span></td>");
        body.element("<td>", call.approval().map_or("", |it| it.by()), "</td>");
        let took = call.took().map(span).unwrap_or_default();
        body.element("<td class=\"right nowrap\">", took, "</td></tr>");
    }
    body.raw("</tbody></table></div>");
}

/// Everything about one call.
pub(crate) async fn call(view: &PageView, key: &str, number: u64) -> Option<String> {
    let workspace = view.workspaces.list().into_iter().find(|it| it.key == key)?;
    let log = view.workspaces.log(key)?;
    let call = call_with(&*log, number).ok()??;
    let queue = view.workspaces.questions(key)?.queue().await.ok()?;
    let mut body = Html::default();
    body.raw("<div class=\"wide\"><p><a href=\"/log\">← Log</a></p><article class=\"card call\" id=\"call\"");
    body.element(" data-workspace=\"", key, "\"").element(" data-number=\"", number, "\"");
    body.element(" data-queue=\"", queue, "\"").element(" data-person=\"", &view.person, "\">");
    body.element("<div class=\"head\"><h1><span class=\"number\">", number, "</span> ");
    body.element("<span class=\"tool\">", call.tool(), "</span></h1>");
    body.raw("<span class=\"state ").raw(kind(&call));
    body.element("\">", outcome_of(&call), "</span></div>");
    body.raw("<p class=\"facts\">").text(ago(call.at(), now()));
    body.element(" in <b>", &workspace.name, "</b>");
    for (label, text) in [
        (" for ", call.principal()),
        (" · session ", call.session()),
        (" · client ", call.client()),
    ] {
        if !text.is_empty() {
            body.raw(label).element("<b>", text, "</b>");
        }
    }
    body.raw("</p>");
    if !call.message().is_empty() {
        body.element("<p class=\"note\">", call.message(), "</p>");
    }
    section("Arguments", call.args(), &mut body);
    why(&call, &mut body);
    effects(view, key, number, &mut body);
    approval(&call, &mut body);
    section("Reviews", call.field("reviews"), &mut body);
    body.raw("<h2>Records</h2><ul class=\"records\">");
    for record in call.records() {
        body.element("<li><details><summary>record ", record.seq, " · ");
        let hash: String = record.hash.to_string().chars().take(16).collect();
        body.element("<code>", hash, "</code></summary>");
        let value: Value = serde_json::from_str(&record.body).unwrap_or_default();
        json(&value, &mut body);
        body.raw("</details></li>");
    }
    body.raw("</ul></article></div>");
    Some(layout(view, "log", &format!("Call {number}"), None, &body))
}

fn section(title: &str, value: Option<&Value>, body: &mut Html) {
    if let Some(value) = value.filter(|it| !it.is_null()) {
        body.element("<h2>", title, "</h2>");
        json(value, body);
    }
}

/// JSON with every character visible, line by line.
fn json(value: &Value, body: &mut Html) {
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    // The spaces that a line begins with are ours.
    let line = |it: &str| {
        let said = it.trim_start_matches(' ');
        format!("{}{}", " ".repeat(it.len() - said.len()), visible(said))
    };
    let lines: Vec<String> = text.lines().map(line).collect();
    body.element("<pre dir=\"ltr\" translate=\"no\" tabindex=\"0\">", lines.join("\n"), "</pre>");
}

/// The rules that led to the decision.
fn why(call: &CallRecord, body: &mut Html) {
    let mut reasons = call.because();
    reasons.extend(call.changes().into_iter().flat_map(LoggedChanges::because));
    if reasons.is_empty() {
        return;
    }
    body.raw("<h2>Why</h2><ul class=\"why\">");
    for reason in reasons {
        body.element("<li><b>", reason.decision(), "</b> ").text(reason.text());
        body.element(" <span class=\"faint\">(", reason.origin(), ")</span></li>");
    }
    body.raw("</ul>");
}

fn approval(call: &CallRecord, body: &mut Html) {
    let Some(approval) = call.approval() else { return };
    body.element("<h2>Approval</h2><p><b>", approval.by(), "</b> answered ");
    body.element("<b>", approval.answer(), "</b>");
    if let Some(question) = approval.question() {
        body.element(" to approval ", question, "");
    }
    let short: String = approval.binding().chars().take(16).collect();
    body.element(" · binding <code>", short, "</code></p>");
}

/// What it changed, as people read it, and the way back.
fn effects(view: &PageView, key: &str, number: u64, body: &mut Html) {
    let Some(effects) = view.workspaces.effects(key, number) else { return };
    body.element("<h2>Changes <span class=\"state\">", &effects.status, "</span></h2>");
    body.raw("<pre class=\"lines\" dir=\"ltr\" translate=\"no\" tabindex=\"0\">");
    let lines: Vec<&str> = effects.diff.lines().collect();
    let numbers = LineNumbers::of(&lines);
    let digits = LineNumbers::digits(&numbers);
    for (line, numbers) in lines.into_iter().zip(numbers) {
        body.raw("<span class=\"line").raw(sign(line)).raw("\">");
        body.element("<span class=\"label\" data-lines=\"", numbers.gutter(digits), "\"></span> ");
        // Where a line of code begins is no secret of it.
        let text = line.trim_start_matches([' ', '+', '-']);
        let (begins, text) = line.split_at(line.len() - text.len());
        body.text(begins).text(visible(text)).raw("</span>\n");
    }
    body.raw("</pre>");
    if effects.can_undo {
        body.raw("<div class=\"answers\"><button type=\"button\" data-undo class=\"no\"><kbd>u</kbd> Undo this call</button></div>");
    }
}
