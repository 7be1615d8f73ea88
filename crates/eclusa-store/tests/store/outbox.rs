//! Notifications that wait to be sent: nobody sends one twice, failed ones come back, and none outlives
//! its question.

use eclusa::audit::Log as _;
use eclusa::store::ApprovalQueue as _;
use std::{sync::Arc, time::Duration};

use eclusa::{
    Answer, Approver, Question, Reason, ReasonId, Verdict,
    approve::{
        Escalation, GivenAnswer, NotificationEvent, NotificationTarget, Outbox, Proof, Questions,
        Requirement,
    },
};
use eclusa_store::SqliteQueue;
use futures::executor::block_on;

use crate::blocking::Blocking as _;
use crate::{approval_queue::question, room::Room};

const SECOND: Duration = Duration::from_secs(1);

fn asks() -> Question {
    question(600 * SECOND)
}

/// A queue that tells two, the second ten seconds later.
fn telling(room: &Room) -> SqliteQueue {
    let target =
        |name: &str, after| NotificationTarget { name: name.to_owned(), after, answers: false };
    let targets = vec![target("phone", Duration::ZERO), target("team", 10 * SECOND)];
    SqliteQueue::new(room.open()).notifying(targets)
}

/// Whom the claimed ones are for.
async fn claimed(queue: &SqliteQueue) -> Vec<(u64, String)> {
    let claimed = Outbox::claim(queue).await.unwrap();
    claimed.into_iter().map(|it| (it.id, it.target)).collect()
}

#[tokio::test]
async fn a_notification_is_claimed_once_and_comes_back_when_it_failed_also_after_a_restart() {
    let room = Room::new();
    let queue = telling(&room);
    queue.submit(&asks(), false).await.unwrap_err();
    let phone = vec![(1, "phone".to_owned())];
    assert_eq!(claimed(&queue).await, phone);
    assert_eq!(claimed(&queue).await, [], "somebody sends it");
    let queue = telling(&room);
    assert_eq!(claimed(&queue).await, [], "also for a process that was just started");
    queue.note_attempt(1, Err("no route".to_owned())).await.unwrap();
    assert_eq!(claimed(&queue).await, []);
    room.clock.forward(SECOND);
    assert_eq!(claimed(&queue).await, phone, "a second later");
    let failed = queue.failed_notifications().await.unwrap();
    assert_eq!((failed[0].target.as_str(), failed[0].attempts), ("phone", 2));
    assert_eq!(failed[0].error, "no route");
    queue.note_attempt(1, Err("no route".to_owned())).await.unwrap();
    room.clock.forward(SECOND);
    assert_eq!(claimed(&queue).await, [], "two seconds the second time");
    room.clock.forward(SECOND);
    // Whoever claimed it and died: a minute later somebody else does.
    assert_eq!(claimed(&queue).await, phone);
    room.clock.forward(60 * SECOND);
    let both = claimed(&queue).await;
    assert_eq!(both.len(), 2, "{both:?}");
    for (id, _) in both {
        queue.note_attempt(id, Ok(())).await.unwrap();
    }
    room.clock.forward(120 * SECOND);
    assert_eq!(claimed(&queue).await, []);
    assert_eq!(queue.next_due().await.unwrap(), None);
    assert_eq!(queue.failed_notifications().await.unwrap(), []);
}

#[tokio::test]
async fn nobody_is_told_of_what_was_answered_and_nobody_twice_of_what_is_asked_again() {
    let room = Room::new();
    let queue = telling(&room);
    queue.submit(&asks(), false).await.unwrap_err();
    queue.submit(&asks(), false).await.unwrap_err();
    let due = Outbox::claim(&queue).await.unwrap();
    assert_eq!(due.len(), 1, "asked again it is the same question");
    assert_eq!((due[0].event, due[0].question.id), (NotificationEvent::Asked, 1));
    queue.note_attempt(due[0].id, Ok(())).await.unwrap();
    queue.answer_all(GivenAnswer::new(vec![1], Answer::No(String::new()), "ann")).unwrap();
    room.clock.forward(10 * SECOND);
    assert_eq!(claimed(&queue).await, [], "it was answered before the second was told");
    assert_eq!(queue.next_due().await.unwrap(), None, "and it is forgotten");
}

#[tokio::test]
async fn others_are_told_when_they_may_answer_too() {
    let room = Room::new();
    let requires = Requirement {
        of: vec!["release".to_owned()],
        need: 1,
        with: Proof::Word,
        separate: false,
        within: None,
        then: vec![Escalation { after: 300 * SECOND, of: vec!["leads".to_owned()] }],
    };
    let reason = asks().verdict.because[0].clone();
    let written_at = "eclusa.toml:3".to_owned().into();
    let origin = ReasonId::Rule { id: None, written_at, requires: Some(Arc::new(requires)) };
    let verdict = Verdict::from_reasons(vec![Reason { origin, ..reason }]);
    let queue = telling(&room);
    queue.submit(&Question { verdict, ..asks() }, false).await.unwrap_err();
    room.clock.forward(299 * SECOND);
    assert_eq!(claimed(&queue).await.len(), 2);
    room.clock.forward(SECOND);
    let due = Outbox::claim(&queue).await.unwrap();
    let escalated = due.iter().filter(|it| it.event == NotificationEvent::Escalated);
    assert_eq!(escalated.map(|it| it.target.as_str()).collect::<Vec<_>>(), ["phone"]);
    let kept = due[0].question.question.verdict.requirements().next().unwrap().clone();
    assert_eq!(kept.then[0].of, ["leads"], "it is kept with the question");
}

/// Counted by many processes at once, an allowance is used exactly as often as it says.
#[test]
fn an_allowance_is_exact_however_many_use_it_at_once() {
    let room = Room::new();
    let queue = SqliteQueue::new(room.open());
    let id = block_on(queue.propose("[[rules]]", 10, 2_000_000, "ann")).unwrap();
    let taken: usize = std::thread::scope(|scope| {
        let takers = (0..6).map(|_| {
            let queue = SqliteQueue::new(room.open());
            scope.spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
                let take = || runtime.block_on(queue.take_allowance(id)).unwrap();
                (0..5).filter(|_| take()).count()
            })
        });
        let takers: Vec<_> = takers.collect();
        takers.into_iter().map(|it| it.join().unwrap()).sum()
    });
    assert_eq!(taken, 10);
    assert_eq!(block_on(queue.allowances()).unwrap()[0].used, 10);
    let next = block_on(queue.propose("[[rules]]", 10, 2_000_000, "ann")).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let take = || runtime.block_on(queue.take_allowance(next)).unwrap();
    assert!(take());
    room.clock.forward(1_000 * SECOND);
    assert!(!take(), "its time is over");
    assert!(block_on(queue.revoke_allowance(next, "bob")).unwrap());
    assert!(!block_on(queue.revoke_allowance(next, "bob")).unwrap());
    assert_eq!(block_on(queue.live_allowances()).unwrap(), []);
    room.open().verify().unwrap();
}
