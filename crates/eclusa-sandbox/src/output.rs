//! What a command wrote: its beginning and its end, in memory that doesn't grow.

use crate::plan::Keep;

/// What was kept of standard output and error, in the order in which they were written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    head: Vec<u8>,
    tail: Vec<u8>,
    total: u64,
}

impl Output {
    /// The first bytes. All of them, if nothing was cut.
    #[must_use]
    pub fn head(&self) -> &[u8] {
        &self.head
    }

    /// The last bytes, if something was cut out before them.
    #[must_use]
    pub fn tail(&self) -> &[u8] {
        &self.tail
    }

    /// How many bytes were written.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.total
    }

    /// How many bytes between head and tail were not kept.
    #[must_use]
    pub fn cut(&self) -> u64 {
        self.total - self.head.len() as u64 - self.tail.len() as u64
    }

    /// Whether something was not kept.
    #[must_use]
    pub fn truncated(&self) -> bool {
        self.cut() > 0
    }

    /// Whether this is no text: it has a NUL byte, or what was kept is not UTF-8 by more than the
    /// characters that the cut went through.
    #[must_use]
    pub fn is_binary(&self) -> bool {
        [&self.head, &self.tail].into_iter().any(|part| part.contains(&0))
            || wrong_bytes(&self.head) + wrong_bytes(&self.tail) > 8 + self.kept() / 10
    }

    fn kept(&self) -> usize {
        self.head.len() + self.tail.len()
    }

    /// What was kept as text, with a line that says how much is missing. A character that the cut
    /// went through is left out (E11).
    #[must_use]
    pub fn text(&self) -> String {
        if !self.truncated() {
            return String::from_utf8_lossy(&self.head).into_owned();
        }
        let (head, tail) = (whole_end(&self.head), whole_start(&self.tail));
        let cut = self.total - head.len() as u64 - tail.len() as u64;
        let head = String::from_utf8_lossy(head);
        let tail = String::from_utf8_lossy(tail);
        let line = if head.is_empty() || head.ends_with('\n') { "" } else { "\n" };
        if tail.is_empty() {
            return head.into_owned();
        }
        format!("{head}{line}[... {cut} bytes left out ...]\n{tail}")
    }
}

/// How many bytes belong to no character.
fn wrong_bytes(bytes: &[u8]) -> usize {
    bytes.utf8_chunks().map(|chunk| chunk.invalid().len()).sum()
}

/// Without the beginning of a character at the end.
fn whole_end(bytes: &[u8]) -> &[u8] {
    for back in 1..=bytes.len().min(3) {
        let at = bytes.len() - back;
        let Some((before, rest)) = bytes.split_at_checked(at) else { break };
        if let Some(first) = rest.first()
            && *first >= 0xc0
        {
            return if std::str::from_utf8(rest).is_ok() { bytes } else { before };
        }
    }
    bytes
}

/// Without the end of a character at the beginning.
fn whole_start(bytes: &[u8]) -> &[u8] {
    let inside = bytes.iter().take(3).take_while(|byte| **byte & 0xc0 == 0x80).count();
    bytes.get(inside..).unwrap_or(bytes)
}

/// Collects output. Copies each byte at most twice, and most of a long output not at all.
pub(crate) struct Keeper {
    keep: Keep,
    head: Vec<u8>,
    /// The last bytes after the head, in a ring.
    ring: Vec<u8>,
    /// Where the ring's next byte goes, once it is full.
    next: usize,
    total: u64,
}

impl Keeper {
    pub(crate) fn new(keep: Keep) -> Keeper {
        Keeper { keep, head: Vec::new(), ring: Vec::new(), next: 0, total: 0 }
    }

    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let room = self.keep.head - self.head.len();
        let (head, rest) = bytes.split_at(room.min(bytes.len()));
        self.head.extend_from_slice(head);
        // Only the end of the rest can stay in the ring.
        let skip = rest.len().saturating_sub(self.keep.tail);
        let mut rest = rest.get(skip..).unwrap_or_default();
        let room = self.keep.tail - self.ring.len();
        let (fill, over) = rest.split_at(room.min(rest.len()));
        self.ring.extend_from_slice(fill);
        rest = over;
        while !rest.is_empty() {
            let to_end = self.ring.len() - self.next;
            let (now, later) = rest.split_at(to_end.min(rest.len()));
            if let Some(place) = self.ring.get_mut(self.next..self.next + now.len()) {
                place.copy_from_slice(now);
            }
            self.next = (self.next + now.len()) % self.ring.len();
            rest = later;
        }
    }

    pub(crate) fn finish(mut self) -> Output {
        self.ring.rotate_left(self.next);
        let mut output = Output { head: self.head, tail: self.ring, total: self.total };
        if !output.truncated() {
            output.head.append(&mut output.tail);
        }
        output
    }
}

#[cfg(test)]
mod tests;
