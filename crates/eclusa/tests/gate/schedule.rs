//! The calls of one turn: groups, limits, order, duplicates and abort.

use std::sync::{Arc, atomic::Ordering::SeqCst};

use eclusa::{call::Malformed, *};
use futures::future::BoxFuture;
use proptest::prelude::*;
use serde_json::json;
use tokio::sync::Notify;

use crate::world::*;

fn turn(calls: &[(&str, &str)]) -> Vec<ToolCall> {
    let one = |(n, (tool, text)): (usize, &(&str, &str))| {
        ToolCall::new(format!("c{n}"), *tool, json!({"text": text}))
    };
    calls.iter().enumerate().map(one).collect()
}

fn codes(replies: &[Reply]) -> Vec<&'static str> {
    replies.iter().map(Reply::code).collect()
}

#[tokio::test]
async fn neighbours_run_together_and_the_rest_alone_in_order() {
    // S1.23, S3.9, S3.12, S3.43, C14, fact O
    let world = world().close();
    let calls = turn(&[("echo", "a"), ("look", "b"), ("bash", "c"), ("bash", "d"), ("echo", "e")]);
    let replies = world.gate.pass_all(calls).await;
    let texts: Vec<&str> = replies.iter().map(Reply::text).collect();
    assert_eq!(texts, ["did: a", "did: b", "did: c", "did: d", "did: e"]);
    assert_eq!(world.counters.peak.load(SeqCst), 2);
    world.log.verify().unwrap();
}

#[tokio::test]
async fn no_more_than_the_limit_run_at_once() {
    // S1.23
    let mut world = world();
    world.limits.concurrent = 3;
    let world = world.close();
    let replies = world.gate.pass_all(turn(&[("echo", "x"); 20])).await;
    assert_eq!(codes(&replies), ["ok"; 20]);
    assert_eq!(world.counters.peak.load(SeqCst), 3);
}

#[tokio::test]
async fn one_failure_leaves_its_siblings_alone() {
    // S4.37
    // S0.18, S1.41, W4, E4: each call is independent.
    let mut calls = vec![("echo", "x"); 50];
    calls[17] = ("fail", "x");
    calls[18] = ("bash", "rm x");
    calls[19] = ("nope", "x");
    let world = world().close();
    let replies = world.gate.pass_all(turn(&calls)).await;
    assert_eq!(replies.len(), 50);
    for (n, reply) in replies.iter().enumerate() {
        assert_eq!(reply.id(), format!("c{n}"));
        let code = match n {
            17 => "tool_failed",
            18 => "denied_by_policy",
            19 => "unknown_tool",
            _ => "ok",
        };
        assert_eq!(reply.code(), code);
    }
}

/// Says yes once it is told to.
struct Told(Arc<Notify>);

impl Approver for Told {
    fn name(&self) -> &str {
        "told"
    }
    fn ask<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, Result<Answer, NotAsked>> {
        Box::pin(async {
            self.0.notified().await;
            Ok(Answer::Once)
        })
    }
}

/// Shows A11: a person who thinks about one call holds no other up.
#[tokio::test(start_paused = true)]
async fn a_call_that_needs_no_answer_does_not_wait_for_its_neighbour() {
    let mut world = world();
    let tell = Arc::new(Notify::new());
    world.setup = world.setup.approvers(vec![Arc::new(Told(tell.clone()))]);
    let world = world.close();
    let mut ended = Vec::new();
    let calls = turn(&[("look", "git a"), ("look", "b")]);
    let told = |place: usize, reply: Reply| {
        ended.push((place, reply.code()));
        tell.notify_one();
    };
    world.gate.pass_all_with(calls, told).await;
    assert_eq!(ended, [(1, "ok"), (0, "ok")]);
}

#[tokio::test]
async fn a_repeated_id_is_refused() {
    let mut calls = turn(&[("echo", "a"), ("echo", "b"), ("bash", "c")]);
    calls[1].id = "c0".to_owned();
    calls[2].id = "c0".to_owned();
    let world = world().close();
    let replies = world.gate.pass_all(calls).await;
    assert_eq!(codes(&replies), ["ok", "duplicate_id", "duplicate_id"]);
    assert_eq!(world.ran(), 1);
}

#[tokio::test]
async fn abort_answers_the_rest() {
    // S4.43, C24
    let world = world().person([Answer::Once, Answer::Abort]).close();
    let calls =
        turn(&[("bash", "git a"), ("echo", "x"), ("bash", "git b"), ("echo", "y"), ("nope", "z")]);
    let replies = world.gate.pass_all(calls).await;
    assert_eq!(codes(&replies), ["ok", "ok", "aborted", "aborted", "aborted"]);
    assert_eq!((world.ran(), world.questions()), (2, 2));
    assert_eq!(world.events().matches("ended:").count(), 5);
}

#[tokio::test]
async fn abort_inside_a_group_stops_its_neighbours() {
    let world = world().person([Answer::Abort]).close();
    let replies =
        world.gate.pass_all(turn(&[("look", "git a"), ("look", "git b"), ("look", "git c")])).await;
    assert_eq!(codes(&replies), ["aborted"; 3]);
    assert_eq!((world.ran(), world.questions()), (0, 1));
}

#[tokio::test]
async fn abort_inside_a_tool_ends_the_turn_around_it() {
    // C24
    let world = world().person([Answer::Abort]).close();
    let replies = world.gate.pass_all(turn(&[("nest", "call git x"), ("echo", "y")])).await;
    assert_eq!(codes(&replies), ["aborted", "aborted"]);
    assert_eq!((replies[0].refused(), replies[1].refused(), world.ran()), (false, true, 1));
}

#[tokio::test]
async fn malformed_calls_keep_their_place() {
    let world = world().close();
    let bad =
        Malformed { id: "m".into(), tool: None, problem: "no".into(), origin: Origin::Fenced };
    let turn: Vec<Incoming> = vec![
        call("echo", "a").into(),
        bad.into(),
        ToolCall { id: "c2".into(), ..call("echo", "b") }.into(),
    ];
    let replies = world.gate.pass_all(turn).await;
    assert_eq!(codes(&replies), ["ok", "malformed_call", "ok"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever the turn, there is one reply for each call, in its place, nothing that must run
    /// alone overlaps anything, and the chain verifies.
    #[test]
    fn any_turn_is_answered_in_order(calls in prop::collection::vec((0..5usize, 0..4usize), 0..24), limit in 1..5usize) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_time().build().unwrap();
        let tools = ["echo", "look", "bash", "fail", "nope"];
        let texts = ["a", "rm a", "git a", "b"];
        let calls: Vec<(&str, &str)> = calls.iter().map(|(tool, text)| (tools[*tool], texts[*text])).collect();
        runtime.block_on(async {
            let mut world = world();
            world.limits.concurrent = limit;
            let world = world.close();
            let replies = world.gate.pass_all(turn(&calls)).await;
            assert_eq!(replies.len(), calls.len());
            for (n, (reply, (tool, text))) in replies.iter().zip(&calls).enumerate() {
                assert_eq!(reply.id(), format!("c{n}"));
                let expected = match (*tool, *text) {
                    ("nope", _) => "unknown_tool",
                    (_, "rm a") => "denied_by_policy",
                    (_, "git a") => "no_approver",
                    ("fail", _) => "tool_failed",
                    _ => "ok",
                };
                assert_eq!(reply.code(), expected);
            }
            assert!(world.counters.peak.load(SeqCst) <= limit);
            assert_eq!(world.events().matches("ended:").count(), calls.len());
            world.log.verify().unwrap();
        });
    }
}
