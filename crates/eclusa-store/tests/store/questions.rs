//! Questions outlive whoever asked: asked again they are the same, and one yes opens one call.

use std::time::Duration;

use eclusa::audit::Log as _;
use eclusa::{
    Answer, Approver, NotAsked, Question,
    approve::{self, AnswerGiven, GivenAnswer, GivenVote, QuestionPage, QuestionState, QueueError},
};
use eclusa_store::SqliteQueue;
use proptest::prelude::*;

use crate::blocking::Blocking as _;
use crate::{approval_queue::question, room::Room};

const MINUTE: Duration = Duration::from_secs(60);

pub(crate) fn asks() -> Question {
    question(10 * MINUTE)
}

/// Asks without waiting.
pub(crate) async fn park(
    queue: &SqliteQueue,
    question: &Question,
) -> Result<AnswerGiven, NotAsked> {
    queue.submit(question, false).await
}

pub(crate) fn said(answer: Answer, id: u64) -> Result<AnswerGiven, NotAsked> {
    let vote = GivenVote { by: "ann".to_owned(), signed: None, waited: Duration::ZERO };
    let votes = answer.is_yes().then_some(vote).into_iter().collect();
    Ok(AnswerGiven { answer, by: "ann".to_owned(), question: Some(id), votes })
}

#[tokio::test]
async fn whoever_asks_again_gets_the_answer_that_came_meanwhile_once() {
    let room = Room::new();
    let queue = SqliteQueue::new(room.open());
    assert_eq!(park(&queue, &asks()).await, Err(NotAsked::Parked(1)));
    // Another call of another session that asks the same is the same question.
    let again = Question {
        call: "call-2".to_owned(),
        session: "later".to_owned(),
        reason: Some("because".to_owned()),
        ..asks()
    };
    assert_eq!(park(&queue, &again).await, Err(NotAsked::Parked(1)));
    assert!(queue.get(1).unwrap().asker_away);
    queue.answer(1, Answer::Once, "ann").unwrap();
    // Another store on the same file: the process was started anew.
    let queue = SqliteQueue::new(room.open());
    assert_eq!(park(&queue, &again).await, said(Answer::Once, 1));
    assert_eq!(queue.get(1).unwrap().state, QuestionState::Taken);
    assert_eq!(park(&queue, &again).await, Err(NotAsked::Parked(2)), "a yes opens one call");
}

/// A5, A6, A7: a yes to something else, or for somebody else, is not found.
/// Shows A7.
#[tokio::test]
async fn another_principal_or_another_question_does_not_get_the_answer() {
    let room = Room::new();
    let queue = SqliteQueue::new(room.open());
    park(&queue, &asks()).await.unwrap_err();
    queue.answer(1, Answer::Once, "ann").unwrap();
    let other = Question { principal: "agent-8".to_owned(), ..asks() };
    assert_eq!(park(&queue, &other).await, Err(NotAsked::Parked(2)));
    let other = Question { binding: "b2".to_owned(), ..asks() };
    assert_eq!(park(&queue, &other).await, Err(NotAsked::Parked(3)));
    let other = Question { args: serde_json::json!({"command": "ls"}), ..asks() };
    assert_eq!(park(&queue, &other).await, Err(NotAsked::Parked(4)), "it looks otherwise");
    assert_eq!(park(&queue, &asks()).await, said(Answer::Once, 1));
}

#[tokio::test]
async fn a_yes_is_kept_for_its_time_and_then_no_longer() {
    let room = Room::new();
    let queue = SqliteQueue::new(room.open());
    park(&queue, &asks()).await.unwrap_err();
    queue.answer(1, Answer::Once, "ann").unwrap();
    room.clock.forward(10 * MINUTE);
    assert_eq!(queue.get(1).unwrap().state, QuestionState::Expired);
    assert_eq!(park(&queue, &asks()).await, Err(NotAsked::Parked(2)));
    assert_eq!(
        queue.revoke(1, "ann").unwrap_err().to_string(),
        "approval 1 is expired; only one that is approved can be revoked"
    );
}

