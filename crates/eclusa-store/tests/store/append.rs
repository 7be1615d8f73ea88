//! Appending, reading back, and closing.

use std::os::unix::fs::PermissionsExt;

use eclusa::{
    AuditSink,
    audit::{Draft, Head, Log as _},
};
use eclusa_store::{SqliteStore, StoreError};
use futures::future::join_all;

use crate::room::{Room, append, ended, fill, started};

/// Shows S0.34.
#[test]
fn what_was_appended_is_there_after_reopening() {
    let room = Room::new();
    let store = room.open();
    assert_eq!(store.head().unwrap(), Head::default());
    let start = append(&store, started("a")).unwrap();
    let end = append(&store, ended("a", start.seq)).unwrap();
    store.close().unwrap();

    let store = room.open();
    let records = store.records(0, 10).unwrap();
    assert_eq!(records.iter().map(|it| it.receipt()).collect::<Vec<_>>(), [start, end]);
    assert_eq!(records[1].previous, start.hash);
    assert_eq!(store.verify().unwrap(), Head { seq: 2, hash: end.hash });
    assert_eq!(store.head().unwrap().seq, 2);
}

#[test]
fn records_are_found_by_number_by_start_and_by_call() {
    let room = Room::new();
    let store = room.open();
    fill(&store, 5);
    let numbers = |records: Vec<eclusa::Record>| -> Vec<u64> {
        records.into_iter().map(|it| it.seq).collect()
    };
    assert_eq!(numbers(store.records(3, 4).unwrap()), [3, 4, 5, 6]);
    assert_eq!(numbers(store.last(3).unwrap()), [8, 9, 10]);
    assert_eq!(numbers(store.ends_of(5).unwrap()), [6]);
    assert_eq!(numbers(store.ends_of(6).unwrap()), [0; 0]);
    assert_eq!(numbers(store.find("c2").unwrap()), [5, 6]);
    assert_eq!(numbers(store.find("c").unwrap()), [0; 0]);
    assert_eq!(store.last(2).unwrap()[0].previous, store.records(8, 1).unwrap()[0].hash);
}

/// Numbers of calls rise with the records, with as many others between as there may be.
#[test]
fn the_first_record_of_a_call_is_found_by_the_number_of_the_call() {
    let room = Room::new();
    let store = room.open();
    // As version 0.1.0 wrote them: the number of such a call is that of its record.
    fill(&store, 3);
    let numbered = |number: u64, event: &str, start: &str| {
        let body = format!(r#"{{"event":"{event}","number":{number}{start},"v":1}}"#);
        append(&store, Draft::new(body).unwrap()).unwrap().seq
    };
    let mut first = Vec::new();
    for number in 7..70 {
        first.push((number, numbered(number, "started", "")));
        for _ in 0..number % 5 {
            append(&store, Draft::new(r#"{"event":"sent","v":1}"#.to_owned()).unwrap()).unwrap();
        }
    }
    for _ in 0..100 {
        append(&store, Draft::new(r#"{"event":"sent","v":1}"#.to_owned()).unwrap()).unwrap();
    }
    first.push((70, numbered(70, "ended", "")));
    let of = |number| store.first_of(number).unwrap().map(|it| it.seq);
    for (number, seq) in first {
        assert_eq!(of(number), Some(seq), "call {number}");
    }
    assert_eq!([of(1), of(3), of(5)], [Some(1), Some(3), Some(5)]);
    assert_eq!([of(0), of(2), of(6), of(71), of(u64::MAX)], [None; 5]);
    assert_eq!(store.first_from(6).unwrap().map(|it| it.seq), Some(7));
}

#[test]
fn a_call_is_not_found_by_what_stands_in_its_arguments() {
    let room = Room::new();
    let store = room.open();
    let body = r#"{"args":{"call":"other"},"at":1,"call":"mine \"quoted\"","v":1}"#;
    append(&store, Draft::new(body.to_owned()).unwrap()).unwrap();
    assert!(store.find("other").unwrap().is_empty());
    assert_eq!(store.find("mine \"quoted\"").unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn many_callers_share_one_chain() {
    let room = Room::new();
    let store = room.open();
    let calls = (0..64).map(|caller| {
        let store = store.clone();
        tokio::spawn(async move {
            for turn in 0..10 {
                let call = format!("c{caller}-{turn}");
                let start = store.append(started(&call)).await.unwrap().seq;
                let end = store.append(ended(&call, start)).await.unwrap().seq;
                assert!(end > start);
            }
        })
    });
    for call in join_all(calls).await {
        call.unwrap();
    }
    assert_eq!(store.verify().unwrap().seq, 64 * 10 * 2);
}

#[test]
fn close_writes_what_nobody_waits_for() {
    let room = Room::new();
    let store = room.open();
    for number in 0..100 {
        drop(store.append(started(&format!("c{number}"))));
    }
    store.close().unwrap();
    assert_eq!(room.open().verify().unwrap().seq, 100);
}

#[test]
fn dropping_the_store_writes_what_nobody_waits_for() {
    let room = Room::new();
    let store = room.open();
    for number in 0..100 {
        drop(store.append(started(&format!("c{number}"))));
    }
    drop(store);
    assert_eq!(room.open().verify().unwrap().seq, 100);
}

#[test]
fn a_reader_sees_what_another_writes_and_can_write_nothing() {
    let room = Room::new();
    let store = room.open();
    let reader = SqliteStore::open_read_only(&room.path()).unwrap();
    fill(&store, 3);
    assert_eq!(reader.last(1).unwrap()[0].seq, 6);
    assert_eq!(reader.verify().unwrap().seq, 6);
    let refused = append(&reader, started("x")).unwrap_err().to_string();
    assert!(refused.ends_with("(it was opened for reading only)"), "{refused}");
    assert_eq!(store.head().unwrap().seq, 6);
}

#[test]
fn a_reader_of_nothing_is_told_so_and_makes_nothing() {
    let room = Room::new();
    let missing = SqliteStore::open_read_only(&room.path()).unwrap_err();
    assert_eq!(missing, StoreError::Missing(room.path()));
    assert!(!room.path().exists());
}

#[test]
fn the_store_is_for_its_owner_alone() {
    let room = Room::new();
    let store = room.open();
    fill(&store, 1);
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(room.path().parent().unwrap()), 0o700);
    assert_eq!(mode(&room.path()), 0o600);
    assert_eq!(mode(&room.path().with_extension("db-wal")), 0o600);
}

#[test]
fn verify_says_how_far_it_is() {
    let room = Room::new();
    let store = room.open();
    fill(&store, 2);
    let mut said = Vec::new();
    store.verify_since(None, &mut |done, all| said.push((done, all))).unwrap();
    assert_eq!(said, [(0, 4), (4, 4)]);
}
