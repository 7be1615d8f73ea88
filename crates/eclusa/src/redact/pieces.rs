//! A long text without its secrets, piece by piece: memory does not grow with it.

use std::io::{self, ErrorKind, Read};

use super::Redactor;

/// About as long is each piece.
const PIECE: usize = 1 << 20;
/// So much on either side of a cut is looked at: no secret is longer.
const AROUND: usize = 32 << 10;
/// How many places for a cut are tried.
const TRIES: usize = 64;

/// The pieces of a text that is read from somewhere. A cut goes through no secret: redacting what
/// is before it and what is behind it finds the same as redacting both together.
pub(crate) struct RedactedPieces {
    redactor: Redactor,
    from: Box<dyn Read + Send>,
    /// What was read and is in no piece yet.
    rest: Vec<u8>,
    ended: bool,
    found: usize,
}

impl RedactedPieces {
    pub(crate) fn new(redactor: Redactor, from: Box<dyn Read + Send>) -> RedactedPieces {
        RedactedPieces { redactor, from, rest: Vec::new(), ended: false, found: 0 }
    }

    /// How many secrets were taken out so far.
    pub(crate) fn found(&self) -> usize {
        self.found
    }

    fn fill(&mut self) -> io::Result<()> {
        let mut buffer = vec![0; 64 << 10];
        while !self.ended && self.rest.len() < PIECE + AROUND {
            match self.from.read(&mut buffer) {
                Ok(0) => self.ended = true,
                Ok(read) => self.rest.extend_from_slice(buffer.get(..read).unwrap_or_default()),
                Err(err) if err.kind() == ErrorKind::Interrupted => {}
                Err(err) => {
                    let what = format!("the output cannot be read back: {err}");
                    return Err(io::Error::new(err.kind(), what));
                }
            }
        }
        Ok(())
    }

    /// Where to cut: behind a line, or else between two characters.
    fn cut(&self) -> Option<usize> {
        let looked_at = self.rest.get(PIECE / 2..PIECE)?;
        let lines = memchr::memrchr_iter(b'\n', looked_at).map(|at| PIECE / 2 + at + 1);
        let begins = |at: &usize| self.rest.get(*at).is_some_and(|it| it & 0xc0 != 0x80);
        let between = (0..TRIES).map(|back| PIECE - back * 97).filter(begins);
        lines.take(TRIES).chain(between).find(|at| self.is_clean(*at))
    }

    fn is_clean(&self, at: usize) -> bool {
        let from = at.saturating_sub(AROUND);
        let to = (at + AROUND).min(self.rest.len());
        let (Some(before), Some(behind)) = (self.rest.get(from..at), self.rest.get(at..to)) else {
            return false;
        };
        let (before, behind) = (String::from_utf8_lossy(before), String::from_utf8_lossy(behind));
        let both = format!("{before}{behind}");
        let apart = format!("{}{}", self.redactor.text(&before).0, self.redactor.text(&behind).0);
        self.redactor.text(&both).0 == apart
    }

    fn redacted(&mut self, bytes: &[u8]) -> String {
        let text = String::from_utf8_lossy(bytes);
        let (clean, found) = self.redactor.text(&text);
        self.found += found;
        clean.into_owned()
    }
}

impl Iterator for RedactedPieces {
    type Item = io::Result<String>;

    fn next(&mut self) -> Option<io::Result<String>> {
        if let Err(err) = self.fill() {
            self.ended = true;
            self.rest.clear();
            return Some(Err(err));
        }
        if self.rest.is_empty() {
            return None;
        }
        if self.ended {
            let all = std::mem::take(&mut self.rest);
            return Some(Ok(self.redacted(&all)));
        }
        let Some(at) = self.cut() else {
            // Something goes on and on around every place. What is near the cut is left out.
            let before: Vec<u8> = self.rest.drain(..).take(PIECE - AROUND).collect();
            let text = self.redacted(&before);
            return Some(Ok(format!("{text}\n[… {} bytes left out here …]\n", 2 * AROUND)));
        };
        let piece: Vec<u8> = self.rest.drain(..at).collect();
        Some(Ok(self.redacted(&piece)))
    }
}

#[cfg(test)]
mod tests;
