//! The main screen with its own scrollback: finished lines are printed once, as ordinary text, and a
//! live block of a few rows below them is drawn again.
//!
//! Only relative motion is used: absolute coordinates, scroll regions and questions to the terminal
//! lose lines when its size changes. The cursor rests in the block, and from there the way up to the
//! block's first row is counted in rows as the terminal wraps them now.
//!
//! What a terminal has pushed out of the screen cannot be taken back. So the block is drawn to stay on
//! it when the terminal becomes half as high or half as wide before the next frame, and both where a
//! quarter of the screen has room for it. More would mean a quarter of the screen for every block. A
//! terminal that becomes smaller at one go may keep rows of a block above; the lines themselves are never
//! lost or doubled.

use std::io::{self, Write};

use crate::ui::screen::layout::{char_widths, width};

#[cfg(test)]
mod tests;

/// What is drawn below the finished lines.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct LiveBlock {
    /// Its rows, from the top. Each is cut to fit one row of the terminal.
    pub(crate) rows: Vec<String>,
    /// Where the cursor rests: row and column within the block.
    pub(crate) cursor: (usize, usize),
}

/// How wide and how high the terminal is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size {
    /// Columns.
    pub(crate) columns: usize,
    /// Rows.
    pub(crate) rows: usize,
}

/// Writes frames to a terminal.
#[derive(Debug)]
pub(crate) struct Scrollback<W> {
    out: W,
    /// The rows of the block as they stand on the screen, and the cursor in them.
    drawn: Vec<String>,
    cursor: (usize, usize),
    /// Rows below the block that earlier frames have used. Terminals keep them when rows wrap.
    blank_below: usize,
    frame: Vec<u8>,
}

impl<W: Write> Scrollback<W> {
    /// A terminal whose cursor stands in the first column of an empty row.
    pub(crate) fn new(out: W) -> Scrollback<W> {
        Scrollback { out, drawn: Vec::new(), cursor: (0, 0), blank_below: 0, frame: Vec::new() }
    }

    /// Prints finished lines above the block and draws the block. One write, so that no half of a
    /// frame is seen.
    pub(crate) fn draw(
        &mut self,
        finished: &[String],
        block: &LiveBlock,
        size: Size,
    ) -> io::Result<()> {
        let mut frame = std::mem::take(&mut self.frame);
        frame.clear();
        frame.extend_from_slice(b"\x1b[?2026h\x1b[?25l\r");
        up(&mut frame, self.rows_above_cursor(size.columns));
        // Not from the first column: what tmux clears from the corner of the screen it keeps as history.
        frame.extend_from_slice(b"\x1b[K\x1b[C\x1b[J\r");
        let height = |rows: &[String]| -> usize {
            rows.iter().map(|it| wrapped(it, 0, size.columns).rows).sum()
        };
        let before = height(&self.drawn);
        let mut used = (before + self.blank_below).min(size.rows);
        if before > self.drawn.len() && before + self.blank_below > size.rows {
            // Half of a row may have left the screen: what is printed now must not join it.
            frame.extend_from_slice(b"\r\n");
            used = used.saturating_sub(1);
        }
        for line in finished {
            frame.extend_from_slice(line.as_bytes());
            frame.extend_from_slice(b"\x1b[0m\r\n");
        }
        used = used.saturating_sub(height(finished));
        let (rows, cursor) = fitting(block, size, used);
        // A character that is wider than it is taken for here must not make another row.
        frame.extend_from_slice(b"\x1b[?7l");
        for (at, row) in rows.iter().enumerate() {
            if at > 0 {
                frame.extend_from_slice(b"\r\n");
            }
            frame.extend_from_slice(row.as_bytes());
            frame.extend_from_slice(b"\x1b[0m");
        }
        frame.extend_from_slice(b"\x1b[?7h\r");
        up(&mut frame, rows.len().saturating_sub(cursor.0 + 1));
        if cursor.1 > 0 {
            frame.extend_from_slice(format!("\x1b[{}C", cursor.1).as_bytes());
        }
        frame.extend_from_slice(b"\x1b[?25h\x1b[?2026l");
        self.out.write_all(&frame)?;
        self.out.flush()?;
        self.blank_below = used.saturating_sub(rows.len());
        (self.drawn, self.cursor, self.frame) = (rows, cursor, frame);
        Ok(())
    }

    /// Prints finished lines and takes the block away, so that others may print below them.
    pub(crate) fn clear(&mut self, finished: &[String], size: Size) -> io::Result<()> {
        self.draw(finished, &LiveBlock::default(), size)
    }

