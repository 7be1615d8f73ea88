//! Calls in fenced `tool` blocks of streamed text, for models that have no native calls.
//!
//! ````text
//! I will look at the file first.
//!
//! ```tool
//! {"name": "read_file", "args": {"path": "src/main.rs"}, "reason": "to see what is there"}
//! ```
//! ````
//!
//! A block is fenced as CommonMark has it: three or more backticks or tildes, indented by up to
//! three spaces, closed by at least as many of the same. What is inside any other block is never
//! a call, so a longer fence quotes a `tool` block. Calls that were read are taken out of the
//! text; everything else stays in it.

use std::borrow::Cow;

use crate::{Incoming, Malformed, Origin};

use super::{
    CALL_BYTES,
    fence::{Fences, Label, Step},
    ids::IdGenerator,
};

mod answer;
mod block;
mod instruction;

pub use answer::results;
pub use instruction::instruction;

/// How blocks are read.
#[derive(Debug, Clone)]
pub struct Options {
    /// A `tool` block that cannot be read is left in the text and nothing is said about it.
    /// Otherwise it is left in the text, and the model is told what is wrong (C12).
    pub lenient: bool,
    /// A `json` block that reads as a call is one. Examples in prose are then run: only for
    /// models that cannot be taught to write `tool`.
    pub json_blocks: bool,
    /// The largest block that can be a call, fences included.
    pub block_bytes: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options { lenient: false, json_blocks: false, block_bytes: CALL_BYTES }
    }
}

/// Something found in a text.
#[derive(Debug, Clone, PartialEq)]
pub enum Piece<'c> {
    /// Text for the person, without the calls. Borrowed from the chunk unless it was held back.
    Text(Cow<'c, str>),
    /// A call, or a block that should have been one.
    Incoming(Incoming),
}

/// What one chunk brought to light, in the order of the text. Most chunks are plain text, which
/// costs no allocation.
#[derive(Debug, Default)]
#[must_use = "the text and the calls are nowhere else"]
pub struct Pieces<'c> {
    /// Text of the chunk before everything else.
    lead: &'c str,
    more: Vec<Piece<'c>>,
}

impl<'c> Pieces<'c> {
    fn add(&mut self, piece: Piece<'c>) {
        self.more.push(piece);
    }

    fn text(&mut self, text: &'c str) {
        if self.lead.is_empty() && self.more.is_empty() {
            self.lead = text;
        } else if !text.is_empty() {
            self.add(Piece::Text(Cow::Borrowed(text)));
        }
    }

    fn held(&mut self, text: &mut String) {
        if !text.is_empty() {
            self.add(Piece::Text(Cow::Owned(std::mem::take(text))));
        }
    }
}

impl<'c> IntoIterator for Pieces<'c> {
    type Item = Piece<'c>;
    type IntoIter = IntoPieces<'c>;

    fn into_iter(self) -> IntoPieces<'c> {
        IntoPieces { lead: self.lead, more: self.more.into_iter() }
    }
}

/// The pieces, one by one.
#[derive(Debug)]
pub struct IntoPieces<'c> {
    lead: &'c str,
    more: std::vec::IntoIter<Piece<'c>>,
}

impl<'c> Iterator for IntoPieces<'c> {
    type Item = Piece<'c>;

    fn next(&mut self) -> Option<Piece<'c>> {
        match std::mem::take(&mut self.lead) {
            "" => self.more.next(),
            lead => Some(Piece::Text(Cow::Borrowed(lead))),
        }
    }
}

/// Reads one answer of a model as it comes in. The same text gives the same result however it
/// is cut into chunks, in time proportional to its length.
///
/// ```
/// use eclusa::{Incoming, parse::fenced::{Fenced, Options, Piece}};
///
/// let mut fenced = Fenced::new(Options::default());
/// let (mut text, mut asked) = (String::new(), Vec::new());
/// let mut take = |piece: Piece<'_>| match piece {
///     Piece::Text(it) => text.push_str(&it),
///     Piece::Incoming(it) => asked.push(it),
/// };
/// for chunk in ["Let me see.\n``", "`tool\n{\"name\": \"ls\", ", "\"args\": {}}\n```\n"] {
///     fenced.push(chunk).into_iter().for_each(&mut take);
/// }
/// fenced.finish().into_iter().for_each(&mut take);
/// assert_eq!(text, "Let me see.\n");
/// assert!(matches!(&asked[..], [Incoming::Call(call)] if call.tool == "ls"));
/// ```
#[derive(Debug)]
pub struct Fenced {
    options: Options,
    fences: Fences,
    /// A line that may open a block, or a block that may be a call, as far as it has come.
    held: String,
    /// The open block that may be a call.
    block: Option<Block>,
    /// What would be held is larger than allowed, and was given back as text.
    overlong: bool,
    /// The last line closed a block that was taken out.
    taken_out: bool,
    ids: IdGenerator,
    /// The beginning of a character whose end is still to come.
    carry: Vec<u8>,
}

