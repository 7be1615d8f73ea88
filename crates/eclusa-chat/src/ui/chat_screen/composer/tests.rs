//! The input: typing, moving, pasting, what was sent before, and words to be completed.

use super::Composer;

fn typed(text: &str) -> Composer {
    let mut composer = Composer::default();
    text.chars().for_each(|it| composer.insert(it));
    composer
}

#[test]
fn text_is_edited_where_the_cursor_stands() {
    let mut composer = typed("hello wörld\nsecond line");
    composer.up();
    composer.home();
    composer.word_right();
    composer.insert('!');
    assert_eq!(composer.text(), "hello! wörld\nsecond line");
    composer.delete_to_line_end();
    composer.backspace();
    assert_eq!(composer.text(), "hello\nsecond line");
    composer.down();
    composer.end();
    composer.delete_word();
    composer.word_left();
    composer.delete();
    assert_eq!(composer.text(), "hello\necond ");
    composer.delete_to_line_start();
    composer.left();
    composer.right();
    assert_eq!(composer.text(), "hello\necond ");
}

#[test]
fn a_long_paste_is_folded_on_the_screen_and_whole_when_it_is_sent() {
    let mut composer = typed("see ");
    composer.paste(&"x\r\n".repeat(30));
    let (rows, cursor) = composer.rows(40);
    assert_eq!((rows, cursor), (vec!["see [30 lines]".to_owned()], (0, 14)));
    let text = composer.take();
    assert_eq!(text.lines().count(), 30);
    assert!(composer.is_empty());
    composer.up();
    assert_eq!(composer.text(), text);
    composer.down();
    assert!(composer.is_empty());
    // So is a long one without lines.
    composer.paste(&"é".repeat(5_000));
    assert_eq!(composer.rows(40).0, ["[5000 characters]"]);
    assert_eq!(composer.take().chars().count(), 5_000);
    // What a paste brings is text: no control characters, none that stand for other pastes.
    composer.paste("a\x1b[31m\u{E000}b");
    assert_eq!(composer.text(), "a[31mb");
}

#[test]
fn rows_are_as_wide_as_there_is_room_for() {
    let (rows, cursor) = typed("abcdef\n日本語").rows(5);
    assert_eq!(rows, ["abcde", "f", "日本", "語"]);
    assert_eq!(cursor, (3, 2));
}

#[test]
fn only_a_word_that_begins_so_is_completed() {
    assert!(typed("/he").completable());
    assert!(!typed("say /he").completable());
    assert!(typed("read @src").completable());
    assert!(!typed("me@home").completable());
    assert!(!typed("@src ").completable());
    let mut composer = typed("read @src");
    composer.complete("@src/main.rs ");
    assert_eq!(composer.text(), "read @src/main.rs ");
}

#[test]
fn rows_break_between_words_and_long_words_break_anyway() {
    let composer = typed("because words stay whole");
    let (rows, cursor) = composer.rows(10);
    assert_eq!(rows, ["because ", "words stay", "whole"]);
    assert_eq!(cursor, (2, 5));
    assert_eq!(typed("abcdefghijkl mn").rows(5).0, ["abcde", "fghij", "kl mn"]);
    assert_eq!(typed("ab\ncd").rows(10), (vec!["ab".to_owned(), "cd".to_owned()], (1, 2)));
    for columns in [4, 20, 400] {
        let (rows, _) = composer.rows(columns);
        assert!(rows.iter().all(|it| it.chars().count() <= columns), "{rows:?}");
    }
}

#[test]
fn what_people_see_as_one_character_is_deleted_as_one() {
    for one in ["👩\u{200D}👩\u{200D}👧", "e\u{301}", "🇵🇹", "👍🏽", "❤\u{FE0F}"] {
        let mut composer = typed(&format!("a{one}b"));
        composer.left();
        composer.left();
        composer.right();
        composer.backspace();
        assert_eq!(composer.text(), "ab", "{one}");
        let mut composer = typed(&format!("a{one}"));
        composer.home();
        composer.right();
        composer.delete();
        assert_eq!(composer.text(), "a", "{one}");
    }
    let mut flags = typed("🇵🇹🇪🇸");
    flags.backspace();
    assert_eq!(flags.text(), "🇵🇹");
}
