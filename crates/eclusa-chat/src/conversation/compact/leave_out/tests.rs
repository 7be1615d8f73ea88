//! About half goes each time, the end stays, and there is an end to it.

use std::sync::Arc;

use super::{half, size};
use crate::model::ViewMessage;

fn user(text: String) -> ViewMessage {
    ViewMessage::User { text, pictures: vec![("image/png".to_owned(), [1, 2, 3].into())] }
}

fn model(text: String) -> ViewMessage {
    ViewMessage::Assistant { text, calls: Vec::new(), blocks: None }
}

#[test]
fn what_is_old_goes_first_then_the_middle_of_what_is_long() {
    let both = |it: usize| [user("é".repeat(it * 1_000)), model(format!("I do {it}."))];
    let mut messages: Vec<_> = (1..20).flat_map(both).map(Arc::new).collect();
    let (mut before, mut tries) = (usize::MAX, 0);
    loop {
        let now: usize = messages.iter().map(|it| size(it)).sum();
        assert!(now < before, "{now} after {before}");
        assert!(matches!(*messages[0], ViewMessage::User { .. }));
        assert_eq!(**messages.last().unwrap(), model("I do 19.".to_owned()));
        before = now;
        if !half(&mut messages) {
            break;
        }
        tries += 1;
    }
    assert!(before < 4_000 && tries < 14, "{before} after {tries}");
}

#[test]
fn one_long_message_keeps_its_beginning_and_its_end() {
    let mut messages = vec![Arc::new(model(format!("first {} last", "x".repeat(10_000))))];
    assert!(half(&mut messages));
    let ViewMessage::Assistant { text, .. } = &*messages[0] else { panic!("{messages:?}") };
    assert!(
        text.starts_with("first x") && text.ends_with("x last") && text.len() < 5_200,
        "{text}"
    );
    assert!(!half(&mut vec![Arc::new(model("short".to_owned()))]));
    assert!(!half(&mut Vec::new()));
}
