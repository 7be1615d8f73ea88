//! Words as the shell makes them from text: quotes and escapes removed, braces worked out,
//! patterns and everything that only the run decides marked as such.
//!
//! Where an expansion ends is not decided here: the two parsers say so. A place where an expansion
//! begins for this reader and for neither of them is a doubt, so this is a third witness.

use crate::commands::variable_origin::VariableOrigins;
use crate::syntax::outline::{CommandBody, Outline, Span};
use crate::{Part, Unknown, Word};

mod ansi;
mod brace;
mod parts;

/// A character or an expansion, with what is left of its quotes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    /// Not quoted: may be special.
    Plain(char),
    /// Quoted or escaped: only itself.
    Quoted(char),
    /// `''` or `""`: nothing, but a word.
    Empty,
    /// A pattern that came from elsewhere.
    Glob(String),
    /// Only the run decides.
    Unknown { why: Unknown, splits: bool },
}

/// Reads the words of one script.
pub(crate) struct Reader<'s> {
    source: &'s str,
    outlines: [&'s Outline; 2],
    names: &'s VariableOrigins,
    /// What each loop variable is in this copy of the command.
    pub(crate) bound: Vec<(&'s str, Word)>,
    /// What this reader does not understand, with the place.
    pub(crate) doubts: Vec<(&'static str, usize)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Quotes {
    None,
    Double,
    CommandBody,
}

impl<'s> Reader<'s> {
    pub(crate) fn new(
        source: &'s str,
        outlines: [&'s Outline; 2],
        names: &'s VariableOrigins,
    ) -> Reader<'s> {
        Reader { source, outlines, names, bound: Vec::new(), doubts: Vec::new() }
    }

    /// A word of a command: none or several words when it has braces.
    pub(crate) fn words(&mut self, span: Span) -> Vec<Word> {
        let source = self.text(span);
        if source.bytes().all(is_ordinary) {
            return vec![Word::literal(source)];
        }
        let pieces = self.pieces(span, Quotes::None);
        if let Some(Piece::Plain('=')) = pieces.first()
            && let Some(Piece::Plain(next)) = pieces.get(1)
            && next.is_ascii_alphabetic()
        {
            self.doubt("some shells replace a word that begins with `=` by a path", span.start);
        }
        // `{$,}NAME` becomes `$NAME` before variables are looked at.
        if pieces.contains(&Piece::Plain('{')) && pieces.contains(&Piece::Plain('$')) {
            self.doubt("a dollar sign beside braces can become a variable", span.start);
        }
        let words = match brace::expand(&pieces) {
            Some(words) => words,
            None => vec![vec![Piece::Unknown { why: Unknown::Brace, splits: true }]],
        };
        // `{a,}`: an alternative that is nothing, and not quoted, is no word.
        let words = words.iter().filter(|it| !it.is_empty());
        words.map(|it| Word { parts: parts::of_word(it), source: source.to_owned() }).collect()
    }

    /// The target of a redirection, or the text after `<<<`.
    pub(crate) fn target(&mut self, span: Span) -> Word {
        let mut words = self.words(span);
        match (words.pop(), words.is_empty()) {
            (Some(word), true) => word,
            _ => Word {
                parts: vec![Part::Unknown { why: Unknown::Brace, splits: true }],
                source: self.text(span).to_owned(),
            },
        }
    }

    /// The value of an assignment: not split, no patterns.
    pub(crate) fn value(&mut self, span: Span) -> Word {
        let source = self.text(span).to_owned();
        if source.starts_with('(') {
            let parts = vec![Part::Unknown { why: Unknown::Unclear, splits: false }];
            return Word { parts, source };
        }
        let pieces = self.pieces(span, Quotes::None);
        Word { parts: parts::of_value(&pieces), source }
    }

    /// The text of a here-document.
    pub(crate) fn body(&mut self, span: Span, body: CommandBody) -> Word {
        let source = self.text(span).to_owned();
        let pieces = if body.expands {
            self.pieces(span, Quotes::CommandBody)
        } else {
            source.chars().map(Piece::Quoted).collect()
        };
        let pieces = if body.strips_tabs { parts::without_tabs(pieces) } else { pieces };
        Word { parts: parts::of_value(&pieces), source }
    }

    /// The whole text.
    pub(crate) fn source(&self) -> &'s str {
        self.source
    }

    pub(crate) fn text(&self, span: Span) -> &'s str {
        self.source.get(span.start..span.end).unwrap_or_default()
    }

    fn doubt(&mut self, what: &'static str, at: usize) {
        self.doubts.push((what, at));
    }

    fn char_at(&self, at: usize, end: usize) -> Option<char> {
        self.source.get(at..end).and_then(|it| it.chars().next())
    }

    fn pieces(&mut self, span: Span, mut quotes: Quotes) -> Vec<Piece> {
        let mut pieces = Vec::with_capacity(span.end - span.start);
        let mut at = span.start;
        while let Some(c) = self.char_at(at, span.end) {
            let next = at + c.len_utf8();
            at = match (c, quotes) {
                ('\\', _) => self.escape(next, span.end, quotes, &mut pieces),
                ('\'', Quotes::None) => {
                    let rest = self.source.get(next..span.end).unwrap_or_default();
                    let end = rest.find('\'').unwrap_or(rest.len());
                    pieces.push(Piece::Empty);
                    pieces.extend(rest.chars().take_while(|it| *it != '\'').map(Piece::Quoted));
                    next + end + 1
                }
                ('"', Quotes::None) => {
                    pieces.push(Piece::Empty);
                    quotes = Quotes::Double;
                    next
                }
                ('"', Quotes::Double) => {
                    quotes = Quotes::None;
                    next
                }
                ('$', _) => self.dollar(at, span.end, quotes, &mut pieces),
                ('`', _) => {
                    self.substitution(at, span.end, quotes, Unknown::Substitution, &mut pieces)
                }
                ('<' | '>', Quotes::None) if self.char_at(next, span.end) == Some('(') => {
                    self.substitution(at, span.end, quotes, Unknown::Process, &mut pieces)
                }
                (_, Quotes::None) => {
                    self.look_at(c, at);
                    pieces.push(Piece::Plain(c));
                    next
                }
                (_, Quotes::Double | Quotes::CommandBody) => {
                    pieces.push(Piece::Quoted(c));
                    next
                }
            };
        }
        pieces
    }

    /// Characters that cannot stand unquoted in a word of this shell.
    fn look_at(&mut self, c: char, at: usize) {
        if matches!(c, '(' | ')' | ';' | '&' | '|' | '<' | '>') || c.is_ascii_whitespace() {
            self.doubt("a pattern or group of another shell", at);
        } else if !c.is_ascii() && c.is_whitespace() {
            self.doubt("a blank that the shell does not take for one", at);
        }
    }

    fn escape(&mut self, at: usize, end: usize, quotes: Quotes, pieces: &mut Vec<Piece>) -> usize {
        let Some(c) = self.char_at(at, end) else {
            self.doubt("a backslash at the end", at);
            return end;
        };
        let special = match quotes {
            Quotes::None => true,
            Quotes::Double => matches!(c, '$' | '`' | '"' | '\\'),
            Quotes::CommandBody => matches!(c, '$' | '`' | '\\'),
        };
        match (c, special) {
            ('\n', _) => {}
            (_, true) => pieces.push(Piece::Quoted(c)),
            (_, false) => pieces.extend([Piece::Quoted('\\'), Piece::Quoted(c)]),
        }
        at + c.len_utf8()
    }

    fn dollar(&mut self, at: usize, end: usize, quotes: Quotes, pieces: &mut Vec<Piece>) -> usize {
        let splits = quotes == Quotes::None;
        let next = at + 1;
        match self.char_at(next, end) {
            Some('(') => {
                let arithmetic = self.end_of(at, |it| &it.arithmetic);
                if let Some(end) = arithmetic {
                    pieces.push(Piece::Unknown { why: Unknown::Arithmetic, splits });
                    return end;
                }
                self.substitution(at, end, quotes, Unknown::Substitution, pieces)
            }
            Some('[') => match self.end_of(at, |it| &it.arithmetic) {
                Some(end) => {
                    pieces.push(Piece::Unknown { why: Unknown::Arithmetic, splits });
                    end
                }
                None => self.lost(at, end, pieces),
            },
            Some('{') => self.parameter(at, end, splits, pieces),
            Some('\'') if quotes == Quotes::None => {
                let rest = self.source.get(next + 1..end).unwrap_or_default();
                pieces.push(Piece::Empty);
                match ansi::decode(rest) {
                    Some((text, used)) => {
                        pieces.extend(text.chars().map(Piece::Quoted));
                        next + 1 + used
                    }
                    None => self.lost(at, end, pieces),
                }
            }
            // `$"…"` is translated, then read like `"…"`.
            Some('"') if quotes == Quotes::None => next,
            Some(c) if c == '_' || c.is_ascii_alphabetic() => {
                let rest = self.source.get(next..end).unwrap_or_default();
                let length =
                    rest.bytes().take_while(|it| *it == b'_' || it.is_ascii_alphanumeric()).count();
                let name = rest.get(..length).unwrap_or_default();
                self.variable(name, at, splits, pieces);
                next + length
            }
            Some('0'..='9' | '@' | '*' | '#' | '?' | '-' | '$' | '!') => {
                let name = self.source.get(next..=next).unwrap_or_default();
                self.variable(name, at, splits || name == "@", pieces);
                next + 1
            }
            _ => {
                let plain = quotes == Quotes::None;
                pieces.push(if plain { Piece::Plain('$') } else { Piece::Quoted('$') });
                next
            }
        }
    }

    fn parameter(&mut self, at: usize, end: usize, splits: bool, pieces: &mut Vec<Piece>) -> usize {
        let Some(close) = self.end_of(at, |it| &it.parameters) else {
            return self.lost(at, end, pieces);
        };
        let inside = self.source.get(at + 2..close.saturating_sub(1)).unwrap_or_default();
        if let Some(name) = inside.strip_prefix('#').filter(|it| is_name(it)) {
            // A length tells something of a value, too.
            let bound = self.bound.iter().any(|(it, _)| *it == name);
            let why = if bound { Unknown::Local } else { self.names.why(name, at) };
            pieces.push(Piece::Unknown { why, splits: false });
        } else {
            let name = if is_name(inside) { inside } else { "" };
            // `"${name[@]}"` becomes as many words as there are, in spite of the quotes.
            let splits = splits || inside.contains('@');
            self.variable(name, at, splits, pieces);
        }
        close
    }

    fn variable(&mut self, name: &str, at: usize, splits: bool, pieces: &mut Vec<Piece>) {
        match self.bound.iter().find(|(bound, _)| *bound == name) {
            Some((_, word)) => parts::bind(word, splits, pieces),
            None => pieces.push(Piece::Unknown { why: self.names.why(name, at), splits }),
        }
    }

    fn substitution(
        &mut self,
        at: usize,
        end: usize,
        quotes: Quotes,
        why: Unknown,
        pieces: &mut Vec<Piece>,
    ) -> usize {
        match self.end_of(at, |it| &it.substitutions) {
            Some(close) => {
                let splits = quotes == Quotes::None && why == Unknown::Substitution;
                pieces.push(Piece::Unknown { why, splits });
                close
            }
            None => self.lost(at, end, pieces),
        }
    }

    /// An expansion that no parser knows: the rest of the word is not known either.
    fn lost(&mut self, at: usize, end: usize, pieces: &mut Vec<Piece>) -> usize {
        self.doubt("an expansion that is not understood", at);
        pieces.push(Piece::Unknown { why: Unknown::Unclear, splits: true });
        end
    }

    /// Where the expansion ends that begins at `at`, according to the parsers.
    fn end_of(&self, at: usize, list: impl Fn(&Outline) -> &Vec<Span>) -> Option<usize> {
        self.outlines.iter().find_map(|outline| {
            let spans = list(outline);
            let index = spans.binary_search_by_key(&at, |it| it.start).ok()?;
            spans.get(index).map(|it| it.end)
        })
    }
}

/// Characters that are only themselves, wherever in a word they stand.
fn is_ordinary(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(byte, b'_' | b'-' | b'.' | b'/' | b',' | b':' | b'+' | b'@' | b'%' | b'^')
}

fn is_name(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|it| it == b'_' || it.is_ascii_alphabetic())
        && bytes.all(|it| it == b'_' || it.is_ascii_alphanumeric())
}
