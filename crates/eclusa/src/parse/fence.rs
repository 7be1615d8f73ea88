//! Follows the code fences of a text, byte by byte, as CommonMark has them.

use memchr::{memchr2, memchr3};

/// What the first word after an opening fence says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Label {
    /// The block is a call.
    Tool,
    /// The block may be a call, for those who accept that.
    Json,
    /// The block is never a call.
    Other,
}

/// What became of the bytes that were fed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// Ordinary text, outside of blocks or inside one that is never a call.
    Text,
    /// The line may yet turn out to open a block that may be a call.
    Undecided,
    /// The line opened a block that may be a call.
    Opened(Label),
    /// Inside a block that may be a call.
    Body,
    /// The line closed a block that may be a call.
    Closed,
    /// The LF after a CR that had ended the line before.
    LineFeed,
}

/// How far a feeding came.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fed {
    /// Everything before is text. What follows is of the line that the step is about.
    pub(super) line: usize,
    /// How many bytes were taken.
    pub(super) used: usize,
    /// What became of them.
    pub(super) step: Step,
}

/// An open block.
#[derive(Debug, Clone, Copy)]
struct OpenFence {
    mark: u8,
    len: usize,
    label: Label,
}

/// What the current line has been so far.
#[derive(Debug, Clone, Copy)]
enum FenceLine {
    /// Only this many spaces.
    Indent(u8),
    /// Then a run of fence marks.
    Run { mark: u8, len: usize },
    /// Then, while no block is open, the beginning of the first word after them.
    Word { mark: u8, len: usize, word: [u8; 4], letters: usize },
    /// Then what follows that word.
    Info { mark: u8, len: usize, label: Label },
    /// Or, while a block is open, blanks after enough marks to close it.
    Tail,
    /// Something that makes it a line like any other.
    Rest,
}

/// The fences of one text.
#[derive(Debug)]
pub(super) struct Fences {
    open: Option<OpenFence>,
    seen: FenceLine,
    line: u64,
    after_cr: bool,
    accept_json: bool,
}

impl Fences {
    pub(super) fn new(accept_json: bool) -> Fences {
        Fences { open: None, seen: FenceLine::Indent(0), line: 1, after_cr: false, accept_json }
    }

    /// The number of the current line, from 1.
    pub(super) fn line(&self) -> u64 {
        self.line
    }

