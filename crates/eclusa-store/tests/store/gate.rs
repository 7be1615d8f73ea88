//! A gate whose log, spool and approval queue are one store.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use eclusa::audit::Log as _;
use eclusa::{
    Answer, CallView, Decision, Facts, Gate, Job, Limits, OnNoApprover, Output, Policy, Reason,
    Registry, Reply, Scene, Source, Tool, ToolCall, ToolError, Touch, Verdict,
    approve::QuestionState,
};
use eclusa_store::{SqliteQueue, SqliteStore};
use futures::future::BoxFuture;
use serde_json::{Value, json};

use crate::blocking::Blocking as _;
use crate::room::Room;

/// Says what it was given, and counts how often it ran.
struct Echo(Arc<AtomicUsize>);

impl Tool for Echo {
    fn name(&self) -> &str {
        "echo"
    }
    fn description(&self, _: &Scene) -> String {
        "Says it again.".to_owned()
    }
    fn input_schema(&self) -> Value {
        json!({ "type": "object", "properties": { "text": { "type": "string" } } })
    }
    fn facts(&self) -> Facts {
        Facts::default()
    }
    fn touches(&self, _: &Value) -> Vec<Touch> {
        Vec::new()
    }
    fn run<'a>(&'a self, job: &'a Job) -> BoxFuture<'a, Result<Output, ToolError>> {
        self.0.fetch_add(1, Ordering::SeqCst);
        let text = job.args()["text"].as_str().unwrap_or_default().to_owned();
        Box::pin(std::future::ready(Ok(Output::text(text))))
    }
}

/// Asks about everything, or allows everything.
struct All(Decision);

impl Policy for All {
    fn judge(&self, _: &CallView<'_>) -> Verdict {
        let (origin, text) = ("test".into(), "the test says so".into());
        Verdict::from_reasons(vec![Reason { decision: self.0, source: Source::Rule, origin, text }])
    }
}

struct World {
    room: Room,
    gate: Gate,
    ran: Arc<AtomicUsize>,
}

impl World {
    fn new(decision: Decision) -> World {
        let (room, ran) = (Room::new(), Arc::new(AtomicUsize::new(0)));
        let store = room.open();
        let registry = Registry::new();
        registry.add(Echo(ran.clone())).unwrap();
        let mut setup = Gate::builder()
            .registry(registry)
            .policy(All(decision))
            .log(Arc::new(store.clone()))
            .on_no_approver(OnNoApprover::Queue)
            .spool(Arc::new(store.clone()));
        let queue = SqliteQueue::new(store).poll_every(Duration::from_millis(5));
        setup = setup.approval_queue(Arc::new(queue));
        setup = setup.limits(Limits { output: 100, ..Limits::default() });
        World { room, gate: setup.build().unwrap(), ran }
    }

    async fn pass(&self, text: &str) -> Reply {
        self.gate.pass(ToolCall::new("call-1", "echo", json!({ "text": text }))).await
    }

    /// Somebody elsewhere answers the question that waits.
    async fn pass_answered(&self, text: &str, answer: Answer) -> Reply {
        let queue = SqliteQueue::new(self.room.open());
        let answering = async {
            while queue.list().unwrap().is_empty() {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            let queued = queue.list().unwrap().remove(0);
            assert_eq!(queued.question.args, json!({ "text": text }));
            queue.answer(queued.id, answer, "ann").unwrap();
        };
        let (reply, ()) = futures::join!(self.pass(text), answering);
        assert_ne!(queue.get(1).unwrap().taken_at, None);
        reply
    }
}

fn events(store: &SqliteStore) -> Vec<String> {
    store.verify().unwrap();
    let event = |record: &eclusa::Record| -> String {
        let body: Value = serde_json::from_str(&record.body).unwrap();
        body["event"].as_str().unwrap().to_owned()
    };
    store.records(0, 100).unwrap().iter().map(event).collect()
}

#[tokio::test]
async fn a_call_is_on_record_from_start_to_end() {
    let world = World::new(Decision::Allow);
    let reply = world.pass("hello").await;
    assert_eq!(reply.text(), "hello");
    let store = world.room.open();
    assert_eq!(events(&store), ["started", "ended"]);
    assert_eq!(store.ends_of(1).unwrap().len(), 1);
    assert_eq!(store.find("call-1").unwrap().len(), 2);
}

/// A2: approved in the approval queue, it runs once.
/// Shows A2.
#[tokio::test]
async fn a_call_approved_at_the_desk_runs_once() {
    let world = World::new(Decision::Ask);
    let reply = world.pass_answered("hello", Answer::Once).await;
    assert_eq!(reply.text(), "hello");
    assert_eq!(world.ran.load(Ordering::SeqCst), 1);
    assert_eq!(events(&world.room.open()), ["answered", "started", "ended"]);
}

/// A3: refused in the approval queue, it never runs, and the model is told why.
/// Shows A3.
#[tokio::test]
async fn a_call_refused_at_the_desk_never_runs() {
    let world = World::new(Decision::Ask);
    let reply = world.pass_answered("hello", Answer::No("not today".to_owned())).await;
    assert!(reply.refused());
    assert!(reply.content().contains("not today"), "{}", reply.content());
    assert_eq!(world.ran.load(Ordering::SeqCst), 0);
    assert_eq!(events(&world.room.open()), ["answered", "ended"]);
}

/// A4: what nobody answers in time is refused, and the question is closed.
/// Shows A4.
#[tokio::test]
async fn a_call_that_nobody_answers_never_runs() {
    let mut world = World::new(Decision::Ask);
    let store = world.room.open();
    let setup = Gate::builder()
        .registry(world.gate.registry().clone())
        .policy(All(Decision::Ask))
        .log(Arc::new(store.clone()))
        .on_no_approver(OnNoApprover::Queue)
        .approval_queue(Arc::new(SqliteQueue::new(store.clone())))
        .limits(Limits { approval: Duration::from_millis(50), ..Limits::default() });
    world.gate = setup.build().unwrap();
    let reply = world.pass("hello").await;
    assert!(reply.refused());
    assert_eq!(world.ran.load(Ordering::SeqCst), 0);
    store.close().unwrap();
    let state = SqliteQueue::new(world.room.open()).get(1).unwrap().state;
    assert_eq!(state, QuestionState::Withdrawn, "by its clock, which stands still, it had time");
}

/// The second lock: the queue was restored to a time before the yes was used, and the log knows.
#[tokio::test]
async fn a_yes_that_was_used_opens_no_second_call_even_if_the_queue_forgets() {
    let world = World::new(Decision::Ask);
    world.pass_answered("hello", Answer::Once).await;
    let forget = "UPDATE questions SET state = 'approved', taken = NULL, held_until = 0, \
                  question = json_set(question, '$.args', json('{\"text\":\"hello\"}'))";
    assert_eq!(world.room.stranger().execute(forget, []).unwrap(), 1);
    let reply = world.pass("hello").await;
    assert_eq!(reply.code(), "audit_unavailable");
    assert!(reply.content().contains("approval 1 has opened another call"), "{}", reply.content());
    assert_eq!(world.ran.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_long_output_is_kept_whole_in_the_store() {
    let world = World::new(Decision::Allow);
    let long = "word ".repeat(100);
    let reply = world.pass(&long).await;
    assert!(reply.truncated());
    let store = world.room.open();
    let kept = eclusa::Spool::read(&store, reply.spool().unwrap(), 0..usize::MAX).await.unwrap();
    assert_eq!(kept, long);
}
