//! What a program tells besides its output: lines that begin with a word which nobody else knows are its
//! progress and its structured result.

use std::sync::{Mutex, PoisonError};

use eclusa::{one_line, random::random_name};
use serde_json::Value;

use super::last_line;

/// The variable that tells a program the word which its messages begin with.
pub(super) const TELL: &str = "ECLUSA_TELL";

/// The longest message: what is longer is told as wrong, and not kept.
const MAX_MESSAGE: usize = 1 << 20;

/// Reads the messages of one run.
pub(super) struct Messages {
    word: String,
    reading: Mutex<ReadingOutput>,
}

#[derive(Default)]
struct ReadingOutput {
    /// The line that is not ended yet, as far as it may still be a message.
    line: Vec<u8>,
    /// The rest of this line is of no interest.
    skips: bool,
    data: Option<Result<Value, String>>,
}

impl Messages {
    /// Messages that begin with a new word.
    pub(super) fn new() -> std::io::Result<Messages> {
        let word = format!("eclusa-{}", random_name::<8>()?);
        Ok(Messages { word, reading: Mutex::default() })
    }

    /// The word that messages begin with.
    pub(super) fn word(&self) -> &str {
        &self.word
    }

    /// The next bytes of the output: how far the program is, if they say so, or its last line.
    pub(super) fn watch(&self, bytes: &[u8]) -> Option<(f64, String)> {
        let mut reading = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        let word = self.word.as_str();
        // The line that has begun, whole lines, and the one that is not ended: most are no messages, and
        // looking at each of them would take longer than the program that writes them.
        let ended = memchr::memchr(b'\n', bytes).map_or(bytes.len(), |at| at + 1);
        let (begun, later) = bytes.split_at_checked(ended).unwrap_or((bytes, &[]));
        let whole = memchr::memrchr(b'\n', later).map_or(0, |at| at + 1);
        let (whole, open) = later.split_at_checked(whole).unwrap_or((later, &[]));
        let mut messages = reading.add(begun, word);
        let mut progress = None;
        if begun.ends_with(b"\n") {
            progress = reading.end_line(word);
        }
        for at in memchr::memmem::find_iter(whole, word) {
            let begins = at.checked_sub(1).is_none_or(|it| whole.get(it) == Some(&b'\n'));
            let line = whole.get(at..).and_then(|it| it.split(|it| *it == b'\n').next());
            if let Some(line) = line.filter(|_| begins) {
                messages = true;
                progress = reading.take_in(line, word).or(progress);
            }
        }
        messages |= reading.add(open, word);
        match progress {
            None if !messages => Some((0.0, last_line(bytes))),
            progress => progress,
        }
    }

    /// The structured result, once the program has ended. The error says what is wrong with it.
    pub(super) fn result(&self) -> Result<Option<Value>, String> {
        let mut reading = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        // A last line needs no end.
        let line = std::mem::take(&mut reading.line);
        reading.take_in(&line, &self.word);
        reading.data.take().transpose()
    }

    /// A text without the messages in it.
    pub(super) fn strip(&self, text: &str) -> String {
        if !text.contains(&self.word) {
            return text.to_owned();
        }
        let own = |it: &&str| !it.starts_with(&self.word);
        text.split_inclusive('\n').filter(own).collect()
    }
}

impl ReadingOutput {
    /// Adds to the line that is not ended, and says whether that is a message.
    fn add(&mut self, part: &[u8], word: &str) -> bool {
        if self.skips || part.is_empty() {
            return false;
        }
        let room = (MAX_MESSAGE + 1).saturating_sub(self.line.len());
        self.line.extend_from_slice(part.get(..part.len().min(room)).unwrap_or_default());
        let seen = self.line.len().min(word.len());
        if self.line.get(..seen) != word.as_bytes().get(..seen) {
            self.line.clear();
            self.skips = true;
        }
        self.line.starts_with(word.as_bytes())
    }

    fn end_line(&mut self, word: &str) -> Option<(f64, String)> {
        let line = std::mem::take(&mut self.line);
        self.skips = false;
        self.take_in(&line, word)
    }

    /// Takes in a whole line, and gives the progress that it tells.
    fn take_in(&mut self, line: &[u8], word: &str) -> Option<(f64, String)> {
        let message = line.strip_prefix(word.as_bytes())?;
        if line.len() > MAX_MESSAGE {
            self.data = Some(Err(format!("a message is longer than {MAX_MESSAGE} bytes")));
            return None;
        }
        let message = String::from_utf8_lossy(message);
        let (kind, rest) = message.trim().split_once(char::is_whitespace).unwrap_or_default();
        match kind {
            "progress" => {
                let (fraction, detail) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
                let fraction = fraction.parse().ok().filter(|it: &f64| it.is_finite())?;
                Some((fraction, one_line(detail)))
            }
            "data" => {
                let read = serde_json::from_str(rest);
                self.data = Some(read.map_err(|err| format!("its `data` is not JSON: {err}")));
                None
            }
            _ => {
                let why = "a message is `progress FRACTION TEXT` or `data JSON`";
                self.data = Some(Err(why.to_owned()));
                None
            }
        }
    }
}

#[cfg(test)]
mod tests;
