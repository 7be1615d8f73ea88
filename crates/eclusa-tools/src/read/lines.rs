//! A page of lines, and what is said about it.

use std::{
    fmt::Write as _,
    io::{Cursor, Read as _},
};

use eclusa::{Output, ToolError};
use serde_json::json;

use super::{Reading, failed};
use crate::text::{Encoding, Format, TextPage, Window, page};

/// Longer lines are cut.
const LINE: usize = 2000;

/// The lines of a file, from the first one on.
pub(super) fn show(
    reading: Reading,
    format: Format,
    first: u64,
    count: u64,
    shown: usize,
) -> Result<Output, ToolError> {
    let Reading { path, size, head, rest } = reading;
    let read = page(Cursor::new(head).chain(rest), size, format, window(first, count, shown));
    let page = read.map_err(|err| failed(&path, &err))?;
    page_output(&path, size, format, first, page)
}

/// So many lines from the first one on, as many as can be shown.
pub(super) fn window(first: u64, lines: u64, shown: usize) -> Window {
    Window { first, lines, line_bytes: LINE.min(shown), bytes: shown }
}

/// The page as an answer, with a remark below it where there is something to say. Every line of
/// the file has its number in front, so that none can be taken for the remark.
pub(super) fn page_output(
    path: &str,
    size: u64,
    format: Format,
    first: u64,
    page: TextPage,
) -> Result<Output, ToolError> {
    let encoding = format.encoding.to_string();
    let data = json!({
        "path": path,
        "first": first,
        "lines": page.lines,
        "next": page.next,
        "total": page.total,
        "cut": page.cut,
        "bytes": size,
        "encoding": encoding,
    });
    if let (0, Some(total)) = (page.lines, page.total)
        && first > 1
    {
        let lines = if total == 1 { "1 line" } else { &format!("{total} lines") };
        let message = format!(
            "`{path}` has {lines}, and there is no line {first}; \
                               use a smaller `offset`"
        );
        return Err(ToolError { data: Some(data), ..ToolError::new(message) });
    }
    let remarks = remarks(&page, format, first);
    let mut text = page.text;
    if text.is_empty() {
        text.push_str("(the file is empty)\n");
    }
    for remark in remarks {
        let _ = writeln!(text, "({remark})");
    }
    Ok(Output { text, data: Some(data), ..Output::default() })
}

fn remarks(page: &TextPage, format: Format, first: u64) -> Vec<String> {
    let mut said = Vec::new();
    let shown = match page.lines {
        0 | 1 => format!("line {first}"),
        lines => format!("lines {first} to {}", first.saturating_add(lines - 1)),
    };
    match (page.next, page.total) {
        (Some(next), _) => {
            said.push(format!("{shown}; more follow, go on with offset {next}"));
        }
        (None, Some(total)) if first > 1 => {
            said.push(format!("{shown}; the file ends with line {total}"));
        }
        _ => {}
    }
    if page.cut > 0 {
        let lines = if page.cut == 1 { "a line was" } else { &format!("{} lines were", page.cut) };
        said.push(format!("{lines} too long and cut; `bytes` shows any part of the file"));
    }
    if format.encoding != Encoding::Utf8 {
        said.push(format!("the file is {}", format.encoding));
    }
    if page.broken {
        said.push(format!("some bytes are no {} and are shown as \u{FFFD}", format.encoding));
    }
    said
}
