//! What the store refuses, in which words, and that it recovers when the cause is gone.

use std::{fs, os::unix::fs::PermissionsExt, path::Path, process::Command, time::Duration};

use eclusa::audit::Log as _;
use eclusa::{Answer, AuditSink, approve::QuestionState, audit::Draft};
use eclusa_store::{Options, SqliteQueue, SqliteStore, StoreError};
use tempfile::TempDir;

use crate::blocking::Blocking as _;
use crate::{
    child::{Running, command_of},
    power::watched,
    room::{Room, append, fill, started},
};

fn refusal(path: &Path) -> StoreError {
    SqliteStore::open(path, Options::default()).unwrap_err()
}

fn put(path: &Path, bytes: &[u8]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    #[expect(clippy::disallowed_methods, reason = "a file of the test's own")]
    fs::write(path, bytes).unwrap();
}

#[test]
fn a_directory_is_not_a_store() {
    let room = Room::new();
    let directory = room.directory.path();
    assert_eq!(refusal(directory), StoreError::Directory(directory.to_owned()));
    let told = SqliteStore::open_read_only(directory).unwrap_err();
    assert_eq!(told, StoreError::Directory(directory.to_owned()));
}

#[test]
fn a_file_of_something_else_is_left_alone() {
    let room = Room::new();
    let text =
        b"this is a letter to my aunt, and it is longer than a database header is. ".repeat(9);
    put(&room.path(), &text);
    assert_eq!(refusal(&room.path()), StoreError::NotAStore(room.path()));
    assert_eq!(
        SqliteStore::open_read_only(&room.path()).unwrap_err(),
        StoreError::NotAStore(room.path())
    );
    assert_eq!(fs::read(room.path()).unwrap(), text);
}

#[test]
fn a_database_of_something_else_is_left_alone() {
    let room = Room::new();
    fs::create_dir_all(room.path().parent().unwrap()).unwrap();
    room.stranger().execute_batch("CREATE TABLE aunts (name TEXT)").unwrap();
    let before = fs::read(room.path()).unwrap();
    assert_eq!(refusal(&room.path()), StoreError::NotAStore(room.path()));
    assert_eq!(fs::read(room.path()).unwrap(), before);
}

#[test]
fn a_newer_format_is_refused() {
    let room = Room::new();
    fill(&room.open(), 1);
    room.stranger().execute_batch("PRAGMA user_version = 99").unwrap();
    let newer = StoreError::Newer { path: room.path(), found: 99, known: 6 };
    assert_eq!(refusal(&room.path()), newer);
    assert_eq!(SqliteStore::open_read_only(&room.path()).unwrap_err(), newer);
    assert!(newer.to_string().contains("Use the newer program"), "{newer}");
}

#[test]
fn an_older_format_is_brought_up_to_date_and_a_copy_of_it_is_kept() {
    let room = Room::new();
    fill(&room.open(), 3);
    room.stranger().execute_batch("DROP TABLE sessions; PRAGMA user_version = 5").unwrap();
    drop(room.open());
    let number = |connection: &rusqlite::Connection, sql: &str| {
        connection.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap()
    };
    let mut name = room.path().into_os_string();
    name.push(".format-5");
    let copy = crate::room::stranger(name.as_ref());
    for (connection, format) in [(&room.stranger(), 6), (&copy, 5)] {
        assert_eq!(number(connection, "PRAGMA user_version"), format);
        assert_eq!(number(connection, "SELECT count(*) FROM records"), 6);
    }
    // Nothing older is left to be copied.
    copy.execute_batch("PRAGMA user_version = 4").unwrap();
    drop(room.open());
    assert_eq!(number(&copy, "PRAGMA user_version"), 4);
}

#[test]
fn missing_tables_are_refused() {
    let altered = "ALTER TABLE questions DROP COLUMN edit";
    for sql in ["DROP TABLE head", "DROP INDEX records_start", "DROP TABLE opened", altered] {
        let room = Room::new();
        fill(&room.open(), 1);
        room.stranger().execute_batch(sql).unwrap();
        let refused = refusal(&room.path());
        assert!(matches!(refused, StoreError::Damaged { .. }), "{sql}: {refused}");
    }
}

#[test]
fn a_malformed_schema_is_refused() {
    let room = Room::new();
    fill(&room.open(), 1);
    let sql = "PRAGMA writable_schema = ON; \
               UPDATE sqlite_schema SET sql = 'CREATE TABLE records (' WHERE name = 'records'";
    room.stranger().execute_batch(sql).unwrap();
    let refused = refusal(&room.path());
    assert!(matches!(refused, StoreError::Damaged { .. }), "{refused}");
}

