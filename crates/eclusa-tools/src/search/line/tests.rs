//! Tests of line.

use super::*;

#[test]
fn a_long_line_is_cut_between_characters_around_the_match() {
    let line = "é".repeat(1000) + "needle" + &"ü".repeat(1000);
    let at = line.find("needle").unwrap();
    let cut = display_line(line.as_bytes(), at);
    assert!(cut.contains("éneedleü") && !cut.contains('\u{fffd}'), "{cut}");
    assert!(cut.starts_with("…é") && cut.ends_with("ü… [cut: the line has 4006 bytes]"));
    assert!(!display_line(&line.as_bytes()[1..], at).contains("ü\u{fffd}"));
}

#[test]
fn a_short_line_is_itself() {
    assert_eq!(display_line(b"fn main() {\r\n", 3), "fn main() {");
    assert_eq!(display_line(b"caf\xe9", 0), "caf\u{fffd}");
}
