//! The words of `[ … ]` and `[[ … ]]`, which one of the parsers takes for expressions.

use crate::syntax::outline::Span;

/// The stretches between unquoted blanks.
pub(crate) fn split(source: &str, span: Span) -> Vec<Span> {
    let bytes = source.as_bytes().get(span.start..span.end).unwrap_or_default();
    let mut words = Vec::new();
    let mut start = None;
    let mut quote = None;
    let mut depth = 0_usize;
    let mut index = 0;
    while let Some(byte) = bytes.get(index) {
        let blank = quote.is_none() && depth == 0 && matches!(byte, b' ' | b'\t' | b'\n');
        let continued = *byte == b'\\' && bytes.get(index + 1) == Some(&b'\n');
        if blank || (continued && start.is_none()) {
            if let Some(from) = start.take() {
                words.push(Span { start: span.start + from, end: span.start + index });
            }
            index += 1 + usize::from(continued);
            continue;
        }
        start.get_or_insert(index);
        match (byte, quote) {
            (b'\\', None | Some(b'"' | b'`')) => index += 1,
            (b'\'' | b'"' | b'`', None) => quote = Some(*byte),
            (_, Some(open)) if *byte == open => quote = None,
            (b'(', None) => depth += 1,
            (b')', None) => depth = depth.saturating_sub(1),
            _ => {}
        }
        index += 1;
    }
    if let Some(from) = start {
        words.push(Span { start: span.start + from, end: span.end });
    }
    words
}
