//! HTML as Markdown that is pleasant to read.
//!
//! It works on the tags in the order in which they come and builds no tree. Trees of hostile
//! pages grow with the square of their text, and walking them needs as much stack as somebody
//! cares to nest; here time and memory are bound by the length of the page.

use html5gum::{DefaultEmitter, StartTag, Token, Tokenizer};
use url::Url;

mod page;

use page::MarkdownPage;

/// What is never shown, with all that is inside.
const UNSEEN: [&str; 10] = [
    "script", "style", "template", "svg", "math", "iframe", "object", "canvas", "noframes",
    "dialog",
];

/// Tags that have no inside.
const VOID: [&str; 13] = [
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track",
    "wbr",
];

/// Makes a page readable: headings, paragraphs, lists, links, code, quotes and tables stay,
/// scripts, styles and whatever is hidden from people go. Links are written out from `base`.
pub fn markdown(html: &str, base: &Url) -> String {
    let mut emitter = DefaultEmitter::default();
    // Scripts, styles and titles are read as the text they are.
    emitter.naively_switch_states(true);
    let mut page = MarkdownPage::new(base, 2 * html.len() + 64 * 1024);
    let mut hidden = Hidden::default();
    for token in Tokenizer::new_with_emitter(html, emitter) {
        let Ok(token) = token;
        match token {
            Token::StartTag(tag) if hidden.opens(&tag) => {}
            Token::StartTag(tag) => page.open(&name(&tag.name), |key| attribute(&tag, key)),
            Token::EndTag(tag) => {
                let name = name(&tag.name);
                if !hidden.closes(&name) {
                    page.close(&name);
                }
            }
            Token::String(text) if !hidden.now() => page.text(&String::from_utf8_lossy(&text)),
            _ => {}
        }
    }
    page.finish()
}

fn name(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}

fn attribute<S: html5gum::SpanBound>(tag: &StartTag<S>, key: &str) -> Option<String> {
    tag.attributes
        .get(key.as_bytes())
        .map(|value| String::from_utf8_lossy(&value.value).into_owned())
}

/// Whether we are inside something that is not shown: its name, and how many of that name are
/// open.
#[derive(Default)]
struct Hidden(Option<(String, usize)>);

impl Hidden {
    fn now(&self) -> bool {
        self.0.is_some()
    }

    fn opens<S: html5gum::SpanBound>(&mut self, tag: &StartTag<S>) -> bool {
        let name = name(&tag.name);
        let inside = !VOID.contains(&name.as_str());
        if let Some((outer, depth)) = &mut self.0 {
            if *outer == name && inside && !(tag.self_closing && name == "svg") {
                *depth += 1;
            }
            return true;
        }
        let unseen = UNSEEN.contains(&name.as_str()) || not_for_people(tag);
        if unseen && inside && !(tag.self_closing && matches!(name.as_str(), "svg" | "math")) {
            self.0 = Some((name, 1));
        }
        unseen
    }

    fn closes(&mut self, name: &str) -> bool {
        let Some((outer, depth)) = &mut self.0 else { return false };
        if outer == name {
            *depth -= 1;
            if *depth == 0 {
                self.0 = None;
            }
        }
        true
    }
}

/// True for what the page itself says is not shown, or is decoration. People would not see it, so that it must
/// not speak to the model behind their backs.
fn not_for_people<S: html5gum::SpanBound>(tag: &StartTag<S>) -> bool {
    // Some pages show themselves only when their script has run.
    if matches!(name(&tag.name).as_str(), "html" | "body") {
        return false;
    }
    if attribute(tag, "hidden").is_some()
        || attribute(tag, "aria-hidden").is_some_and(|value| value == "true")
    {
        return true;
    }
    let style = attribute(tag, "style").unwrap_or_default().to_ascii_lowercase();
    let style: String = style.chars().filter(|char| !char.is_whitespace()).collect();
    ["display:none", "visibility:hidden", "font-size:0;", "opacity:0;"]
        .iter()
        .any(|hides| format!("{style};").contains(hides))
}
