//! Tests of stream.

use super::unfinished;

#[test]
fn a_character_is_written_whole() {
    let table: [(&[u8], usize); 7] = [
        (b"", 0),
        (b"abc", 0),
        ("größe".as_bytes(), 0),
        (b"gr\xC3", 1),
        (b"\xE2\x82", 2),
        (b"\xF0\x9F\x99", 3),
        (b"\x80\x80\x80", 0),
    ];
    for (bytes, left) in table {
        assert_eq!(unfinished(bytes), left, "{bytes:?}");
    }
}
