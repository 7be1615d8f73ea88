//! How a file spells its text: detected when it is read, kept when it is written.
//!
//! Three encodings are told apart without tables of words: UTF-8 proves itself, UTF-16 has a mark
//! or a pattern of zero bytes, and what is left without control characters is taken for Latin-1.
//! Each of them gives back exactly the bytes it was read from.

use std::{borrow::Cow, fmt};

use memchr::memchr;

/// The encodings that an edit can keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8, which ASCII is part of.
    Utf8,
    /// UTF-16, low byte first.
    Utf16Le,
    /// UTF-16, high byte first.
    Utf16Be,
    /// One byte for each character: Windows-1252, which is Latin-1 with quotes, dashes and the
    /// euro sign where Latin-1 has control characters.
    Latin1,
}

/// Encoding and byte order mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Format {
    /// The encoding.
    pub encoding: Encoding,
    /// True if the file begins with a byte order mark, which is no part of the text.
    pub bom: bool,
}

/// A file as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decoded<'a> {
    /// The text, without a byte order mark.
    pub text: Cow<'a, str>,
    /// How to write it back.
    pub format: Format,
}

/// Why bytes are not text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Undecodable {
    /// There is a byte that no text has.
    #[error(
        "the file is binary (byte {byte:#04x} at offset {at}); it can be replaced as a whole, but not edited as text"
    )]
    Binary {
        /// Where, from 0.
        at: usize,
        /// Which.
        byte: u8,
    },
    /// Text, but for some bytes: whatever wrote them back would have to guess.
    #[error(
        "the file is {encoding} except for invalid bytes at offset {at}; fix them or replace the file as a whole, because an edit could not keep them"
    )]
    Broken {
        /// What the rest is.
        encoding: Encoding,
        /// The first place that is not, from 0.
        at: usize,
    },
}

/// A character that the encoding of the file has no bytes for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the file is {encoding}, which has no `{character}` (U+{:04X}, line {line}); write it in another way, or rewrite the whole file as UTF-8", *.character as u32)]
pub struct Unencodable {
    /// The encoding.
    pub encoding: Encoding,
    /// The character.
    pub character: char,
    /// Its line in the new text, from 1.
    pub line: usize,
}

const UTF8_BOM: &[u8] = b"\xEF\xBB\xBF";
const UTF16LE_BOM: &[u8] = b"\xFF\xFE";
const UTF16BE_BOM: &[u8] = b"\xFE\xFF";
const UTF32LE_BOM: &[u8] = b"\xFF\xFE\0\0";

/// Reads bytes as text, in the encoding that they show.
pub fn decode(bytes: &[u8]) -> Result<Decoded<'_>, Undecodable> {
    if bytes.starts_with(UTF32LE_BOM) {
        return Err(Undecodable::Binary { at: 2, byte: 0 });
    }
    if let Some(rest) = bytes.strip_prefix(UTF16LE_BOM) {
        return utf16(rest, Encoding::Utf16Le, true);
    }
    if let Some(rest) = bytes.strip_prefix(UTF16BE_BOM) {
        return utf16(rest, Encoding::Utf16Be, true);
    }
    let bom = bytes.starts_with(UTF8_BOM);
    let rest = bytes.strip_prefix(UTF8_BOM).unwrap_or(bytes);
    if let Some(at) = memchr(0, rest) {
        let guess = if bom { None } else { without_mark(rest) };
        let read = guess.and_then(|encoding| utf16(rest, encoding, false).ok());
        let read = read.filter(|it| !it.text.contains('\0'));
        let binary = Undecodable::Binary { at: bytes.len() - rest.len() + at, byte: 0 };
        return read.ok_or(binary);
    }
    match std::str::from_utf8(rest) {
        Ok(text) => {
            let format = Format { encoding: Encoding::Utf8, bom };
            Ok(Decoded { text: Cow::Borrowed(text), format })
        }
        Err(fault) if bom || mostly_utf8(rest) => {
            let at = bytes.len() - rest.len() + fault.valid_up_to();
            Err(Undecodable::Broken { encoding: Encoding::Utf8, at })
        }
        Err(_) => latin1(rest),
    }
}

fn utf16(bytes: &[u8], encoding: Encoding, bom: bool) -> Result<Decoded<'static>, Undecodable> {
    let mark = if bom { 2 } else { 0 };
    let (pairs, odd) = bytes.as_chunks::<2>();
    let units = pairs.iter().map(|&pair| match encoding {
        Encoding::Utf16Be => u16::from_be_bytes(pair),
        _ => u16::from_le_bytes(pair),
    });
    let mut text = String::with_capacity(bytes.len());
    let mut at = mark;
    for read in char::decode_utf16(units) {
        let read = read.map_err(|_| Undecodable::Broken { encoding, at })?;
        at += 2 * read.len_utf16();
        text.push(read);
    }
    if !odd.is_empty() {
        return Err(Undecodable::Broken { encoding, at });
    }
    Ok(Decoded { text: Cow::Owned(text), format: Format { encoding, bom } })
}

