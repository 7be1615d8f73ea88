//! Line ends are recognised, and places survive folding.

use super::*;

#[test]
fn styles_are_recognised() {
    let table = [
        ("", Newline::None),
        ("a", Newline::None),
        ("a\nb", Newline::Lf),
        ("a\rb\nc", Newline::Lf),
        ("a\r\nb\r\n", Newline::CrLf),
        ("\n\r\n", Newline::Mixed),
        ("a\rb\r", Newline::Cr),
        ("a\r\nb\rc", Newline::CrLf),
    ];
    for (text, style) in table {
        assert_eq!(Newline::detect(text), style, "{text:?}");
        assert!(matches!(style, Newline::None | Newline::Mixed) || style.dress(text) == text);
    }
}

#[test]
fn line_ends_are_written_as_the_file_has_them() {
    assert_eq!(Newline::CrLf.dress("a\nb\r\nc"), "a\r\nb\r\nc");
    assert_eq!(Newline::Lf.dress("a\nb\r\nc"), "a\nb\nc");
    assert_eq!(Newline::Cr.dress("a\nb\r\nc"), "a\rb\rc");
    assert_eq!(Newline::None.dress("a\r\nb\nc"), "a\r\nb\nc");
}

#[test]
fn places_unfold() {
    let original = "a\r\nb\nc\r\n\r\nd\r";
    let folded = Folded::new(original);
    assert_eq!(folded.text, "a\nb\nc\n\nd\r");
    for (at, character) in folded.text.char_indices() {
        let place = folded.unfold(at);
        let found = original.get(place..).unwrap();
        match character {
            '\n' => assert!(found.starts_with('\n') || found.starts_with("\r\n"), "{at}"),
            _ => assert!(found.starts_with(character), "{at}"),
        }
    }
    assert_eq!(folded.unfold(folded.text.len()), original.len());
}
