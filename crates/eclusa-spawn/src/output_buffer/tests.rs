//! Tests of output buffer.

use super::*;

#[test]
fn memory_is_bounded_and_both_ends_are_kept() {
    let mut kept = OutputBuffer::default();
    kept.add(b"first ");
    for _ in 0..20 {
        kept.add(&vec![b'x'; 1024 * 1024]);
    }
    kept.add(b" last");
    assert!(kept.head.len() <= HEAD && kept.tail.len() <= TAIL);
    let text = kept.into_text();
    assert!(text.starts_with("first x") && text.ends_with("x last"));
    assert!(text.contains("bytes left out"));
}

#[test]
fn bytes_that_are_no_text_are_marked() {
    let mut kept = OutputBuffer::default();
    kept.add(b"a\xffb");
    assert_eq!(kept.into_text(), "a\u{fffd}b");
}
