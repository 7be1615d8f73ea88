//! Laying out text for a terminal: how wide it is, our own words wrapped, cells of tables cut.

/// The narrowest that a column is cut to.
const MIN_COLUMN: usize = 8;

/// The space between two columns.
const GAP: usize = 2;

/// How many columns a text takes; colour codes take none.
pub(crate) fn width(text: &str) -> usize {
    let (mut total, mut in_code) = (0, false);
    for it in text.chars() {
        match (in_code, it) {
            (false, '\x1b') => in_code = true,
            (false, it) => total += char_width(it),
            (true, 'm') => in_code = false,
            (true, _) => {}
        }
    }
    total
}

fn char_width(it: char) -> usize {
    match u32::from(it) {
        0x300..=0x36F => 0,
        0x1100..=0x115F
        | 0x2E80..=0xA4CF
        | 0xAC00..=0xD7A3
        | 0xF900..=0xFAFF
        | 0xFE30..=0xFE6F
        | 0xFF00..=0xFF60
        | 0xFFE0..=0xFFE6
        | 0x1F300..=0x1FAFF
        | 0x20000..=0x3FFFD => 2,
        _ => 1,
    }
}

/// A line in pieces that fit, broken between words. Further pieces are indented like the first.
/// A word that is too long alone is left whole: the terminal breaks it.
pub(crate) fn wrap(line: &str, columns: usize) -> Vec<String> {
    if width(line) <= columns {
        return vec![line.to_owned()];
    }
    let indent: String = line.chars().take_while(|it| *it == ' ').collect();
    let (mut pieces, mut piece) = (Vec::new(), indent.clone());
    for word in line.split(' ').filter(|it| !it.is_empty()) {
        let empty = piece.trim_start().is_empty();
        if !empty && width(&piece) + 1 + width(word) > columns {
            pieces.push(std::mem::replace(&mut piece, format!("{indent}{word}")));
            continue;
        }
        if !empty {
            piece.push(' ');
        }
        piece.push_str(word);
    }
    pieces.push(piece);
    pieces
}

/// A text that is no wider than this; what was cut off is marked.
pub(crate) fn cut(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let (mut kept, mut used) = (String::new(), 0);
    for it in text.chars() {
        let wide = char_width(it);
        if used + wide > columns.saturating_sub(1) {
            break;
        }
        used += wide;
        kept.push(it);
    }
    kept.push('…');
    kept
}

/// The lines of a table. Where a width is given, the widest columns are cut until a row fits it.
pub(crate) fn table(rows: &[Vec<String>], columns: Option<usize>) -> Vec<String> {
    let count = rows.iter().map(Vec::len).max().unwrap_or_default();
    let widest = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|it| width(it)).max().unwrap_or_default()
    };
    let mut widths: Vec<usize> = (0..count).map(widest).collect();
    if let Some(columns) = columns {
        let room = columns.saturating_sub(GAP * count.saturating_sub(1));
        narrow(&mut widths, room);
    }
    rows.iter().map(|row| line(row, &widths)).collect()
}

/// Takes from the widest column what is too much, then from the next.
fn narrow(widths: &mut [usize], room: usize) {
    loop {
        let total: usize = widths.iter().sum();
        let Some(over) = total.checked_sub(room).filter(|it| *it > 0) else { return };
        let mut sorted = widths.to_vec();
        sorted.sort_unstable_by(|a, b| b.cmp(a));
        let most = sorted.first().copied().unwrap_or_default();
        let next = sorted.iter().copied().find(|it| *it < most).unwrap_or(MIN_COLUMN);
        let target = most.saturating_sub(over).max(next).max(MIN_COLUMN).min(most);
        let target = if target == most { most.saturating_sub(1) } else { target };
        match widths.iter_mut().find(|it| **it == most && most > MIN_COLUMN) {
            Some(column) => *column = target.max(MIN_COLUMN),
            None => return,
        }
    }
}

fn line(row: &[String], widths: &[usize]) -> String {
    let mut line = String::new();
    for (cell, column) in row.iter().zip(widths) {
        let cell = cut(cell, *column);
        let padding = column.saturating_sub(width(&cell)) + GAP;
        line.push_str(&cell);
        line.extend(std::iter::repeat_n(' ', padding));
    }
    line.truncate(line.trim_end().len());
    line
}
