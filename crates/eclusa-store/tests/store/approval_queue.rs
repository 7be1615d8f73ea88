//! Questions that wait for people: one decision wins, late ones do not count, and nobody forgets.

use std::time::Duration;

use eclusa::audit::Log as _;
use eclusa::{
    Answer, Approver, Decision, Grant, Hash, NotAsked, PermissionClass, Question, Reason, Source,
    Touch, Verdict,
    approve::{GrantScope, Preview, QuestionState, QueueError, QueuedQuestion},
    preflight::{Advice, ReverseThinkingReport},
};
use eclusa_store::{SqliteQueue, SqliteStore};
use serde_json::json;
use tokio::task::JoinHandle;

use crate::blocking::Blocking as _;
use crate::room::Room;

/// A question with something in every field.
pub(crate) fn question(time: Duration) -> Question {
    Question {
        call: "call-1".to_owned(),
        tool: "shell".to_owned(),
        server: Some("far-away".to_owned()),
        class: PermissionClass::Shell,
        args: json!({ "command": "rm -rf build/", "n": 1.5 }),
        shown_args: Some(json!({ "command": "rm -rf [redacted:x]", "n": 1.5 })),
        touches: vec![Touch::Run("rm -rf build/".to_owned()), Touch::Unknown],
        verdict: Verdict::from_reasons(vec![Reason {
            decision: Decision::Ask,
            source: Source::Rule,
            origin: "eclusa.toml:3".into(),
            text: "removal is asked about".to_owned().into(),
        }]),
        reason: Some("to start afresh".to_owned()),
        destructive: true,
        reverse_thinking: Some(ReverseThinkingReport {
            hidden_assumptions: vec!["build/ can be made again".to_owned()],
            failure_scenarios: vec!["it cannot".to_owned()],
            verdict: Advice::Ask,
            verdict_reason: "look first".to_owned(),
        }),
        about: eclusa::approve::QuestionAbout::Changes(Preview {
            summary: "1 file changed, +1 -0".to_owned(),
            diff: "made a\n+ x\n".to_owned(),
            whole: true,
            choices: vec![("a".into(), "made a\n+ x\n".to_owned())],
        }),
        binding: "b1".to_owned(),
        grant: Some(Grant {
            tool: "shell".to_owned(),
            revision: "r1".to_owned(),
            args: Some(Hash::sha256(b"rm")),
            scope: Some(GrantScope {
                commands: vec!["rm x $".to_owned()],
                ..GrantScope::default()
            }),
        }),
        can_always: false,
        task: Some("reviewer".to_owned()),
        principal: "agent-7".to_owned(),
        session: "talk".to_owned(),
        time,
        keep: time,
        pending: None,
    }
}

/// A queue where somebody waits for an answer.
struct Asked {
    room: Room,
    queue: SqliteQueue,
    waiter: JoinHandle<Result<Answer, NotAsked>>,
    queued: QueuedQuestion,
}

async fn asked() -> Asked {
    let room = Room::new();
    let queue = SqliteQueue::new(room.open()).poll_every(Duration::from_millis(5));
    let waiting = queue.clone();
    let waiter = tokio::spawn(async move { waiting.ask(&question(Duration::from_secs(60))).await });
    let queued = loop {
        match queue.list().unwrap().pop() {
            Some(queued) => break queued,
            None => tokio::time::sleep(Duration::from_millis(1)).await,
        }
    };
    Asked { room, queue, waiter, queued }
}

#[tokio::test]
async fn a_person_sees_the_whole_question() {
    let Asked { room: _room, queued, .. } = asked().await;
    assert_eq!(
        format!("{:?}", queued.question).replace("Static(", "Shared("),
        format!("{:?}", question(Duration::from_secs(60))).replace("Static(", "Shared(")
    );
    assert_eq!((queued.created, queued.expires), (1_000_000, 1_060_000));
    assert_eq!(queued.state, QuestionState::Pending);
}

