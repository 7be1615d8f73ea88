//! Keys, as terminals send them, in any pieces.

use super::{Key, KeyDecoder};

fn decoded(bytes: &[u8]) -> Vec<Key> {
    let mut decoder = KeyDecoder::default();
    let mut keys = decoder.feed(bytes);
    keys.extend(decoder.settle());
    keys
}

#[test]
fn every_key_is_known() {
    let keys: [(&[u8], Key); 20] = [
        (b"a", Key::Char('a')),
        ("ß".as_bytes(), Key::Char('ß')),
        (b"\r", Key::Enter),
        (b"\n", Key::Control('j')),
        (b"\t", Key::Tab),
        (b"\x03", Key::Control('c')),
        (b"\x1b", Key::Esc),
        (b"\x1b\r", Key::NewLine),
        (b"\x1b[13;2u", Key::NewLine),
        (b"\x7f", Key::Backspace),
        (b"\x1b\x7f", Key::DeleteWord),
        (b"\x1b[3~", Key::Delete),
        (b"\x1b[A", Key::Up),
        (b"\x1bOB", Key::Down),
        (b"\x1b[1;5C", Key::WordRight),
        (b"\x1b[1;2D", Key::Left),
        (b"\x1b[H", Key::Home),
        (b"\x1b[4~", Key::End),
        (b"\x1bb", Key::Alt('b')),
        (b"\x1b[200~two\rlines\x1b[201~", Key::Paste("two\rlines".to_owned())),
    ];
    for (bytes, key) in keys {
        assert_eq!(decoded(bytes), [key], "{bytes:?}");
    }
}

#[test]
fn pieces_make_the_same_keys_and_rubbish_makes_none() {
    let bytes = "aß日\x1b[1;5D\x1b[200~x\x1b[Ay\x1b[201~\r".as_bytes();
    let whole = decoded(bytes);
    assert_eq!(whole.len(), 6, "{whole:?}");
    for cut in 0..bytes.len() {
        let mut decoder = KeyDecoder::default();
        let mut keys = decoder.feed(&bytes[..cut]);
        keys.extend(decoder.feed(&bytes[cut..]));
        assert_eq!(keys, whole, "cut at {cut}");
    }
    assert_eq!(decoded(b"\x1b\x1b"), [Key::Esc, Key::Esc]);
    assert_eq!(decoded(b"\x1b[99;99Q\x00\xff\xfe"), []);
    // A paste that has not ended is not over because nothing comes for a while.
    let mut decoder = KeyDecoder::default();
    assert_eq!(decoder.feed(b"\x1b[200~half"), []);
    assert!(!decoder.is_waiting());
    assert_eq!(decoder.feed(b"\x1b[201~"), [Key::Paste("half".to_owned())]);
}
