//! Records that their caller writes: where no sync is needed or there is one client, and nobody
//! else writes.

use std::time::{Duration, Instant};

use eclusa::audit::Log as _;
use eclusa::{AuditSink, audit::Appending};
use eclusa_store::{Durability, Options, SqliteStore};
use futures::future::join_all;

use crate::room::{Room, ended, started};

fn opened(room: &Room, durability: Durability) -> SqliteStore {
    SqliteStore::open(&room.path(), Options { durability, ..room.options() }).unwrap()
}

#[tokio::test]
async fn a_record_that_needs_no_sync_is_written_at_once() {
    let room = Room::new();
    let store = opened(&room, Durability::Crash);
    for turn in 0..100 {
        let call = format!("c{turn}");
        let start = store.append(started(&call));
        assert!(turn > 0 || matches!(start, Appending::Done(Ok(_))), "{start:?}");
        let start = start.await.unwrap();
        assert_eq!(store.append(ended(&call, start.seq)).await.unwrap().seq, start.seq + 1);
    }
    drop(store);
    let store = opened(&room, Durability::PowerLoss);
    let waiting = store.append(started("synced"));
    assert!(
        matches!(waiting, Appending::Waiting(_)),
        "nobody waits for a disk on a caller's thread"
    );
    assert_eq!(waiting.await.unwrap().seq, 201);
    assert_eq!(store.verify().unwrap().seq, 201);
}

#[tokio::test]
async fn the_one_client_of_a_process_waits_for_the_disk_by_itself() {
    let room = Room::new();
    let durability = Durability::PowerLoss;
    let options = Options { durability, one_client: true, ..room.options() };
    let store = SqliteStore::open(&room.path(), options).unwrap();
    let first = store.append(started("first"));
    assert!(matches!(first, Appending::Done(Ok(_))), "{first:?}");
    assert_eq!(first.await.unwrap().seq, 1);
    // Whether the disk is quick or not, alone or together.
    for turn in 2..50 {
        assert_eq!(store.append(started("next")).await.unwrap().seq, turn);
    }
    let drafts: Vec<_> = (0..50).map(|_| store.append(started("together"))).collect();
    let receipts = join_all(drafts).await;
    assert!(receipts.into_iter().map(|it| it.unwrap().seq).eq(50..100));
    drop(store);
    assert_eq!(room.open().verify().unwrap().seq, 99);
}

/// More than the writer lets gather in the write-ahead log.
#[tokio::test]
async fn the_log_is_moved_to_its_place_while_records_are_written() {
    let room = Room::new();
    let wal = room.path().with_extension("db-wal");
    for durability in [Durability::Crash, Durability::PowerLoss] {
        let options = Options { durability, one_client: true, ..room.options() };
        let store = SqliteStore::open(&room.path(), options).unwrap();
        let before = store.verify().unwrap().seq;
        let body = "x".repeat(60 << 10);
        for turn in 1..=100 {
            assert_eq!(store.append(started(&body)).await.unwrap().seq, before + turn);
        }
        // It is moved at some time, however late that is.
        let until = Instant::now() + Duration::from_secs(60);
        loop {
            let database = room.path().metadata().unwrap().len();
            if database >= (before + 30) * body.len() as u64 {
                break;
            }
            assert!(Instant::now() < until, "{database} bytes were moved");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        drop(store);
        assert!(!wal.exists(), "the last connection moves what is left");
    }
    assert_eq!(room.open().verify().unwrap().seq, 200);
}

#[tokio::test]
async fn whoever_finds_the_store_locked_waits_elsewhere() {
    let room = Room::new();
    let store = opened(&room, Durability::Crash);
    let stranger = room.stranger();
    stranger.execute_batch("BEGIN IMMEDIATE").unwrap();
    let first = store.append(started("first"));
    let second = store.append(started("second"));
    for waiting in [&first, &second] {
        assert!(matches!(waiting, Appending::Waiting(_)), "{waiting:?}");
    }
    stranger.execute_batch("ROLLBACK").unwrap();
    // In the order in which they came, and what comes after does not overtake them.
    assert_eq!((first.await.unwrap().seq, second.await.unwrap().seq), (1, 2));
    assert_eq!(store.append(started("third")).await.unwrap().seq, 3);
    assert_eq!(store.verify().unwrap().seq, 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn callers_who_write_themselves_and_callers_who_wait_share_one_chain() {
    let room = Room::new();
    let stores = [opened(&room, Durability::Crash), opened(&room, Durability::Crash)];
    let calls = (0..32).map(|caller| {
        let store = stores[caller % 2].clone();
        tokio::spawn(async move {
            for turn in 0..20 {
                let call = format!("c{caller}-{turn}");
                let start = store.append(started(&call)).await.unwrap().seq;
                assert!(store.append(ended(&call, start)).await.unwrap().seq > start);
            }
        })
    });
    for call in join_all(calls).await {
        call.unwrap();
    }
    assert_eq!(stores[0].verify().unwrap().seq, 32 * 20 * 2);
}

#[tokio::test]
async fn a_process_for_one_call_leaves_a_short_log_and_moves_a_long_one() {
    let room = Room::new();
    let wal = room.path().with_extension("db-wal");
    let mut last = 0;
    let mut call = async |bytes: usize| {
        let options =
            Options { one_call: true, durability: Durability::PowerLoss, ..room.options() };
        let store = SqliteStore::open(&room.path(), options).unwrap();
        let written = store.append(started(&"x".repeat(bytes))).await.unwrap();
        last += 1;
        assert_eq!(written.seq, last);
        store.close().unwrap();
    };
    call(10).await;
    call(10).await;
    assert!(wal.exists(), "it was moved");
    // Whoever reads finds what is in it.
    assert_eq!(SqliteStore::open_read_only(&room.path()).unwrap().verify().unwrap().seq, 2);
    call(300 << 10).await;
    assert!(wal.metadata().unwrap().len() > 256 << 10);
    call(10).await;
    assert!(!wal.exists(), "it was left");
    assert_eq!(room.open().verify().unwrap().seq, 4);
}
