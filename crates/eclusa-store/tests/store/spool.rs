//! Texts that were too long for a model.

use eclusa::Spool;
use eclusa::audit::Log as _;
use eclusa_store::{Options, SqliteStore};

use crate::room::Room;

fn store(room: &Room, spool_bytes: u64) -> SqliteStore {
    SqliteStore::open(&room.path(), Options { spool_bytes, ..room.options() }).unwrap()
}

#[tokio::test]
async fn a_kept_text_is_read_by_reference_and_range_after_a_restart() {
    let room = Room::new();
    let reference = store(&room, 1000).keep("grüße an alle".to_owned()).await.unwrap();
    let store = store(&room, 1000);
    assert_eq!(store.read(&reference, 0..usize::MAX).await.unwrap(), "grüße an alle");
    assert_eq!(store.read(&reference, 3..8).await.unwrap(), "ße ");
    assert_eq!(store.read(&reference, 90..99).await.unwrap(), "");
    let unknown = store.read("out-0", 0..1).await.unwrap_err();
    assert_eq!(unknown.kind(), std::io::ErrorKind::NotFound);
    assert_eq!(unknown.to_string(), "no saved output `out-0` (unknown or expired)");
}

#[tokio::test]
async fn the_same_text_is_kept_once() {
    let room = Room::new();
    let store = store(&room, 10);
    let first = store.keep("12345678".to_owned()).await.unwrap();
    let again = store.keep("12345678".to_owned()).await.unwrap();
    assert_eq!(first, again);
    assert_eq!(store.head().unwrap().seq, 0, "nothing had to go");
}

#[tokio::test]
async fn the_oldest_texts_make_room_and_a_record_says_so() {
    let room = Room::new();
    let store = store(&room, 10);
    let first = store.keep("aaaa".to_owned()).await.unwrap();
    let second = store.keep("bbbb".to_owned()).await.unwrap();
    store.keep("aaaa".to_owned()).await.unwrap(); // kept again: now the newer one
    let third = store.keep("cccc".to_owned()).await.unwrap();
    assert!(store.read(&second, 0..9).await.is_err());
    assert_eq!(store.read(&first, 0..9).await.unwrap(), "aaaa");
    assert_eq!(store.read(&third, 0..9).await.unwrap(), "cccc");
    let record = store.last(1).unwrap().remove(0);
    let body: serde_json::Value = serde_json::from_str(&record.body).unwrap();
    assert_eq!(body["event"], "spool-dropped");
    assert_eq!(body["dropped"], serde_json::json!([second]));
    assert_eq!(store.verify().unwrap().seq, 1);
}

/// S1.22, E10: a text that nobody can hold is written and read piece by piece.
#[tokio::test]
async fn a_text_in_pieces_is_kept_whole_and_makes_room_like_others() {
    let room = Room::new();
    let kept = store(&room, 40);
    let keep = |pieces: &[&str]| {
        let mut pieces = pieces.iter().map(|it| Ok((*it).to_owned()));
        kept.keep_pieces(&mut pieces)
    };
    let first = keep(&["grüße ", "an ", "alle, ", "überall"]).unwrap();
    let whole = "grüße an alle, überall";
    assert_eq!(first, <dyn Spool>::reference(whole));
    assert_eq!(kept.read(&first, 0..usize::MAX).await.unwrap(), whole);
    assert_eq!(kept.read(&first, 3..8).await.unwrap(), "ße ");
    assert_eq!(kept.read(&first, 18..19).await.unwrap(), "");
    let long = keep(&["x"; 41]).unwrap_err();
    assert_eq!(long.to_string(), "the output is longer than the 40 bytes that are saved");
    let mut broken =
        [Ok("a".to_owned()), Err(std::io::Error::other("the disk is gone"))].into_iter();
    assert_eq!(kept.keep_pieces(&mut broken).unwrap_err().to_string(), "the disk is gone");
    let second = keep(&["another one, just as ", "long"]).unwrap();
    assert!(kept.read(&first, 0..9).await.is_err(), "dropped to make room");
    assert_eq!(kept.read(&second, 0..7).await.unwrap(), "another");
    // Nothing is left of what was dropped, refused or broken off.
    let files = std::fs::read_dir(room.path().with_extension("outputs")).unwrap();
    let names: Vec<_> = files.map(|it| it.unwrap().file_name()).collect();
    assert_eq!(names, [second.as_str()]);
}

#[tokio::test]
async fn a_text_that_can_never_fit_is_refused() {
    let room = Room::new();
    let store = store(&room, 10);
    let kept = store.keep("bbbb".to_owned()).await.unwrap();
    let refused = store.keep("12345678901".to_owned()).await.unwrap_err();
    assert_eq!(refused.to_string(), "the output has 11 bytes, and at most 10 are saved");
    assert!(store.read(&kept, 0..9).await.is_ok(), "nothing was dropped for it");
}

#[tokio::test]
async fn a_kept_text_that_was_changed_is_not_handed_out() {
    let room = Room::new();
    let store = store(&room, 1000);
    let reference = store.keep("the truth".to_owned()).await.unwrap();
    room.stranger().execute_batch("UPDATE spool SET text = x'6c6965'").unwrap();
    let refused = store.read(&reference, 0..9).await.unwrap_err();
    assert_eq!(refused.to_string(), format!("the saved output `{reference}` is damaged"));
}

#[tokio::test]
async fn a_store_for_reading_keeps_nothing() {
    let room = Room::new();
    drop(store(&room, 1000));
    let reader = SqliteStore::open_read_only(&room.path()).unwrap();
    assert!(
        reader.keep("x".to_owned()).await.unwrap_err().to_string().contains("for reading only")
    );
}
