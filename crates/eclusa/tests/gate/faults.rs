//! Fault injection: the log, the spool and the clock made to fail, hang and panic at every step.
//! Nothing runs that should not, every call is answered once, and what is on record verifies.

use std::{
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
};

use eclusa::{
    audit::{Appending, AuditError, Clock, Draft, Receipt},
    *,
};
use futures::future::BoxFuture;
use serde_json::json;

use crate::world::*;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Fault {
    Fails,
    Hangs,
    Panics,
    WriterGone,
}

const FAULTS: [Fault; 4] = [Fault::Fails, Fault::Hangs, Fault::Panics, Fault::WriterGone];

/// A log that breaks at one append and works before and after.
struct Breaks {
    log: Arc<MemoryLog>,
    at: usize,
    fault: Fault,
    count: AtomicUsize,
    /// Kept, so that a hanging append hangs instead of ending.
    hanging: std::sync::Mutex<Vec<tokio::sync::oneshot::Sender<Result<Receipt, AuditError>>>>,
}

impl AuditSink for Breaks {
    fn append(&self, draft: Draft) -> Appending {
        if self.count.fetch_add(1, SeqCst) != self.at {
            return self.log.append(draft);
        }
        match self.fault {
            Fault::Fails => Appending::Done(Err(AuditError::new("disk full"))),
            Fault::Panics => panic!("sink"),
            Fault::Hangs => {
                let (sender, receiver) = tokio::sync::oneshot::channel();
                self.hanging.lock().unwrap().push(sender);
                Appending::Waiting(receiver)
            }
            Fault::WriterGone => Appending::Waiting(tokio::sync::oneshot::channel().1),
        }
    }
}

fn breaking(at: usize, fault: Fault) -> Closed {
    let mut world = world();
    world.setup = world.setup.log(Arc::new(Breaks {
        log: world.log.clone(),
        at,
        fault,
        count: AtomicUsize::new(0),
        hanging: std::sync::Mutex::default(),
    }));
    world.close()
}

