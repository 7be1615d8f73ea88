//! A page of a text: some of its lines with their numbers, from a reader, in bounded memory.
//!
//! Neither the file nor a line of it is ever held as a whole. What comes before the page is only
//! counted, what comes after it is not read.

use std::{
    fmt::Write as _,
    io::{self, Read},
};

use memchr::{memchr, memrchr};

use super::encoding::{Encoding, Format, latin1_char};
use numbered::{LineBuffer, Mark};

mod numbered;

/// Which lines, and how much of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// The first line, from 1.
    pub first: u64,
    /// How many lines at most.
    pub lines: u64,
    /// How many bytes of each line at most; what is longer is cut and says so.
    pub line_bytes: usize,
    /// How many bytes at most in all.
    pub bytes: usize,
}

/// Some lines of a text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TextPage {
    /// The lines, each with its number and a tab in front.
    pub text: String,
    /// How many lines there are on it.
    pub lines: u64,
    /// The line to go on with. `None`: the page ends where the file does.
    pub next: Option<u64>,
    /// How many lines the file has, if the page reaches its end.
    pub total: Option<u64>,
    /// How many lines were cut.
    pub cut: u64,
    /// True if there were bytes that are no characters, shown as `\u{FFFD}`.
    pub broken: bool,
}

/// How much is read at once.
const CHUNK: usize = 64 * 1024;

/// Reads a page. `size` is how long the file is now: one that grows meanwhile is read no further.
pub fn page(reader: impl Read, size: u64, format: Format, window: Window) -> io::Result<TextPage> {
    let mut source = PageSource::new(reader.take(size), format.encoding);
    let mut page = TextPage::default();
    let first = window.first.max(1);
    let mut number = 1;
    while number < first {
        if !source.skip_line()? {
            page.total = Some(number - 1);
            return Ok(page);
        }
        number += 1;
    }
    let (mut line, mut buffer) = (Vec::new(), LineBuffer::default());
    loop {
        if source.is_done()? {
            page.total = Some(number - 1);
            return Ok(page);
        }
        // Nearly all lines lie in one piece, and many of them in one.
        let (used, lines) = page.push_all(number, source.fill()?, window, &mut buffer);
        source.used += used;
        number += lines;
        if lines > 0 {
            continue;
        }
        let Some(room) = page.room(window) else {
            page.next = Some(number);
            return Ok(page);
        };
        match source.short_line(room)? {
            Some(line) => {
                page.push(number, line, 0);
                let used = line.len() + 1;
                source.used += used;
            }
            None => {
                line.clear();
                let rest = source.line(&mut line, room)?;
                page.push(number, &line, rest);
            }
        }
        number += 1;
    }
}

impl TextPage {
    /// How long the next line can be. `None`: a page ends with a whole line, and the next one begins
    /// only if there is room for it.
    fn room(&self, window: Window) -> Option<usize> {
        room(window, self.text.len(), self.lines)
    }

    /// Adds the lines that these bytes begin with, as long as nothing is to be said of them.
    /// Returns how many bytes and lines those were.
    fn push_all(
        &mut self,
        first: u64,
        there: &[u8],
        window: Window,
        buffer: &mut LineBuffer,
    ) -> (usize, u64) {
        // A byte order mark can be in the first line.
        if first == 1 {
            return (0, 0);
        }
        let (bytes, lines) = (self.text.len(), self.lines);
        let fits = |more: usize, number: u64, length: usize| {
            room(window, bytes + more, lines + number).is_some_and(|room| length <= room)
        };
        // A line that is broken is for others.
        let good = str::from_utf8(there).map_or_else(|err| err.valid_up_to(), str::len);
        let laid = buffer.lay(first, ended(there.get(..good).unwrap_or_default()), fits);
        self.text.push_str(buffer.text());
        self.lines += laid.1;
        laid
    }

    fn push(&mut self, number: u64, line: &[u8], left: u64) {
        // A byte order mark is no part of the text.
        let line = if number == 1 {
            line.strip_prefix("\u{FEFF}".as_bytes()).unwrap_or(line)
        } else {
            line
        };
        let cut = if left > 0 { whole(line) } else { line.strip_suffix(b"\r").unwrap_or(line) };
        self.text.push_str(Mark::new(number).text());
        match std::str::from_utf8(cut) {
            Ok(text) => self.text.push_str(text),
            Err(_) => {
                self.text.push_str(&String::from_utf8_lossy(cut));
                self.broken = true;
            }
        }
        if left > 0 {
            let left = left + (line.len() - cut.len()) as u64;
            let _ = write!(self.text, "… ({left} more bytes in this line)");
            self.cut += 1;
        }
        self.text.push('\n');
        self.lines += 1;
    }
}

