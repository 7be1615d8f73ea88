//! From what a program wrote to what it said. Any text can be given, and nothing panics; what is
//! in no known form is passed over.

use super::{Diagnostic, braces, lines::LineReader};

/// So many are kept; more nobody reads.
const MAX_DIAGNOSTICS: usize = 10_000;
/// A message is kept up to this many bytes.
const MESSAGE: usize = 2_000;
/// A path or code is no longer than this.
const NAME: usize = 4_096;

/// So often something that begins like a list may turn out to be none.
const TRIES: usize = 64;

/// What was found.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Parsed {
    /// In the order in which they were written.
    pub found: Vec<Diagnostic>,
    /// So many more there were.
    pub more: usize,
}

impl Parsed {
    pub(super) fn add(&mut self, mut it: Diagnostic) {
        if self.found.len() >= MAX_DIAGNOSTICS {
            self.more += 1;
            return;
        }
        cut(&mut it.message, MESSAGE);
        for name in [&mut it.path, &mut it.code].into_iter().flatten() {
            cut(name, NAME);
        }
        // Programs say some things twice, such as for the library and for its tests.
        if self.found.last() != Some(&it) {
            self.found.push(it);
        }
    }
}

/// Reads what a check wrote: JSON of cargo, rustc, eslint and ruff; text of rustc, tsc, eslint
/// (stylish), ruff, gcc, clang and all that write like them, in any mixture.
pub fn parse(text: &str) -> Parsed {
    let mut parsed = Parsed::default();
    let mut reader = LineReader::default();
    let mut rest = text;
    let mut tries = TRIES;
    while !rest.is_empty() {
        let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
        let start = line.trim();
        if tries > 0 && (start == "[" || start.starts_with("[{")) {
            // A list can go over many lines. What was read of it is never read again.
            let read = braces::list(rest, &mut parsed);
            if read > 0 {
                rest = rest.get(read..).unwrap_or_default();
                continue;
            }
            tries -= 1;
        }
        if start.starts_with('{') && braces::object(start, &mut parsed) {
            reader.settle(&mut parsed);
            reader = LineReader::default();
        } else {
            let line = plain(line);
            reader.read(&line, &mut parsed);
        }
        rest = after;
    }
    reader.settle(&mut parsed);
    parsed
}

/// A line without the escapes that colour it, and without its carriage return.
fn plain(line: &str) -> std::borrow::Cow<'_, str> {
    let line = line.trim_end_matches('\r');
    if !line.contains('\u{1b}') {
        return line.into();
    }
    let mut plain = String::with_capacity(line.len());
    let mut chars = line.chars();
    while let Some(char) = chars.next() {
        if char != '\u{1b}' {
            plain.push(char);
        } else if chars.as_str().starts_with('[') {
            // CSI: parameters, then one letter.
            chars.by_ref().skip(1).find(|it| ('\u{40}'..='\u{7e}').contains(it));
        }
    }
    plain.into()
}

fn cut(text: &mut String, most: usize) {
    if text.len() > most {
        text.truncate(text.floor_char_boundary(most));
        text.push('…');
    }
}
