//! Several processes at once, and processes that end without a warning.

use eclusa::Hash;
use eclusa::audit::Log as _;
use eclusa_store::{SqliteQueue, SqliteStore};

use crate::blocking::Blocking as _;
use crate::{
    child::{Running, command},
    room::{Room, fill},
};

/// `NUMBER HASH`, as a child says it.
pub(crate) fn receipt(said: &str) -> (u64, Hash) {
    let (seq, hash) = said.split_once(' ').unwrap();
    (seq.parse().unwrap(), Hash::from_hex(hash).unwrap())
}

/// How many of these are not in the log. The log itself must be whole.
pub(crate) fn missing(store: &SqliteStore, acknowledged: &[String]) -> usize {
    store.verify().unwrap();
    let is_there = |said: &String| {
        let (seq, hash) = receipt(said);
        store.records(seq, 1).unwrap().first().map(|it| (it.seq, it.hash)) == Some((seq, hash))
    };
    acknowledged.iter().filter(|said| !is_there(said)).count()
}

#[test]
fn several_processes_append_to_one_chain() {
    let room = Room::new();
    // All of them make the store, or find it being made.
    let children: Vec<Running> =
        (0..3).map(|_| Running::start(command("append-some", &room.path()))).collect();
    let store = room.open();
    fill(&store, 50);
    let mut said: Vec<String> = Vec::new();
    for child in children {
        said.extend(child.finish());
    }
    assert_eq!(said.len(), 3 * 4 * 50 * 2);
    assert_eq!(store.verify().unwrap().seq, (3 * 4 * 50 + 50) * 2);
    assert_eq!(missing(&store, &said), 0);
}

/// A second store on the same file in one process must not cost the first one its locks: then a
/// process that comes and goes would take itself for the last, and throw away what the first
/// writes.
#[test]
fn opening_a_store_twice_loses_no_records() {
    let room = Room::new();
    let first = room.open();
    fill(&first, 1);
    let second = room.open();
    let reader = SqliteStore::open_read_only(&room.path()).unwrap();
    let mut said = Running::start(command("append-some", &room.path())).finish();
    fill(&first, 1);
    said.extend(Running::start(command("append-some", &room.path())).finish());
    drop((first, second, reader));
    let store = room.open();
    assert_eq!(store.verify().unwrap().seq, 2 + 400 + 2 + 400);
    assert_eq!(missing(&store, &said), 0);
}

fn what_was_acknowledged_survives_a_kill(durability: &str) {
    let room = Room::new();
    for _ in 0..5 {
        let mut command = command("append-for-ever", &room.path());
        command.env("ECLUSA_TEST_DURABILITY", durability);
        let mut child = Running::start(command);
        let mut said: Vec<String> = (0..100).map(|_| child.next().unwrap()).collect();
        said.extend(child.kill());
        // The last line may have been cut off by the end.
        said.retain(|said| said.split_once(' ').is_some_and(|(_, hash)| hash.len() == 64));
        assert_eq!(missing(&room.open(), &said), 0);
    }
}

#[test]
fn what_was_acknowledged_survives_a_kill_at_power_loss() {
    what_was_acknowledged_survives_a_kill("power-loss");
}

#[test]
fn what_was_acknowledged_survives_a_kill_at_crash() {
    what_was_acknowledged_survives_a_kill("crash");
}

/// A17: the questions that wait are the same after a restart. A4: if whoever asked has died, the
/// question expires.
/// Shows A17.
#[test]
fn a_parked_question_survives_the_process_that_asked() {
    let room = Room::new();
    let mut child = Running::start(command("ask", &room.path()));
    let queue = SqliteQueue::new(room.open());
    let before = loop {
        match queue.list().unwrap().pop() {
            Some(queued) => break queued,
            None if child.has_ended() => panic!("the child ended without asking"),
            None => std::thread::sleep(std::time::Duration::from_millis(5)),
        }
    };
    assert!(!before.asker_away);
    child.kill();
    drop(queue);
    let queue = SqliteQueue::new(room.open());
    let after = eclusa::approve::QueuedQuestion { asker_away: true, ..before };
    assert_eq!(format!("{:?}", queue.list().unwrap()), format!("{:?}", [after]));
}

/// A store that somebody else is making at the same moment is never seen half made.
#[test]
fn many_make_one_store_at_once() {
    for _ in 0..40 {
        let room = Room::new();
        std::thread::scope(|scope| {
            for _ in 0..6 {
                let path = room.path();
                scope.spawn(move || {
                    SqliteStore::open(&path, eclusa_store::Options::default()).unwrap()
                });
            }
        });
        // Nothing older was there to be copied.
        let names = std::fs::read_dir(room.path().parent().unwrap()).unwrap();
        let names = names.map(|it| it.unwrap().file_name().into_string().unwrap());
        let names: Vec<String> = names.collect();
        assert!(names.iter().all(|it| !it.contains("format")), "{names:?}");
    }
}
