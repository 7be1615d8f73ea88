//! What only the inside can bring about: a writer that dies, an answer that is taken twice.

use eclusa::audit::Log as _;
use eclusa::{
    AuditSink,
    audit::{Appending, Draft},
};
use tempfile::TempDir;

use super::*;

fn store() -> (TempDir, SqliteStore) {
    let directory = TempDir::new().unwrap();
    let store = SqliteStore::open(&directory.path().join("store.db"), Options::default()).unwrap();
    (directory, store)
}

fn append(store: &SqliteStore) -> Result<eclusa::audit::Receipt, AuditError> {
    match store.append(Draft::new("{}".to_owned()).unwrap()) {
        Appending::Done(result) => result,
        Appending::Waiting(told) => told.blocking_recv().unwrap(),
    }
}

#[test]
fn a_writer_that_died_refuses_everything() {
    let (_directory, store) = store();
    append(&store).unwrap();
    let died = store.write(|_| -> Result<(), StoreError> { panic!("on purpose") });
    let gone = StoreError::Gone(store.path().to_owned());
    assert_eq!(died, Err(gone.clone()));
    // The queue is closed a moment after whoever waited was told.
    while let Ok(()) = store.queue(writer::task(|_| Ok(()), |_| ())) {
        std::thread::yield_now();
    }
    assert_eq!(append(&store).unwrap_err().to_string(), gone.to_string());
    assert_eq!(store.verify().unwrap().seq, 1, "it can still be read");
    assert_eq!(store.close(), Err(gone));
}

#[test]
fn what_fails_in_a_transaction_leaves_nothing_behind() {
    let (_directory, store) = store();
    let unfit = || StoreError::Unfit("on purpose".to_owned());
    let failed = store.write(move |tx| {
        tx.append(None, "{}".to_owned())?;
        Err::<(), _>(unfit())
    });
    assert_eq!(failed, Err(unfit()));
    assert_eq!(append(&store).unwrap().seq, 1);
    assert_eq!(store.verify().unwrap().seq, 1);
}

#[test]
fn the_writer_may_hold_the_last_clone() {
    let (_directory, store) = store();
    let path = store.path().to_owned();
    let held = store.clone();
    let (go, gone) = mpsc::channel::<()>();
    let job = writer::task(
        |_| Ok(()),
        move |_: Result<(), StoreError>| {
            assert!(gone.recv().is_err());
            drop(held);
        },
    );
    store.queue(job).unwrap();
    drop(store.append(Draft::new("{}".to_owned()).unwrap()));
    drop(store);
    drop(go);
    // The writer is on its own now, and finishes what was queued.
    let again = SqliteStore::open(&path, Options::default()).unwrap();
    while again.head().unwrap().seq == 0 {
        std::thread::yield_now();
    }
    assert_eq!(again.verify().unwrap().seq, 1);
}
