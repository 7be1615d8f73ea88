//! Tests of what is kept.

use super::*;

fn kept(head: usize, tail: usize, parts: &[&[u8]]) -> Output {
    let mut keeper = Keeper::new(Keep { head, tail });
    parts.iter().for_each(|part| keeper.push(part));
    keeper.finish()
}

/// Shows E10.
#[test]
fn output_at_the_limit_is_whole_and_one_byte_more_is_cut() {
    let whole = kept(6, 4, &[b"0123456789"]);
    assert_eq!((whole.text().as_str(), whole.truncated()), ("0123456789", false));
    let cut = kept(6, 4, &[b"0123456789", b"X"]);
    assert_eq!((cut.head(), cut.tail(), cut.cut()), (&b"012345"[..], &b"789X"[..], 1));
    assert_eq!(cut.text(), "012345\n[... 1 bytes left out ...]\n789X");
}

#[test]
fn however_it_is_cut_into_pieces_the_same_is_kept() {
    let bytes: Vec<u8> = (0..=255).cycle().take(10_000).collect();
    for size in [1, 3, 7, 64, 999, 10_000] {
        let parts: Vec<&[u8]> = bytes.chunks(size).collect();
        let output = kept(100, 33, &parts);
        assert_eq!(output.head(), &bytes[..100]);
        assert_eq!(output.tail(), &bytes[10_000 - 33..], "pieces of {size}");
        assert_eq!(output.total(), 10_000);
    }
}

/// Shows E11.
#[test]
fn a_character_across_the_cut_is_left_out_whole() {
    let output = kept(4, 4, &["abcé----éxyz".as_bytes()]);
    assert_eq!(output.text(), "abc\n[... 8 bytes left out ...]\nxyz");
    let fits = kept(5, 0, &["abcé--".as_bytes()]);
    assert_eq!(fits.text(), "abcé");
}

/// Shows C16.
#[test]
fn a_head_alone_is_what_the_first_design_kept() {
    assert_eq!(kept(4, 0, &[b"abcdef"]).text(), "abcd");
    assert!(kept(4, 0, &[b"abcdef"]).truncated());
    assert_eq!(kept(0, 0, &[b"abcdef"]).total(), 6);
}

#[test]
fn text_and_binary_are_told_apart() {
    assert!(!kept(100, 0, &["grün\n".as_bytes()]).is_binary());
    assert!(kept(100, 0, &[b"\x7fELF\x02\0\0"]).is_binary());
    assert!(kept(1000, 0, &[&[0xff; 500]]).is_binary());
    assert!(!kept(4, 4, &["éééééééééééé".as_bytes()]).is_binary());
}
