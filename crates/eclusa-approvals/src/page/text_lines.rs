//! The text of a question, as the one renderer made it.

use eclusa::approve::{Line, Role};

use super::html::Html;

/// The lines. The letters of a terminal's prompt mean nothing here.
pub fn text_lines(lines: &[Line]) -> Html {
    let mut html = Html::default();
    let next = lines.iter().skip(1).map(|it| Some(it.role)).chain([None]);
    html.raw(
        "<pre class=\"lines\" dir=\"ltr\" translate=\"no\" tabindex=\"0\" aria-label=\"The call\">",
    );
    for (line, next) in lines.iter().zip(next) {
        let title = line.role == Role::Title && next == Some(Role::Answer);
        if title || line.role == Role::Answer {
            continue;
        }
        html.raw("<span class=\"line ").raw(line.role.as_str());
        html.raw(if line.text.is_some() { " labelled" } else { "" });
        let sign = line.text.as_deref().filter(|_| line.role == Role::Change);
        html.raw(match sign.and_then(|it| it.chars().next()) {
            Some('+') => " add",
            Some('-') => " del",
            _ => "",
        });
        html.raw("\">");
        match &line.text {
            None => html.text(&line.label),
            Some(text) => html
                .element("<span class=\"label\">", &line.label, "</span><span> │ </span>")
                .element("<bdi dir=\"ltr\">", text, "</bdi>"),
        };
        html.raw("</span>\n");
    }
    html.raw("</pre>");
    html
}
