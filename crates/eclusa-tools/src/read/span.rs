//! Some bytes of a text: for lines that are too long to be shown whole.

use std::{
    io::{Read as _, Seek as _, SeekFrom},
    ops::Range,
};

use eclusa::{Output, ToolError};
use serde_json::json;

use super::{Reading, failed};
use crate::text::{Encoding, Format, latin1_char};

/// The bytes of a range as text, cut to whole characters.
pub(super) fn show(
    reading: Reading,
    format: Format,
    range: Range<u64>,
    shown: usize,
) -> Result<Output, ToolError> {
    let Reading { path, size, mut rest, .. } = reading;
    if range.start >= size {
        return Err(ToolError::new(format!(
            "`{path}` has {size} bytes, and there is none at {}; use a smaller range",
            range.start
        )));
    }
    let wide = matches!(format.encoding, Encoding::Utf16Le | Encoding::Utf16Be);
    let start = if wide { range.start & !1 } else { range.start };
    let length = (range.end.min(size) - start).min(shown as u64);
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or_default());
    let read = rest.file.seek(SeekFrom::Start(start));
    let read = read.and_then(|_| rest.by_ref().take(length).read_to_end(&mut bytes));
    read.map_err(|err| failed(&path, &err))?;

    let whole = whole(&bytes, format.encoding, start > 0, start + length < size);
    let (start, end) = (start + whole.start as u64, start + whole.end as u64);
    let part = bytes.get(whole).unwrap_or_default();
    let text = decoded(part, format.encoding);
    let next = (end < size).then_some(end);
    let more = next.map(|it| format!("; go on with {it}..")).unwrap_or_default();
    Ok(Output {
        text: format!("(bytes {start}..{end} of {size}, {}{more})\n{text}", format.encoding),
        data: Some(json!({
            "path": path,
            "start": start,
            "end": end,
            "next": next,
            "bytes": size,
            "encoding": format.encoding.to_string(),
        })),
        ..Output::default()
    })
}

/// Without parts of characters at either end, if there is more of the file on that side.
fn whole(bytes: &[u8], encoding: Encoding, before: bool, after: bool) -> Range<usize> {
    let all = 0..bytes.len();
    let unit = |at: usize| match (bytes.get(at), bytes.get(at + 1)) {
        (Some(low), Some(high)) if encoding == Encoding::Utf16Le => {
            u16::from_le_bytes([*low, *high])
        }
        (Some(high), Some(low)) => u16::from_be_bytes([*high, *low]),
        _ => 0,
    };
    match encoding {
        Encoding::Latin1 => all,
        Encoding::Utf8 => {
            let is_inside = |it: &&u8| (0x80..0xC0).contains(*it);
            let start = if before { bytes.iter().take(3).take_while(is_inside).count() } else { 0 };
            let rest = bytes.get(start..).unwrap_or_default();
            let tail = rest.get(rest.len().saturating_sub(3)..).unwrap_or_default();
            // The last byte that begins a character, if the character needs more than there is.
            let begun = tail.iter().rposition(|it| *it >= 0xC0).filter(|at| {
                let part = tail.get(*at..).unwrap_or_default();
                std::str::from_utf8(part).is_err_and(|it| it.error_len().is_none())
            });
            let cut = begun.filter(|_| after).map_or(0, |at| tail.len() - at);
            start..bytes.len() - cut
        }
        Encoding::Utf16Le | Encoding::Utf16Be => {
            let even = if after { bytes.len() & !1 } else { bytes.len() };
            let low = before && even >= 2 && (0xDC00..0xE000).contains(&unit(0));
            let start = if low { 2 } else { 0 };
            let high = after && even >= start + 2 && (0xD800..0xDC00).contains(&unit(even - 2));
            start..if high { even - 2 } else { even }
        }
    }
}

fn decoded(bytes: &[u8], encoding: Encoding) -> String {
    let (pairs, _) = bytes.as_chunks::<2>();
    let units = |read: fn([u8; 2]) -> u16| {
        let read = char::decode_utf16(pairs.iter().map(move |it| read(*it)));
        read.map(|it| it.unwrap_or('\u{FFFD}')).collect()
    };
    match encoding {
        Encoding::Utf8 => String::from_utf8_lossy(bytes).into_owned(),
        Encoding::Latin1 => bytes.iter().map(|it| latin1_char(*it)).collect(),
        Encoding::Utf16Le => units(u16::from_le_bytes),
        Encoding::Utf16Be => units(u16::from_be_bytes),
    }
}
