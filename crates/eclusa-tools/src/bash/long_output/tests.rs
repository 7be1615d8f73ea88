//! What is collected is all there was, or says what is missing.

use std::io::Read as _;

use super::*;

fn all(whole: &WholeOutput) -> Vec<u8> {
    let mut bytes = Vec::new();
    whole.open().unwrap().read_to_end(&mut bytes).unwrap();
    bytes
}

#[test]
fn head_file_and_tail_are_the_whole_once() {
    let directory = tempfile::tempdir().unwrap();
    let text: Vec<u8> = (0..10_000_u32).flat_map(|n| n.to_le_bytes()).collect();
    for tail in [1, 500, 20_000] {
        let long = LongOutput::new(directory.path(), 1000);
        text.chunks(777).for_each(|it| long.add(it));
        let (head, end) = (&text[..1000], &text[text.len() - tail..]);
        let whole = long.whole(head, end, text.len() as u64).unwrap();
        assert_eq!((all(&whole), whole.lost()), (text.clone(), 0));
        assert_eq!(all(&whole), text, "a second time");
    }
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0, "no name is left");
}

#[test]
fn what_memory_kept_needs_no_file() {
    let directory = tempfile::tempdir().unwrap();
    let long = LongOutput::new(directory.path(), 1000);
    long.add(&[b'x'; 1000]);
    assert!(long.whole(&[b'x'; 1000], &[], 1000).is_none());
}
