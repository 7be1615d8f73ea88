//! Files are known by their beginnings.

use super::*;

#[test]
fn pictures_and_other_files_are_known() {
    let table: [(&[u8], FileKind); 10] = [
        (b"\x89PNG\r\n\x1A\n\0\0", FileKind::Image(Image::Png)),
        (b"\xFF\xD8\xFF\xE0", FileKind::Image(Image::Jpeg)),
        (b"GIF89a\x01", FileKind::Image(Image::Gif)),
        (b"RIFF\x01\x02\x03\x04WEBPVP8 ", FileKind::Image(Image::WebP)),
        (b"\x7FELF\x02\x01\x01\0", FileKind::Binary(Some("an ELF program or library"))),
        (b"%PDF-1.7\n", FileKind::Binary(Some("a PDF document"))),
        (b"ab\0\x01", FileKind::Binary(None)),
        (b"BZh is how bzip2 begins\n", FileKind::Text(Format::NEW)),
        (b"", FileKind::Text(Format::NEW)),
        (b"caf\xE9\n", FileKind::Text(Format { encoding: Encoding::Latin1, bom: false })),
    ];
    for (head, expected) in table {
        assert_eq!(file_kind(head), expected, "{head:?}");
    }
}

#[test]
fn a_character_on_the_edge_does_not_matter() {
    for shift in 0..4 {
        let text = "x".repeat(shift) + &"\u{1F600}".repeat(HEAD / 4 + 1);
        assert_eq!(file_kind(&text.as_bytes()[..HEAD]), FileKind::Text(Format::NEW), "{shift}");
        for encoding in [Encoding::Utf16Le, Encoding::Utf16Be] {
            let format = Format { encoding, bom: true };
            let bytes = format.encode(&text).unwrap();
            assert_eq!(file_kind(&bytes[..HEAD]), FileKind::Text(format), "{shift}");
        }
    }
}
