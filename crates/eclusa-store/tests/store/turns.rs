//! Many processes that write at once take turns: whoever finds the lock taken queues up for it.

use std::{fs, os::unix::fs::MetadataExt as _, thread, time::Duration};

use eclusa::audit::Log as _;
use eclusa_store::{Options, SqliteStore};

use crate::room::{Room, append, fill, started};

/// How many wait for a lock on this file, as the kernel shows it.
fn waiting(inode: u64) -> usize {
    let locks = fs::read_to_string("/proc/locks").unwrap();
    locks.lines().filter(|it| it.contains("->") && it.contains(&format!(":{inode} "))).count()
}

#[test]
fn whoever_finds_the_lock_taken_queues_up_and_writes_in_its_turn() {
    let room = Room::new();
    let store = room.open();
    fill(&store, 1);
    let name = format!("{}-turn", room.path().display());
    let turn = fs::File::options().create(true).append(true).open(name).unwrap();
    turn.lock().unwrap();
    let inode = turn.metadata().unwrap().ino();
    let other = room.stranger();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let second = SqliteStore::open(&room.path(), room.options()).unwrap();
    thread::scope(|scope| {
        let writers = [&store, &second].map(|it| scope.spawn(|| append(it, started("x")).unwrap()));
        while waiting(inode) < 2 {
            assert!(!writers.iter().any(|it| it.is_finished()), "it wrote without waiting");
            thread::sleep(Duration::from_millis(5));
        }
        other.execute_batch("ROLLBACK").unwrap();
        drop(turn);
        let mut written = writers.map(|it| it.join().unwrap().seq);
        written.sort_unstable();
        assert_eq!(written, [3, 4]);
    });
    assert_eq!(store.verify().unwrap().seq, 4);
}

/// Somebody who has the turn and does nothing with it holds nobody up for longer than the half of their time.
#[test]
fn a_turn_that_never_comes_is_done_without() {
    let room = Room::new();
    let options = Options { busy: Duration::from_secs(2), ..room.options() };
    let store = SqliteStore::open(&room.path(), options).unwrap();
    fill(&store, 1);
    let name = format!("{}-turn", room.path().display());
    let turn = fs::File::options().create(true).append(true).open(name).unwrap();
    turn.lock().unwrap();
    let inode = turn.metadata().unwrap().ino();
    let other = room.stranger();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    thread::scope(|scope| {
        let writer = scope.spawn(|| append(&store, started("x")).unwrap());
        while waiting(inode) < 1 {
            thread::sleep(Duration::from_millis(5));
        }
        other.execute_batch("ROLLBACK").unwrap();
        assert_eq!(writer.join().unwrap().seq, 3);
    });
    drop(turn);
}
