//! Items of the mission as the mission says them, where other tests show only a part.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use eclusa::{
    preflight::{Advice, PreflightError, ReverseThinker, ReverseThinkingReport},
    review::ReviewError,
    *,
};
use futures::future::BoxFuture;
use serde_json::{Value, json};

use crate::world::{Counters, call, world};

/// Notes what happened, and how often the tool had run by then.
type Notes = Arc<Mutex<Vec<(&'static str, usize)>>>;

/// Shows S0.17.
#[tokio::test]
async fn the_order_is_call_review_run_review_answer() {
    let mut world = world();
    let notes = Notes::default();
    let note = |what: &'static str| {
        let (notes, counters) = (notes.clone(), world.counters.clone());
        move || notes.lock().unwrap().push((what, counters.ran.load(SeqCst)))
    };
    let (before, after) = (note("input"), note("output"));
    world.setup = world.setup.reviewers(vec![
        Arc::new(FnReviewer::input("before", move |_| {
            before();
            Ok(true)
        })),
        Arc::new(FnReviewer::output("after", move |_, _: &Output| {
            after();
            Ok::<_, ReviewError>(Review::<Output>::Approve)
        })),
    ]);
    let world = world.close();
    let reply = world.gate.pass(call("echo", "a")).await;
    assert_eq!(reply.text(), "did: a");
    assert_eq!(*notes.lock().unwrap(), [("input", 0), ("output", 1)]);
    assert_eq!(world.events(), "started ended:ok");
}

/// Shows S0.20.
#[test]
fn blocking_and_asynchronous_callers_get_the_same_review() {
    type Said = fn() -> Result<Review<Value>, ReviewError>;
    let cases: [Said; 4] = [
        || Ok(Review::Approve),
        || Ok(Review::Deny("no".to_owned())),
        || Ok(Review::Modify(json!({"text": "other"}))),
        || Err(ReviewError("it broke".to_owned())),
    ];
    for said in cases {
        let closed = || world().reviewer(FnReviewer::input("one", move |_| said())).close();
        let blocking = closed();
        let reply = blocking.gate.pass_blocking(call("echo", "a")).unwrap();
        let waiting = closed();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let other = runtime.block_on(waiting.gate.pass(call("echo", "a")));
        assert_eq!((reply.code(), reply.content()), (other.code(), other.content()));
        assert_eq!((blocking.ran(), blocking.events()), (waiting.ran(), waiting.events()));
    }
}

/// Shows S0.21, S2.29.
#[test]
fn the_types_of_review_and_approval_are_at_the_root() {
    let named = |it: &str| it.starts_with("eclusa::");
    for name in [
        std::any::type_name::<eclusa::Review<Value>>(),
        std::any::type_name::<eclusa::ReviewConfig>(),
        std::any::type_name::<eclusa::ReviewResult>(),
        std::any::type_name::<eclusa::review::ReviewError>(),
        std::any::type_name::<dyn eclusa::Reviewer>().trim_start_matches("dyn "),
        std::any::type_name::<eclusa::Question>(),
        std::any::type_name::<eclusa::Answer>(),
        std::any::type_name::<dyn eclusa::Approver>().trim_start_matches("dyn "),
    ] {
        assert!(named(name), "{name}");
    }
}

/// Shows S0.28.
#[tokio::test]
async fn what_review_costs_is_in_the_reply_apart_from_the_run() {
    let slow = FnReviewer::input("slow", |_| {
        std::thread::sleep(Duration::from_millis(30));
        Ok(true)
    });
    let world = world().reviewer(slow).close();
    let reply = world.gate.pass(call("echo", "a")).await;
    assert!(reply.time() >= reply.run_time() + Duration::from_millis(30), "{reply:?}");
}

/// Shows S1.10, S4.29.
#[tokio::test]
async fn whether_to_ask_depends_on_the_arguments_and_policy_decides() {
    let world = world().person([Answer::Once]).close();
    assert_eq!(world.gate.pass(call("bash", "a")).await.code(), "ok");
    assert_eq!(world.questions(), 0);
    assert_eq!(world.gate.pass(call("bash", "git x")).await.code(), "ok");
    assert_eq!(world.questions(), 1);
    assert_eq!(world.gate.pass(call("bash", "rm x")).await.code(), "denied_by_policy");
    assert_eq!((world.questions(), world.ran()), (1, 2));
}

/// Shows S1.45.
#[tokio::test(start_paused = true)]
async fn a_call_has_thirty_seconds() {
    let mut world = world();
    world.limits.time = Limits::default().time;
    let world = world.close();
    let began = tokio::time::Instant::now();
    let reply = world.gate.pass(call("hang", "x")).await;
    assert_eq!(reply.code(), "timed_out");
    assert!(began.elapsed() >= Duration::from_secs(30), "{:?}", began.elapsed());
    assert!(reply.content().contains("30 s"), "{}", reply.content());
}