/// How long the next line can be, behind so many bytes and lines.
fn room(window: Window, bytes: usize, lines: u64) -> Option<usize> {
    let left = window.bytes.saturating_sub(bytes);
    let full = lines >= window.lines || (lines > 0 && left < window.line_bytes);
    (!full).then(|| window.line_bytes.min(left))
}

/// The lines that end.
fn ended(bytes: &[u8]) -> &[u8] {
    memrchr(b'\n', bytes).and_then(|it| bytes.get(..=it)).unwrap_or_default()
}

/// Without the beginning of a character at the end.
fn whole(line: &[u8]) -> &[u8] {
    match std::str::from_utf8(line) {
        Err(fault) if fault.error_len().is_none() => {
            line.get(..fault.valid_up_to()).unwrap_or(line)
        }
        _ => line,
    }
}

/// A reader as UTF-8, a chunk at a time.
struct PageSource<R> {
    reader: R,
    encoding: Encoding,
    chunk: Vec<u8>,
    /// How much of the chunk was used.
    used: usize,
    /// What is left of a chunk that ended within a character of UTF-16.
    rest: Vec<u8>,
    ended: bool,
}

impl<R: Read> PageSource<R> {
    fn new(reader: R, encoding: Encoding) -> PageSource<R> {
        PageSource { reader, encoding, chunk: Vec::new(), used: 0, rest: Vec::new(), ended: false }
    }

    /// What is there and not yet used; empty only at the end.
    fn fill(&mut self) -> io::Result<&[u8]> {
        while self.used >= self.chunk.len() && !self.ended {
            let mut raw = std::mem::take(&mut self.rest);
            if raw.is_empty() {
                raw = std::mem::take(&mut self.chunk);
                raw.clear();
            }
            raw.reserve(CHUNK);
            let read = self.reader.by_ref().take(CHUNK as u64).read_to_end(&mut raw)?;
            self.ended = read == 0;
            self.used = 0;
            self.chunk = match self.encoding {
                Encoding::Utf8 => raw,
                Encoding::Latin1 => {
                    raw.iter().map(|it| latin1_char(*it)).collect::<String>().into_bytes()
                }
                wide => self.utf8_of(&raw, wide == Encoding::Utf16Be),
            };
        }
        Ok(self.chunk.get(self.used..).unwrap_or_default())
    }

    fn utf8_of(&mut self, raw: &[u8], big: bool) -> Vec<u8> {
        let (pairs, odd) = raw.as_chunks::<2>();
        let read =
            |it: &[u8; 2]| if big { u16::from_be_bytes(*it) } else { u16::from_le_bytes(*it) };
        let half = pairs.last().is_some_and(|it| (0xD800..0xDC00).contains(&read(it)));
        let keep = if self.ended { 0 } else { odd.len() + if half { 2 } else { 0 } };
        let now = raw.len() - keep;
        self.rest = raw.get(now..).unwrap_or_default().to_vec();
        let units = pairs.iter().take(now / 2).map(read);
        let characters = char::decode_utf16(units).map(|it| it.unwrap_or('\u{FFFD}'));
        let mut text: String = characters.collect();
        if self.ended && !odd.is_empty() {
            text.push('\u{FFFD}');
        }
        text.into_bytes()
    }

    fn is_done(&mut self) -> io::Result<bool> {
        Ok(self.fill()?.is_empty())
    }

    /// False at the end, where there is no line.
    fn skip_line(&mut self) -> io::Result<bool> {
        let mut any = false;
        loop {
            let there = self.fill()?;
            if there.is_empty() {
                return Ok(any);
            }
            any = true;
            let end = memchr(b'\n', there).map(|it| it + 1);
            self.used += end.unwrap_or(there.len());
            if end.is_some() {
                return Ok(true);
            }
        }
    }

    /// A line that is at hand as a whole and has room; it is not used yet.
    fn short_line(&mut self, room: usize) -> io::Result<Option<&[u8]>> {
        let there = self.fill()?;
        let line = memchr(b'\n', there).and_then(|end| there.get(..end));
        Ok(line.filter(|it| it.len() <= room))
    }

    /// The beginning of a line, and how much of it is left out.
    fn line(&mut self, line: &mut Vec<u8>, room: usize) -> io::Result<u64> {
        let mut left = 0;
        loop {
            let there = self.fill()?;
            let end = memchr(b'\n', there);
            let part = there.get(..end.unwrap_or(there.len())).unwrap_or_default();
            let fits = part.len().min(room - line.len().min(room));
            line.extend_from_slice(part.get(..fits).unwrap_or_default());
            left += (part.len() - fits) as u64;
            let done = end.is_some() || there.is_empty();
            self.used += part.len() + usize::from(end.is_some());
            if done {
                return Ok(left);
            }
        }
    }
}

#[cfg(test)]
mod tests;
