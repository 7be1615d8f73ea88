//! Every encoding gives back the bytes it was read from, and says what it cannot hold.

use proptest::prelude::*;

use super::*;

fn check(bytes: &[u8], text: &str, encoding: Encoding, bom: bool) {
    let decoded = decode(bytes).unwrap();
    assert_eq!(decoded.text, text);
    assert_eq!(decoded.format, Format { encoding, bom });
    assert_eq!(decoded.format.encode(text).unwrap(), bytes);
}

#[test]
fn encodings_are_told_apart_and_kept() {
    check(b"", "", Encoding::Utf8, false);
    check(b"plain\n", "plain\n", Encoding::Utf8, false);
    check("h\u{e9}llo \u{2192}".as_bytes(), "h\u{e9}llo \u{2192}", Encoding::Utf8, false);
    check(b"\xEF\xBB\xBFx", "x", Encoding::Utf8, true);
    check(b"\xFF\xFEh\0i\0", "hi", Encoding::Utf16Le, true);
    check(b"\xFE\xFF\0h\0i", "hi", Encoding::Utf16Be, true);
    check(b"h\0i\0\n\0", "hi\n", Encoding::Utf16Le, false);
    check(b"\0h\0i\0\n", "hi\n", Encoding::Utf16Be, false);
    check(b"\xFF\xFE\x3D\xD8\x00\xDE", "\u{1F600}", Encoding::Utf16Le, true);
    check(b"caf\xE9", "caf\u{e9}", Encoding::Latin1, false);
    check(b"\x93q\x94 \x80 5", "\u{201C}q\u{201D} \u{20AC} 5", Encoding::Latin1, false);
}

#[test]
fn what_is_not_text_is_refused() {
    let binary = |at, byte| Err(Undecodable::Binary { at, byte });
    assert_eq!(decode(b"ab\0cd"), binary(2, 0));
    assert_eq!(decode(b"\x89PNG\r\n\x1a\n"), binary(6, 0x1a));
    assert_eq!(decode(b"\xFF\xFE\0\0a\0\0\0"), binary(2, 0), "UTF-32");
    let broken = |encoding, at| Err(Undecodable::Broken { encoding, at });
    assert_eq!(decode(b"\xFF\xFEa\0b"), broken(Encoding::Utf16Le, 4), "half a unit");
    assert_eq!(decode(b"\xFF\xFEa\0\x00\xD8"), broken(Encoding::Utf16Le, 4), "half a pair");
    assert_eq!(decode(b"\xEF\xBB\xBFa\xFF"), broken(Encoding::Utf8, 4));
    let damaged = "\u{e4}\u{f6}\u{fc}".bytes().chain([0xFF]).collect::<Vec<u8>>();
    assert_eq!(decode(&damaged), broken(Encoding::Utf8, 6), "not Latin-1 with odd letters");
}

#[test]
fn a_character_that_does_not_fit_is_named() {
    let format = decode(b"caf\xE9\n").unwrap().format;
    let err = format.encode("caf\u{e9}\n\u{2192}").unwrap_err();
    assert_eq!(
        err.to_string(),
        "the file is Latin-1 (Windows-1252), which has no `→` (U+2192, line 2); write it in another way, or rewrite the whole file as UTF-8"
    );
}

proptest! {
    #[test]
    fn whatever_is_read_comes_back(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
        if let Ok(decoded) = decode(&bytes) {
            prop_assert_eq!(decoded.format.encode(&decoded.text).unwrap(), bytes);
        }
    }

    #[test]
    fn latin1_letters_come_back(bytes in proptest::collection::vec(0x20_u8.., 1..64)) {
        if let Ok(decoded) = latin1(&bytes) {
            prop_assert_eq!(decoded.format.encode(&decoded.text).unwrap(), bytes);
        }
    }

    #[test]
    fn utf16_comes_back(text in "[a-z\u{e9}\u{1F600}\r\n]{0,40}", big in any::<bool>()) {
        let encoding = if big { Encoding::Utf16Be } else { Encoding::Utf16Le };
        let bytes = Format { encoding, bom: true }.encode(&text).unwrap();
        let decoded = decode(&bytes).unwrap();
        prop_assert_eq!(decoded.text.as_ref(), text.as_str());
        prop_assert_eq!(decoded.format, Format { encoding, bom: true });
    }
}