/// An open block that may be a call.
#[derive(Debug, Clone, Copy)]
struct Block {
    label: Label,
    /// The line of the opening fence.
    line: u64,
    /// Where in the held text the content begins.
    content: usize,
}

impl Fenced {
    /// A reader for one answer.
    pub fn new(options: Options) -> Fenced {
        Fenced {
            fences: Fences::new(options.json_blocks),
            options,
            held: String::new(),
            block: None,
            overlong: false,
            taken_out: false,
            ids: IdGenerator::default(),
            carry: Vec::new(),
        }
    }

    /// Takes the next chunk, and gives what has become clear.
    pub fn push<'c>(&mut self, chunk: &'c str) -> Pieces<'c> {
        let mut pieces = Pieces::default();
        if !self.carry.is_empty() {
            self.replace_carried(&mut pieces);
        }
        self.scan(chunk, &mut pieces);
        pieces
    }

    /// The same for bytes, which may end in the middle of a character. What is not UTF-8 is
    /// replaced by U+FFFD.
    pub fn push_bytes<'c>(&mut self, chunk: &'c [u8]) -> Pieces<'c> {
        let mut pieces = Pieces::default();
        let mut rest = chunk;
        while !self.carry.is_empty()
            && let Some((&byte, after)) = rest.split_first()
        {
            let mut carry = std::mem::take(&mut self.carry);
            carry.push(byte);
            match std::str::from_utf8(&carry) {
                Ok(whole) => {
                    let mut own = Pieces::default();
                    self.scan(whole, &mut own);
                    own.into_iter().map(Piece::into_owned).for_each(|it| pieces.add(it));
                }
                Err(err) if err.error_len().is_none() => self.carry = carry,
                Err(_) => {
                    self.replace_carried(&mut pieces);
                    continue;
                }
            }
            rest = after;
        }
        while !rest.is_empty() {
            let (valid, broken) = match std::str::from_utf8(rest) {
                Ok(valid) => (valid, None),
                Err(err) => {
                    let (valid, _) = rest.split_at_checked(err.valid_up_to()).unwrap_or_default();
                    (std::str::from_utf8(valid).unwrap_or_default(), Some(err.error_len()))
                }
            };
            self.scan(valid, &mut pieces);
            rest = rest.get(valid.len()..).unwrap_or_default();
            match broken {
                None => {}
                Some(Some(bytes)) => {
                    self.replace_carried(&mut pieces);
                    rest = rest.get(bytes..).unwrap_or_default();
                }
                Some(None) => self.carry = std::mem::take(&mut rest).to_vec(),
            }
        }
        pieces
    }

    /// The answer is complete: gives what was still held back. A block that was never closed is
    /// not a call.
    pub fn finish(mut self) -> Pieces<'static> {
        let mut pieces = Pieces::default();
        if !self.carry.is_empty() {
            self.replace_carried(&mut pieces);
        }
        match self.fences.end() {
            Step::Opened(label) => self.open(label),
            Step::Closed => self.close(&mut pieces),
            Step::Text | Step::Undecided | Step::Body | Step::LineFeed => {}
        }
        pieces.held(&mut self.held);
        if let Some(block) = self.block.take() {
            self.refuse(block, block::unclosed(block.line), &mut pieces);
        }
        pieces
    }

    fn replace_carried(&mut self, pieces: &mut Pieces<'_>) {
        self.carry.clear();
        self.scan("\u{FFFD}", pieces);
    }

    fn scan<'c>(&mut self, chunk: &'c str, pieces: &mut Pieces<'c>) {
        // What has been neither given out nor held begins at `from`.
        let (mut from, mut at) = (0, 0);
        let part = |from: usize, to: usize| chunk.get(from..to).unwrap_or_default();
        while at < chunk.len() {
            let fed = self.fences.feed(part(at, chunk.len()).as_bytes());
            let line = at + fed.line;
            at += fed.used;
            if self.block.is_none() && (fed.line > 0 || fed.step == Step::Text) {
                // The line that was held is text after all.
                pieces.held(&mut self.held);
                self.overlong = false;
            }
            let taken_out = std::mem::take(&mut self.taken_out);
            match fed.step {
                Step::Text => {}
                Step::LineFeed if taken_out => from = at,
                Step::LineFeed if self.block.is_none() => {}
                Step::Undecided | Step::Opened(_) => {
                    pieces.text(part(from, line));
                    from = if self.hold(part(line, at), pieces) { at } else { line };
                }
                Step::Body | Step::Closed | Step::LineFeed => {
                    if self.hold(part(from, at), pieces) {
                        from = at;
                    }
                }
            }
            match fed.step {
                Step::Opened(label) => self.open(label),
                Step::Closed => {
                    pieces.text(part(from, at));
                    from = at;
                    self.close(pieces);
                }
                _ => {}
            }
        }
        pieces.text(part(from, chunk.len()));
    }

    /// Holds a part of a block back, if the whole is not too large by now; false means that the
    /// part is text.
    fn hold(&mut self, part: &str, pieces: &mut Pieces<'_>) -> bool {
        if !self.overlong && self.held.len() + part.len() > self.options.block_bytes {
            self.overlong = true;
            pieces.held(&mut self.held);
        }
        if !self.overlong {
            self.held.push_str(part);
        }
        !self.overlong
    }

    fn open(&mut self, label: Label) {
        let line = self.fences.line() - 1;
        self.block = Some(Block { label, line, content: self.held.len() });
    }

    /// The open block is complete: it is a call, or stays in the text.
    fn close(&mut self, pieces: &mut Pieces<'_>) {
        let Some(block) = self.block.take() else { return };
        let read = match std::mem::take(&mut self.overlong) {
            true => Err(block::too_large(block.line, self.options.block_bytes)),
            false => block::read(&self.held, block, &mut self.ids),
        };
        match read {
            Ok(call) => {
                self.held.clear();
                self.taken_out = true;
                pieces.add(Piece::Incoming(Incoming::Call(call)));
            }
            Err(bad) => {
                pieces.held(&mut self.held);
                self.refuse(block, bad, pieces);
            }
        }
    }

    /// Says what is wrong with a block that was left in the text, unless nobody wants to know.
    fn refuse(&mut self, block: Block, bad: block::Bad, pieces: &mut Pieces<'_>) {
        if block.label == Label::Tool && !self.options.lenient {
            pieces.add(Piece::Incoming(Incoming::Malformed(Malformed {
                id: self.ids.or_next(bad.id.as_deref()),
                tool: bad.tool,
                problem: bad.problem,
                origin: Origin::Fenced,
            })));
        }
    }
}

impl Piece<'_> {
    /// The same piece, borrowing nothing.
    pub fn into_owned(self) -> Piece<'static> {
        match self {
            Piece::Text(text) => Piece::Text(Cow::Owned(text.into_owned())),
            Piece::Incoming(incoming) => Piece::Incoming(incoming),
        }
    }
}

/// A whole text, read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Parsed {
    /// The text without the calls, trimmed.
    pub clean_text: String,
    /// The calls, and the blocks that should have been one.
    pub incoming: Vec<Incoming>,
}

/// Reads a whole text.
pub fn parse(text: &str) -> Parsed {
    parse_with(text, Options::default())
}

/// Reads a whole text in another way.
pub fn parse_with(text: &str, options: Options) -> Parsed {
    let mut fenced = Fenced::new(options);
    let (mut clean, mut incoming) = (String::with_capacity(text.len()), Vec::new());
    let pieces = fenced.push(text);
    for piece in pieces.into_iter().chain(fenced.finish()) {
        match piece {
            Piece::Text(it) => clean.push_str(&it),
            Piece::Incoming(it) => incoming.push(it),
        }
    }
    Parsed { clean_text: clean.trim().to_owned(), incoming }
}

#[cfg(test)]
mod tests;
