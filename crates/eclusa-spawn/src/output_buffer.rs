//! What is kept of an output: its start and its end, in bounded memory.

use std::collections::VecDeque;

/// Bytes kept from the start.
const HEAD: usize = 8 * 1024 * 1024;
/// Bytes kept from the end, when the start is full.
const TAIL: usize = 2 * 1024 * 1024;

/// The start and the end of an output.
#[derive(Debug, Default)]
pub(super) struct OutputBuffer {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    left_out: usize,
}

impl OutputBuffer {
    /// Takes the next bytes.
    pub(super) fn add(&mut self, bytes: &[u8]) {
        let room = (HEAD - self.head.len()).min(bytes.len());
        let (first, rest) = bytes.split_at(room);
        self.head.extend_from_slice(first);
        self.tail.extend(rest);
        let over = self.tail.len().saturating_sub(TAIL);
        self.tail.drain(..over);
        self.left_out += over;
    }

    /// As text; bytes that are no text are marked, and so is what was left out.
    pub(super) fn into_text(self) -> String {
        let mut bytes = self.head;
        if self.left_out > 0 {
            let mark = format!("\n[… {} bytes left out …]\n", self.left_out);
            bytes.extend_from_slice(mark.as_bytes());
        }
        bytes.extend(self.tail);
        String::from_utf8(bytes)
            .unwrap_or_else(|err| String::from_utf8_lossy(err.as_bytes()).into_owned())
    }
}

#[cfg(test)]
mod tests;