    /// Takes bytes up to the end of the first line that is not plain text, or all.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> Fed {
        if std::mem::take(&mut self.after_cr) && bytes.first() == Some(&b'\n') {
            return Fed { line: 0, used: 1, step: Step::LineFeed };
        }
        let (mut line, mut at) = (0, 0);
        while let Some(rest) = bytes.get(at..).filter(|it| !it.is_empty()) {
            // Bytes that cannot matter are leapt over.
            let next = match self.seen {
                FenceLine::Rest => memchr2(b'\n', b'\r', rest),
                FenceLine::Info { mark: b'`', .. } => memchr3(b'\n', b'\r', b'`', rest),
                FenceLine::Info { .. } => memchr2(b'\n', b'\r', rest),
                _ => Some(0),
            };
            let found = next.and_then(|next| Some((next, *rest.get(next)?)));
            let Some((next, byte)) = found else { break };
            at += next + 1;
            if !matches!(byte, b'\n' | b'\r') {
                self.seen = self.then(byte);
                continue;
            }
            let step = self.end_line();
            self.after_cr = byte == b'\r';
            if step != Step::Text {
                return Fed { line, used: at, step };
            }
            if let Some(after) = bytes.get(at) {
                at += usize::from(self.after_cr && *after == b'\n');
                self.after_cr = false;
            }
            line = at;
        }
        Fed { line, used: bytes.len(), step: self.pending() }
    }

    /// The text ends here, and with it the current line.
    pub(super) fn end(&mut self) -> Step {
        if matches!(self.seen, FenceLine::Indent(0)) { self.pending() } else { self.end_line() }
    }

    /// What the bytes of an unfinished line are.
    fn pending(&self) -> Step {
        match (self.open, self.seen) {
            (Some(OpenFence { label: Label::Other, .. }), _) => Step::Text,
            (Some(_), _) => Step::Body,
            (
                None,
                FenceLine::Rest | FenceLine::Tail | FenceLine::Info { label: Label::Other, .. },
            ) => Step::Text,
            (None, FenceLine::Indent(0)) => Step::Text,
            (None, _) => Step::Undecided,
        }
    }

    fn then(&self, byte: u8) -> FenceLine {
        let blank = matches!(byte, b' ' | b'\t');
        match (self.seen, self.open) {
            (FenceLine::Indent(spaces @ 0..=2), _) if byte == b' ' => FenceLine::Indent(spaces + 1),
            (FenceLine::Indent(_), None) if matches!(byte, b'`' | b'~') => {
                FenceLine::Run { mark: byte, len: 1 }
            }
            (FenceLine::Indent(_), Some(open)) if byte == open.mark => {
                FenceLine::Run { mark: byte, len: 1 }
            }
            (FenceLine::Run { mark, len }, _) if byte == mark => {
                FenceLine::Run { mark, len: len + 1 }
            }
            (FenceLine::Run { len, .. }, Some(open)) if len >= open.len && blank => FenceLine::Tail,
            (FenceLine::Run { mark, len: len @ 3.. }, None) => {
                self.word(byte, mark, len, [0; 4], 0)
            }
            (FenceLine::Word { mark, len, word, letters }, None) => {
                self.word(byte, mark, len, word, letters)
            }
            (FenceLine::Info { mark: b'`', .. }, None) if byte == b'`' => FenceLine::Rest,
            (info @ FenceLine::Info { .. }, None) => info,
            (FenceLine::Tail, Some(_)) if blank => FenceLine::Tail,
            _ => FenceLine::Rest,
        }
    }

    /// The next byte of the first word after an opening fence.
    fn word(&self, byte: u8, mark: u8, len: usize, mut word: [u8; 4], letters: usize) -> FenceLine {
        match byte {
            b'`' if mark == b'`' => FenceLine::Rest,
            b' ' | b'\t' if letters == 0 => FenceLine::Word { mark, len, word, letters },
            b' ' | b'\t' => FenceLine::Info { mark, len, label: self.label(&word, letters) },
            _ => {
                if let Some(letter) = word.get_mut(letters) {
                    *letter = byte.to_ascii_lowercase();
                    if self.begins_a_label(&word, letters + 1) {
                        return FenceLine::Word { mark, len, word, letters: letters + 1 };
                    }
                }
                FenceLine::Info { mark, len, label: Label::Other }
            }
        }
    }

    fn begins_a_label(&self, word: &[u8; 4], letters: usize) -> bool {
        let begins = |label: &[u8; 4]| label.get(..letters) == word.get(..letters);
        begins(b"tool") || self.accept_json && begins(b"json")
    }

    fn label(&self, word: &[u8; 4], letters: usize) -> Label {
        match word {
            _ if letters != word.len() => Label::Other,
            b"tool" => Label::Tool,
            b"json" if self.accept_json => Label::Json,
            _ => Label::Other,
        }
    }

    fn end_line(&mut self) -> Step {
        self.line += 1;
        let seen = std::mem::replace(&mut self.seen, FenceLine::Indent(0));
        if let Some(open) = self.open {
            let closes = match seen {
                FenceLine::Tail => true,
                FenceLine::Run { len, .. } => len >= open.len,
                _ => false,
            };
            if closes {
                self.open = None;
            }
            return match (open.label, closes) {
                (Label::Other, _) => Step::Text,
                (_, true) => Step::Closed,
                (_, false) => Step::Body,
            };
        }
        let (mark, len, label) = match seen {
            FenceLine::Run { mark, len: len @ 3.. } => (mark, len, Label::Other),
            FenceLine::Word { mark, len, word, letters } => (mark, len, self.label(&word, letters)),
            FenceLine::Info { mark, len, label } => (mark, len, label),
            _ => return Step::Text,
        };
        self.open = Some(OpenFence { mark, len, label });
        match label {
            Label::Other => Step::Text,
            label => Step::Opened(label),
        }
    }
}
