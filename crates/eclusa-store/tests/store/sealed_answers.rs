//! Answers are sealed to the question that was asked: whoever only writes into the file gives none.

use eclusa::Answer;
use eclusa_store::SqliteQueue;

use crate::blocking::Blocking as _;
use crate::{
    questions::{asks, park, said},
    room::Room,
};

/// Hole 19: a yes that nobody gave through the queue, or that was given to something else, is none.
/// Shows H19.
#[tokio::test]
async fn an_answer_that_was_written_into_the_file_is_not_taken() {
    let alter = async |sql: &str, answered: bool| {
        let room = Room::new();
        let queue = SqliteQueue::new(room.open());
        park(&queue, &asks()).await.unwrap_err();
        if answered {
            queue.answer(1, Answer::Once, "ann").unwrap();
        }
        drop(queue);
        room.stranger().execute(sql, []).unwrap();
        park(&SqliteQueue::new(room.open()), &asks()).await
    };
    let untouched = alter("UPDATE questions SET changed = changed", true).await;
    assert_eq!(untouched, said(Answer::Once, 1));
    for sql in [
        "UPDATE questions SET seal = NULL",
        "UPDATE questions SET seal = x'00'",
        "UPDATE questions SET answer = 'session'",
        "UPDATE questions SET answer = 'edit', edit = '{}'",
    ] {
        let taken = alter(sql, true).await;
        assert!(!matches!(&taken, Ok(said) if said.answer.is_yes()), "{sql}: {taken:?}");
    }
    let forged = "UPDATE questions SET state = 'approved', answer = 'once', decided_by = 'ann', \
                  decided = created";
    let taken = alter(forged, false).await;
    assert!(!matches!(&taken, Ok(said) if said.answer.is_yes()), "{taken:?}");
}
