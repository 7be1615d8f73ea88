//! What a file is, judged by its first bytes.

use super::encoding::{Encoding, Format, Undecodable, decode};

/// How many bytes are enough to judge a file by.
pub const HEAD: usize = 64 * 1024;

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// Text in this format, as far as its beginning shows.
    Text(Format),
    /// A picture that models can look at.
    Image(Image),
    /// Something else, named if it is known.
    Binary(Option<&'static str>),
}

/// Pictures that models can look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Image {
    /// PNG.
    Png,
    /// JPEG.
    Jpeg,
    /// GIF.
    Gif,
    /// WebP.
    WebP,
}

impl Image {
    /// The media type.
    pub fn media_type(self) -> &'static str {
        match self {
            Image::Png => "image/png",
            Image::Jpeg => "image/jpeg",
            Image::Gif => "image/gif",
            Image::WebP => "image/webp",
        }
    }
}

/// Beginnings of files that are not text, and what they are called.
const BEGINNINGS: [(&[u8], &str); 16] = [
    (b"\x7FELF", "an ELF program or library"),
    (b"MZ\x90\0", "a Windows program or library"),
    (b"\xCF\xFA\xED\xFE", "a macOS program or library"),
    (b"\xCA\xFE\xBA\xBE", "a Java class or macOS program"),
    (b"\0asm", "a WebAssembly module"),
    (b"%PDF-", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive, or a document that is one"),
    (b"\x1F\x8B", "data compressed with gzip"),
    (b"\xFD7zXZ\0", "data compressed with xz"),
    (b"\x28\xB5\x2F\xFD", "data compressed with zstd"),
    (b"BZh", "data compressed with bzip2"),
    (b"7z\xBC\xAF\x27\x1C", "a 7z archive"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"OggS", "Ogg audio or video"),
    (b"ID3", "MP3 audio"),
    (b"wOF2", "a web font"),
];

/// Judges a file by its first [`HEAD`] bytes, or by all it has.
pub fn file_kind(head: &[u8]) -> FileKind {
    if let Some(image) = image(head) {
        return FileKind::Image(image);
    }
    let text = text(head);
    let known = BEGINNINGS.iter().find(|(start, _)| head.starts_with(start));
    match (text, known) {
        // A page about `BZh` is text all the same; a PDF may look like text and is not.
        (Some(format), None) => FileKind::Text(format),
        (Some(format), Some((start, _)))
            if format.encoding == Encoding::Utf8 && *start != b"%PDF-" =>
        {
            FileKind::Text(format)
        }
        (_, known) => FileKind::Binary(known.map(|(_, name)| *name)),
    }
}

fn image(head: &[u8]) -> Option<Image> {
    match head {
        _ if head.starts_with(b"\x89PNG\r\n\x1A\n") => Some(Image::Png),
        _ if head.starts_with(b"\xFF\xD8\xFF") => Some(Image::Jpeg),
        _ if head.starts_with(b"GIF87a") || head.starts_with(b"GIF89a") => Some(Image::Gif),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some(Image::WebP),
        _ => None,
    }
}

fn text(head: &[u8]) -> Option<Format> {
    // The cut may go through a character, which is no fault of the file.
    let whole = if head.len() < HEAD { head } else { whole_characters(head) };
    match decode(whole) {
        Ok(decoded) => Some(decoded.format),
        // Read with replacement characters, it is still readable.
        Err(Undecodable::Broken { encoding, .. }) => {
            let bom = decode(whole.get(..3).unwrap_or_default()).is_ok_and(|it| it.format.bom);
            Some(Format { encoding, bom: bom || encoding != Encoding::Utf8 })
        }
        Err(Undecodable::Binary { .. }) => None,
    }
}

/// Without the beginning of a character at the end.
fn whole_characters(head: &[u8]) -> &[u8] {
    let even = head.get(..head.len() & !3).unwrap_or(head);
    let marked = even.starts_with(b"\xFF\xFE") || even.starts_with(b"\xFE\xFF");
    if marked || memchr::memchr(0, even).is_some() {
        // Half of a pair of surrogates.
        let last = even.get(even.len().saturating_sub(2)..).unwrap_or_default();
        let surrogate = last.iter().any(|it| (0xD8..0xDC).contains(it));
        return if surrogate { even.get(..even.len() - 2).unwrap_or(even) } else { even };
    }
    match std::str::from_utf8(head) {
        Err(fault) if fault.error_len().is_none() => {
            head.get(..fault.valid_up_to()).unwrap_or(head)
        }
        _ => head,
    }
}

#[cfg(test)]
mod tests;
