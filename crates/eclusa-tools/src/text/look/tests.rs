//! Files are known by their beginnings.

use super::*;

#[test]
fn pictures_and_other_files_are_known() {
    let table: [(&[u8], Look); 10] = [
        (b"\x89PNG\r\n\x1A\n\0\0", Look::Image(Image::Png)),
        (b"\xFF\xD8\xFF\xE0", Look::Image(Image::Jpeg)),
        (b"GIF89a\x01", Look::Image(Image::Gif)),
        (b"RIFF\x01\x02\x03\x04WEBPVP8 ", Look::Image(Image::WebP)),
        (b"\x7FELF\x02\x01\x01\0", Look::Binary(Some("an ELF program or library"))),
        (b"%PDF-1.7\n", Look::Binary(Some("a PDF document"))),
        (b"ab\0\x01", Look::Binary(None)),
        (b"BZh is how bzip2 begins\n", Look::Text(Format::NEW)),
        (b"", Look::Text(Format::NEW)),
        (b"caf\xE9\n", Look::Text(Format { encoding: Encoding::Latin1, bom: false })),
    ];
    for (head, expected) in table {
        assert_eq!(look(head), expected, "{head:?}");
    }
}

#[test]
fn a_character_on_the_edge_does_not_matter() {
    for shift in 0..4 {
        let text = "x".repeat(shift) + &"\u{1F600}".repeat(HEAD / 4 + 1);
        assert_eq!(look(&text.as_bytes()[..HEAD]), Look::Text(Format::NEW), "{shift}");
        for encoding in [Encoding::Utf16Le, Encoding::Utf16Be] {
            let format = Format { encoding, bom: true };
            let bytes = format.encode(&text).unwrap();
            assert_eq!(look(&bytes[..HEAD]), Look::Text(format), "{shift}");
        }
    }
}
