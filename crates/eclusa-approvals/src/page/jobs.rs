//! Jobs: what goes on after the call that started it, what it prints, and its end.

use eclusa::workspace::visible;

use super::{
    PageView,
    html::{Html, ago},
    inbox::now,
    layout,
};
use crate::workspaces::{JobEntry, WorkspaceEntry};

/// The jobs of all workspaces: those that run first, the latest first.
pub(crate) fn jobs(view: &PageView) -> Option<String> {
    let mut rows: Vec<(WorkspaceEntry, JobEntry)> = Vec::new();
    for workspace in view.workspaces.list() {
        let jobs = view.workspaces.jobs(&workspace.key);
        rows.extend(jobs.into_iter().map(|it| (workspace.clone(), it)));
    }
    rows.sort_by_key(|(_, job)| std::cmp::Reverse((job.runs, job.since)));
    let mut body = Html::default();
    body.raw("<div class=\"wide\"><h1>Jobs</h1>");
    if rows.is_empty() {
        body.raw("<p class=\"faint\">No jobs.</p></div>");
        return Some(layout(view, "jobs", "Jobs", None, &body));
    }
    body.raw("<div class=\"scroll\"><table class=\"calls\"><thead><tr><th scope=\"col\" class=\"right\">Job</th><th scope=\"col\">Workspace</th><th scope=\"col\">Command</th><th scope=\"col\">State</th><th scope=\"col\">Session</th><th scope=\"col\">Started</th></tr></thead><tbody>");
    let now = now();
    for (workspace, job) in rows {
        let at = format!("/jobs/{}/{}", workspace.key, job.number);
        body.element("<tr><td class=\"right\"><a class=\"row\" href=\"", at, "\">");
        body.text(job.number).raw("</a></td>").element("<td>", &workspace.name, "</td>");
        body.element(
            "<td class=\"what\" dir=\"ltr\"><code>",
            visible(&job.command),
            "</code></td>",
        );
        body.element("<td>", visible(&job.state), "</td>");
        body.element("<td><code>", visible(&job.session), "</code></td>");
        body.element("<td class=\"faint nowrap\">", ago(job.since, now), "</td></tr>");
    }
    body.raw("</tbody></table></div></div>");
    Some(layout(view, "jobs", "Jobs", None, &body))
}

/// One job, and the last part of what it has printed.
pub(crate) async fn job(view: &PageView, key: &str, number: u64) -> Option<String> {
    let workspace = view.workspaces.list().into_iter().find(|it| it.key == key)?;
    let job = view.workspaces.jobs(key).into_iter().find(|it| it.number == number)?;
    let queue = view.workspaces.questions(key)?.queue().await.ok()?;
    let mut body = Html::default();
    body.raw("<div class=\"wide\"><p><a href=\"/jobs\">← Jobs</a></p><article class=\"card call\" id=\"job\"");
    body.element(" data-workspace=\"", key, "\"").element(" data-number=\"", number, "\"");
    body.element(" data-queue=\"", queue, "\"").element(" data-person=\"", &view.person, "\"");
    body.raw(if job.runs { " data-runs>" } else { ">" });
    body.element("<div class=\"head\"><h1><span class=\"number\">", number, "</span></h1>");
    body.element("<span class=\"state\">", visible(&job.state), "</span></div>");
    body.element("<p class=\"facts\">started ", ago(job.since, now()), "");
    body.element(" in <b>", &workspace.name, "</b>");
    body.element(" · session <b>", visible(&job.session), "</b>");
    if let Some(call) = job.call {
        body.element(" · <a href=\"/log/", key, "");
        body.element("/", call, "\">call ").text(call).raw("</a>");
    }
    body.raw("</p><h2>Command</h2><pre dir=\"ltr\" translate=\"no\" tabindex=\"0\">");
    body.text(lines(&job.command)).raw("</pre><h2>Output</h2>");
    match view.workspaces.job_output(key, number).filter(|it| !it.is_empty()) {
        None => body.raw("<p class=\"faint\">None.</p>"),
        Some(output) => {
            body.raw("<pre dir=\"ltr\" translate=\"no\" tabindex=\"0\" id=\"output\">");
            body.text(lines(&output)).raw("</pre>")
        }
    };
    if job.runs {
        body.raw("<div class=\"answers\"><button type=\"button\" data-end-job class=\"no\">End this job</button></div>");
    }
    body.raw("</article></div>");
    Some(layout(view, "jobs", &format!("Job {number}"), None, &body))
}

/// A text with every character visible, line by line.
fn lines(text: &str) -> String {
    text.lines().map(visible).collect::<Vec<_>>().join("\n")
}
