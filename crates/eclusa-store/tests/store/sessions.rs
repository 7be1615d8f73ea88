//! What is kept of sessions: by every process that has the store open, one at a time.

use std::thread;

use eclusa::session::{SessionRecord, SessionState as _};

use crate::room::Room;

const SPENT: &str = r#"{"v":1,"spent":{"files":["a"],"deleted":0,"lines":0,"bytes":1}}"#;

#[test]
fn what_one_process_keeps_of_a_session_another_finds() {
    let room = Room::new();
    let (one, other) = (room.open(), room.open());
    assert!(one.load("s").unwrap().is_empty());
    one.update("s", &mut |it| it.mark_tainted("came from the web")).unwrap();
    other.update("s", &mut |it| it.mark_tainted("came from elsewhere")).unwrap();
    assert_eq!(other.load("s").unwrap().taint().unwrap().as_ref(), "came from the web");
    assert!(other.load("t").unwrap().is_empty());
    drop((one, other));
    let later = room.open();
    assert!(later.load("s").unwrap().taint().is_some());
    later.forget("s").unwrap();
    assert!(room.open().load("s").unwrap().is_empty());
    let rows: i64 =
        room.stranger().query_row("SELECT count(*) FROM sessions", [], |row| row.get(0)).unwrap();
    assert_eq!(rows, 0);
}

/// Each reads, thinks and writes in one transaction: of many at once none is lost.
#[test]
fn changes_of_many_at_once_are_all_counted() {
    let room = Room::new();
    let before = room.open();
    before.update("s", &mut |it| *it = SessionRecord::from_text(SPENT).unwrap()).unwrap();
    let bytes = |record: &SessionRecord| -> u64 {
        let text: serde_json::Value = serde_json::from_str(&record.to_text()).unwrap();
        text["spent"]["bytes"].as_u64().unwrap()
    };
    thread::scope(|scope| {
        for _ in 0..4 {
            let store = room.open();
            scope.spawn(move || {
                for _ in 0..25 {
                    let add = &mut |it: &mut SessionRecord| {
                        let more = SPENT.replace("1}}", &format!("{}}}}}", bytes(it) + 1));
                        *it = SessionRecord::from_text(&more).unwrap();
                    };
                    store.update("s", add).unwrap();
                }
            });
        }
    });
    assert_eq!(bytes(&before.load("s").unwrap()), 101);
}

#[test]
fn what_cannot_be_read_is_an_error_and_is_not_written_over() {
    let room = Room::new();
    let store = room.open();
    store.update("s", &mut |it| it.mark_tainted("came from the web")).unwrap();
    room.stranger().execute("UPDATE sessions SET state = 'x'", []).unwrap();
    assert!(store.load("s").is_err());
    assert!(store.update("s", &mut |it| it.clear_grants()).is_err());
    let state: String =
        room.stranger().query_row("SELECT state FROM sessions", [], |row| row.get(0)).unwrap();
    assert_eq!(state, "x");
}
