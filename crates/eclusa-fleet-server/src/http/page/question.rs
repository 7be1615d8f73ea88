//! One question in full, as its machine shows it, and the answers.

use eclusa::{
    approve::{Line, Proof},
    one_line,
};
use eclusa_approvals::web::{Html, ago, span, text_lines};
use eclusa_fleet::inbox::InboxRow;

use crate::store::questions::FoundQuestion;

/// The machine, with its team.
pub(super) fn machine(row: &InboxRow) -> String {
    let (team, name) = (one_line(&row.team), one_line(&row.name));
    if team.is_empty() { name } else { format!("{team}/{name}") }
}

/// Who must answer, and who has.
pub(super) fn needs(row: &InboxRow) -> String {
    let needed: Vec<String> =
        row.requirements.iter().map(|it| it.requirement().to_string()).collect();
    let mut text = match needed.is_empty() {
        true => "needs anybody".to_owned(),
        false => format!("needs {}", needed.join("; ")),
    };
    if !row.said.is_empty() {
        text.push_str(&format!(", said so far: {}", row.said.join(", ")));
    }
    one_line(&text)
}

/// The question, with the answers that it offers to whoever looks.
pub(super) fn question(
    found: &FoundQuestion,
    identical: &[InboxRow],
    person: &str,
    now: u64,
) -> Html {
    let row = &found.row;
    let pending = row.state == "pending";
    let mut html = Html::default();
    html.raw("<article id=\"question\" class=\"question card\" aria-labelledby=\"question-title\"");
    html.element(" data-number=\"", row.number, "\"").element(" data-id=\"", row.id, "\"");
    html.element(" data-store=\"", &row.store, "\"").element(
        " data-binding=\"",
        &row.binding,
        "\"",
    );
    html.element(" data-person=\"", person, "\"").element(" data-expires=\"", row.expires, "\"");
    let strongest = row.requirements.iter().map(|it| it.requirement().with).max();
    html.element(" data-proof=\"", strongest.unwrap_or(Proof::Word).as_str(), "\"");
    html.raw(if pending { " data-pending>" } else { ">" });
    html.raw("<div class=\"head\"><h1 id=\"question-title\">");
    html.element("<span class=\"number\">", row.number, "</span> ");
    html.element("<span class=\"tool\">", one_line(&row.tool), "</span></h1>");
    let class = known_state(&row.state);
    let word = if row.state == "sent" { "answered, on its way" } else { class };
    html.raw("<span class=\"state ").raw(class).raw("\">").raw(word).raw("</span></div>");
    facts(row, now, &mut html);
    let text = found.text.as_ref();
    let whole = text.is_some_and(|it| it.whole);
    if row.asker_away && pending {
        html.raw(match text.is_some_and(|it| it.applies) {
            true => "<p class=\"note\">The caller has gone. Approving applies the changes below, and nothing runs again.</p>",
            false => "<p class=\"note\">The caller has gone. If you approve, the same call can use it when it is made again.</p>",
        });
    }
    html.element("<ul class=\"note votes\"><li>", needs(row), "</li></ul>");
    if let Some(why) = row.refused.as_ref().filter(|_| pending) {
        html.element(
            "<p class=\"note\" role=\"alert\">The last answer was refused: ",
            one_line(why),
            "</p>",
        );
    }
    match text {
        Some(text) => {
            let lines: Vec<Line> = text.lines.iter().map(|it| it.shown()).collect();
            html.raw(text_lines(&lines).as_str())
        }
        None => html.raw("<p class=\"faint\">Its text is forgotten, as it no longer waits.</p>"),
    };
    if pending && !whole {
        html.raw("<p class=\"note\">Not all of it is shown here: it can be refused here, and approved on its machine.</p>");
    }
    if pending {
        answers(row, whole, identical, &mut html);
    } else if matches!(row.state.as_str(), "approved" | "sent") {
        html.raw("<div class=\"answers\"><button type=\"button\" data-revoke class=\"no\">Revoke approval</button></div>");
    }
    html.raw("</article>");
    html
}

/// Only a word that is known becomes a class.
fn known_state(state: &str) -> &'static str {
    let known =
        ["pending", "sent", "approved", "taken", "rejected", "revoked", "expired", "withdrawn"];
    known.into_iter().find(|it| *it == state).unwrap_or("unknown")
}

/// Who asks, where, since when, and the first digits of the binding.
fn facts(row: &InboxRow, now: u64, html: &mut Html) {
    html.raw("<p class=\"facts\">asked ").text(ago(row.created, now));
    html.element(" by <b>", one_line(&row.principal), "</b>");
    html.element(" on <b>", machine(row), "</b>");
    html.element(" in <b>", one_line(&row.workspace), "</b>");
    html.element(", session <b>", one_line(&row.conversation), "</b>");
    if row.state == "pending" {
        html.element(" · <time data-expires=\"", row.expires, "\">");
        html.text(span(row.expires.saturating_sub(now))).raw(" left</time>");
    }
    let short: String = row.binding.chars().take(8).collect();
    html.element(" · binding <code>", one_line(&short), "</code>, question ").text(row.id);
    html.raw(" of its machine</p>");
}

/// The answers, by button and by key.
fn answers(row: &InboxRow, whole: bool, identical: &[InboxRow], html: &mut Html) {
    html.raw("<div class=\"answers\" role=\"group\" aria-label=\"Answers\">");
    let may = whole && row.not_for_you.is_none();
    let several = identical.len() > 1;
    if may {
        html.raw("<button type=\"button\" data-answer=\"once\" class=\"yes\"><kbd>y</kbd> Yes, once</button>");
    }
    if may && several {
        html.element(
            "<button type=\"button\" data-all class=\"yes\"><kbd>Y</kbd> Yes to <span id=\"marked\">",
            identical.len(),
            "</span> identical ones</button>",
        );
        html.raw("<button type=\"button\" data-open=\"identical\"><kbd>x</kbd> Mark…</button>");
    }
    html.raw(
        "<button type=\"button\" data-open=\"no\" class=\"no\"><kbd>n</kbd> No…</button></div>",
    );
    if let Some(why) = &row.not_for_you {
        html.element("<p class=\"note\">Your yes would not count: ", one_line(why), ".</p>");
    }
    html.raw("<form class=\"panel\" data-panel=\"no\" hidden><label for=\"reason\">Why not? The agent is told.</label>");
    html.raw("<input id=\"reason\" name=\"reason\" autocomplete=\"off\">");
    if several {
        html.raw("<label class=\"check\"><input id=\"no-all\" type=\"checkbox\"> also to the identical ones that are marked</label>");
    }
    html.raw("<button class=\"no\">Say no</button></form>");
    if several {
        html.raw("<form class=\"panel\" data-panel=\"identical\" hidden><fieldset><legend>Identical ones that are answered together</legend>");
        for it in identical {
            html.element(
                "<label class=\"check\"><input type=\"checkbox\" name=\"marked\" checked value=\"",
                it.number,
                "\"",
            );
            html.element(" data-store=\"", &it.store, "\"").element(" data-id=\"", it.id, "\"");
            html.element(" data-expires=\"", it.expires, "\"> <span class=\"number\">");
            html.text(it.number).raw("</span> ");
            html.element("<span dir=\"ltr\">", machine(it), ", session ");
            html.text(one_line(&it.conversation)).raw("</span></label>");
        }
        html.raw("</fieldset><button class=\"yes\">Yes to those marked</button></form>");
    }
    html.element("<noscript><p class=\"note\">Answers are signed by the script of this page. Without it: <code>eclusa fleet yes ", row.number, "</code></p></noscript>");
}
