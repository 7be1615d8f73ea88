//! One question: what the one renderer makes of it, and the answers.

use eclusa::{
    Grant,
    approve::{GivenVote, Proof, QuestionState, QueuedQuestion},
    one_line, render,
    workspace::{is_hidden, is_ignorable},
};
use serde_json::Value;

use super::{html::Html, html::ago, html::span, offers, text_lines};
use crate::workspaces::WorkspaceEntry;

/// A pending question that is identical to the one that is shown, or that one itself.
pub(super) struct IdenticalQuestion {
    pub(super) id: u64,
    /// Whose it is and since when, if that was looked up.
    pub(super) about: String,
}

/// The question in full, with the answers that it offers.
pub(super) fn question(
    workspace: &WorkspaceEntry,
    queue: &str,
    person: &str,
    queued: &QueuedQuestion,
    (identical, votes): (&[IdenticalQuestion], &[GivenVote]),
    now: u64,
) -> Html {
    let asked = &queued.question;
    let offers = offers(asked);
    let pending = queued.state == QuestionState::Pending;
    let mut html = Html::default();
    html.raw("<article id=\"question\" class=\"question card\" aria-labelledby=\"question-title\"");
    html.element(" data-workspace=\"", &workspace.key, "\"");
    html.element(" data-queue=\"", queue, "\"").element(" data-person=\"", person, "\"");
    html.element(" data-id=\"", queued.id, "\"").element(" data-binding=\"", &asked.binding, "\"");
    let strongest = asked.verdict.requirements().map(|it| it.with).max().unwrap_or_default();
    html.element(" data-proof=\"", strongest.as_str(), "\"");
    html.raw(if pending { " data-pending" } else { "" }).raw(">");
    html.raw("<div class=\"head\"><h1 id=\"question-title\">");
    html.element("<span class=\"number\">", queued.id, "</span> ");
    html.element("<span class=\"tool\">", &asked.tool, "</span></h1>");
    html.element("<span class=\"state ", queued.state, "\">")
        .text(queued.state)
        .raw("</span></div>");
    html.raw("<p class=\"facts\">asked ").text(ago(queued.created, now));
    html.element(" by <b>", &asked.principal, "</b>");
    html.element(" in <b>", &workspace.name, "</b>");
    if pending {
        html.element(" · <time data-expires=\"", queued.expires, "\">");
        html.text(span(queued.expires.saturating_sub(now))).raw(" left</time>");
    }
    let short: String = asked.binding.chars().take(8).collect();
    html.element(" · binding <code>", short, "</code></p>");
    if queued.asker_away && queued.state.is_open() {
        html.raw(match queued.question.pending {
            Some(_) => "<p class=\"note\">The caller has gone. Approving applies the changes below, and nothing runs again.</p>",
            None => "<p class=\"note\">The caller has gone. If you approve, the same call can use it when it is made again.</p>",
        });
    }
    if let Some(by) = &queued.decided_by {
        html.element("<p class=\"note\"><b>", by, "</b> answered ");
        html.element("<b>", queued.answer.as_deref().unwrap_or_default(), "</b>");
        html.element(" by ", queued.proof.map_or("word", Proof::as_str), "");
        if let Some(reason) = queued.reason.as_ref().filter(|it| !it.is_empty()) {
            html.element(": “", reason, "”");
        }
        html.raw("</p>");
    }
    if pending {
        wanted(queued, votes, &mut html);
    }
    html.raw(text_lines(&render(asked).lines).as_str());
    if pending {
        answers(queued, &offers, identical, &mut html);
    } else if queued.state == QuestionState::Approved {
        html.raw("<div class=\"answers\"><button type=\"button\" data-revoke class=\"no\">Revoke approval</button></div>");
    }
    html.raw("</article>");
    html
}

/// Whose yes the rules want, and who has said it so far.
fn wanted(queued: &QueuedQuestion, votes: &[GivenVote], html: &mut Html) {
    let mut requirements = queued.question.verdict.requirements().peekable();
    if requirements.peek().is_none() {
        return;
    }
    html.raw("<ul class=\"note votes\">");
    for it in requirements {
        html.element("<li>needs ", it, "</li>");
    }
    for vote in votes {
        let proof = vote.signed.as_ref().map_or(Proof::Word, |it| it.proof);
        html.element("<li>✓ <b>", &vote.by, "</b> approved by ").text(proof.as_str());
        html.raw("</li>");
    }
    html.element("<li>", votes.len(), " of ");
    let need = queued.question.verdict.requirements().map(|it| it.need).max().unwrap_or(1);
    html.text(need).raw(" so far</li></ul>");
}

