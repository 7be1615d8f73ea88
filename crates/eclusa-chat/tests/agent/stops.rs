//! A turn that is stopped at every point where it waits: by a person, or because its process ends. Gone
//! on with, nothing happens twice, every call has one answer, and providers take the next request.

use std::{
    future::poll_fn,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    task::Poll,
};

use eclusa::{
    audit::{Appending, Draft},
    *,
};
use eclusa_chat::{
    transcript::{CallFate, ConversationLock, TranscriptError, TranscriptFuture},
    *,
};
use futures::future::BoxFuture;
use serde_json::{Value, json};
use tokio::{sync::oneshot, task::yield_now};

use crate::{histories::judged, memory_transcripts::MemoryTranscripts, world::*};

/// Counts the points where a turn waits, and interrupts it at one of them.
#[derive(Default)]
struct Points {
    passed: AtomicUsize,
    at: Option<usize>,
    handle: Mutex<Option<ConversationHandle>>,
}

impl Points {
    fn pass(&self) {
        if Some(self.passed.fetch_add(1, SeqCst)) == self.at
            && let Some(handle) = &*self.handle.lock().unwrap()
        {
            handle.interrupt();
        }
    }

    /// Waits once, before and after what is done here.
    async fn around<T>(&self, done: impl Future<Output = T>) -> T {
        self.pass();
        yield_now().await;
        let done = done.await;
        self.pass();
        yield_now().await;
        done
    }
}

/// A tool whose every effect is noted, and which waits before and after it.
struct Marking(Arc<Points>, Arc<Mutex<Vec<String>>>);

impl Tool for Marking {
    fn name(&self) -> &str {
        "mark"
    }
    fn description(&self, _: &Scene) -> String {
        "Marks.".to_owned()
    }
    fn input_schema(&self) -> Value {
        json!({"type": "object", "properties": {"text": {"type": "string"}}})
    }
    fn facts(&self) -> Facts {
        Facts { concurrent: true, ..Facts::default() }
    }
    fn touches(&self, _: &Value) -> Vec<Touch> {
        Vec::new()
    }
    fn run<'a>(&'a self, job: &'a Job) -> BoxFuture<'a, Result<Output, ToolError>> {
        let text = job.args()["text"].as_str().unwrap_or_default().to_owned();
        Box::pin(self.0.around(async move {
            self.1.lock().unwrap().push(text);
            Ok(Output::text("marked"))
        }))
    }
}

/// A log that answers later.
struct SlowLog(Arc<dyn AuditSink>, Arc<Points>);

impl AuditSink for SlowLog {
    fn append(&self, draft: Draft) -> Appending {
        let done = match self.0.append(draft) {
            Appending::Done(done) => done,
            waiting => return waiting,
        };
        let (tell, told) = oneshot::channel();
        let points = self.1.clone();
        tokio::spawn(async move { drop(tell.send(points.around(async { done }).await)) });
        Appending::Waiting(told)
    }
}

/// Transcripts that are kept later.
struct SlowStore(MemoryTranscripts, Arc<Points>);

impl TranscriptStore for SlowStore {
    fn create(&self, head: TranscriptHead) -> TranscriptFuture<'_, bool> {
        Box::pin(self.1.around(async { self.0.create(head).await }))
    }
    fn append(&self, head: TranscriptHead, items: Vec<TranscriptItem>) -> TranscriptFuture<'_, ()> {
        Box::pin(self.1.around(async { self.0.append(head, items).await }))
    }
    fn items<'a>(&'a self, id: &'a str) -> TranscriptFuture<'a, Vec<TranscriptItem>> {
        self.0.items(id)
    }
    fn head<'a>(&'a self, id: &'a str) -> TranscriptFuture<'a, Option<TranscriptHead>> {
        self.0.head(id)
    }
    fn lock(&self, id: &str) -> Result<Option<Box<dyn ConversationLock>>, TranscriptError> {
        self.0.lock(id)
    }
    fn keep_picture(&self, sha256: String, bytes: Arc<[u8]>) -> TranscriptFuture<'_, ()> {
        self.0.keep_picture(sha256, bytes)
    }
    fn picture<'a>(&'a self, sha256: &'a str) -> TranscriptFuture<'a, Option<Arc<[u8]>>> {
        self.0.picture(sha256)
    }
    fn log_head(&self) -> Result<u64, TranscriptError> {
        self.0.log_head()
    }
    fn fate(
        &self,
        conversation: &str,
        call: &str,
        after: u64,
    ) -> Result<CallFate, TranscriptError> {
        self.0.fate(conversation, call, after)
    }
}

/// What stops a turn.
#[derive(Debug, Clone, Copy)]
enum StoppedBy {
    /// A person, at this point.
    Person(usize),
    /// The end of its process, when it has waited so often.
    Kill(usize),
}