#[test]
fn damaged_pages_are_refused() {
    let room = Room::new();
    let store = room.open();
    fill(&store, 200);
    store.close().unwrap();
    let mut bytes = fs::read(room.path()).unwrap();
    assert!(bytes.len() > 10 * 4096);
    // The first page holds the tables' names; everything behind it is overwritten.
    bytes[4096..].fill(0x5a);
    put(&room.path(), &bytes);
    // Nobody can write to it, and nobody takes it for a whole log.
    let told = match SqliteStore::open(&room.path(), Options::default()) {
        Err(err) => err.to_string(),
        Ok(store) => {
            assert!(store.verify().is_err());
            append(&store, started("x")).unwrap_err().to_string()
        }
    };
    assert!(told.contains("is damaged"), "{told}");
}

#[test]
fn a_lock_held_for_too_long_is_a_refusal_and_then_it_goes_on() {
    let room = Room::new();
    let options = Options { busy: Duration::from_millis(20), ..room.options() };
    let store = SqliteStore::open(&room.path(), options).unwrap();
    fill(&store, 1);
    let other = room.stranger();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let refused = append(&store, started("x")).unwrap_err().to_string();
    assert_eq!(refused, StoreError::Busy(room.path()).to_string());
    assert_eq!(store.records(0, 10).unwrap().len(), 2, "readers are not held up");
    other.execute_batch("ROLLBACK").unwrap();
    assert_eq!(append(&store, started("y")).unwrap().seq, 3);
    assert_eq!(store.verify().unwrap().seq, 3);
}

/// A disk that fails in this way refuses, and afterwards everything goes on.
fn a_failing_disk(fault: &str, words: &str) {
    let (room, faults, survivors) = (Room::new(), TempDir::new().unwrap(), TempDir::new().unwrap());
    let mut command = watched(&room, "append-when-told", faults.path(), survivors.path());
    command.env("ECLUSA_TEST_DURABILITY", "power-loss");
    let mut child = Running::start(command);
    assert_eq!(child.next().unwrap(), "ready");
    assert!(child.tell().starts_with("1 "));
    let switch = faults.path().join(fault);
    put(&switch, b"");
    for _ in 0..3 {
        let refused = child.tell();
        assert!(refused.contains(words), "{refused}");
    }
    #[expect(clippy::disallowed_methods, reason = "a file of the test's own")]
    fs::remove_file(switch).unwrap();
    assert!(child.tell().starts_with("2 "), "what was refused is not in the log");
    assert!(child.tell().starts_with("3 "));
    assert_eq!(child.finish(), ["closed"]);
    assert_eq!(room.open().verify().unwrap().seq, 3);
}

#[test]
fn a_full_disk_refuses_and_then_it_goes_on() {
    a_failing_disk("full", "no space left");
}

#[test]
fn a_disk_that_cannot_sync_refuses_and_then_it_goes_on() {
    a_failing_disk("sync", "disk I/O error");
}

/// An answer that cannot be written was not given: the question still waits, and can be answered.
#[test]
fn a_full_disk_and_a_locked_store_refuse_an_answer_and_lose_nothing() {
    let (room, faults, survivors) = (Room::new(), TempDir::new().unwrap(), TempDir::new().unwrap());
    let mut command = watched(&room, "answer-when-told", faults.path(), survivors.path());
    command.env("ECLUSA_TEST_DURABILITY", "power-loss");
    let mut child = Running::start(command);
    assert_eq!(child.next().unwrap(), "ready");
    let switch = faults.path().join("full");
    put(&switch, b"");
    let refused = child.tell();
    assert!(refused.contains("no space left"), "{refused}");
    let looking = SqliteQueue::new(room.open());
    assert_eq!(looking.get(1).unwrap().state, QuestionState::Pending);
    #[expect(clippy::disallowed_methods, reason = "a file of the test's own")]
    fs::remove_file(switch).unwrap();

    let options = Options { busy: Duration::from_millis(20), ..room.options() };
    let hurried = SqliteQueue::new(SqliteStore::open(&room.path(), options).unwrap());
    let stranger = room.stranger();
    stranger.execute_batch("BEGIN IMMEDIATE").unwrap();
    let refused = hurried.answer(1, Answer::Once, "bob").unwrap_err().to_string();
    assert!(refused.contains("has locked the log"), "{refused}");
    assert_eq!(looking.get(1).unwrap().state, QuestionState::Pending);
    stranger.execute_batch("ROLLBACK").unwrap();
    assert_eq!(child.tell(), "answered");
    assert_eq!(looking.get(1).unwrap().decided_by.as_deref(), Some("ann"));
    child.finish();
    assert_eq!(room.open().verify().unwrap().seq, 1, "one answer is on record");
}

