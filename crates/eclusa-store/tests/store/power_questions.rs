//! Questions after a power loss: each step that was told is there, no step is there in part, and no
//! yes opens a second call.

use std::{path::Path, sync::Arc};

use eclusa::audit::Log as _;
use eclusa::{
    Answer, Approver, NotAsked, Question,
    approve::{QuestionState, QueueError, QueuedQuestion},
};
use eclusa_store::{Options, SqliteQueue, SqliteStore};
use serde_json::Value;
use tokio::runtime::Runtime;

use crate::blocking::Blocking as _;
use crate::{
    approval_queue::question,
    child::{Running, say},
    power::{PowerLoss, each_loss},
    room::{HandClock, stranger},
};

/// The question of a round: another call of another session each time.
fn asked(round: u64) -> Question {
    let time = std::time::Duration::from_secs(3600);
    let (binding, session) = (format!("b{round}"), format!("talk {round}"));
    Question { binding, session, ..question(time) }
}

/// By a clock that stands still nothing expires on a slow machine.
fn timeless(options: Options) -> Options {
    Options { clock: Arc::<HandClock>::default(), ..options }
}

/// Asks, answers and takes, and says so each time; every third question is left at each of the
/// earlier steps. Now and then the log is moved to its place, or the store opened anew.
pub(crate) fn questions_for_ever(runtime: &Runtime, path: &Path, options: Options) {
    let options = timeless(options);
    let mut store = SqliteStore::open(path, options.clone()).unwrap();
    for round in 1u64.. {
        let (queue, question) = (SqliteQueue::new(store.clone()), asked(round));
        let parked = runtime.block_on(queue.submit(&question, false));
        assert_eq!(parked.unwrap_err(), NotAsked::Parked(round));
        say(&format!("pending {round}"));
        if round % 3 > 0 {
            queue.answer(round, Answer::Once, "ann").unwrap();
            say(&format!("approved {round}"));
        }
        if round % 3 > 1 {
            runtime.block_on(queue.submit(&question, false)).unwrap();
            say(&format!("taken {round}"));
        }
        if round % 7 == 0 {
            let mover = stranger(path);
            mover.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(())).unwrap();
        }
        if round % 17 == 0 {
            drop(queue);
            store.close().unwrap();
            store = SqliteStore::open(path, options.clone()).unwrap();
        }
    }
}

const STEPS: [&str; 3] = ["pending", "approved", "taken"];

/// `STEP ID`, as the child says it: how far that question has come.
fn step(said: &str) -> Option<(u64, usize)> {
    let (word, id) = said.split_once(' ')?;
    Some((id.parse().ok()?, STEPS.iter().position(|it| *it == word)?))
}

/// How far a question has come. What its row and the log say of it must fit together.
#[expect(clippy::panic, reason = "it is how a test says what it found")]
fn whole(queued: &QueuedQuestion, records: &[Value]) -> usize {
    let id = queued.id;
    let events = records.iter().filter(|it| it["approval"]["question"] == id);
    let events: Vec<&str> = events.map(|it| it["event"].as_str().unwrap()).collect();
    let answered = (queued.answer.as_deref(), queued.decided_by.as_deref());
    let decided = [queued.decided_at.is_some(), queued.taken_at.is_some()];
    let args = queued.question.args == asked(id).args;
    let found = (queued.state, answered, decided, args, events.as_slice());
    let yes = (Some("once"), Some("ann"));
    match found {
        (QuestionState::Pending, (None, None), [false, false], true, []) => 0,
        (QuestionState::Approved, it, [true, false], true, ["answered"]) if it == yes => 1,
        (QuestionState::Taken, it, [true, true], false, ["answered"]) if it == yes => 2,
        _ => panic!("question {id} is there in part: {found:?}"),
    }
}

/// Looks at every question that is left, and asks it again, twice.
#[expect(clippy::panic, reason = "it is how a test says what it found")]
fn look(runtime: &Runtime, store: &SqliteStore, told: &[(u64, usize)]) {
    store.verify().unwrap();
    let queue = SqliteQueue::new(store.clone());
    let records = store.records(0, 100_000).unwrap();
    let records: Vec<Value> =
        records.iter().map(|it| serde_json::from_str(&it.body).unwrap()).collect();
    let questions: Vec<QueuedQuestion> = (1..)
        .map(|id| queue.get(id))
        .take_while(|it| !matches!(it, Err(QueueError::Unknown(_))))
        .map(Result::unwrap)
        .collect();
    let steps: Vec<usize> = questions.iter().map(|it| whole(it, &records)).collect();
    for &(id, step) in told {
        let found = steps.get(usize::try_from(id).unwrap() - 1);
        let word = STEPS[step];
        assert!(found.is_some_and(|it| *it >= step), "question {id} was {word}: {found:?}");
    }
    for (id, step) in (1u64..).zip(steps) {
        let ask = || runtime.block_on(queue.submit(&asked(id), false));
        match (step, ask()) {
            (0, Err(NotAsked::Parked(same))) => assert_eq!(same, id, "it still waits"),
            (1, Ok(said)) => {
                assert_eq!((said.question, said.answer), (Some(id), Answer::Once));
            }
            (2, Err(NotAsked::Parked(other))) => assert_ne!(other, id, "its yes was used"),
            (_, other) => panic!("question {id}, {}, asked again: {other:?}", STEPS[step]),
        }
        if step > 0 {
            assert!(
                matches!(ask(), Err(NotAsked::Parked(other)) if other != id),
                "one yes, one call"
            );
        }
    }
}

/// Who dies when, the machine: rows are there whole or not at all, and what was told is there.
#[test]
fn questions_are_whole_after_a_power_loss_and_no_yes_opens_two_calls() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    for kill_after in [1, 2, 3, 4, 5, 6, 7, 40, 120] {
        let loss = PowerLoss::new();
        let mut child = Running::start(loss.command("questions-for-ever", "power-loss"));
        let mut said: Vec<String> = (0..kill_after).map(|_| child.next().unwrap()).collect();
        said.extend(child.kill());
        let told: Vec<(u64, usize)> = said.iter().filter_map(|it| step(it)).collect();
        assert!(told.len() >= kill_after, "{said:?}");
        each_loss(&loss, |left| {
            let store = SqliteStore::open(left, timeless(Options::default())).unwrap();
            look(&runtime, &store, &told);
        });
    }
}
