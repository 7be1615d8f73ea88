//! Keys of a terminal in raw mode: what the bytes mean that it sends.

#[cfg(test)]
mod tests;

/// Where a paste begins and ends, when the terminal brackets it.
const PASTE_END: &[u8] = b"\x1b[201~";

/// Something that a person pressed or pasted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Key {
    /// A character.
    Char(char),
    /// A letter with Ctrl.
    Control(char),
    /// A letter with Alt.
    Alt(char),
    /// Enter.
    Enter,
    /// Enter with Alt or Shift: a new line.
    NewLine,
    /// Tab.
    Tab,
    /// Escape.
    Esc,
    /// Backspace.
    Backspace,
    /// Backspace with Alt or Ctrl.
    DeleteWord,
    /// Delete.
    Delete,
    /// The arrows.
    Up,
    /// Down.
    Down,
    /// To the left.
    Left,
    /// To the right.
    Right,
    /// To the left with Ctrl or Alt.
    WordLeft,
    /// To the right with Ctrl or Alt.
    WordRight,
    /// To the start of the line.
    Home,
    /// To the end of the line.
    End,
    /// A text that was pasted.
    Paste(String),
}

/// Bytes that have come and are not a whole key yet.
#[derive(Debug, Default)]
pub(crate) struct KeyDecoder {
    bytes: Vec<u8>,
    pasting: bool,
    /// So many bytes of a paste have been searched for its end.
    searched: usize,
}

/// What the bytes at the front are.
enum Front {
    /// A key of so many bytes; `None`: one that means nothing here.
    Key(usize, Option<Key>),
    /// The beginning of a paste, so many bytes long.
    Paste(usize),
    /// Not all of it has come.
    Partial,
}

impl KeyDecoder {
    /// Adds bytes, and gives the keys that are whole.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Vec<Key> {
        self.bytes.extend_from_slice(bytes);
        self.keys(false)
    }

    /// Whether the bytes so far may be a whole key or the beginning of one: Escape is both.
    pub(crate) fn is_waiting(&self) -> bool {
        !self.bytes.is_empty() && !self.pasting
    }

    /// Ends a key that may be the beginning of a longer one: no more bytes have come in time.
    pub(crate) fn settle(&mut self) -> Vec<Key> {
        self.keys(true)
    }

    fn keys(&mut self, last: bool) -> Vec<Key> {
        let mut keys = Vec::new();
        while !self.bytes.is_empty() {
            if self.pasting {
                let from = self.searched.saturating_sub(PASTE_END.len());
                let rest = self.bytes.get(from..).unwrap_or_default();
                let Some(end) = rest.windows(PASTE_END.len()).position(|it| it == PASTE_END) else {
                    self.searched = self.bytes.len();
                    break;
                };
                (self.searched, self.pasting) = (0, false);
                let end = from + end;
                let text: Vec<u8> = self.bytes.drain(..end).collect();
                self.bytes.drain(..PASTE_END.len());
                keys.push(Key::Paste(String::from_utf8_lossy(&text).into_owned()));
                continue;
            }
            match front(&self.bytes) {
                Front::Key(length, key) => {
                    self.bytes.drain(..length.min(self.bytes.len()));
                    keys.extend(key);
                }
                Front::Paste(length) => {
                    self.bytes.drain(..length.min(self.bytes.len()));
                    self.pasting = true;
                }
                Front::Partial if !last => break,
                Front::Partial => {
                    keys.extend((self.bytes.as_slice() == b"\x1b").then_some(Key::Esc));
                    self.bytes.clear();
                }
            }
        }
        keys
    }
}

fn front(bytes: &[u8]) -> Front {
    let Some(first) = bytes.first().copied() else { return Front::Partial };
    match first {
        0x1b => escape(bytes),
        b'\r' => Front::Key(1, Some(Key::Enter)),
        b'\t' => Front::Key(1, Some(Key::Tab)),
        0x7f | 0x08 => Front::Key(1, Some(Key::Backspace)),
        0x01..=0x1a => Front::Key(1, Some(Key::Control(char::from(first | 0x60)))),
        0x00..=0x1f => Front::Key(1, None),
        _ => character(bytes),
    }
}

/// One character in UTF-8; bytes that are none are left out.
fn character(bytes: &[u8]) -> Front {
    let length = match bytes.first() {
        Some(0xc0..=0xdf) => 2,
        Some(0xe0..=0xef) => 3,
        Some(0xf0..=0xf7) => 4,
        _ => 1,
    };
    let Some(whole) = bytes.get(..length) else { return Front::Partial };
    match std::str::from_utf8(whole).ok().and_then(|it| it.chars().next()) {
        Some(it) => Front::Key(length, Some(Key::Char(it))),
        None => Front::Key(1, None),
    }
}

fn escape(bytes: &[u8]) -> Front {
    match bytes.get(1).copied() {
        None => Front::Partial,
        Some(b'[') => sequence(bytes),
        Some(b'O') => match bytes.get(2) {
            Some(last) => Front::Key(3, movement(*last, false)),
            None => Front::Partial,
        },
        Some(b'\r' | b'\n') => Front::Key(2, Some(Key::NewLine)),
        Some(0x7f | 0x08) => Front::Key(2, Some(Key::DeleteWord)),
        Some(letter @ b' '..=b'~') => Front::Key(2, Some(Key::Alt(char::from(letter)))),
        // Escape, and then something of its own.
        Some(_) => Front::Key(1, Some(Key::Esc)),
    }
}

/// `ESC [`, numbers, and a letter or `~`.
fn sequence(bytes: &[u8]) -> Front {
    let rest = bytes.get(2..).unwrap_or_default();
    let Some(end) = rest.iter().position(|it| (0x40..=0x7e).contains(it)) else {
        return Front::Partial;
    };
    let length = end + 3;
    let numbers: Vec<u32> = String::from_utf8_lossy(rest.get(..end).unwrap_or_default())
        .split(';')
        .map(|it| it.parse().unwrap_or(0))
        .collect();
    let number = |place: usize| numbers.get(place).copied().unwrap_or(0);
    // Shift is 1, Alt 2, Ctrl 4; the terminal adds one.
    let by_word = number(1).saturating_sub(1) & 6 != 0;
    let key = match rest.get(end) {
        Some(b'~') => match number(0) {
            200 => return Front::Paste(length),
            1 | 7 => Some(Key::Home),
            4 | 8 => Some(Key::End),
            3 => Some(Key::Delete),
            27 if number(2) == 13 => Some(Key::NewLine),
            _ => None,
        },
        Some(b'u') if number(0) == 13 => Some(Key::NewLine),
        Some(letter) => movement(*letter, by_word),
        None => None,
    };
    Front::Key(length, key)
}

fn movement(letter: u8, by_word: bool) -> Option<Key> {
    Some(match (letter, by_word) {
        (b'A', _) => Key::Up,
        (b'B', _) => Key::Down,
        (b'C', false) => Key::Right,
        (b'C', true) => Key::WordRight,
        (b'D', false) => Key::Left,
        (b'D', true) => Key::WordLeft,
        (b'H', _) => Key::Home,
        (b'F', _) => Key::End,
        (b'M', _) => Key::Enter,
        _ => return None,
    })
}