#[tokio::test(start_paused = true)]
async fn a_start_that_cannot_be_recorded_stops_the_call() {
    // Invariant 5, A10
    for fault in FAULTS {
        let world = breaking(0, fault);
        let reply = world.gate.pass(call("echo", "x")).await;
        assert_eq!((reply.code(), world.ran()), ("audit_unavailable", 0), "{fault:?}");
        assert!(reply.is_error() && reply.refused());
        // The log works again, so the refusal itself is on record.
        assert_eq!(world.events(), "ended:audit_unavailable");
        assert!(reply.receipt().is_some());
        assert_eq!(world.gate.pass(call("echo", "y")).await.code(), "ok");
        world.log.verify().unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn an_end_that_cannot_be_recorded_withholds_the_output() {
    // Invariant 5, A8: the record says that it started, and the model is told not to repeat it.
    for fault in FAULTS {
        let world = breaking(1, fault);
        let reply = world.gate.pass(call("echo", "secret")).await;
        assert_eq!((reply.code(), world.ran()), ("executed_unrecorded", 1), "{fault:?}");
        assert!(!reply.content().contains("did: secret"));
        assert!(reply.content().contains("do not run it again"));
        assert!(reply.receipt().is_none() && !reply.refused());
        assert_eq!((world.events().as_str(), reply.number()), ("started", Some(1)));
        assert_eq!(world.gate.pass(call("echo", "y")).await.code(), "ok");
        world.log.verify().unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_refusal_that_cannot_be_recorded_is_still_a_refusal() {
    for fault in FAULTS {
        let world = breaking(0, fault);
        let reply = world.gate.pass(call("bash", "rm x")).await;
        assert_eq!((reply.code(), world.ran()), ("audit_unavailable", 0), "{fault:?}");
    }
}

/// A log that always breaks.
struct Broken(Fault);

impl AuditSink for Broken {
    fn append(&self, _: Draft) -> Appending {
        match self.0 {
            Fault::Fails | Fault::Hangs => Appending::Done(Err(AuditError::new("read-only disk"))),
            Fault::Panics => panic!("sink"),
            Fault::WriterGone => Appending::Waiting(tokio::sync::oneshot::channel().1),
        }
    }
}

#[tokio::test]
async fn with_a_broken_log_nothing_ever_runs_and_everything_is_answered() {
    for fault in FAULTS {
        let mut world = world();
        world.setup = world.setup.log(Arc::new(Broken(fault)));
        let world = world.close();
        let calls = TOOLS
            .iter()
            .enumerate()
            .map(|(n, tool)| ToolCall::new(format!("c{n}"), *tool, json!({"text": "x"})));
        let replies = world.gate.pass_all(calls).await;
        assert_eq!(replies.len(), TOOLS.len());
        assert!(
            replies.iter().all(|it| it.code() == "audit_unavailable" && it.receipt().is_none())
        );
        assert_eq!(world.ran(), 0);
        // Nobody is left to tell, and nothing is torn down by it.
        drop(world.gate.pass(call("hang", "x")));
    }
}

struct BadClock(AtomicUsize);

impl Clock for BadClock {
    fn unix_ms(&self) -> u64 {
        match self.0.fetch_add(1, SeqCst) % 3 {
            0 => panic!("clock"),
            1 => 0,
            _ => u64::MAX,
        }
    }
}

#[tokio::test]
async fn a_clock_that_crashes_or_jumps_loses_no_call() {
    let mut world = world();
    world.setup = world.setup.clock(Arc::new(BadClock(AtomicUsize::new(0))));
    let world = world.close();
    for _ in 0..6 {
        assert_eq!(world.gate.pass(call("echo", "x")).await.code(), "ok");
    }
    assert_eq!(world.log.verify().unwrap().seq, 12);
}

struct BadSpool(Fault);

impl Spool for BadSpool {
    fn keep(&self, _: String) -> BoxFuture<'_, std::io::Result<String>> {
        match self.0 {
            Fault::Panics => panic!("spool"),
            fault => Box::pin(async move {
                match fault {
                    Fault::Hangs => std::future::pending().await,
                    Fault::WriterGone => panic!("spool, later"),
                    _ => Err(std::io::Error::other("disk full")),
                }
            }),
        }
    }
    fn read<'a>(&'a self, _: &'a str, _: Range<usize>) -> BoxFuture<'a, std::io::Result<String>> {
        Box::pin(async { Err(std::io::Error::other("never kept")) })
    }
}

#[tokio::test(start_paused = true)]
async fn a_broken_spool_costs_the_middle_and_says_so() {
    for fault in FAULTS {
        let mut world = world();
        world.setup = world.setup.spool(Arc::new(BadSpool(fault)));
        let world = world.close();
        let reply = world.gate.pass(call("echo", &"x".repeat(500))).await;
        assert_eq!(
            (reply.code(), reply.truncated(), reply.spool()),
            ("ok", true, None),
            "{fault:?}"
        );
        assert!(reply.text().contains("bytes cut and lost"), "{fault:?}");
        assert_eq!(world.events(), "started ended:ok");
    }
}

/// Fails, hangs or panics when asked.
struct BadApprover(Fault);

impl Approver for BadApprover {
    fn name(&self) -> &str {
        "bad"
    }
    fn ask<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, Result<Answer, NotAsked>> {
        match self.0 {
            Fault::Panics => panic!("approver"),
            fault => Box::pin(async move {
                match fault {
                    Fault::Hangs => std::future::pending().await,
                    Fault::WriterGone => panic!("approver, later"),
                    _ => Err(NotAsked::Failed("the page is down".to_owned())),
                }
            }),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_approver_that_fails_hangs_or_panics_has_said_no() {
    // Invariant 4, A4
    for fault in FAULTS {
        let mut world = world();
        world.setup = world.setup.approver(BadApprover(fault));
        world.setup = world.setup.on_no_approver(OnNoApprover::AllowWithWarning);
        let world = world.close();
        let reply = world.gate.pass(call("bash", "git push")).await;
        let expected = if fault == Fault::Hangs { "approval_expired" } else { "approver_failed" };
        assert_eq!((reply.code(), world.ran()), (expected, 0), "{fault:?}");
        // The next question can be asked: nothing holds the turn.
        assert_eq!(world.gate.pass(call("bash", "git push")).await.code(), expected);
    }
}

/// Panics in places where nobody expects it.
struct Treacherous(&'static str);

impl Reviewer for Treacherous {
    fn name(&self) -> &str {
        if self.0 == "name" { panic!("name") } else { "treacherous" }
    }
    fn reads(&self, _: &str) -> bool {
        if self.0 == "reads" { panic!("reads") } else { true }
    }
    fn time(&self) -> Option<std::time::Duration> {
        if self.0 == "time" { panic!("time") } else { None }
    }
}

#[tokio::test]
async fn a_panic_anywhere_in_a_reviewer_is_a_no() {
    for place in ["name", "reads", "time"] {
        let world = world().reviewer(Treacherous(place)).close();
        let reply = world.gate.pass(call("echo", "x")).await;
        assert_eq!((reply.code(), world.ran()), ("check_crashed", 0), "{place}");
        world.log.verify().unwrap();
    }
}

#[tokio::test]
async fn callers_who_leave_at_any_point_leave_a_verifiable_log() {
    // Drop the call after every number of polls that it takes to finish.
    for polls in 0..40 {
        let world = world().close();
        {
            let passing = world.gate.pass(call("echo", "x"));
            futures::pin_mut!(passing);
            for _ in 0..polls {
                if futures::poll!(passing.as_mut()).is_ready() {
                    break;
                }
            }
        }
        let events = world.events();
        let fits =
            ["", "abandoned", "started abandoned", "started ended:ok"].contains(&events.as_str());
        assert!(fits, "after {polls} polls: {events}");
        world.log.verify().unwrap();
    }
}
