//! Edits are exact, unique, literal and all or none; a miss is helpful.

use proptest::prelude::*;

use super::*;

mod misses;

fn swap<'a>(old_string: &'a str, new_string: &'a str) -> Edit<'a> {
    Edit { old_string, new_string, replace_all: false }
}

fn swap_all<'a>(old_string: &'a str, new_string: &'a str) -> Edit<'a> {
    Edit { old_string, new_string, replace_all: true }
}

fn made(text: &str, edits: &[Edit<'_>]) -> String {
    edit(Some(text), edits).unwrap().content
}

fn fault(text: &str, edits: &[Edit<'_>]) -> EditFault {
    edit(Some(text), edits).unwrap_err().fault
}

#[test]
fn one_place_is_replaced() {
    assert_eq!(made("one two three", &[swap("two", "2")]), "one 2 three");
    assert_eq!(made("a.b", &[swap(".", "")]), "ab");
    assert_eq!(made("x", &[swap("x", "")]), "");
}

#[test]
fn dollars_and_backslashes_are_literal() {
    let new = r"$0 $1 ${name} \1 \n $& $$ \";
    assert_eq!(made("call(.*)", &[swap("(.*)", new)]), format!("call{new}"));
    assert_eq!(made(r"a\nb", &[swap(r"\n", "$1")]), "a$1b");
}

#[test]
fn several_places_need_replace_all() {
    let several = |count, lines: &[usize]| EditFault::Several { count, lines: lines.to_vec() };
    assert_eq!(fault("x\ny\nx\nx", &[swap("x", "z")]), several(3, &[1, 3, 4]));
    assert_eq!(fault("aaa", &[swap("aa", "b")]), several(2, &[1, 1]), "one may hide another");
    assert_eq!(made("x\ny\nx", &[swap_all("x", "z")]), "z\ny\nz");
    assert_eq!(edit(Some("x x x"), &[swap_all("x", "xx")]).unwrap().replaced, [3]);
    let message = edit(Some(&"x\n".repeat(50)), &[swap("x", "y")]).unwrap_err().to_string();
    assert_eq!(
        message,
        "`old_string` is there 50 times, at lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and further; give more lines around it so that it is unique, or set `replace_all`"
    );
}

#[test]
fn an_empty_old_string_makes_a_file_and_nothing_else() {
    assert_eq!(edit(None, &[swap("", "new\n")]).unwrap().content, "new\n");
    assert_eq!(edit(None, &[swap("", "")]).unwrap().content, "");
    assert_eq!(made("", &[swap("", "new")]), "new");
    assert_eq!(fault("x", &[swap("", "new")]), EditFault::NotEmpty);
    assert_eq!(fault("", &[swap("", "")]), EditFault::Same);
    assert_eq!(edit(None, &[swap("x", "y")]).unwrap_err().fault, EditFault::NoFile);
    assert_eq!(edit(None, &[swap("", "ab"), swap("b", "c")]).unwrap().content, "ac");
}

#[test]
fn edits_that_change_nothing_are_refused() {
    assert_eq!(fault("x", &[]), EditFault::NoEdits);
    assert_eq!(fault("x", &[swap("x", "x")]), EditFault::Same);
    assert_eq!(fault("a\r\nb", &[swap("a\r\nb", "a\nb")]), EditFault::Same);
    assert_eq!(fault("a", &[swap("a", "b"), swap("b", "a")]), EditFault::Undone);
}

#[test]
fn all_edits_or_none_with_the_index_of_the_one_that_failed() {
    let err = edit(Some("a b c"), &[swap("a", "1"), swap("a", "2"), swap("c", "3")]).unwrap_err();
    assert_eq!((err.index, err.of), (Some(1), 3), "the second sees what the first made");
    let message = err.to_string();
    assert!(message.starts_with("edit 2 of 3: `old_string` was not found"), "{message}");
    assert!(message.ends_with("none of the edits was made"), "{message}");
    assert_eq!(made("a b c", &[swap("a", "x y"), swap("x y b", "z")]), "z c");
}

#[test]
fn line_ends_stay_what_they_are() {
    let table = [
        ("a\r\nb\r\nc\r\n", "a\nb", "1\n2\n3", "1\r\n2\r\n3\r\nc\r\n"),
        ("a\r\nb\r\n", "a\r\nb", "x\ny", "x\r\ny\r\n"),
        ("a\nb\n", "a\r\nb", "x\r\ny", "x\ny\n"),
        ("a\rb\rc", "b\nc", "x\ny", "a\rx\ry"),
        ("a\r\nb\nc", "a\nb", "x\ny", "x\r\ny\nc"),
        ("a\nb\r\nc", "a\nb", "x\ny", "x\ny\r\nc"),
        ("a\nb\r\nc", "c", "x\ny", "a\nb\r\nx\r\ny"),
        ("a\r\nb", "b", "b\n", "a\r\nb\r\n"),
        ("a\rb\nc", "a\rb", "x\ry", "x\ry\nc"),
    ];
    for (text, old, new, result) in table {
        assert_eq!(made(text, &[swap(old, new)]), result, "{text:?}");
    }
    assert!(matches!(fault("a\r\nb", &[swap("\r", "")]), EditFault::Missing(_)), "half a line end");
    assert_eq!(made("a\r\nb", &[swap("\n", " "), swap(" ", "\n")].map(|it| it)[..1]), "a b");
    let there_and_back = [swap("a\nb", "ab"), swap("ab", "a\nc")];
    assert_eq!(made("a\r\nb", &there_and_back), "a\r\nc", "the style outlives the last line end");
}

#[test]
fn encodings_stay_what_they_are() {
    let table: [(&[u8], &str, &str, &[u8]); 4] = [
        (b"\xEF\xBB\xBFa\r\n", "a\n", "b\n\u{e9}\n", b"\xEF\xBB\xBFb\r\n\xC3\xA9\r\n"),
        (b"\xFF\xFEa\0\r\0\n\0", "a\n", "\u{e9}\n", b"\xFF\xFE\xE9\0\r\0\n\0"),
        (b"caf\xE9", "\u{e9}", "\u{e8}\u{e9}", b"caf\xE8\xE9"),
        (b"", "", "\u{e9}", b"\xC3\xA9"),
    ];
    for (file, old, new, result) in table {
        assert_eq!(edit_bytes(Some(file), &[swap(old, new)]).unwrap().content, result);
    }
    let err = edit_bytes(Some(b"caf\xE9"), &[swap("caf", "\u{2192}")]).unwrap_err();
    assert!(matches!(err.fault, EditFault::Unencodable(_)));
    let err = edit_bytes(Some(b"a\0b"), &[swap("a", "b")]).unwrap_err();
    assert!(matches!(err.fault, EditFault::Undecodable(_)));
}

#[test]
fn growth_is_bounded() {
    let (text, new) = ("a".repeat(1 << 20), "b".repeat(1 << 20));
    let refused = fault(&text, &[swap_all("a", &new)]);
    assert!(matches!(refused, EditFault::TooLarge { .. }), "{refused:?}");
}

/// Lines joined by line ends of their own.
fn text() -> impl Strategy<Value = String> {
    let line = ("[ab ]{0,3}", prop_oneof![Just("\n"), Just("\r\n"), Just("\n\n"), Just("\r")]);
    proptest::collection::vec(line, 0..6)
        .prop_map(|lines| lines.into_iter().map(|(line, end)| line + end).collect())
}

/// The same, the slow way: in a text whose line ends are all alike.
fn model(text: &str, old: &str, new: &str, all: bool) -> Option<String> {
    let (text, old, new) =
        (text.replace("\r\n", "\n"), old.replace("\r\n", "\n"), new.replace("\r\n", "\n"));
    let places =
        (0..text.len()).filter(|at| text.as_bytes()[*at..].starts_with(old.as_bytes())).count();
    let possible = !old.is_empty() && old != new && (places == 1 || (all && places > 1));
    let made = if all { text.replace(&old, &new) } else { text.replacen(&old, &new, 1) };
    possible.then_some(made).filter(|it| *it != text)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn random_edits_equal_a_naive_model(
        text in text(), old in "[ab\n]{0,3}", new in "[ab\n$\\\\]{0,3}", all in any::<bool>(),
    ) {
        // Where a lone `\r` is the only line end, a model of `\n` has nothing to say.
        prop_assume!(Newline::detect(&text) != Newline::Cr && !text.is_empty());
        let edited = edit(Some(&text), &[Edit { old_string: &old, new_string: &new, replace_all: all }]);
        // A lone `\r` may come to stand before a `\n`, and what it is then depends on who looks.
        let bare = |it: String| it.replace('\r', "");
        let folded = edited.as_ref().ok().map(|it| bare(it.content.clone()));
        let expected = model(&text, &old, &new, all).map(bare);
        prop_assert_eq!(folded, expected);
        if let Ok(edited) = edited {
            let style = Newline::detect(&text);
            let now = Newline::detect(&edited.content);
            let lone = fold(&text).contains('\r');
            let kept = lone || matches!(style, Newline::Mixed | Newline::None) || now == style
                || matches!(now, Newline::None | Newline::Cr);
            prop_assert!(kept, "{:?} became {:?}", style, now);
        }
    }

    #[test]
    fn nothing_panics(text in "\\PC*|[ \t\r\nab'\u{2019}]{0,60}", old in "\\PC*|[ \t\r\nab']{0,9}", new in any::<String>()) {
        for replace_all in [false, true] {
            let edit_ = Edit { old_string: &old, new_string: &new, replace_all };
            if let Err(err) = edit(Some(&text), &[edit_]) {
                prop_assert!(!err.to_string().is_empty());
            }
        }
    }
}
