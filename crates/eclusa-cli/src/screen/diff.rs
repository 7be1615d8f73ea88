//! The colours of a diff.

use super::Style;

/// The colour of a line of a diff.
pub(crate) fn diff_style(line: &str) -> Style {
    match line.as_bytes() {
        [b'+', b'+', b'+', ..] | [b'-', b'-', b'-', ..] => Style::Strong,
        [b'+', ..] => Style::Good,
        [b'-', ..] => Style::Bad,
        [b'@', ..] | [b'#', ..] | [b'\\', ..] => Style::Faint,
        _ => Style::Plain,
    }
}
