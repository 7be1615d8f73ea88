//! The code is one that cameras read: compared with what another program made of the same text, and with the field's
//! own laws.

use super::{Modules, Paint, codewords, lines, remainder};

/// The example of the standard's handbook: version 1, 10 bytes of correction.
#[test]
fn the_correction_is_that_of_the_standard() {
    let data = [32, 91, 11, 120, 209, 114, 220, 77, 67, 64, 236, 17, 236, 17, 236, 17];
    assert_eq!(remainder(&data, 10), [196, 35, 39, 119, 235, 215, 231, 226, 93, 23]);
}

#[test]
fn bytes_are_padded_and_blocks_mixed() {
    let bytes = codewords(b"ab", 19, 7, 1);
    assert_eq!(bytes[..8], [0x40, 0x26, 0x16, 0x20, 0xec, 0x11, 0xec, 0x11]);
    assert_eq!(bytes.len(), 26);
    let long = [b'x'; 120];
    assert_eq!(codewords(&long, 68, 18, 2).len(), 172);
    assert_eq!(Modules::of(&long).unwrap().size, 41);
    assert!(Modules::of(&[b'x'; 135]).is_none());
}

#[test]
fn without_colours_there_is_none() {
    assert!(lines("http://localhost:8378/pair#x", Paint::never()).is_none());
    let code = lines("http://localhost:8378/pair#x", Paint::always()).unwrap();
    assert_eq!(code.len(), 15);
    assert!(code.iter().all(|it| it.starts_with("\x1b[30;107m") && it.ends_with("\x1b[0m")));
}