#[tokio::test]
async fn a_yes_can_be_taken_back_until_it_is_used() {
    let room = Room::new();
    let queue = SqliteQueue::new(room.open());
    park(&queue, &asks()).await.unwrap_err();
    queue.answer(1, Answer::Once, "ann").unwrap();
    queue.revoke(1, "bob").unwrap();
    assert_eq!(queue.get(1).unwrap().state, QuestionState::Revoked);
    assert_eq!(park(&queue, &asks()).await, Err(NotAsked::Parked(2)));
    queue.answer(2, Answer::Once, "ann").unwrap();
    assert_eq!(park(&queue, &asks()).await, said(Answer::Once, 2));
    assert!(matches!(queue.revoke(2, "ann"), Err(QueueError::WrongState { .. })));
    assert_eq!(room.open().head().unwrap().seq, 3, "two answers and what was taken back");
}

#[tokio::test]
async fn a_no_covers_the_same_call_of_the_conversation_for_a_while() {
    let room = Room::new();
    let queue = SqliteQueue::new(room.open());
    park(&queue, &asks()).await.unwrap_err();
    let no = Answer::No("not today".to_owned());
    queue.answer(1, no.clone(), "ann").unwrap();
    assert_eq!(park(&queue, &asks()).await, said(no.clone(), 1));
    assert_eq!(park(&queue, &asks()).await, said(no, 1));
    let elsewhere = Question { session: "another".to_owned(), ..asks() };
    assert_eq!(park(&queue, &elsewhere).await, Err(NotAsked::Parked(2)));
    room.clock.forward(10 * MINUTE);
    assert_eq!(park(&queue, &asks()).await, Err(NotAsked::Parked(3)));
}

