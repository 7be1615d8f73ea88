//! The same lines for a page, with nothing of the text left as markup.

use std::fmt::Write;

use super::Rendered;

impl Rendered {
    /// The lines as HTML: one `<span>` each inside a `<pre class="question">`, with the role as
    /// class. Everything is escaped; every line reads from left to right, whatever is in it. The
    /// page should set a monospace font that tells `I`, `l` and `1` apart, and `white-space:
    /// pre-wrap`.
    pub fn to_html(&self) -> String {
        let mut html = String::from("<pre class=\"question\" dir=\"ltr\" translate=\"no\">");
        for line in &self.lines {
            let _ = write!(html, "<span class=\"{}\">", line.role.as_str());
            match &line.text {
                None => escape(&line.label, &mut html),
                Some(text) => {
                    html.push_str("<span class=\"label\">");
                    escape(&line.label, &mut html);
                    html.push_str("</span> │ <bdi dir=\"ltr\">");
                    escape(text, &mut html);
                    html.push_str("</bdi>");
                }
            }
            html.push_str("</span>\n");
        }
        html.push_str("</pre>");
        html
    }
}

/// Text between tags; it never goes into an attribute, so quotes may stay.
fn escape(text: &str, html: &mut String) {
    for c in text.chars() {
        match c {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            _ => html.push(c),
        }
    }
}
