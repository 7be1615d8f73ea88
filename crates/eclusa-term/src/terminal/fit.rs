//! A question that fits the screen: everything but the changes, then a line for each file, then as
//! much of the changes as there is room for.

use eclusa::approve::Role;

use super::prompt::ShownLine;
use crate::screen::Style;

/// Lines that the prompt and what stands around it take.
const RESERVED: usize = 5;

/// The fewest lines of changes that are shown, however low the screen is.
const MIN_CHANGES: usize = 5;

/// The lines that are shown, and how many were left out. Only lines of changes are ever left out:
/// what will run is shown whole.
pub(super) fn fit(lines: Vec<ShownLine>, rows: Option<usize>) -> (Vec<ShownLine>, usize) {
    let Some(rows) = rows.filter(|rows| lines.len() + RESERVED > *rows) else {
        return (lines, 0);
    };
    let is_change = |it: &ShownLine| it.0 == Role::Change;
    let changes = lines.iter().filter(|it| is_change(it)).count();
    let others = lines.len() - changes;
    let room = rows.saturating_sub(others + RESERVED).max(MIN_CHANGES);
    if changes <= room {
        return (lines, 0);
    }
    let heads = lines.iter().filter(|it| is_head(it)).count();
    let (mut shown, mut used, mut left_out) = (Vec::new(), 0, 0);
    // Several files: a line for each tells more than the beginning of the first.
    let only_heads = heads > 1;
    for line in lines {
        if !is_change(&line) {
            if left_out > 0 && shown.last().is_some_and(|it: &ShownLine| it.0 == Role::Change) {
                shown.push(more(left_out));
            }
            shown.push(line);
            continue;
        }
        let wanted = !only_heads || is_head(&line);
        match wanted && used < room {
            true => {
                used += 1;
                shown.push(line);
            }
            false => left_out += 1,
        }
    }
    if left_out > 0 && !shown.iter().any(|it| it.2.starts_with('…')) {
        shown.push(more(left_out));
    }
    (shown, left_out)
}

/// The first line about a file: what becomes of it, or how many there are where a line stands for many.
/// Lines of its contents begin with another sign.
fn is_head(line: &ShownLine) -> bool {
    let text = line.2.split_once("│ ").map_or("", |(_, text)| text);
    line.0 == Role::Change && text.starts_with(|it: char| it.is_alphabetic() || it == '*')
}

fn more(count: usize) -> ShownLine {
    let lines = if count == 1 { "line" } else { "lines" };
    (Role::Title, Style::Warn, format!("… {count} more {lines} of changes (`d` shows all)"))
}

#[cfg(test)]
mod tests;
