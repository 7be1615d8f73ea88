//! The text of a question, as the one renderer made it.

use eclusa::{
    approve::{Line, Role},
    workspace::LineNumbers,
};

use super::html::Html;

/// From so many files on the lines of each are folded behind its name.
const MAX_FILES: usize = 50;

/// The lines. The letters of a terminal's prompt mean nothing here.
pub fn text_lines(lines: &[Line]) -> Html {
    let mut html = Html::default();
    let next = lines.iter().skip(1).map(|it| Some(it.role)).chain([None]);
    let changes: Vec<&str> = lines.iter().filter_map(change).collect();
    let folded = changes.iter().filter(|it| begins_file(it)).count() > MAX_FILES;
    let numbers = LineNumbers::of(&changes);
    let digits = LineNumbers::digits(&numbers);
    let mut numbers = numbers.into_iter();
    let mut in_file = false;
    html.raw(
        "<pre class=\"lines\" dir=\"ltr\" translate=\"no\" tabindex=\"0\" aria-label=\"The call\">",
    );
    for (line, next) in lines.iter().zip(next) {
        let title = line.role == Role::Title && next == Some(Role::Answer);
        if title || line.role == Role::Answer {
            continue;
        }
        let change = change(line);
        let begins = folded && change.is_some_and(begins_file);
        if in_file && (begins || change.is_none()) {
            html.raw("</details>");
            in_file = false;
        }
        html.raw(if begins { "<details><summary>" } else { "" });
        html.raw("<span class=\"line ").raw(line.role.as_str());
        html.raw(if line.text.is_some() { " labelled" } else { "" });
        html.raw(change.map_or("", sign)).raw("\">");
        match &line.text {
            None => html.text(&line.label),
            Some(text) => {
                html.raw("<span class=\"label\"");
                if change.is_some() {
                    let gutter = numbers.next().unwrap_or_default().gutter(digits);
                    html.element(" data-lines=\"", gutter, "\"");
                }
                html.element(">", &line.label, "</span><span> │ </span>");
                html.element("<bdi dir=\"ltr\">", text, "</bdi>")
            }
        };
        html.raw(if begins { "</span></summary>" } else { "</span>\n" });
        in_file |= begins;
    }
    html.raw(if in_file { "</details></pre>" } else { "</pre>" });
    html
}

/// The text of a line of changes.
fn change(line: &Line) -> Option<&str> {
    line.text.as_deref().filter(|_| line.role == Role::Change)
}

/// Lines of contents begin with a sign.
fn begins_file(line: &str) -> bool {
    line.starts_with(char::is_alphabetic)
}

/// The class of a line of a diff.
pub(super) fn sign(line: &str) -> &'static str {
    match line.chars().next() {
        Some('+') => " add",
        Some('-') => " del",
        Some('@') => " hunk",
        _ => "",
    }
}

#[cfg(test)]
mod tests;
