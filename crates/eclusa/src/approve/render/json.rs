//! JSON for people: one line, keys in order, and texts in it as readable as anywhere else.

use std::io;

use serde::Serialize;
use serde_json::{
    Value,
    ser::{CharEscape, Formatter, Serializer},
};

/// The value as JSON in which only quotes and backslashes are escaped. Control characters stay,
/// for [`visible`](crate::visible) to show like all others: a line break as a line break. It is
/// still unambiguous, because quotes tell where a text ends.
pub(super) fn readable(value: &Value) -> String {
    let mut bytes = Vec::new();
    let written = value.serialize(&mut Serializer::with_formatter(&mut bytes, Readable));
    match (written, String::from_utf8(bytes)) {
        (Ok(()), Ok(text)) => text,
        // Writing to memory does not fail; if it did, this shows the same with more escapes.
        _ => value.to_string(),
    }
}

struct Readable;

impl Formatter for Readable {
    fn write_char_escape<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        escape: CharEscape,
    ) -> io::Result<()> {
        writer.write_all(match escape {
            CharEscape::Quote => b"\\\"",
            CharEscape::ReverseSolidus => b"\\\\",
            CharEscape::Solidus => b"/",
            CharEscape::Backspace => b"\x08",
            CharEscape::FormFeed => b"\x0C",
            CharEscape::LineFeed => b"\n",
            CharEscape::CarriageReturn => b"\r",
            CharEscape::Tab => b"\t",
            CharEscape::AsciiControl(byte) => return writer.write_all(&[byte]),
        })
    }
}