#[tokio::test]
async fn whoever_stops_waiting_leaves_the_question_and_whoever_cancels_withdraws_it() {
    let room = Room::new();
    let queue = SqliteQueue::new(room.open()).poll_every(Duration::from_millis(5));
    let question = asks();
    let mut waiter = queue.ask(&question);
    while queue.list().unwrap().is_empty() {
        assert!(futures::poll!(&mut waiter).is_pending());
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert!(!queue.get(1).unwrap().asker_away);
    // The same asked at the same time is another question: both are answered together.
    assert_eq!(park(&queue, &asks()).await, Err(NotAsked::Parked(2)));
    assert_eq!(queue.identical_to(2).unwrap(), [1, 2]);
    drop(waiter);
    while !queue.get(1).unwrap().asker_away {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert_eq!(queue.get(1).unwrap().state, QuestionState::Pending);
    let last = Question { call: "last".to_owned(), binding: "b3".to_owned(), ..asks() };
    park(&queue, &last).await.unwrap_err();
    queue.withdraw(&last);
    while queue.get(3).unwrap().state == QuestionState::Pending {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert_eq!(queue.get(3).unwrap().state, QuestionState::Withdrawn);
    assert_eq!(queue.answer(3, Answer::Once, "ann"), Err(QueueError::Expired(3)));
}

#[tokio::test]
async fn identical_questions_are_answered_together_or_not_at_all() {
    let room = Room::new();
    let queue = SqliteQueue::new(room.open());
    park(&queue, &asks()).await.unwrap_err();
    let other = Question { binding: "b2".to_owned(), ..asks() };
    park(&queue, &other).await.unwrap_err();
    let given = |questions: &[u64], binding: Option<&str>| GivenAnswer {
        questions: questions.to_vec(),
        answer: Answer::Once,
        by: "ann".to_owned(),
        binding: binding.map(str::to_owned),
        signed: None,
    };
    assert_eq!(queue.answer_all(given(&[1, 2], None)), Err(QueueError::Swapped(2)));
    assert_eq!(queue.answer_all(given(&[1], Some("b2"))), Err(QueueError::Swapped(1)));
    assert_eq!(queue.answer_all(given(&[1, 9], None)), Err(QueueError::Unknown(9)));
    assert_eq!(queue.get(1).unwrap().state, QuestionState::Pending);
    queue.answer_all(given(&[1], Some("b1"))).unwrap();
    assert_eq!(approve::Questions::queue(&queue).await.unwrap().len(), 32);
}

/// Ten thousand wait, and everything still works.
#[tokio::test]
async fn ten_thousand_pending_are_listed_in_pages_and_hold_nothing_up() {
    let room = Room::new();
    let queue = SqliteQueue::new(room.open()).poll_every(Duration::from_millis(5));
    park(&queue, &asks()).await.unwrap_err();
    let many = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9999) \
         INSERT INTO questions (principal, conversation, call, binding, shown, question, created, \
         expires, valid, state, changed) SELECT principal, 'c' || i, 'call-' || i, binding || i, \
         shown, json_set(question, '$.binding', binding || i), created, expires, valid, state, \
         i + 1 FROM questions, n";
    room.stranger().execute(many, []).unwrap();
    assert_eq!(approve::Questions::pending(&queue).await.unwrap(), 10_000);
    let page = queue.page(QuestionPage { after: 9_990, limit: 100 }).unwrap();
    assert_eq!(
        page.iter().map(|it| it.id).collect::<Vec<_>>(),
        (9_991..=10_000).collect::<Vec<_>>()
    );
    assert_eq!(queue.list().unwrap().len(), 100);
    let one = Question { binding: "new".to_owned(), ..asks() };
    let answering = async {
        while approve::Questions::pending(&queue).await.unwrap() < 10_001 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        SqliteQueue::new(room.open()).answer(10_001, Answer::Once, "ann").unwrap();
    };
    let (heard, ()) = futures::join!(queue.submit(&one, true), answering);
    assert_eq!(heard, said(Answer::Once, 10_001));
    let (changed, _) = approve::Questions::changes(&queue, 10_000).await.unwrap();
    assert!(changed.contains(&10_001));
}

#[tokio::test]
async fn a_conversation_that_asks_too_much_is_refused() {
    let room = Room::new();
    let queue = SqliteQueue::new(room.open());
    for number in 0..50 {
        let asked = Question { binding: format!("b{number}"), ..asks() };
        assert!(matches!(park(&queue, &asked).await, Err(NotAsked::Parked(_))));
    }
    let more = Question { binding: "more".to_owned(), ..asks() };
    let Err(NotAsked::Failed(why)) = park(&queue, &more).await else { panic!("it was queued") };
    assert_eq!(why, "50 approvals are pending already; answer some of them first");
    let elsewhere = Question { session: "another".to_owned(), ..more };
    assert!(matches!(park(&queue, &elsewhere).await, Err(NotAsked::Parked(_))));
}

/// What happens to the queue in the property below.
#[derive(Debug, Clone)]
enum Step {
    Ask { principal: u8, binding: u8 },
    Answer { question: u64, yes: bool },
    Revoke { question: u64 },
    Withdraw { principal: u8, binding: u8 },
    Wait { minutes: u32 },
    Restart,
}

fn step() -> impl Strategy<Value = Step> {
    let question = 1..8_u64;
    prop_oneof![
        4 => (0..2_u8, 0..2_u8).prop_map(|(principal, binding)| Step::Ask { principal, binding }),
        4 => (question.clone(), any::<bool>())
            .prop_map(|(question, yes)| Step::Answer { question, yes }),
        1 => question.prop_map(|question| Step::Revoke { question }),
        1 => (0..2_u8, 0..2_u8)
            .prop_map(|(principal, binding)| Step::Withdraw { principal, binding }),
        2 => (1..7_u32).prop_map(|minutes| Step::Wait { minutes }),
        1 => Just(Step::Restart),
    ]
}

/// The queue as simply as it can be said: whose question, about what, until when, and a word.
#[derive(Debug, Clone)]
struct Row {
    principal: u8,
    binding: u8,
    word: &'static str,
    until: u64,
}

#[derive(Default)]
struct Model {
    rows: Vec<Row>,
    minute: u64,
}

impl Model {
    fn word(&self, row: &Row) -> &'static str {
        match row.word {
            "pending" | "approved" if row.until <= self.minute => "expired",
            word => word,
        }
    }

    /// What asking brings: `yes`, `no` or `parked`, and the number.
    fn ask(&mut self, principal: u8, binding: u8) -> (&'static str, u64) {
        let (minute, words) =
            (self.minute, self.rows.iter().map(|it| self.word(it)).collect::<Vec<_>>());
        let mut found = (None, None, None);
        for (at, row) in self.rows.iter().enumerate() {
            if (row.principal, row.binding) != (principal, binding) {
                continue;
            }
            match words[at] {
                "rejected" if row.until > minute => found.0 = Some(at),
                "approved" if found.1.is_none() => found.1 = Some(at),
                "pending" if found.2.is_none() => found.2 = Some(at),
                _ => {}
            }
        }
        let number = |at: usize| at as u64 + 1;
        match found {
            (Some(at), _, _) => ("no", number(at)),
            (None, Some(at), _) => {
                self.rows[at].word = "taken";
                ("yes", number(at))
            }
            (None, None, Some(at)) => {
                self.rows[at].until = self.rows[at].until.max(minute + 10);
                ("parked", number(at))
            }
            (None, None, None) => {
                let (word, until) = ("pending", minute + 10);
                self.rows.push(Row { principal, binding, word, until });
                ("parked", self.rows.len() as u64)
            }
        }
    }

    /// Whether an event counts, and what it makes of the question.
    fn change(&mut self, number: u64, from: &str, to: &'static str, minutes: u64) -> bool {
        let at = number as usize - 1;
        let Some(row) = self.rows.get(at).cloned() else { return false };
        let counts = self.word(&row) == from;
        if counts {
            self.rows[at].word = to;
            self.rows[at].until = self.minute + minutes;
        }
        counts
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// Whatever askers, people, clocks and restarts do, the queue does what the model says: no yes
    /// is handed over twice, and none that nobody gave.
    #[test]
    fn the_queue_does_what_the_model_says(steps in prop::collection::vec(step(), 1..40)) {
        let room = Room::new();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let mut queue = SqliteQueue::new(room.open());
        let mut model = Model::default();
        let meant = |principal: u8, binding: u8| Question {
            call: format!("call-{principal}-{binding}"),
            principal: principal.to_string(),
            binding: binding.to_string(),
            ..asks()
        };
        for step in steps {
            match step {
                Step::Ask { principal, binding } => {
                    let heard = runtime.block_on(park(&queue, &meant(principal, binding)));
                    let expected = model.ask(principal, binding);
                    let heard = match heard {
                        Ok(AnswerGiven { answer: Answer::Once, question: Some(id), .. }) => ("yes", id),
                        Ok(AnswerGiven { answer: Answer::No(_), question: Some(id), .. }) => ("no", id),
                        Err(NotAsked::Parked(id)) => ("parked", id),
                        other => panic!("{other:?}"),
                    };
                    prop_assert_eq!(heard, expected);
                }
                Step::Answer { question, yes } => {
                    let (answer, word) = match yes {
                        true => (Answer::Once, "approved"),
                        false => (Answer::No(String::new()), "rejected"),
                    };
                    // Each answer by somebody else, so that none is a repetition.
                    let by = format!("person {}", room.open().head().unwrap().seq);
                    let answered = queue.answer(question, answer, &by).is_ok();
                    prop_assert_eq!(answered, model.change(question, "pending", word, 10));
                }
                Step::Revoke { question } => {
                    let revoked = queue.revoke(question, "ann").is_ok();
                    prop_assert_eq!(revoked, model.change(question, "approved", "revoked", 0));
                }
                Step::Withdraw { principal, binding } => {
                    queue.withdraw(&meant(principal, binding));
                    let mine = |it: &Row| (it.principal, it.binding) == (principal, binding);
                    let open = model.rows.iter().position(|it| mine(it) && model.word(it) == "pending");
                    if let Some(at) = open {
                        model.change(at as u64 + 1, "pending", "withdrawn", 0);
                    }
                }
                Step::Wait { minutes } => {
                    room.clock.forward(minutes * MINUTE);
                    model.minute += u64::from(minutes);
                }
                Step::Restart => queue = SqliteQueue::new(room.open()),
            }
        }
        // By the time this is answered, what was withdrawn last is written.
        prop_assert!(queue.answer(10_000, Answer::Once, "ann").is_err());
        for (at, row) in model.rows.iter().enumerate() {
            let number = at as u64 + 1;
            let state = queue.get(number).unwrap().state;
            prop_assert_eq!(state.as_str(), model.word(row), "question {}", number);
        }
        room.open().verify().unwrap();
    }
}
