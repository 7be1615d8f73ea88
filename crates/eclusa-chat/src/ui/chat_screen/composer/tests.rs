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