/// The answers, by button and by key.
fn answers(
    queued: &QueuedQuestion,
    offers: &super::Offers,
    identical: &[IdenticalQuestion],
    html: &mut Html,
) {
    let (asked, count) = (&queued.question, identical.len());
    html.raw("<div class=\"answers\" role=\"group\" aria-label=\"Answers\">");
    html.raw("<button type=\"button\" data-answer=\"once\" class=\"yes\"><kbd>y</kbd> Yes, once</button>");
    if count > 1 {
        html.element(
            "<button type=\"button\" data-all class=\"yes\"><kbd>Y</kbd> Yes to <span id=\"marked\">",
            count,
            "</span> identical ones</button>",
        );
        html.raw("<button type=\"button\" data-open=\"identical\"><kbd>x</kbd> Mark…</button>");
    }
    if offers.session {
        html.raw("<button type=\"button\" data-answer=\"session\"><kbd>s</kbd> For this session</button>");
    }
    if offers.edits {
        html.raw("<button type=\"button\" data-answer=\"edits\"><kbd>A</kbd> All edits of this session</button>");
    }
    if offers.review {
        html.raw("<button type=\"button\" data-answer=\"review\"><kbd>r</kbd> Run it, show its changes</button>");
    }
    if offers.always {
        html.raw("<button type=\"button\" data-open=\"always\"><kbd>a</kbd> Always…</button>");
    }
    if offers.edit {
        html.raw("<button type=\"button\" data-open=\"edit\"><kbd>e</kbd> Edit…</button>");
    }
    let choices = asked.preview().map_or(&[][..], |it| &it.choices);
    if choices.len() > 1 {
        html.raw(
            "<button type=\"button\" data-open=\"only\"><kbd>f</kbd> Only some files…</button>",
        );
    }
    html.raw("<button type=\"button\" data-open=\"no\" class=\"no\"><kbd>n</kbd> No…</button>");
    if offers.instead {
        html.raw("<button type=\"button\" data-open=\"instead\"><kbd>i</kbd> Answer in its place…</button>");
    }
    html.raw("<button type=\"button\" data-abort class=\"no\"><kbd>q</kbd> No, end the turn</button></div>");
    html.raw("<form class=\"panel\" data-panel=\"no\" hidden><label for=\"reason\">What to tell the agent</label>");
    html.raw("<input id=\"reason\" name=\"reason\" autocomplete=\"off\" maxlength=\"2000\" placeholder=\"Why not, and what instead\">");
    if count > 1 {
        html.raw("<label class=\"check\"><input type=\"checkbox\" id=\"no-all\"> to all identical ones that are marked</label>");
    }
    html.raw("<button class=\"no\">Say no</button></form>");
    if offers.instead {
        html.raw(
            "<form class=\"panel\" data-panel=\"instead\" hidden><label for=\"instead\">The result \
        in place of the tool’s; the agent learns that it is yours</label>",
        );
        html.raw("<textarea id=\"instead\" name=\"instead\" rows=\"4\"></textarea><button class=\"no\">Answer in its place</button></form>");
    }
    if count > 1 {
        html.raw("<form class=\"panel\" data-panel=\"identical\" hidden><fieldset><legend>Identical ones that are answered together</legend>");
        for it in identical {
            html.element(
                "<label class=\"check\"><input type=\"checkbox\" name=\"marked\" checked value=\"",
                it.id,
                "\"> ",
            );
            html.element("<span class=\"number\">", it.id, "</span> ");
            html.element("<span dir=\"ltr\">", &it.about, "</span></label>");
        }
        html.raw("</fieldset><button class=\"yes\">Yes to those marked</button></form>");
    }
    if offers.edit {
        html.raw("<form class=\"panel\" data-panel=\"edit\" hidden><label for=\"edit\">Arguments to run instead; rules and reviewers look at them like at any others</label>");
        let args = visible_json(&asked.args);
        html.element(
            "<textarea id=\"edit\" name=\"edit\" spellcheck=\"false\" rows=\"8\">",
            args,
            "</textarea>",
        );
        html.raw("<button class=\"yes\">Run this instead</button></form>");
    }
    if choices.len() > 1 {
        html.raw("<form class=\"panel\" data-panel=\"only\" hidden><fieldset><legend>Apply only the selected files</legend>");
        for path in choices.iter().filter_map(|it| it.0.to_str()) {
            html.element(
                "<label class=\"check\"><input type=\"checkbox\" name=\"path\" value=\"",
                path,
                "\"> ",
            );
            html.element("<code dir=\"ltr\">", one_line(path), "</code></label>");
        }
        html.raw("</fieldset><button class=\"yes\">Apply only these</button></form>");
    }
    if let Some(grant) = asked.grant.as_ref().filter(|_| offers.always) {
        html.raw("<form class=\"panel\" data-panel=\"always\" hidden><p>Never ask again for ");
        html.element("<b>", Grant::describe_always(grant), "</b>, in this workspace.</p>");
        html.raw("<button class=\"yes\">Always allow this</button></form>");
    }
    html.raw("<noscript><p class=\"note\">Answers are signed by the script of this page. Without it: <code>eclusa approvals yes ");
    html.text(queued.id).raw("</code></p></noscript>");
}

/// JSON in which nothing hides: what cannot be seen is an escape, which means the same.
fn visible_json(value: &Value) -> String {
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    let mut visible = String::with_capacity(text.len());
    for c in text.chars() {
        if c == '\n' || !(is_hidden(c) || is_ignorable(c)) {
            visible.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            visible.push_str(&format!("\\u{unit:04x}"));
        }
    }
    visible
}

#[cfg(test)]
mod tests;
