//! What is kept of the matches in one file: so many, so long, and the lines around them.

use std::io;

use grep_matcher::Matcher as _;
use grep_regex::RegexMatcher;
use grep_searcher::{Searcher, Sink, SinkContext, SinkContextKind, SinkFinish, SinkMatch};

use super::{cancel::Cancel, line::display_line};

/// Of a match over many lines, so many are shown.
const LINES: usize = 50;
/// Of one file, so many bytes are kept.
const BYTES: usize = 2 << 20;

/// The matches in one file.
#[derive(Debug, Default)]
pub(super) struct InFile {
    /// How many there are, as far as they were counted.
    pub(super) matches: usize,
    /// The lines to show.
    pub(super) lines: Vec<MatchedLine>,
    /// What the lines take.
    pub(super) bytes: usize,
    /// Not all of it was kept.
    pub(super) cut: bool,
    /// It is no text.
    pub(super) binary: bool,
}

/// One line to show.
#[derive(Debug)]
pub(super) struct MatchedLine {
    /// Which match of the file it belongs to.
    pub(super) of: usize,
    /// Its number in the file.
    pub(super) number: u64,
    /// True for a line that matches, false for one around it.
    pub(super) matches: bool,
    /// What is in it.
    pub(super) text: String,
}

/// Keeps up to so many matches.
pub(super) struct Keeper<'a> {
    pub(super) regex: &'a RegexMatcher,
    pub(super) cancel: &'a Cancel,
    /// After so many matches, nothing more is looked for.
    pub(super) most: usize,
    /// Whether the lines are kept, or only counted.
    pub(super) lines: bool,
    pub(super) found: InFile,
}

impl Keeper<'_> {
    fn keep(&mut self, of: usize, number: u64, matches: bool, text: String) {
        self.found.bytes += text.len() + size_of::<MatchedLine>();
        self.found.lines.push(MatchedLine { of, number, matches, text });
    }
}

impl Sink for Keeper<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        if self.cancel.is_called() {
            return Ok(false);
        }
        let of = self.found.matches;
        self.found.matches += 1;
        if self.lines {
            let first = found.line_number().unwrap_or(0);
            for (line, number) in found.lines().take(LINES).zip(first..) {
                let at = self.regex.find(line).ok().flatten().map_or(0, |it| it.start());
                self.keep(of, number, true, display_line(line, at));
            }
            if self.found.bytes > BYTES {
                self.found.cut = true;
                return Ok(false);
            }
        }
        Ok(self.found.matches < self.most)
    }

    fn context(&mut self, _: &Searcher, around: &SinkContext<'_>) -> io::Result<bool> {
        let of = match around.kind() {
            SinkContextKind::Before => self.found.matches,
            _ => self.found.matches.saturating_sub(1),
        };
        let number = around.line_number().unwrap_or(0);
        self.keep(of, number, false, display_line(around.bytes(), 0));
        Ok(true)
    }

    fn binary_data(&mut self, _: &Searcher, _: u64) -> io::Result<bool> {
        self.found.binary = true;
        Ok(false)
    }

    fn finish(&mut self, _: &Searcher, finish: &SinkFinish) -> io::Result<()> {
        self.found.binary |= finish.binary_byte_offset().is_some();
        Ok(())
    }
}
