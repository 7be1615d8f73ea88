//! The run itself: time, cancellation, deadlines, and tools that call tools.

use std::time::{Duration, Instant};

use eclusa::*;
use serde_json::json;

use crate::world::*;

#[tokio::test(start_paused = true)]
async fn a_tool_that_hangs_is_stopped_at_its_limit() {
    // S1.17, S1.28, S1.45, C15
    check(
        world(),
        call("hang", "x"),
        "the tool did not finish within 5 s and was stopped; it may have done part of its work",
        "started ended:timed_out",
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_call_may_ask_for_more_time_up_to_the_cap() {
    // S2.11, C15
    let took = |wanted: Option<Duration>| async move {
        let mut world = world();
        world.limits.time = Duration::from_secs(30);
        let world = world.close();
        let before = tokio::time::Instant::now();
        let reply = world.gate.pass(ToolCall { time: wanted, ..call("hang", "x") }).await;
        assert_eq!(reply.code(), "timed_out");
        before.elapsed().as_secs()
    };
    assert_eq!(took(None).await, 30);
    assert_eq!(took(Some(Duration::from_secs(5))).await, 5);
    assert_eq!(took(Some(Duration::from_secs(120))).await, 120);
    assert_eq!(took(Some(Duration::from_secs(9999))).await, 600);
    assert_eq!(took(Some(Duration::MAX)).await, 600);
}

#[tokio::test(start_paused = true)]
async fn the_time_that_a_person_takes_for_a_tools_question_is_not_the_tools() {
    let took = |thinks: &'static str| async move {
        let mut world = world();
        world.limits.approval = Duration::from_secs(100);
        let world = world.close();
        let before = tokio::time::Instant::now();
        assert_eq!(world.gate.pass(call("hang", thinks)).await.code(), "timed_out");
        before.elapsed().as_secs()
    };
    assert_eq!(took("x").await, 5);
    assert_eq!(took("60").await, 65);
    // A person has only so long.
    assert_eq!(took("200").await, 105);
}

#[test]
fn the_limits_are_those_of_the_mission() {
    // S1.24, C14-C16
    let limits = Limits::default();
    assert_eq!((limits.time, limits.time_cap), (Duration::from_secs(30), Duration::from_secs(600)));
    assert_eq!((limits.output_bytes(), limits.concurrent), (100 * 1024, 10));
    assert_eq!(Limits { output: 0, ..limits }.output_bytes(), 100 * 1024);
}

#[tokio::test]
async fn a_deadline_that_has_passed_stops_the_call_before_it_runs() {
    // E3
    let mut world = world();
    world.run.deadline = Some(Instant::now());
    let world = world.close();
    let reply = world.gate.pass(call("echo", "x")).await;
    assert_eq!((reply.code(), world.ran()), ("too_late", 0));
    assert!(reply.refused());
}

#[tokio::test]
async fn the_caller_can_cancel_before_during_and_while_a_person_thinks() {
    // S1.47, S3.4
    let before = world().close();
    before.gate.run().cancel.cancel();
    let reply = before.gate.pass(call("echo", "x")).await;
    assert_eq!((reply.code(), reply.refused(), before.ran()), ("cancelled", true, 0));

    let during = world().close();
    let cancel = during.gate.run().cancel.clone();
    let (reply, ()) = tokio::join!(during.gate.pass(call("hang", "x")), async {
        while during.ran() == 0 {
            tokio::task::yield_now().await;
        }
        cancel.cancel();
    });
    assert_eq!((reply.code(), reply.refused()), ("cancelled", false));
    assert_eq!(during.events(), "started ended:cancelled");

    struct Never;
    impl Approver for Never {
        fn name(&self) -> &str {
            "never"
        }
        fn ask<'a>(
            &'a self,
            _: &'a Question,
        ) -> futures::future::BoxFuture<'a, Result<Answer, NotAsked>> {
            Box::pin(std::future::pending())
        }
    }
    let mut asking = world();
    asking.limits.approval = Duration::from_secs(600);
    asking.setup = asking.setup.approver(Never);
    let asking = asking.close();
    let cancel = asking.gate.run().cancel.clone();
    let (reply, ()) = tokio::join!(asking.gate.pass(call("bash", "git x")), async {
        tokio::task::yield_now().await;
        cancel.cancel();
    });
    assert_eq!((reply.code(), asking.ran()), ("cancelled", 0));
}

#[tokio::test]
async fn a_tool_that_calls_a_tool_goes_through_the_gate_again() {
    // Invariant 13, S2.30, A12, appendix B
    let world = world().close();
    let reply = world.gate.pass(call("nest", "call rm x")).await;
    assert!(reply.text().starts_with("inner said: denied by policy"));
    assert_eq!(world.events(), "started ended:denied_by_policy ended:ok");
    let inner = &world.bodies()[1];
    assert_eq!(
        (&inner["parent"], &inner["call"], &inner["origin"]),
        (&json!(1), &json!("c1/inner"), &json!("tool"))
    );
    assert_eq!(world.ran(), 1);
}

#[tokio::test]
async fn an_inner_call_needs_its_own_approval() {
    // A12
    let world = world().person([Answer::No("not that".into())]).close();
    let reply = world.gate.pass(call("nest", "call git push")).await;
    assert!(reply.text().contains("denied by a person"));
    assert_eq!((world.questions(), world.ran()), (1, 1));
}

#[tokio::test]
async fn tools_call_tools_only_so_deep() {
    let mut world = world();
    world.limits.output = 2000;
    world.limits.depth = 3;
    let world = world.close();
    let reply = world.gate.pass(call("nest", "again")).await;
    assert!(reply.text().contains("only 3 levels deep"), "{}", reply.text());
    assert_eq!(world.ran(), 4);
    assert_eq!(world.events().matches("started").count(), 4);
    world.log.verify().unwrap();
}

#[tokio::test]
async fn every_reply_says_how_long_it_took() {
    // S1.34
    let world = world().close();
    let reply = world.gate.pass(call("echo", "x")).await;
    assert!(reply.time() >= reply.run_time());
    assert!(world.bodies()[1]["ms"].is_u64());
}