/// What somebody without special powers is told about a store that they may not write.
fn told_without_powers(room: &Room, task: &str, path: &Path) -> String {
    // Somebody else must be able to read this program, wherever it was built.
    let program = room.directory.path().join("program");
    if !program.exists() {
        fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    }
    let mut command: Command = command_of(&program, task, path);
    if fs::metadata("/proc/self").is_ok_and(|it| std::os::unix::fs::MetadataExt::uid(&it) == 0) {
        std::os::unix::process::CommandExt::uid(&mut command, 65534);
    }
    command.current_dir("/");
    Running::start(command).finish().pop().unwrap()
}

fn allow(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn what_may_not_be_written_is_refused() {
    let room = Room::new();
    fill(&room.open(), 1);
    let state = room.path().parent().unwrap().to_owned();
    allow(room.directory.path(), 0o755);
    allow(&state, 0o755);
    allow(&room.path(), 0o444);
    let refused = told_without_powers(&room, "open", &room.path());
    assert!(refused.contains("cannot write the log"), "{refused}");

    // The file could be written, and the files beside it could not be made.
    allow(&room.path(), 0o666);
    allow(&state, 0o555);
    let refused = told_without_powers(&room, "open", &room.path());
    assert!(refused.contains("cannot write the log"), "{refused}");

    // A new store in a directory where nothing can be made.
    let refused = told_without_powers(&room, "open", &state.join("deeper/store.db"));
    assert!(refused.contains("cannot write the log"), "{refused}");
    allow(&state, 0o755);
    assert_eq!(room.open().verify().unwrap().seq, 2);
}

#[test]
fn what_may_only_be_read_can_be_read() {
    let room = Room::new();
    // With a name that an address must escape.
    let path = room.path().with_file_name("a store? 100%#1.db");
    let store = SqliteStore::open(&path, room.options()).unwrap();
    fill(&store, 2);
    store.close().unwrap();
    let state = path.parent().unwrap();
    allow(room.directory.path(), 0o755);
    allow(&path, 0o444);
    allow(state, 0o555);
    assert_eq!(told_without_powers(&room, "read", &path), "verified 4");
    allow(state, 0o755);
}

#[test]
fn a_store_that_was_moved_away_takes_no_more_records() {
    let room = Room::new();
    let store = room.open();
    fill(&store, 1);
    let elsewhere = room.path().with_file_name("elsewhere.db");
    #[expect(clippy::disallowed_methods, reason = "a file of the test's own")]
    let rename = |from: &Path, to: &Path| fs::rename(from, to).unwrap();
    rename(&room.path(), &elsewhere);
    let refused = append(&store, started("x")).unwrap_err().to_string();
    assert_eq!(refused, StoreError::Moved(room.path()).to_string());
    rename(&elsewhere, &room.path());
    assert_eq!(append(&store, started("y")).unwrap().seq, 3);
    assert_eq!(store.verify().unwrap().seq, 3);
}

#[test]
fn what_is_not_a_record_cannot_be_handed_in() {
    let check = |body: &str, why: &str| {
        let refused = Draft::new(body.to_owned()).unwrap_err().to_string();
        assert!(refused.ends_with(&format!("this is not a record: {why}")), "{refused}");
    };
    check("hello", "it is not JSON, or its `start` is not a number");
    check("{\n}", "it is longer than one line");
    check(r#"{"start":"two"}"#, "it is not JSON, or its `start` is not a number");
    check(&format!("{{{}}}", " ".repeat(64 << 20)), "it is longer than 64 MiB");
    let room = Room::new();
    let store = room.open();
    append(&store, started("x")).unwrap();
    // What the index says of a record is what the record says.
    let ended = Draft::new(r#"{"start":1}"#.to_owned()).unwrap();
    assert_eq!(ended.start(), Some(1));
    assert_eq!(append(&store, ended).unwrap().seq, 2);
    drop(store.append(started("y")));
    store.close().unwrap();
    assert_eq!(room.open().verify().unwrap().seq, 3);
}
