//! A table of Markdown, in columns. It is shown when it is whole, because a later row may be wider.

use crate::ui::screen::{Paint, Style, layout};

/// Columns narrower than this are of no use: such a table is shown as it was written.
const LEAST: usize = 4;

/// The rows of a table, or its lines as they were written where they are no table or have no room.
pub(super) fn rows(
    lines: &[String],
    columns: usize,
    paint: Paint,
    inline: fn(&str, Paint) -> String,
) -> Vec<String> {
    let cells: Vec<Vec<String>> = lines.iter().map(|it| cells(it)).collect();
    let is_table = cells.get(1).is_some_and(|it| it.iter().all(|it| is_divider(it)));
    let count = cells.first().map(Vec::len).unwrap_or_default();
    let widths: Vec<usize> = (0..count)
        .map(|at| {
            let shown = cells.iter().enumerate().filter(|(row, _)| *row != 1);
            let wide =
                |row: &Vec<String>| row.get(at).map(|it| width(it, inline)).unwrap_or_default();
            shown.map(|(_, row)| wide(row)).max().unwrap_or_default()
        })
        .collect();
    let whole = widths.iter().sum::<usize>() + 3 * count.saturating_sub(1);
    if !is_table || count == 0 || whole > columns || columns < LEAST {
        return lines.iter().map(|it| inline(it, paint)).collect();
    }
    let mut shown = Vec::new();
    for (at, row) in cells.iter().enumerate() {
        if at == 1 {
            let bars: Vec<String> = widths.iter().map(|it| "─".repeat(*it)).collect();
            shown.push(paint.text(Style::Faint, &bars.join("─┼─")).into_owned());
            continue;
        }
        let bar = paint.text(Style::Faint, " │ ").into_owned();
        let padded: Vec<String> = widths
            .iter()
            .enumerate()
            .map(|(at, wide)| {
                let text = row.get(at).map(String::as_str).unwrap_or_default();
                let gap = " ".repeat(wide.saturating_sub(width(text, inline)));
                format!("{}{gap}", inline(text, paint))
            })
            .collect();
        let line = padded.join(&bar).trim_end().to_owned();
        shown.push(match at {
            0 => paint.text(Style::Strong, &line).into_owned(),
            _ => line,
        });
    }
    shown
}

/// The cells between the bars; a bar after a backslash is a sign like any other.
fn cells(line: &str) -> Vec<String> {
    let line = line.trim().trim_start_matches('|');
    let line = line.strip_suffix('|').filter(|it| !it.ends_with('\\')).unwrap_or(line);
    let (mut found, mut from, mut escaped) = (Vec::new(), 0, false);
    for (at, sign) in line.char_indices() {
        if sign == '|' && !escaped {
            found.push(cell(line.get(from..at)));
            from = at + 1;
        }
        escaped = sign == '\\' && !escaped;
    }
    found.push(cell(line.get(from..)));
    found
}

fn cell(text: Option<&str>) -> String {
    text.unwrap_or_default().trim().replace("\\|", "|")
}

fn is_divider(cell: &str) -> bool {
    !cell.is_empty() && cell.chars().all(|it| matches!(it, '-' | ':'))
}

/// How wide a cell is without its marks.
fn width(cell: &str, inline: fn(&str, Paint) -> String) -> usize {
    layout::width(&inline(cell, Paint::never()))
}
