//! What reaches a terminal: harmless, wrapped, cut to its width.

use super::{
    layout::{cut, details, fill, hang, prompt, table, width, wrap},
    *,
};

#[test]
fn what_a_terminal_would_obey_is_shown_by_number() {
    let table = [
        ("plain text\n\ttab", "plain text\n\ttab"),
        ("\x1b[2J", "\\u{1B}[2J"),
        ("a\rb\u{7}", "a\\u{D}b\\u{7}"),
        ("\u{9b}31m", "\\u{9B}31m"),
        ("a\u{202e}b\u{200b}", "a\\u{202E}b\\u{200B}"),
        ("größe 数 🙂", "größe 数 🙂"),
    ];
    for (text, shown) in table {
        assert_eq!(sanitize(text), shown);
    }
}

#[test]
fn our_own_words_break_between_words_and_keep_their_indent() {
    assert_eq!(wrap("short", 10), ["short"]);
    assert_eq!(wrap("denied by a person: not now", 12), ["denied by a", "person: not", "now"]);
    assert_eq!(wrap("  one two three", 9), ["  one two", "  three"]);
    assert_eq!(wrap("averyveryverylongword x", 8), ["averyveryverylongword", "x"]);
    assert_eq!(width("\x1b[31mred\x1b[0m 数"), 6);
    assert_eq!(width("✅ ❌ e\u{301} ☀\u{fe0f}"), 9);
}

#[test]
fn what_does_not_fit_goes_on_below_itself() {
    assert_eq!(fill("one two three", 8), ["one two", "three"]);
    assert_eq!(fill("onetwothree", 4), ["onet", "woth", "ree"]);
    assert_eq!(fill("", 4), [""]);
    let hung = hang("  ask  ", "because it is what it is, and so on", 30);
    assert_eq!(hung, ["  ask  because it is what it", "       is, and so on"]);
    let rows = [["  a", "one two three four five six"], ["  long", "x"]];
    let rows = rows.map(|it| it.map(str::to_owned).to_vec());
    assert_eq!(details(&rows, 30), ["  a     one two three four", "        five six", "  long  x"]);
    // Where there is no room beside the names, below them.
    let narrow = ["  a", "    one two three", "    four five six", "  long", "    x"];
    assert_eq!(details(&rows, 20), narrow);
    assert_eq!(hang("  ask  ", "because it is so", 20), ["  ask because it is", "  so"]);
}

#[test]
fn a_question_keeps_its_answers_beside_its_last_word_where_they_fit() {
    assert_eq!(prompt("Apply these changes? [y/n] ", 80), "Apply these changes? [y/n]");
    assert_eq!(prompt("Apply these changes? [y/n] ", 20), "Apply these\nchanges? [y/n]");
    assert_eq!(
        prompt("Apply these changes? [y/n/s/A/q/?]", 20),
        "Apply these\nchanges?\n[y/n/s/A/q/?]"
    );
}

#[test]
fn the_widest_column_is_cut_and_programs_get_all_of_it() {
    let rows = [vec!["1", "a long text that does not fit", "ok"], vec!["22", "short", "failed"]]
        .map(|row| row.into_iter().map(str::to_owned).collect::<Vec<_>>());
    let table = |columns| table(&rows, columns, |it| it == 2);
    assert_eq!(table(None).first().unwrap(), "1   a long text that does not fit  ok");
    let narrow = table(Some(30));
    assert!(narrow.iter().all(|it| width(it) <= 30), "{narrow:?}");
    assert!(narrow.first().unwrap().contains('…'), "{narrow:?}");
    assert_eq!(cut("größe", 3), "gr…");
    // There is an end to cutting.
    assert_eq!(table(Some(1)).len(), 2);
    assert!(table(Some(1)).iter().any(|it| it.ends_with("failed")));
}

#[test]
fn the_words_that_differ_are_marked_in_both_lines() {
    use super::diff_lines::changed_words;
    let lines = ["@@ -1 +1 @@", "- let count = 1;", "+ let count = 20;", "  same", "+ new"];
    let marked: Vec<Option<&str>> = changed_words(&lines)
        .into_iter()
        .zip(lines)
        .map(|(mark, line)| mark.and_then(|it| line.get(it)))
        .collect();
    assert_eq!(marked, [None, Some("1"), Some("20"), None, None]);
    // Lines that have little in common, or no counterpart, are not marked.
    for lines in [&["- one thing", "+ quite another"][..], &["- a b", "- c d", "+ a x"]] {
        assert!(changed_words(lines).iter().all(Option::is_none), "{lines:?}");
    }
    // A word that only goes is marked where it was.
    let marks = changed_words(&["- a big boat", "+ a boat"]);
    assert_eq!(marks, [Some(4..8), None]);
    let painted = Paint(true).diff(&["- größe 数 a", "+ größe 数 b"]);
    assert_eq!(painted[1], "\x1b[32m+ größe 数 \x1b[7mb\x1b[27m\x1b[0m");
}
