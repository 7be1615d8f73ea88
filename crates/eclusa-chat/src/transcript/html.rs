//! A transcript as one page: no scripts, nothing remote, every text escaped.

use std::fmt::Write as _;

use rendered::{escaped, rendered};
use serde_json::Value;

use super::{TranscriptHead, markdown::one_line};
use crate::{
    item::{ItemBody, TranscriptItem},
    timestamp,
};

mod rendered;

/// Longer texts than so many lines are folded.
const MAX_LINES: usize = 20;

const HEAD: &str = "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
<meta name=\"viewport\" content=\"width=device-width\">\n\
<style>:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:50rem;margin:2rem auto;padding:0 1rem}\
pre{white-space:pre-wrap;overflow-wrap:anywhere;background:#8882;padding:.6rem;border-radius:.3rem;margin:.4rem 0}\
p,ul,table{margin:.4rem 0}table{border-collapse:collapse}th,td{border:1px solid #8886;padding:.2rem .6rem;text-align:left}\
section{margin:1.2rem 0}h2{font-size:1rem;margin:0}h3{font-size:1rem;margin:.6rem 0 0}summary{cursor:pointer}\
.you{border-left:.2rem solid #0f766e;padding-left:.8rem}.no h2{color:light-dark(#b00020,#ff8f85)}</style>\n";

/// The transcript as one HTML page; reasoning only where it is wanted.
pub fn html(head: &TranscriptHead, items: &[TranscriptItem], thoughts: bool) -> String {
    let mut page = String::from(HEAD);
    let title = escaped(&one_line(&head.title));
    // Writing to a string cannot fail.
    let _ = write!(
        page,
        "<title>{title}</title>\n<main>\n<h1>{title}</h1>\n<p>Session {}, {}, model {}, persona {}.</p>\n",
        escaped(&head.id),
        timestamp::iso(head.created),
        escaped(&head.model),
        escaped(&head.persona)
    );
    for item in items {
        let (class, who, text) = match &item.body {
            ItemBody::Opened { .. }
            | ItemBody::Resumed { .. }
            | ItemBody::Summary { text: None, .. } => continue,
            ItemBody::Person { text, .. } => ("you", "You".to_owned(), text.clone()),
            ItemBody::Model { text, thoughts: told } => {
                if let Some(told) = told.as_deref().filter(|_| thoughts) {
                    section(&mut page, "thought", "Model, thinking", told);
                }
                ("model", "Model".to_owned(), text.clone())
            }
            ItemBody::Partial { text } => ("model", "Model (interrupted)".to_owned(), text.clone()),
            ItemBody::Call { name, args, reason, .. } => {
                let why = reason.as_deref().map(|it| format!("\nbecause: {it}"));
                let text = format!("{}{}", arguments(args), why.unwrap_or_default());
                ("call", format!("Call {name}"), text)
            }
            ItemBody::Answer(it) | ItemBody::LateAnswer(it) => {
                let number = it.number.map(|it| format!(", call {it}")).unwrap_or_default();
                let class = if it.error.is_some() { "no" } else { "answer" };
                (class, format!("Answer of {} ({}{number})", it.tool, it.code), item.body.words())
            }
            ItemBody::Summary { text: Some(text), .. } => {
                ("note", "Summary by the model".to_owned(), text.clone())
            }
            ItemBody::Notice { text } => ("note", "Note".to_owned(), text.clone()),
            ItemBody::Draft { text } => ("note", "You, not sent".to_owned(), text.clone()),
        };
        if !text.trim().is_empty() {
            section(&mut page, class, &who, &text);
        }
    }
    page + "</main>\n</html>\n"
}

/// Arguments as people read them: a single text as it is, others by their names.
fn arguments(args: &Value) -> String {
    let Value::Object(fields) = args else { return args.to_string() };
    let said = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    if let Some((_, only)) = fields.iter().next().filter(|_| fields.len() == 1) {
        return said(only);
    }
    let line = |(name, value): (&String, &Value)| {
        let text = said(value);
        let gap = if text.contains('\n') { "\n" } else { " " };
        format!("{name}:{gap}{text}")
    };
    fields.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn section(page: &mut String, class: &str, who: &str, text: &str) {
    let (who, text) = (escaped(who), text.trim_end());
    let body = match (class, text.lines().count()) {
        ("model" | "thought" | "note", _) => rendered(text),
        (_, lines) if lines > MAX_LINES => format!(
            "<details><summary>{lines} lines</summary><pre>{}</pre></details>",
            escaped(text)
        ),
        _ => format!("<pre>{}</pre>", escaped(text)),
    };
    let _ = writeln!(page, "<section class=\"{class}\"><h2>{who}</h2>{body}</section>");
}
