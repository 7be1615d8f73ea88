//! Lines with their numbers in front. A long page has hundreds of thousands of them, so that each
//! is a few moves of fixed length: what is moved too much, the next line overwrites.

use memchr::memchr_iter;

/// How much of a line is moved at once, and how much is kept free for it.
const MOVED: usize = 64;

/// The longest number with its tab, and more.
const MARK: usize = 32;

/// The number of a line as it is shown: `{number:>6}` and a tab.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mark {
    number: u64,
    shown: [u8; MARK],
    length: usize,
}

impl Mark {
    /// The mark of this line.
    pub(super) fn new(number: u64) -> Mark {
        let text = format!("{number:>6}\t");
        let mut shown = [0; MARK];
        for (to, from) in shown.iter_mut().zip(text.bytes()) {
            *to = from;
        }
        Mark { number, shown, length: text.len() }
    }

    /// How it is shown.
    pub(super) fn text(&self) -> &str {
        self.shown.get(..self.length).and_then(|it| str::from_utf8(it).ok()).unwrap_or_default()
    }

    /// That of the next line: counted up as by hand, because dividing takes longer than the rest.
    fn advance(&mut self) {
        self.number += 1;
        for digit in self.shown.iter_mut().take(self.length - 1).rev() {
            match digit {
                b'9' => *digit = b'0',
                b' ' => return *digit = b'1',
                _ => return *digit += 1,
            }
        }
        *self = Mark::new(self.number);
    }
}

/// Where lines are put together: in bytes, because a piece of fixed length may end within a character.
#[derive(Debug, Default)]
pub(super) struct LineBuffer {
    bytes: Vec<u8>,
    used: usize,
}

impl LineBuffer {
    /// Lays out the lines of these bytes, all of which end, as long as `fits` says so of how much is
    /// there and how long the next one is. Returns how many bytes and lines those were.
    pub(super) fn lay(
        &mut self,
        first: u64,
        lines: &[u8],
        mut fits: impl FnMut(usize, u64, usize) -> bool,
    ) -> (usize, u64) {
        let mut mark = Mark::new(first);
        let mut begin = 0;
        self.used = 0;
        for end in memchr_iter(b'\n', lines) {
            if !fits(self.used, mark.number - first, end - begin) {
                break;
            }
            let rest = lines.get(begin..).unwrap_or_default();
            let line = rest.get(..end - begin).unwrap_or_default();
            self.push_line(&mark, line.strip_suffix(b"\r").unwrap_or(line).len(), rest);
            mark.advance();
            begin = end + 1;
        }
        (begin, mark.number - first)
    }

    /// What was laid out, if the lines were text.
    pub(super) fn text(&self) -> &str {
        self.bytes.get(..self.used).and_then(|it| str::from_utf8(it).ok()).unwrap_or_default()
    }

    /// One line: its mark, the first `length` bytes of `rest`, and an end of line.
    fn push_line(&mut self, mark: &Mark, length: usize, rest: &[u8]) {
        let wanted = self.used + MARK + MOVED + length + 1;
        if self.bytes.len() < wanted {
            self.bytes.resize(wanted * 2, 0);
        }
        let Some(to) = self.bytes.get_mut(self.used..) else { return };
        if let Some(to) = to.first_chunk_mut() {
            *to = mark.shown;
        }
        let Some(to) = to.get_mut(mark.length..) else { return };
        match (to.first_chunk_mut::<MOVED>(), rest.first_chunk::<MOVED>()) {
            (Some(to), Some(from)) if length <= MOVED => *to = *from,
            _ => {
                if let (Some(to), Some(from)) = (to.get_mut(..length), rest.get(..length)) {
                    to.copy_from_slice(from);
                }
            }
        }
        if let Some(to) = to.get_mut(length) {
            *to = b'\n';
        }
        self.used += mark.length + length + 1;
    }
}