#[tokio::test]
async fn every_answer_reaches_whoever_waits() {
    for answer in [
        Answer::Once,
        Answer::Session,
        Answer::Always,
        Answer::Edit(json!({ "command": "ls" })),
        Answer::No("not on a Friday".to_owned()),
        Answer::Abort,
    ] {
        let Asked { room: _room, queue, waiter, queued, .. } = asked().await;
        queue.answer(queued.id, answer.clone(), "ann").unwrap();
        assert_eq!(waiter.await.unwrap(), Ok(answer));
        assert!(queue.list().unwrap().is_empty());
    }
}

/// The answer comes from another process: here, from another store on the same file.
#[tokio::test]
async fn an_answer_from_elsewhere_reaches_whoever_waits() {
    let Asked { room, waiter, queued, .. } = asked().await;
    SqliteQueue::new(room.open()).answer(queued.id, Answer::Once, "ann").unwrap();
    assert_eq!(waiter.await.unwrap(), Ok(Answer::Once));
}

/// A15: who decided, and why not, is kept; S0.34: and it is in the log.
/// Shows A15.
#[tokio::test]
async fn who_said_no_and_why_is_kept_and_on_record() {
    let Asked { room, queue, waiter, queued, .. } = asked().await;
    queue.answer(queued.id, Answer::No("not on a Friday".to_owned()), "ann").unwrap();
    waiter.await.unwrap().unwrap();
    let kept = SqliteQueue::new(room.open()).get(queued.id).unwrap();
    assert_eq!(kept.state, QuestionState::Rejected);
    assert_eq!(kept.decided_by.as_deref(), Some("ann"));
    assert_eq!(kept.reason.as_deref(), Some("not on a Friday"));
    assert_eq!(kept.decided_at, Some(1_000_000));
    let store = room.open();
    let records = store.find("call-1").unwrap();
    let body: serde_json::Value = serde_json::from_str(&records[0].body).unwrap();
    assert_eq!(body["event"], "answered");
    assert_eq!(
        body["approval"],
        json!({ "answer": "no", "binding": "b1", "by": "ann", "proof": "word", "question": 1 })
    );
    assert_eq!(body["reason"], "not on a Friday");
    assert_eq!(store.verify().unwrap().seq, 1);
}

/// Shows A15.
#[tokio::test]
async fn an_unknown_question_is_said_to_be_unknown() {
    let Asked { room: _room, queue, queued, .. } = asked().await;
    assert_eq!(queue.answer(99, Answer::Once, "ann"), Err(QueueError::Unknown(99)));
    assert_eq!(queue.get(u64::MAX).unwrap_err(), QueueError::Unknown(u64::MAX));
    assert_eq!(queue.answer(queued.id, Answer::Once, " "), Err(QueueError::Nameless));
}

/// Shows A14.
#[tokio::test]
async fn the_same_answer_again_is_fine_and_another_is_a_conflict() {
    let Asked { room, queue, waiter, queued } = asked().await;
    let id = queued.id;
    queue.answer(id, Answer::Once, "ann").unwrap();
    queue.answer(id, Answer::Once, "ann").unwrap();
    assert_eq!(waiter.await.unwrap(), Ok(Answer::Once));
    queue.answer(id, Answer::Once, "ann").unwrap();
    let decided = QueueError::Decided {
        id,
        state: QuestionState::Taken,
        answer: "once".to_owned(),
        by: "ann".to_owned(),
    };
    let no = Answer::No(String::new());
    assert_eq!(queue.answer(id, no, "ann"), Err(decided.clone()));
    assert_eq!(queue.answer(id, Answer::Once, "bob"), Err(decided.clone()));
    assert_eq!(queue.answer(id, Answer::Always, "ann"), Err(decided.clone()));
    assert_eq!(decided.to_string(), "approval 1 is already taken: `ann` answered `once`");
    assert_eq!(room.open().head().unwrap().seq, 1, "one decision, one record");
}

