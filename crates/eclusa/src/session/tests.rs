//! What is kept of a session, and how it is read back.

use std::{path::Path, sync::Arc};

use super::{MemorySessions, SessionError, SessionRecord, SessionState, chosen_mode};
use crate::{ChangeTotals, Hash, Mode};

fn full() -> SessionRecord {
    let mut record = SessionRecord::default();
    record.mark_tainted("came from the web (`web_fetch`)");
    record.mark_tainted("came from somewhere else");
    let odd: &std::ffi::OsStr = std::os::unix::ffi::OsStrExt::from_bytes(b"odd\xff");
    let files = ["a.txt".into(), Path::new(odd).to_owned()];
    record.set_spent(Arc::new(ChangeTotals::from_parts(&files, [1, 2, 3])));
    record.grant(Hash::sha256(b"something"));
    record.set_mode(Mode::AutoApprove);
    record
}

#[test]
fn a_session_is_read_back_as_it_was_kept() {
    for record in [SessionRecord::default(), full()] {
        assert_eq!(SessionRecord::from_text(&record.to_text()).unwrap(), record);
    }
    assert_eq!(full().taint().unwrap().as_ref(), "came from the web (`web_fetch`)");
}

#[test]
fn what_another_program_kept_or_nobody_can_read_is_an_error() {
    let text = full().to_text();
    for other in [
        text.replace("\"v\":1", "\"v\":2"),
        text.replace("\"taint\"", "\"taints\""),
        text.replace("\"grants\":[\"", "\"grants\":[\"x"),
        text.replace("\"auto-approve\"", "\"careless\""),
        String::new(),
        "\u{fffd}".to_owned(),
    ] {
        assert!(SessionRecord::from_text(&other).is_err(), "{other}");
    }
}

#[test]
fn in_memory_a_session_is_forgotten_when_it_is_over() {
    let sessions = MemorySessions::default();
    sessions.update("s", &mut |it| *it = full()).unwrap();
    assert_eq!(sessions.load("s").unwrap(), full());
    assert!(sessions.load("other").unwrap().is_empty());
    sessions.update("s", &mut SessionRecord::clear_grants).unwrap();
    assert!(sessions.load("s").unwrap().taint().is_some());
    sessions.forget("s").unwrap();
    assert!(sessions.load("s").unwrap().is_empty());
}

/// A keeper that can no longer be read.
struct Unreadable;

impl SessionState for Unreadable {
    fn load(&self, _: &str) -> Result<SessionRecord, SessionError> {
        Err("the disk is gone".into())
    }
    fn update(&self, _: &str, _: &mut dyn FnMut(&mut SessionRecord)) -> Result<(), SessionError> {
        Err("the disk is gone".into())
    }
    fn forget(&self, _: &str) -> Result<(), SessionError> {
        Err("the disk is gone".into())
    }
}

#[test]
fn a_session_whose_mode_cannot_be_read_is_in_the_most_careful_one() {
    let sessions = MemorySessions::default();
    assert_eq!(chosen_mode(&sessions, "s"), None);
    sessions.update("s", &mut |it| it.set_mode(Mode::Yolo)).unwrap();
    assert_eq!(chosen_mode(&sessions, "s"), Some(Mode::Yolo));
    assert_eq!(chosen_mode(&Unreadable, "s"), Some(Mode::ConfirmAll));
}