fn script() -> String {
    says("I mark.", &[("mark", "a"), ("mark", "b"), ("no", "c")])
        + &says("Once more.", &[("mark", "d")])
        + &says("Done.", &[])
        + &says("Well.", &[]).repeat(4)
}

/// Every call has one answer, which comes before the model speaks again.
fn answered_once(items: &[TranscriptItem], what: &str) {
    let mut open: Vec<&str> = Vec::new();
    for item in items {
        match &item.body {
            ItemBody::Call { id, .. } => open.push(id),
            ItemBody::Answer(answer) => {
                let place = open.iter().position(|it| *it == answer.id);
                assert!(place.is_some(), "{what}: no call, or answered before: {answer:?}");
                open.remove(place.unwrap());
            }
            ItemBody::Model { .. } | ItemBody::Person { .. } => {
                assert!(open.is_empty(), "{what}: {open:?} have no answer");
            }
            _ => {}
        }
    }
    assert!(open.is_empty(), "{what}: {open:?} have no answer");
}

/// Plays the script until it is stopped, and goes on. False when the turn was over before.
async fn stopped(stop: StoppedBy, wire: Wire) -> bool {
    let what = format!("{stop:?}");
    let at = match stop {
        StoppedBy::Person(at) => Some(at),
        StoppedBy::Kill(_) => None,
    };
    let points = Arc::new(Points { at, ..Points::default() });
    let marks = Arc::<Mutex<Vec<String>>>::default();
    let world = world_with(|setup, log| {
        let setup = setup.tool(Marking(points.clone(), marks.clone()));
        setup.log(Arc::new(SlowLog(log, points.clone())))
    });
    let setup = |script: &str| ConversationSetup {
        store: Arc::new(SlowStore(world.store.clone(), points.clone())),
        ..world.scripted(script)
    };
    let (mut conversation, _events) = Conversation::open(setup(&script())).await.unwrap();
    let id = conversation.id().to_owned();
    *points.handle.lock().unwrap() = Some(conversation.handle());
    points.passed.store(0, SeqCst);
    let over = match stop {
        StoppedBy::Person(at) => {
            let report = conversation.turn("go".into()).await;
            let ended = [TurnEnd::Interrupted, TurnEnd::Done].contains(&report.end);
            assert!(ended, "{what}: {report:?}");
            answered_once(conversation.items(), &what);
            points.passed.load(SeqCst) <= at
        }
        StoppedBy::Kill(polls) => {
            let mut turn = Box::pin(conversation.turn("go".into()));
            let mut over = false;
            for _ in 0..polls {
                over = poll_fn(|cx| Poll::Ready(turn.as_mut().poll(cx).is_ready())).await;
                if over {
                    break;
                }
                yield_now().await;
            }
            over
        }
    };
    drop(conversation);
    points.handle.lock().unwrap().take();
    // What was on its way to the log when the process ended is there, or is not.
    for _ in 0..4 {
        yield_now().await;
    }
    let (mut conversation, _events) = Conversation::resume(setup(&script()), &id).await.unwrap();
    answered_once(conversation.items(), &what);
    let ran = marks.lock().unwrap().clone();
    let report = conversation.turn("go on".into()).await;
    assert_eq!(report.end, TurnEnd::Done, "{what}: {report:?}");
    answered_once(conversation.items(), &what);
    drop(conversation);
    let mut all = marks.lock().unwrap().clone();
    assert!(all.starts_with(&ran), "{what}: {ran:?}, then {all:?}");
    all.sort();
    let count = all.len();
    all.dedup();
    assert_eq!(all.len(), count, "{what}: something happened twice: {all:?}");
    // An effect has its start on record, and nothing else has happened.
    let started = world.events().iter().filter(|it| *it == "started").count();
    assert!(started >= count && world.ran() == 0, "{what}: {started} starts, {count} effects");
    world.log.verify().unwrap();
    assert_eq!(judged(&world, &id, wire).await, Vec::<String>::new(), "{what}");
    over
}

#[tokio::test]
async fn a_turn_that_is_interrupted_at_any_point_repeats_nothing_and_answers_every_call() {
    let mut at = 0;
    while !stopped(StoppedBy::Person(at), Wire::ALL[at % 4]).await {
        at += 1;
    }
    // Each of its records and entries is a point, before and after.
    assert!(at > 40, "only {at} points");
}

#[tokio::test]
async fn a_turn_whose_process_ends_at_any_point_repeats_nothing_and_answers_every_call() {
    let mut polls = 0;
    while !stopped(StoppedBy::Kill(polls), Wire::ALL[polls % 4]).await {
        polls += 1;
    }
    assert!(polls > 20, "only {polls} points");
}
