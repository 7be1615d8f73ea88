//! Tests of stderr tail.

use super::*;

#[test]
fn the_last_lines_are_told_on_one_and_memory_is_bounded() {
    let words = StderrTail::default();
    assert_eq!(words.after("it ended"), "it ended");
    for _ in 0..10_000 {
        words.add(b"a long line that is not the last\n");
    }
    words.add("one\ntwo\n\n\u{1b}[31mthree\u{1b}[0m\n".as_bytes());
    assert!(words.state().said.len() <= MAX_KEPT);
    let told = words.after("it ended");
    assert!(told.starts_with("it ended; it said last: `one / two / "), "{told}");
    assert!(!told.contains('\u{1b}') && !told.contains('\n'), "{told:?}");
}

#[test]
fn hosts_that_it_was_not_let_reach_are_named_once() {
    let words = StderrTail::default();
    words.refused("registry.example".to_owned());
    words.refused("registry.example".to_owned());
    words.unreached("`other.example` cannot be resolved".to_owned());
    assert!(words.after("it ended").ends_with("; `other.example` cannot be resolved"));
    assert_eq!(words.after("it ended").matches("registry.example").count(), 1);
}
