//! A model's Markdown for the terminal, line by line as it arrives: headings, lists, quotes, code,
//! tables, emphasis. What the model wrote is never obeyed by the terminal: the caller sanitizes it first.

use crate::ui::screen::{Paint, Style, layout};

mod table;
#[cfg(test)]
mod tests;

/// Reads lines in order, because a fence changes what the following ones are.
#[derive(Debug, Default)]
pub(crate) struct Markdown {
    fence: Option<String>,
    /// The lines of a table that is not at its end.
    table: Vec<String>,
}

impl Markdown {
    /// The rows of one line of text, and of a table that ends before it. Prose is wrapped at words; code is left to
    /// the terminal, so that it can be copied whole.
    pub(crate) fn line(&mut self, line: &str, columns: usize, paint: Paint) -> Vec<String> {
        if self.fence.is_none() && line.trim_start().starts_with('|') {
            self.table.push(line.to_owned());
            return Vec::new();
        }
        let mut rows = self.end_table(columns, paint);
        rows.extend(self.plain_line(line, columns, paint));
        rows
    }

    /// The rows of a table with which the text ends.
    pub(crate) fn end_table(&mut self, columns: usize, paint: Paint) -> Vec<String> {
        table::rows(&std::mem::take(&mut self.table), columns, paint, inline)
    }

    fn plain_line(&mut self, line: &str, columns: usize, paint: Paint) -> Vec<String> {
        let trimmed = line.trim_start();
        if let Some(fence) = &self.fence {
            if trimmed.trim_end() == fence {
                self.fence = None;
                return vec![paint.text(Style::Faint, "──").into_owned()];
            }
            return vec![line.to_owned()];
        }
        if let Some(fence) = fence(trimmed) {
            let language = trimmed.trim_start_matches(['`', '~']).trim();
            let head = format!("── {language}");
            self.fence = Some(fence);
            return vec![paint.text(Style::Faint, head.trim_end()).into_owned()];
        }
        let indent = line.len() - trimmed.len();
        if let Some(title) = heading(trimmed) {
            return wrapped(&" ".repeat(indent), "", title, columns)
                .iter()
                .map(|it| paint.text(Style::Strong, it).into_owned())
                .collect();
        }
        if is_rule(trimmed) {
            return vec![paint.text(Style::Faint, &"─".repeat(columns.min(40))).into_owned()];
        }
        let (mark, rest) = item(trimmed);
        let rows = wrapped(&" ".repeat(indent), &mark, rest, columns);
        rows.iter().map(|row| inline(row, paint)).collect()
    }
}

/// The text behind the mark of a list or a quote, and how the mark is shown.
fn item(line: &str) -> (String, &str) {
    for mark in ["- ", "* ", "+ "] {
        if let Some(rest) = line.strip_prefix(mark) {
            return ("• ".to_owned(), rest);
        }
    }
    if let Some(rest) = line.strip_prefix("> ") {
        return ("│ ".to_owned(), rest);
    }
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    match line.get(digits..).and_then(|it| it.strip_prefix(". ")) {
        Some(rest) if digits > 0 => (format!("{}. ", line.get(..digits).unwrap_or_default()), rest),
        _ => (String::new(), line),
    }
}

fn wrapped(indent: &str, mark: &str, text: &str, columns: usize) -> Vec<String> {
    let room = columns.saturating_sub(layout::width(indent) + layout::width(mark)).max(10);
    let hang = " ".repeat(layout::width(mark));
    let quote = mark.starts_with('│');
    let pieces = layout::wrap(text, room);
    let lead = |at: usize| if at == 0 || quote { mark } else { hang.as_str() };
    pieces.iter().enumerate().map(|(at, it)| format!("{indent}{}{it}", lead(at))).collect()
}

fn heading(line: &str) -> Option<&str> {
    let marks = line.bytes().take_while(|it| *it == b'#').count();
    let rest = line.get(marks..)?.strip_prefix(' ')?;
    (1..=6).contains(&marks).then(|| rest.trim_end_matches(['#', ' ']))
}

fn is_rule(line: &str) -> bool {
    let line = line.trim_end();
    ['-', '*', '_'].iter().any(|mark| line.len() >= 3 && line.chars().all(|it| it == *mark))
}

/// The text that closes a fence which begins here.
fn fence(line: &str) -> Option<String> {
    ['`', '~'].iter().find_map(|mark| {
        let count = line.chars().take_while(|it| it == mark).count();
        (count >= 3).then(|| mark.to_string().repeat(count))
    })
}

/// Emphasis and code within a line. Marks that are not closed stay as they are.
fn inline(line: &str, paint: Paint) -> String {
    let (mut shown, mut rest) = (String::new(), line);
    while let Some((at, mark, style)) = next_mark(rest) {
        let (before, from) = rest.split_at(at);
        let inner = from.get(mark.len()..).unwrap_or_default();
        let closed = inner.find(mark).filter(|end| {
            let text = inner.get(..*end).unwrap_or_default();
            !text.is_empty() && (mark == "`" || (!text.starts_with(' ') && !text.ends_with(' ')))
        });
        shown.push_str(before);
        match closed {
            Some(end) => {
                let (text, after) = inner.split_at(end);
                shown.push_str(&paint.text(style, text));
                rest = after.get(mark.len()..).unwrap_or_default();
            }
            None => {
                shown.push_str(mark);
                rest = inner;
            }
        }
    }
    shown.push_str(rest);
    shown
}

/// The first mark of a line.
fn next_mark(line: &str) -> Option<(usize, &'static str, Style)> {
    let marks = [("`", Style::Warn), ("**", Style::Strong), ("__", Style::Strong)];
    let found = marks.into_iter().filter_map(|(mark, style)| Some((line.find(mark)?, mark, style)));
    found.min_by_key(|(at, _, _)| *at)
}
