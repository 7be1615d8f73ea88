//! Redirections behind a here-document, such as in `x <<'EOF' 2>&1 | tail`: the grammar cannot read them before a pipe.
//! It is given the same text with the two in the other order, which means the same, and what it saw is put back.

use std::borrow::Cow;

use crate::syntax::outline::{Outline, Span};

/// A text in which some here-documents have changed places with the redirections behind them.
pub(super) struct Moved<'s> {
    pub(super) text: Cow<'s, str>,
    /// Where each begins, how long the operator is, and how long the redirections.
    regions: Vec<(usize, usize, usize)>,
}

impl<'s> Moved<'s> {
    pub(super) fn new(source: Cow<'s, str>) -> Moved<'s> {
        let regions = regions(source.as_bytes());
        if regions.is_empty() {
            return Moved { text: source, regions };
        }
        let mut text = String::with_capacity(source.len());
        let mut done = 0;
        for (at, operator, redirects) in &regions {
            let (middle, end) = (at + operator, at + operator + redirects);
            for part in [done..*at, middle..end, *at..middle] {
                text.push_str(source.get(part).unwrap_or_default());
            }
            done = end;
        }
        text.push_str(source.get(done..).unwrap_or_default());
        Moved { text: Cow::Owned(text), regions }
    }

    /// Whether anything has changed places.
    pub(super) fn is_moved(&self) -> bool {
        !self.regions.is_empty()
    }

    /// Puts the places of an outline of this text to where they are in the real one.
    pub(super) fn put_back(&self, outline: &mut Outline) {
        if self.regions.is_empty() {
            return;
        }
        for command in &mut outline.commands {
            let targets = command.redirects.iter_mut().map(|it| &mut it.target);
            let all = command.words.iter_mut().chain(&mut command.assignments).chain(targets);
            all.for_each(|it| self.span(it));
        }
        let spans = outline.substitutions.iter_mut().chain(&mut outline.parameters);
        let spans = spans.chain(&mut outline.arithmetic).chain(&mut outline.literals);
        let spans = spans.chain(outline.functions.iter_mut().map(|it| &mut it.body));
        let spans = spans.chain(outline.pipes.iter_mut().flat_map(|it| [&mut it.0, &mut it.1]));
        let scopes = outline.scopes.iter_mut().flat_map(|it| {
            let values = it.values.iter_mut().flatten();
            values.chain(std::iter::once(&mut it.body))
        });
        spans.chain(scopes).chain(&mut outline.spawning).for_each(|it| self.span(it));
    }

    /// What lies in one of the parts is shifted; what holds both, or neither, is where it was.
    fn span(&self, span: &mut Span) {
        for (at, operator, redirects) in &self.regions {
            let (middle, end) = (at + redirects, at + operator + redirects);
            if span.start >= *at && span.end <= middle {
                *span = Span { start: span.start + operator, end: span.end + operator };
                return;
            }
            if span.start >= middle && span.end <= end {
                *span = Span { start: span.start - redirects, end: span.end - redirects };
                return;
            }
        }
    }
}

/// Here-documents with redirections behind them that open no file, on one line.
fn regions(text: &[u8]) -> Vec<(usize, usize, usize)> {
    let mut regions = Vec::new();
    let mut from = 0;
    let next = |from: usize| text.get(from..)?.windows(2).position(|it| it == b"<<");
    while let Some(found) = next(from) {
        let at = from + found;
        from = at + 2;
        if text.get(from) == Some(&b'<') {
            // Text for a command, and no here-document.
            from += 1;
            continue;
        }
        let Some(middle) = operator(text, at + 2) else { continue };
        let mut end = middle;
        while let Some(next) = redirect(text, end) {
            end = next;
        }
        let behind = blanks(text, end);
        let closes = matches!(text.get(behind), None | Some(b'|' | b';' | b'&' | b')' | b'\n'));
        if end > middle && closes {
            regions.push((at, middle - at, end - middle));
            from = end;
        }
    }
    regions
}

/// The end of the word that closes a here-document: a name, perhaps in quotes.
fn operator(text: &[u8], at: usize) -> Option<usize> {
    let at = if text.get(at) == Some(&b'-') { at + 1 } else { at };
    let at = blanks(text, at);
    let quote = text.get(at).filter(|it| matches!(it, b'\'' | b'"'));
    let start = at + usize::from(quote.is_some());
    let part = |it: &&u8| it.is_ascii_alphanumeric() || **it == b'_';
    let length = text.get(start..)?.iter().take_while(part).count();
    let end = start + length;
    let closed = quote.is_none_or(|it| text.get(end) == Some(it));
    (length > 0 && closed).then_some(end + usize::from(quote.is_some()))
}

/// The end of a redirection such as ` 2>&1` or ` 2>/dev/null`, with the blanks before it.
fn redirect(text: &[u8], from: usize) -> Option<usize> {
    let at = blanks(text, from);
    let number = text.get(at).is_some_and(u8::is_ascii_digit);
    let at = at + usize::from(number);
    let rest = text.get(at..)?;
    let end = match rest {
        [b'>', b'&', b'0'..=b'9', ..] => at + 3,
        _ if rest.starts_with(b">/dev/null") => at + 10,
        _ if rest.starts_with(b"> /dev/null") => at + 11,
        _ => return None,
    };
    let is_whole = !text
        .get(end)
        .is_some_and(|it| it.is_ascii_alphanumeric() || b"/_.-$`'\"\\*?[{".contains(it));
    (blanks(text, from) > from && is_whole).then_some(end)
}

fn blanks(text: &[u8], from: usize) -> usize {
    let rest = text.get(from..).unwrap_or_default();
    from + rest.iter().take_while(|it| matches!(it, b' ' | b'\t')).count()
}