/// A handler that notes what it is asked and whether anything ran by then.
struct Handler {
    says: bool,
    counters: Arc<Counters>,
    asked: Mutex<Vec<(String, Value, usize)>>,
}

impl Approver for Handler {
    fn name(&self) -> &str {
        "handler"
    }
    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Result<Answer, NotAsked>> {
        let ran = self.counters.ran.load(SeqCst);
        let asked = (question.tool.clone(), question.args.clone(), ran);
        self.asked.lock().unwrap().push(asked);
        let answer = if self.says { Answer::Once } else { Answer::No(String::new()) };
        Box::pin(std::future::ready(Ok(answer)))
    }
}

/// S2.3, S2.5, S2.6, S2.22, S2.23, S2.24: attended, a sensitive call pauses, the handler gets the
/// tool and its parameters, true runs it and false does not.
/// Shows S2.22.
#[tokio::test]
async fn attended_a_call_pauses_and_the_handler_decides() {
    for says in [true, false] {
        let mut world = world();
        let counters = world.counters.clone();
        let handler = Arc::new(Handler { says, counters, asked: Mutex::default() });
        world.setup = world.setup.approvers(vec![handler.clone()]);
        let world = world.close();
        let reply = world.gate.pass(call("bash", "git x")).await;
        let args = json!({"count": 1, "text": "git x"});
        assert_eq!(*handler.asked.lock().unwrap(), [("bash".to_owned(), args, 0)]);
        assert_eq!(world.ran(), usize::from(says));
        assert_eq!(reply.code(), if says { "ok" } else { "denied_by_person" });
    }
}

/// Shows S2.4.
#[tokio::test]
async fn one_gate_asks_in_one_run_and_not_in_another() {
    let world = world().person([Answer::Once]).close();
    let unattended = Run { mode: Mode::AutoApprove, ..world.gate.run().clone() };
    let unattended = world.gate.for_run(unattended);
    assert_eq!(unattended.pass(call("bash", "default x")).await.code(), "ok");
    assert_eq!(world.questions(), 0);
    assert_eq!(world.gate.pass(call("bash", "default x")).await.code(), "ok");
    assert_eq!(world.questions(), 1);
    assert_eq!(unattended.pass(call("bash", "default x")).await.code(), "ok");
    assert_eq!(world.questions(), 1);
}

/// The seed's default was to approve; C2 overrules it.
/// Shows S2.21, C2.
#[test]
fn without_an_option_sensitive_calls_are_asked_about() {
    assert_eq!(Run::default().mode, Mode::ConfirmSensitive);
    assert_eq!(Mode::default(), Mode::ConfirmSensitive);
}

struct Thinker(Arc<AtomicUsize>);

impl ReverseThinker for Thinker {
    fn think<'a>(
        &'a self,
        _: &'a Validated,
        _: &'a Verdict,
    ) -> BoxFuture<'a, Result<ReverseThinkingReport, PreflightError>> {
        self.0.fetch_add(1, SeqCst);
        Box::pin(std::future::ready(Ok(ReverseThinkingReport {
            hidden_assumptions: Vec::new(),
            failure_scenarios: Vec::new(),
            verdict: Advice::Proceed,
            verdict_reason: String::new(),
        })))
    }
}

/// Shows S3.36, S3.38.
#[tokio::test]
async fn nobody_argues_about_a_tool_that_did_not_ask_for_it() {
    let mut world = world();
    let thought = Arc::new(AtomicUsize::new(0));
    world.setup = world.setup.reverse_thinker(Arc::new(Thinker(thought.clone())));
    let world = world.close();
    for tool in ["echo", "look", "bash", "nest"] {
        world.gate.pass(call(tool, "a")).await;
    }
    assert_eq!(thought.load(SeqCst), 0);
    world.gate.pass(call("choose", "a")).await;
    assert_eq!(thought.load(SeqCst), 1);
    assert!(!Facts::default().needs_reverse_thinking);
}

/// The engine is the only way in and never raises: whatever comes in, an answer comes out.
/// Shows S4.26.
#[tokio::test]
async fn every_call_is_answered_whatever_it_is() {
    let world = world().close();
    let mut calls = vec![
        ToolCall::new("", "", Value::Null),
        ToolCall::new("x", "nope", json!([1])),
        ToolCall::new("x", "echo", json!("not an object")),
        ToolCall::new("x", "echo", json!({"text": 1})),
        call("bash", "policy panics"),
    ];
    calls.extend(["panic", "fail", "bash", "nest"].map(|it| call(it, "rm a")));
    for call in calls {
        let reply = world.gate.pass(call).await;
        assert!(!reply.code().is_empty() && !reply.content().is_empty(), "{reply:?}");
        assert!(reply.receipt().is_some(), "{reply:?}");
    }
    world.log.verify().unwrap();
}
