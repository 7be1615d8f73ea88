//! A line as it is shown: on one line, of a bounded length, cut between characters and marked.

/// Lines are shown up to this many bytes.
pub(super) const WIDTH: usize = 400;
/// Where a line is cut before a match, this much is shown before the match.
const BEFORE: usize = 80;

/// The line without its end. If it is long, the part around `at` is shown and `…` stands for the
/// rest, with the length of the whole after it.
pub(super) fn display_line(line: &[u8], at: usize) -> String {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.len() <= WIDTH {
        return String::from_utf8_lossy(line).into_owned();
    }
    let wanted = if at + BEFORE > WIDTH { at.saturating_sub(BEFORE) } else { 0 };
    let from = boundary(line, wanted.min(line.len() - WIDTH));
    let to = boundary(line, from + WIDTH);
    let part = String::from_utf8_lossy(line.get(from..to).unwrap_or_default());
    let (before, after) = (if from > 0 { "…" } else { "" }, if to < line.len() { "…" } else { "" });
    format!("{before}{part}{after} [cut: the line has {} bytes]", line.len())
}

/// The beginning of the character that the byte at `at` belongs to.
fn boundary(line: &[u8], at: usize) -> usize {
    let back = (0..4).find(|back| {
        line.get(at.saturating_sub(*back)).is_none_or(|byte| byte & 0b1100_0000 != 0b1000_0000)
    });
    at.saturating_sub(back.unwrap_or(0))
}

#[cfg(test)]
mod tests;
