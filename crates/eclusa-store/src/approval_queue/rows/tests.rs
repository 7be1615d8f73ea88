//! Answers that were written past the queue, and many who take one answer.

use super::{
    super::park::{ParkOutcome, park},
    *,
};

fn asked() -> QuestionRow {
    QuestionRow {
        principal: "p".to_owned(),
        session: "t".to_owned(),
        call: "c".to_owned(),
        binding: "b".to_owned(),
        shown: Hash::sha256(b"shown"),
        question: "{\"args\":1}".to_owned(),
        pending: None,
    }
}

fn sealed(asked: &QuestionRow, answer: Hash) -> Vec<u8> {
    seal(&asked.binding, asked.shown, answer)
}

/// Writes a yes into the table, past the queue.
fn approve(store: &SqliteStore, sealed: Vec<u8>) {
    let sql = "UPDATE questions SET state = 'approved', answer = 'once', seal = ?1, decided = 4, \
               decided_by = 'x'";
    let update =
        move |tx: &mut Transaction<'_>| tx.connection.execute(sql, [sealed]).in_store(tx.path);
    assert_eq!(store.write(update), Ok(1));
}

fn parked(store: &SqliteStore) -> String {
    match store.write(|tx| park(tx, &asked(), &[], 0, 9, 9, true)).unwrap() {
        ParkOutcome::Waiting { nonce, .. } => nonce,
        _ => panic!("it is not queued"),
    }
}

/// A yes that nobody gave to this very question does not count.
#[test]
fn an_answer_to_another_question_is_not_handed_over() {
    let answer = AnswerColumns::new(&Answer::Once).sha256;
    let other = QuestionRow { binding: "other".to_owned(), ..asked() };
    let shown = QuestionRow { shown: Hash::sha256(b"something else"), ..asked() };
    for forged in [
        Vec::new(),
        answer.as_bytes().to_vec(),
        sealed(&other, answer),
        sealed(&shown, answer),
        sealed(&asked(), AnswerColumns::new(&Answer::Always).sha256),
    ] {
        let directory = tempfile::TempDir::new().unwrap();
        let path = directory.path().join("store.db");
        let store = SqliteStore::open(&path, crate::Options::default()).unwrap();
        let nonce = parked(&store);
        approve(&store, forged);
        let taken = store.write(move |tx| take(tx, 1, &nonce, &asked(), 5));
        assert!(matches!(taken, Err(StoreError::Damaged { .. })), "{taken:?}");
    }
}

/// A9: of many that take one answer at once, exactly one gets it; A7: another principal, or one
/// who does not hold the question, never does.
/// Shows A9.
#[test]
fn of_many_takers_exactly_one_gets_the_answer() {
    let directory = tempfile::TempDir::new().unwrap();
    let path = directory.path().join("store.db");
    let open = || SqliteStore::open(&path, crate::Options::default()).unwrap();
    let nonce = parked(&open());
    let sha256 = AnswerColumns::new(&Answer::Once).sha256;
    approve(&open(), sealed(&asked(), sha256));
    let other = QuestionRow { principal: "q".to_owned(), ..asked() };
    let with = nonce.clone();
    assert_eq!(open().write(move |tx| take(tx, 1, &with, &other, 5)), Ok(None));
    assert_eq!(open().write(|tx| take(tx, 1, "guessed", &asked(), 5)), Ok(None));
    let takers: Vec<_> = (0..8)
        .map(|_| {
            let (store, nonce) = (open(), nonce.clone());
            std::thread::spawn(move || {
                store.write(move |tx| take(tx, 1, &nonce, &asked(), 5)).unwrap()
            })
        })
        .collect();
    let took: Vec<_> = takers.into_iter().filter_map(|taker| taker.join().unwrap()).collect();
    assert_eq!(took, [(Answer::Once, "x".to_owned(), Vec::new())]);
}
