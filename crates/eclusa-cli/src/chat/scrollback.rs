//! The main screen with its own scrollback: finished lines are printed once, as ordinary text, and a
//! live block of a few rows below them is drawn again.
//!
//! Only relative motion is used: absolute coordinates, scroll regions and questions to the terminal
//! lose lines when its size changes. The cursor rests in the block, and from there the way up to the
//! block's first row is counted in rows as the terminal wraps them now.

use std::io::{self, Write};

use crate::screen::layout::width;

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
    /// The block as it stands on the screen: the width of each row, and the cursor.
    drawn: Vec<usize>,
    cursor: (usize, usize),
    frame: Vec<u8>,
}

impl<W: Write> Scrollback<W> {
    /// A terminal whose cursor stands in the first column of an empty row.
    pub(crate) fn new(out: W) -> Scrollback<W> {
        Scrollback { out, drawn: Vec::new(), cursor: (0, 0), frame: Vec::new() }
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
        frame.extend_from_slice(b"\x1b[J");
        for line in finished {
            frame.extend_from_slice(line.as_bytes());
            frame.extend_from_slice(b"\x1b[0m\r\n");
        }
        let (rows, cursor) = fitting(block, size);
        for (at, row) in rows.iter().enumerate() {
            if at > 0 {
                frame.extend_from_slice(b"\r\n");
            }
            frame.extend_from_slice(row.as_bytes());
            frame.extend_from_slice(b"\x1b[0m");
        }
        frame.push(b'\r');
        up(&mut frame, rows.len().saturating_sub(cursor.0 + 1));
        if cursor.1 > 0 {
            frame.extend_from_slice(format!("\x1b[{}C", cursor.1).as_bytes());
        }
        frame.extend_from_slice(b"\x1b[?25h\x1b[?2026l");
        self.out.write_all(&frame)?;
        self.out.flush()?;
        self.drawn = rows.iter().map(|row| width(row)).collect();
        self.cursor = cursor;
        self.frame = frame;
        Ok(())
    }

    /// Prints finished lines and takes the block away, so that others may print below them.
    pub(crate) fn clear(&mut self, finished: &[String], size: Size) -> io::Result<()> {
        self.draw(finished, &LiveBlock::default(), size)
    }

    /// How many rows lie between the block's first row and the cursor, as the terminal wraps the
    /// rows of the last frame at its width of now.
    fn rows_above_cursor(&self, columns: usize) -> usize {
        let columns = columns.max(1);
        let above: usize =
            self.drawn.iter().take(self.cursor.0).map(|wide| wide.div_ceil(columns).max(1)).sum();
        // A cursor behind the last character stays on that character's row.
        let text = self.drawn.get(self.cursor.0).copied().unwrap_or_default();
        above + self.cursor.1.min(text.saturating_sub(1)) / columns
    }
}

/// The rows that fit: lower than the screen, each narrower than a row, around the cursor.
fn fitting(block: &LiveBlock, size: Size) -> (Vec<String>, (usize, usize)) {
    let most = size.rows.saturating_sub(1).max(1);
    let columns = size.columns.saturating_sub(1).max(1);
    let (row, column) = block.cursor;
    // The end of the block matters most, unless the cursor stands above it.
    let skip = block.rows.len().saturating_sub(most).min(row);
    let rows = block.rows.iter().skip(skip).take(most).map(|it| cut(it, columns)).collect();
    (rows, (row.saturating_sub(skip), column.min(columns)))
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
