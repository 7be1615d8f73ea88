//! Nothing in the log can be changed unseen: whatever is done to the file, `verify` finds it.

use std::{fs, path::PathBuf, sync::OnceLock};

use eclusa::audit::Log as _;
use eclusa::audit::VerifyError;
use eclusa::{Record, audit::Broken};
use eclusa_store::{Options, SqliteStore};
use proptest::prelude::*;
use rusqlite::{Connection, params};
use tempfile::TempDir;

use crate::room::{Room, fill, stranger};

const RECORDS: i64 = 12;

/// A store of twelve records, made once.
fn template() -> &'static [u8] {
    static TEMPLATE: OnceLock<Vec<u8>> = OnceLock::new();
    TEMPLATE.get_or_init(|| {
        let room = Room::new();
        let store = room.open();
        fill(&store, RECORDS as u64 / 2);
        store.close().unwrap();
        fs::read(room.path()).unwrap()
    })
}

/// A copy that may be spoilt.
fn copy(bytes: &[u8]) -> (TempDir, PathBuf) {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("store.db");
    #[expect(clippy::disallowed_methods, reason = "a file of the test's own")]
    fs::write(&path, bytes).unwrap();
    (directory, path)
}

fn verify(path: &std::path::Path) -> Result<(), VerifyError> {
    SqliteStore::open(path, Options::default())?.verify().map(drop)
}

