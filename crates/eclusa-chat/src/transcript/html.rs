//! A transcript as one page: no scripts, nothing remote, every text escaped.

use std::fmt::Write as _;

use super::{TranscriptHead, markdown::one_line};
use crate::{
    item::{ItemBody, TranscriptItem},
    timestamp,
};

const HEAD: &str = "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
<meta name=\"viewport\" content=\"width=device-width\">\n\
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:50rem;margin:2rem auto;padding:0 1rem}\
pre{white-space:pre-wrap;overflow-wrap:anywhere;background:#8881;padding:.6rem;border-radius:.3rem}\
section{margin:1.2rem 0}h2{font-size:1rem;margin:0}.no{color:#b00}.thought,.note{opacity:.7}</style>\n";

/// The transcript as one HTML page; reasoning only where it is wanted.
pub fn html(head: &TranscriptHead, items: &[TranscriptItem], thoughts: bool) -> String {
    let mut page = String::from(HEAD);
    let title = escaped(&one_line(&head.title));
    // Writing to a string cannot fail.
    let _ = write!(
        page,
        "<title>{title}</title>\n<h1>{title}</h1>\n<p>Session {}, {}, model {}, persona {}.</p>\n",
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
                let args = format!("{args:#}{}", why.unwrap_or_default());
                ("call", format!("Call {name}"), args)
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
    page + "</html>\n"
}

fn section(page: &mut String, class: &str, who: &str, text: &str) {
    let (who, text) = (escaped(who), escaped(text.trim_end()));
    let _ = writeln!(page, "<section class=\"{class}\"><h2>{who}</h2><pre>{text}</pre></section>");
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}