/// UTF-16 without a mark, judged by its beginning: characters up to U+00FF are most of what
/// source text is made of, and their high bytes are zero.
fn without_mark(bytes: &[u8]) -> Option<Encoding> {
    let (pairs, odd) = bytes.as_chunks::<2>();
    let sample = pairs.get(..pairs.len().min(4096)).unwrap_or(pairs);
    let low = sample.iter().filter(|[first, second]| *first != 0 && *second == 0).count();
    let high = sample.iter().filter(|[first, second]| *first == 0 && *second != 0).count();
    match (low, high) {
        _ if !odd.is_empty() || sample.is_empty() => None,
        (low, 0) if low * 4 >= sample.len() * 3 => Some(Encoding::Utf16Le),
        (0, high) if high * 4 >= sample.len() * 3 => Some(Encoding::Utf16Be),
        _ => None,
    }
}

/// True if there are more characters of several bytes than bytes that fit nowhere: then the
/// file is UTF-8 that somebody damaged. In Latin-1 such a sequence is a rare accident.
fn mostly_utf8(bytes: &[u8]) -> bool {
    let (mut good, mut bad) = (0_usize, 0_usize);
    for chunk in bytes.utf8_chunks() {
        // Counted in bytes that begin a sequence, which is all the count needs.
        good += chunk.valid().bytes().filter(|it| *it >= 0xC0).count();
        bad += usize::from(!chunk.invalid().is_empty());
    }
    good > bad
}

fn latin1(bytes: &[u8]) -> Result<Decoded<'static>, Undecodable> {
    let control = |byte: u8| byte == 0x7F || (byte < 0x20 && !matches!(byte, 0x08..=0x0D | 0x1B));
    if let Some((at, &byte)) = bytes.iter().enumerate().find(|(_, byte)| control(**byte)) {
        return Err(Undecodable::Binary { at, byte });
    }
    let length = bytes.iter().map(|byte| latin1_char(*byte).len_utf8()).sum();
    let mut text = String::with_capacity(length);
    text.extend(bytes.iter().map(|byte| latin1_char(*byte)));
    let format = Format { encoding: Encoding::Latin1, bom: false };
    Ok(Decoded { text: Cow::Owned(text), format })
}

/// What Windows-1252 has from 0x80 to 0x9F. The five places that it leaves empty are the control
/// characters of Latin-1, so that every byte is a character and comes back.
const HIGH: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8D}', 'Ž', '\u{8F}',
    '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9D}', 'ž', 'Ÿ',
];

/// The character that a byte of Windows-1252 is.
pub(crate) fn latin1_char(byte: u8) -> char {
    let high = byte.checked_sub(0x80).and_then(|it| HIGH.get(usize::from(it)));
    high.copied().unwrap_or(char::from(byte))
}

fn to_latin1(character: char) -> Option<u8> {
    match u8::try_from(u32::from(character)) {
        Ok(byte) if !(0x80..0xA0).contains(&byte) => Some(byte),
        _ => {
            let place = HIGH.iter().position(|it| *it == character)?;
            u8::try_from(place + 0x80).ok()
        }
    }
}

impl Format {
    /// What a new file is written in.
    pub const NEW: Format = Format { encoding: Encoding::Utf8, bom: false };

    /// The same as [`encode`](Format::encode), without a copy where the bytes are there already.
    pub fn encode_owned(self, text: String) -> Result<Vec<u8>, Unencodable> {
        if self == Format::NEW { Ok(text.into_bytes()) } else { self.encode(&text) }
    }

    /// The text as bytes of this format.
    pub fn encode(self, text: &str) -> Result<Vec<u8>, Unencodable> {
        let length = match self.encoding {
            Encoding::Utf8 => text.len(),
            Encoding::Utf16Le | Encoding::Utf16Be => 2 * text.encode_utf16().count(),
            Encoding::Latin1 => text.chars().count(),
        };
        let mut bytes = Vec::with_capacity(length + 3);
        match self.encoding {
            Encoding::Utf8 => {
                bytes.extend_from_slice(if self.bom { UTF8_BOM } else { b"" });
                bytes.extend_from_slice(text.as_bytes());
            }
            Encoding::Utf16Le => {
                bytes.extend_from_slice(if self.bom { UTF16LE_BOM } else { b"" });
                bytes.extend(text.encode_utf16().flat_map(u16::to_le_bytes));
            }
            Encoding::Utf16Be => {
                bytes.extend_from_slice(if self.bom { UTF16BE_BOM } else { b"" });
                bytes.extend(text.encode_utf16().flat_map(u16::to_be_bytes));
            }
            Encoding::Latin1 => {
                for (at, character) in text.char_indices() {
                    let byte = to_latin1(character).ok_or_else(|| Unencodable {
                        encoding: self.encoding,
                        character,
                        line: text.get(..at).unwrap_or_default().matches('\n').count() + 1,
                    })?;
                    bytes.push(byte);
                }
            }
        }
        Ok(bytes)
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Encoding::Utf8 => "UTF-8",
            Encoding::Utf16Le => "UTF-16 (little endian)",
            Encoding::Utf16Be => "UTF-16 (big endian)",
            Encoding::Latin1 => "Latin-1 (Windows-1252)",
        })
    }
}

#[cfg(test)]
mod tests;