/// Shows A14.
#[tokio::test]
async fn of_many_decisions_at_once_exactly_one_wins() {
    let Asked { room, waiter, queued, .. } = asked().await;
    let stores: Vec<SqliteStore> = (0..4).map(|_| room.open()).collect();
    let people: Vec<_> = (0..16)
        .map(|person: usize| {
            let queue = SqliteQueue::new(stores[person % 4].clone());
            std::thread::spawn(move || {
                let answer = match person % 2 {
                    0 => Answer::Once,
                    _ => Answer::No(format!("says {person}")),
                };
                let said = queue.answer(queued.id, answer.clone(), &format!("person {person}"));
                said.map(|()| answer)
            })
        })
        .collect();
    let mut won = Vec::new();
    for person in people {
        match person.join().unwrap() {
            Ok(answer) => won.push(answer),
            Err(err) => assert!(matches!(err, QueueError::Decided { .. }), "{err}"),
        }
    }
    assert_eq!(won.len(), 1);
    assert_eq!(waiter.await.unwrap(), Ok(won.remove(0)));
}

/// A2, A9: the answer is taken once, and then the arguments are not kept any longer.
/// Shows A9.
#[tokio::test]
async fn an_answer_is_taken_once() {
    let Asked { room: _room, queue, waiter, queued, .. } = asked().await;
    queue.answer(queued.id, Answer::Edit(json!({ "command": "ls" })), "ann").unwrap();
    waiter.await.unwrap().unwrap();
    let over = queue.get(queued.id).unwrap();
    assert_eq!(over.taken_at, Some(1_000_000));
    assert_eq!(over.question.args, json!(null));
    assert_eq!(over.question.binding, "b1");
    // The same answer again is still the same answer.
    queue.answer(queued.id, Answer::Edit(json!({ "command": "ls" })), "ann").unwrap();
}

/// A4: nobody has swept anything up, and it is too late all the same.
/// Shows A4.
#[tokio::test]
async fn an_answer_after_the_expiry_is_refused() {
    let room = Room::new();
    // Whoever asked looks for an answer only once an hour.
    let queue = SqliteQueue::new(room.open()).poll_every(Duration::from_secs(3600));
    let asked = question(Duration::from_secs(60));
    let mut waiter = queue.ask(&asked);
    while queue.list().unwrap().is_empty() {
        assert!(futures::poll!(&mut waiter).is_pending());
    }
    room.clock.forward(Duration::from_secs(60));
    assert!(queue.list().unwrap().is_empty());
    assert_eq!(queue.get(1).unwrap().state, QuestionState::Expired);
    assert_eq!(queue.answer(1, Answer::Once, "ann"), Err(QueueError::Expired(1)));
    assert_eq!(queue.answer(1, Answer::Once, "ann"), Err(QueueError::Expired(1)));
    assert_eq!(queue.get(1).unwrap().state, QuestionState::Expired);
    assert_eq!(room.open().head().unwrap().seq, 0, "no decision is on record");
}

/// Shows A4.
#[tokio::test]
async fn what_nobody_answers_is_a_no() {
    let Asked { room, queue, waiter, queued } = asked().await;
    room.clock.forward(Duration::from_secs(61));
    let expired = "nobody answered before the question expired".to_owned();
    assert_eq!(waiter.await.unwrap(), Err(NotAsked::Failed(expired)));
    assert_eq!(queue.get(queued.id).unwrap().state, QuestionState::Expired);
}

#[tokio::test]
async fn a_queue_that_cannot_be_written_says_so() {
    let room = Room::new();
    drop(room.open());
    let queue = SqliteQueue::new(SqliteStore::open_read_only(&room.path()).unwrap());
    let Err(NotAsked::Failed(why)) = queue.ask(&question(Duration::from_secs(1))).await else {
        panic!("it was asked");
    };
    assert!(why.contains("for reading only"), "{why}");
}