    /// Rings the bell.
    pub(crate) fn ring(&mut self) -> io::Result<()> {
        self.out.write_all(b"\x07")?;
        self.out.flush()
    }

    /// How many rows lie between the block's first row and the cursor, as the terminal wraps the
    /// rows of the last frame at its width of now.
    fn rows_above_cursor(&self, columns: usize) -> usize {
        let (row, column) = self.cursor;
        let above = self.drawn.iter().take(row).map(|it| wrapped(it, 0, columns).rows);
        let within = self.drawn.get(row).map_or(0, |it| wrapped(it, column, columns).row);
        above.sum::<usize>() + within
    }
}

/// A row as a terminal wraps it.
struct Wrapped {
    /// How many rows it takes.
    rows: usize,
    /// On which of them the cell lies that was asked for.
    row: usize,
}

/// Where a text wraps at this width, and where one of its cells lies then. A cursor behind the last
/// character stays on that character's row.
fn wrapped(text: &str, cell: usize, columns: usize) -> Wrapped {
    let (mut row, mut used, mut begins, mut found) = (0, 0, 0, 0);
    for wide in char_widths(text) {
        if used > 0 && used + wide > columns {
            (row, used) = (row + 1, 0);
        }
        if begins <= cell {
            found = row;
        }
        (used, begins) = (used + wide, begins + wide);
    }
    Wrapped { rows: row + 1, row: found }
}

/// The rows that are drawn, and the cursor in them: no more than half the screen, around the cursor, and
/// so narrow that they stay on the screen in half of its width, with the rows below them that are used.
fn fitting(block: &LiveBlock, size: Size, used: usize) -> (Vec<String>, (usize, usize)) {
    let half = |all: usize| (all.saturating_sub(1) / 2).max(1);
    let most = half(size.rows);
    let (row, mut column) = block.cursor;
    // The end of the block matters most, unless the cursor stands above it.
    let skip = block.rows.len().saturating_sub(most).min(row);
    let full = size.columns.saturating_sub(1).max(1);
    let shown = block.rows.iter().skip(skip).take(most);
    let mut rows: Vec<String> = shown.map(|it| cut(it.trim_end_matches(' '), full)).collect();
    let row = row.saturating_sub(skip);
    if let (1.., 1.., Some(first)) = (skip, row, rows.first_mut()) {
        *first = cut(&format!("  … {} more lines", skip + 1), full);
    }
    let narrow = half(size.columns);
    let height: usize = rows.iter().map(|it| wrapped(it, 0, narrow).rows).sum();
    if height + used.saturating_sub(rows.len()) > size.rows {
        for (at, it) in rows.iter_mut().enumerate() {
            *it = match at == row && column >= narrow {
                true => around(it, &mut column, narrow),
                false => cut(it, narrow),
            };
        }
    }
    (rows, (row, column.min(full)))
}

/// The part of a row before the cursor that is no wider than this, without colours.
fn around(row: &str, cursor: &mut usize, columns: usize) -> String {
    let mut before = plain(row);
    while width(&before) > *cursor {
        before.pop();
    }
    while width(&before) >= columns && !before.is_empty() {
        before.remove(0);
    }
    *cursor = width(&before) + 1;
    format!("…{before}")
}

/// A row without its colours.
fn plain(row: &str) -> String {
    let mut in_code = false;
    let shown = row.chars().filter(|it| match (in_code, *it) {
        (true, it) => {
            in_code = it != 'm';
            false
        }
        (false, it) => {
            in_code = it == '\x1b';
            !in_code
        }
    });
    shown.collect()
}

/// A row that is no wider than this; colours stay, what is too much goes.
fn cut(row: &str, columns: usize) -> String {
    if width(row) <= columns {
        return row.to_owned();
    }
    let (mut kept, mut used, mut in_code) = (String::new(), 0, false);
    for it in row.chars() {
        match (in_code, it) {
            (true, _) => in_code = it != 'm',
            (false, '\x1b') => in_code = true,
            (false, it) => {
                let wide = width(it.encode_utf8(&mut [0; 4]));
                if used + wide > columns.saturating_sub(1) {
                    kept.push('…');
                    break;
                }
                used += wide;
            }
        }
        kept.push(it);
    }
    kept
}

fn up(frame: &mut Vec<u8>, rows: usize) {
    if rows > 0 {
        frame.extend_from_slice(format!("\x1b[{rows}A").as_bytes());
    }
}