/// Something done to the log through another connection.
#[derive(Debug, Clone)]
enum Harm {
    Flip { column: &'static str, seq: i64, bit: usize },
    Start { seq: i64, to: Option<i64> },
    Shorten { seq: i64, by: usize },
    Drop { seq: i64 },
    Truncate { from: i64 },
    Renumber { a: i64, b: i64 },
    Exchange { a: i64, b: i64 },
    Repeat { seq: i64 },
    Head { bit: usize },
    HeadNumber { to: i64 },
    Insert,
}

fn harm() -> impl Strategy<Value = Harm> {
    let seq = || 1..=RECORDS;
    prop_oneof![
        (prop_oneof![Just("body"), Just("hash")], seq(), any::<usize>())
            .prop_map(|(column, seq, bit)| Harm::Flip { column, seq, bit }),
        (seq(), proptest::option::of(0..20i64)).prop_map(|(seq, to)| Harm::Start { seq, to }),
        (seq(), 1..50usize).prop_map(|(seq, by)| Harm::Shorten { seq, by }),
        seq().prop_map(|seq| Harm::Drop { seq }),
        seq().prop_map(|from| Harm::Truncate { from }),
        (seq(), seq()).prop_map(|(a, b)| Harm::Renumber { a, b }),
        (seq(), seq()).prop_map(|(a, b)| Harm::Exchange { a, b }),
        seq().prop_map(|seq| Harm::Repeat { seq }),
        any::<usize>().prop_map(|bit| Harm::Head { bit }),
        (0..20i64).prop_map(|to| Harm::HeadNumber { to }),
        Just(Harm::Insert),
    ]
}

/// Does it, and says whether it changed anything.
fn inflict(connection: &Connection, harm: &Harm) -> bool {
    let run = |sql: &str, params: &[&dyn rusqlite::ToSql]| {
        assert!(connection.execute(sql, params).unwrap() > 0, "{sql}");
    };
    match harm {
        Harm::Flip { column, seq, bit } => {
            let sql = format!("SELECT CAST({column} AS BLOB) FROM records WHERE seq = ?1");
            let was: Vec<u8> = connection.query_row(&sql, [seq], |row| row.get(0)).unwrap();
            let now = flipped(was, *bit);
            let kind = if *column == "body" { "TEXT" } else { "BLOB" };
            let sql = format!("UPDATE records SET {column} = CAST(?1 AS {kind}) WHERE seq = ?2");
            run(&sql, params![now, seq]);
        }
        Harm::Start { seq, to } => {
            let sql = "SELECT start FROM records WHERE seq = ?1";
            let was: Option<i64> = connection.query_row(sql, [seq], |row| row.get(0)).unwrap();
            if was == *to {
                return false;
            }
            run("UPDATE records SET start = ?1 WHERE seq = ?2", params![to, seq]);
        }
        Harm::Shorten { seq, by } => run(
            "UPDATE records SET body = substr(body, 1, length(body) - ?1) WHERE seq = ?2",
            params![*by as i64, seq],
        ),
        Harm::Drop { seq } => run("DELETE FROM records WHERE seq = ?1", params![seq]),
        Harm::Truncate { from } => run("DELETE FROM records WHERE seq >= ?1", params![from]),
        Harm::Renumber { a, b } | Harm::Exchange { a, b } if a == b => return false,
        Harm::Renumber { a, b } => {
            run("UPDATE records SET seq = 1000 WHERE seq = ?1", params![a]);
            run("UPDATE records SET seq = ?1 WHERE seq = ?2", params![a, b]);
            run("UPDATE records SET seq = ?1 WHERE seq = 1000", params![b]);
        }
        Harm::Exchange { a, b } => {
            let sql = "UPDATE records AS r SET (start, body) = \
                       (SELECT start, body FROM records o WHERE o.seq = ?1 + ?2 - r.seq) \
                       WHERE seq IN (?1, ?2)";
            run(sql, params![a, b]);
        }
        Harm::Repeat { seq } => run(
            "INSERT INTO records SELECT ?1, start, hash, body FROM records WHERE seq = ?2",
            params![RECORDS + 1, seq],
        ),
        Harm::Head { bit } => {
            let sql = "SELECT hash FROM head";
            let was: Vec<u8> = connection.query_row(sql, [], |row| row.get(0)).unwrap();
            run("UPDATE head SET hash = ?1", params![flipped(was, *bit)]);
        }
        Harm::HeadNumber { to } if *to == RECORDS => return false,
        Harm::HeadNumber { to } => run("UPDATE head SET seq = ?1", params![to]),
        Harm::Insert => {
            run("INSERT INTO records VALUES (?1, NULL, zeroblob(32), '{}')", params![RECORDS + 1])
        }
    }
    true
}

fn flipped(mut bytes: Vec<u8>, bit: usize) -> Vec<u8> {
    let bit = bit % (bytes.len() * 8);
    bytes[bit / 8] ^= 1 << (bit % 8);
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// S0.34: any record changed, dropped, swapped, added or cut off is found.
    #[test]
    fn any_edit_of_the_log_is_found(harm in harm()) {
        let (_directory, path) = copy(template());
        let connection = stranger(&path);
        let changed = inflict(&connection, &harm);
        drop(connection);
        let verified = verify(&path);
        match changed {
            true => prop_assert!(matches!(verified, Err(VerifyError::Broken(_))), "{verified:?}"),
            false => prop_assert_eq!(verified, Ok(())),
        }
    }

    /// Any bit of the file flipped is found, or it was one that says nothing.
    #[test]
    fn any_bit_of_the_file_flipped_is_found_or_harmless(bit in any::<usize>()) {
        let (_whole, path) = copy(template());
        let before = everything(&path).unwrap();
        let (_spoilt, path) = copy(&flipped(template().to_vec(), bit));
        if verify(&path).is_ok() {
            prop_assert_eq!(everything(&path).unwrap(), before);
        }
    }
}

/// All that readers can see of the log.
fn everything(path: &std::path::Path) -> Result<Vec<Record>, VerifyError> {
    let store = SqliteStore::open(path, Options::default())?;
    let mut seen = store.records(0, 100)?;
    for start in 0..20 {
        seen.extend(store.ends_of(start)?);
    }
    Ok(seen)
}

#[test]
fn the_place_of_the_break_is_named() {
    let check = |sql: &str, expected: Broken| {
        let (_directory, path) = copy(template());
        stranger(&path).execute_batch(sql).unwrap();
        assert_eq!(verify(&path), Err(VerifyError::Broken(expected)), "{sql}");
    };
    check("UPDATE records SET body = '{}' WHERE seq = 5", Broken::Altered { seq: 5 });
    check("UPDATE records SET start = 2 WHERE seq = 5", Broken::Altered { seq: 5 });
    check("UPDATE records SET hash = x'00' WHERE seq = 5", Broken::Altered { seq: 5 });
    check("DELETE FROM records WHERE seq = 5", Broken::Order { expected: 5, found: 6 });
    check("DELETE FROM records WHERE seq > 5", Broken::Short { last: 5, known: 12 });
    check("DELETE FROM records", Broken::Short { last: 0, known: 12 });
}

/// The records are whole, and the index that leads to the ends of calls has been emptied.
#[test]
fn a_spoilt_index_is_found() {
    let (_directory, path) = copy(template());
    let sql = "SELECT pageno FROM dbstat WHERE name = 'records_start'";
    let page: usize = stranger(&path)
        .query_row(sql, [], |row| row.get::<_, i64>(0))
        .map(|page| usize::try_from(page).unwrap())
        .unwrap();
    let mut bytes = fs::read(&path).unwrap();
    bytes[(page - 1) * 4096 + 3..][..2].fill(0); // the number of entries
    let (_directory, path) = copy(&bytes);
    assert!(
        matches!(verify(&path), Err(VerifyError::Unread(err)) if err.to_string().contains("is damaged"))
    );
}

#[test]
fn nothing_is_appended_to_a_log_whose_end_is_unknown() {
    let room = Room::new();
    let store = room.open();
    fill(&store, 2);
    room.stranger().execute_batch("DELETE FROM head").unwrap();
    let refused = crate::room::append(&store, crate::room::started("x")).unwrap_err().to_string();
    assert!(refused.contains("the place where its chain ends is missing"), "{refused}");
    assert_eq!(store.records(0, 100).unwrap().len(), 4);
}

#[test]
fn a_log_that_was_cut_and_written_on_is_still_found_out() {
    let room = Room::new();
    let store = room.open();
    fill(&store, 2);
    room.stranger().execute_batch("DELETE FROM records WHERE seq > 2").unwrap();
    fill(&store, 1);
    let broken = Broken::Order { expected: 3, found: 5 };
    assert_eq!(store.verify(), Err(VerifyError::Broken(broken)));
}

#[test]
fn what_came_after_a_noted_record_is_checked_and_what_was_before_is_not() {
    let room = Room::new();
    let store = room.open();
    fill(&store, 3);
    let noted = store.head().unwrap();
    assert_eq!(store.verify_since(Some(noted.hash), &mut |_, _| {}).unwrap(), (noted, noted));
    fill(&store, 3);
    let head = store.head().unwrap();
    assert_eq!(store.verify_since(Some(noted.hash), &mut |_, _| {}).unwrap(), (noted, head));
    let change = |seq: u64| {
        let sql = "UPDATE records SET body = replace(body, 'echo', 'evil') WHERE seq = ?1";
        room.stranger().execute(sql, [seq as i64]).unwrap();
    };
    change(1);
    assert_eq!(store.verify_since(Some(noted.hash), &mut |_, _| {}).unwrap(), (noted, head));
    change(noted.seq + 2);
    let broken = Broken::Altered { seq: noted.seq + 2 };
    assert_eq!(
        store.verify_since(Some(noted.hash), &mut |_, _| {}),
        Err(VerifyError::Broken(broken))
    );
    let nothing = eclusa::Hash::default();
    assert_eq!(
        store.verify_since(Some(nothing), &mut |_, _| {}),
        Err(VerifyError::NotNoted(nothing))
    );
}

/// Somebody who can write the file chains a record of their own: its hash is right, and it is found out where it
/// could be read in two ways.
#[test]
fn a_record_that_could_be_read_in_two_ways_is_refused_though_its_hash_is_right() {
    let check = |body: &str, expected: Result<(), Broken>| {
        let (_directory, path) = copy(template());
        let head = SqliteStore::open(&path, Options::default()).unwrap().head().unwrap();
        let mut known = head;
        let record = Record::chain(body.to_owned(), &mut known);
        let stranger = stranger(&path);
        let hash = &record.hash.as_bytes()[..];
        let row = params![record.seq as i64, hash, body];
        stranger
            .execute("INSERT INTO records (seq, start, hash, body) VALUES (?1, NULL, ?2, ?3)", row)
            .unwrap();
        let row = params![record.seq as i64, hash];
        stranger.execute("UPDATE head SET seq = ?1, hash = ?2", row).unwrap();
        assert_eq!(verify(&path), expected.map_err(VerifyError::Broken), "{body}");
    };
    let form = || Err(Broken::Form { seq: 13 });
    check(r#"{"event":"sent","tool":"echo","v":2}"#, Ok(()));
    check(r#"{"event":"sent","tool":"echo","tool":"rm","v":2}"#, form());
    check(r#"{"tool":"echo","event":"sent","v":2}"#, form());
    check(r#"{"event":"sent", "tool":"echo","v":2}"#, form());
    check(r#"{"tool":"echo","event":"sent","v":1}"#, Ok(()));
    check(r#"{"tool":"echo","tool":"rm","event":"sent","v":1}"#, form());
}
