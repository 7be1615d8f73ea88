//! Checkpoint and reverse thinking: separate passes, separate records, and a no without them.

use std::sync::{Arc, Mutex};

use eclusa::{
    preflight::{
        Advice, Checkpoint, PreflightError, PreflightStep, ReverseThinker, ReverseThinkingReport,
    },
    review::ReviewError,
    *,
};
use futures::future::BoxFuture;

use crate::world::*;

pub(crate) struct Opens;

impl Checkpoint for Opens {
    fn open<'a>(&'a self, _: &'a Validated) -> BoxFuture<'a, Result<(), PreflightError>> {
        Box::pin(async { Ok(()) })
    }
}

/// Opens or not, as the text says, and notes that it was asked.
#[derive(Default)]
struct Careful(Arc<Mutex<Vec<&'static str>>>);

impl Checkpoint for Careful {
    fn open<'a>(&'a self, call: &'a Validated) -> BoxFuture<'a, Result<(), PreflightError>> {
        self.0.lock().unwrap().push("checkpoint");
        Box::pin(async move {
            match call.args()["text"].as_str().unwrap() {
                "friday" => Err("not on a Friday".into()),
                "panic" => panic!("checkpoint"),
                "hang" => std::future::pending().await,
                _ => Ok(()),
            }
        })
    }
}

impl ReverseThinker for Careful {
    fn think<'a>(
        &'a self,
        call: &'a Validated,
        _: &'a Verdict,
    ) -> BoxFuture<'a, Result<ReverseThinkingReport, PreflightError>> {
        self.0.lock().unwrap().push("thinking");
        Box::pin(async move {
            let verdict = match call.args()["text"].as_str().unwrap() {
                "bad idea" => Advice::Stop,
                "doubtful" => Advice::Ask,
                "panic" => panic!("thinker"),
                "hang" => std::future::pending().await,
                "fail" => return Err("the model is away".into()),
                _ => Advice::Proceed,
            };
            Ok(ReverseThinkingReport {
                hidden_assumptions: vec!["the schema has not moved".to_owned()],
                failure_scenarios: vec!["it has".to_owned()],
                verdict,
                verdict_reason: "thought about it".to_owned(),
            })
        })
    }
}

impl Approver for Careful {
    fn name(&self) -> &str {
        "careful"
    }
    fn ask<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, Result<Answer, NotAsked>> {
        self.0.lock().unwrap().push("person");
        Box::pin(async { Ok(Answer::Once) })
    }
}

fn careful() -> World {
    let mut world = world();
    world.setup = world.setup.checkpoint(Arc::new(Careful::default()));
    world.setup = world.setup.reverse_thinker(Arc::new(Careful::default()));
    world
}

#[tokio::test(start_paused = true)]
async fn a_checkpoint_must_open_before_the_tool_runs() {
    // S3.28-S3.31
    let ran = check(careful(), call("deploy", "monday"), "did: monday", "started ended:ok").await;
    assert_eq!(ran.bodies()[0]["checkpoint"], "open");
    let no = "ended:denied_by_checkpoint";
    let said = |why: &str| format!("denied by checkpoint: {why}; nothing was run");
    let closed = check(careful(), call("deploy", "friday"), &said("not on a Friday"), no).await;
    assert_eq!(closed.bodies()[0]["checkpoint"], "closed: not on a Friday");
    check(careful(), call("deploy", "panic"), &said("it crashed"), no).await;
    check(careful(), call("deploy", "hang"), &said("it said nothing within 5 s"), no).await;
    check(world(), call("deploy", "x"), &said("the tool needs one, and none is set up"), no).await;
    // Tools that do not ask for it never meet it.
    check(careful(), call("echo", "friday"), "did: friday", "started ended:ok").await;
}

#[tokio::test]
async fn reverse_thinking_leaves_its_deliverable_with_the_call() {
    // S3.32, S3.33, S3.36, S3.37
    let world = check(careful(), call("choose", "a"), "did: a", "started ended:ok").await;
    let kept = &world.bodies()[0]["reverse_thinking"];
    assert_eq!(kept["hidden_assumptions"][0], "the schema has not moved");
    assert_eq!(kept["failure_scenarios"][0], "it has");
    assert_eq!(
        (&kept["verdict"], &kept["verdict_reason"]),
        (&"proceed".into(), &"thought about it".into())
    );
}

#[tokio::test(start_paused = true)]
async fn reverse_thinking_can_stop_a_call_and_fails_closed() {
    // S3.34
    let no = "ended:denied_by_reverse_thinking";
    let said = |why: &str| format!("denied by reverse thinking: {why}; nothing was run");
    let stopped = check(careful(), call("choose", "bad idea"), &said("thought about it"), no).await;
    assert_eq!(stopped.bodies()[0]["reverse_thinking"]["verdict"], "stop");
    check(careful(), call("choose", "panic"), &said("it crashed"), no).await;
    check(careful(), call("choose", "hang"), &said("it said nothing within 5 s"), no).await;
    check(careful(), call("choose", "fail"), &said("the model is away"), no).await;
    check(world(), call("choose", "a"), &said("the tool needs it, and none is configured"), no)
        .await;
}

#[tokio::test]
async fn reverse_thinking_can_ask_for_a_person() {
    let world = check(
        careful().person([Answer::Once]),
        call("choose", "doubtful"),
        "did: doubtful",
        "started ended:ok",
    )
    .await;
    assert_eq!(world.questions(), 1);
    let shown = world.person.asked.lock().unwrap()[0].reverse_thinking.clone().unwrap();
    assert_eq!(shown.verdict, Advice::Ask);
    let alone = careful().close();
    assert_eq!(alone.gate.pass(call("choose", "doubtful")).await.code(), "no_approver");
    assert_eq!(alone.ran(), 0);
}

/// Asks for a person, on behalf of whoever runs the machine or of anybody.
struct Guard {
    administrators: bool,
}

impl Reviewer for Guard {
    fn name(&self) -> &str {
        "guard"
    }
    fn is_administrators(&self) -> bool {
        self.administrators
    }
    fn input<'a>(
        &'a self,
        _: &'a Validated,
    ) -> BoxFuture<'a, Result<Review<serde_json::Value>, ReviewError>> {
        Box::pin(async { Ok(Review::Ask("look at it".into())) })
    }
}

impl ReverseThinker for Guard {
    fn is_administrators(&self) -> bool {
        self.administrators
    }
    fn think<'a>(
        &'a self,
        _: &'a Validated,
        _: &'a Verdict,
    ) -> BoxFuture<'a, Result<ReverseThinkingReport, PreflightError>> {
        Box::pin(async {
            Ok(ReverseThinkingReport {
                hidden_assumptions: Vec::new(),
                failure_scenarios: Vec::new(),
                verdict: Advice::Ask,
                verdict_reason: "look at it".to_owned(),
            })
        })
    }
}

#[tokio::test]
async fn what_an_administrators_reviewer_or_thinker_asks_no_mode_answers() {
    for administrators in [true, false] {
        let reviewed = || world().mode(Mode::Yolo).reviewer(Guard { administrators });
        let thought = || {
            let mut world = world().mode(Mode::Yolo);
            world.setup = world.setup.reverse_thinker(Arc::new(Guard { administrators }));
            world
        };
        for (world, alone, tool) in
            [(reviewed(), reviewed(), "look"), (thought(), thought(), "choose")]
        {
            let world = world.person([Answer::Once]).close();
            assert_eq!(world.gate.pass(call(tool, "x")).await.code(), "ok", "{tool}");
            assert_eq!(world.questions(), usize::from(administrators), "{tool}");
            let code = if administrators { "no_approver" } else { "ok" };
            assert_eq!(alone.close().gate.pass(call(tool, "x")).await.code(), code, "{tool}");
        }
    }
}

#[tokio::test]
async fn the_order_of_the_passes_is_configurable() {
    // S3.35, C10, C23, S3.38
    use PreflightStep::{Approval, Checkpoint, ReverseThinking};
    struct Everything(TestTool);
    impl Tool for Everything {
        fn name(&self) -> &str {
            "everything"
        }
        fn description(&self, scene: &Scene) -> String {
            self.0.description(scene)
        }
        fn input_schema(&self) -> serde_json::Value {
            self.0.input_schema()
        }
        fn facts(&self) -> Facts {
            Facts { needs_checkpoint: true, needs_reverse_thinking: true, ..Facts::default() }
        }
        fn touches(&self, args: &serde_json::Value) -> Vec<Touch> {
            self.0.touches(args)
        }
        fn run<'a>(&'a self, job: &'a Job) -> BoxFuture<'a, Result<Output, ToolError>> {
            self.0.run(job)
        }
    }
    let passed = |order: &'static [PreflightStep], text: &'static str| async move {
        let notes = Arc::new(Mutex::new(Vec::new()));
        let careful = Arc::new(Careful(notes.clone()));
        let mut world = world();
        world.setup = world.setup.checkpoint(careful.clone());
        world.setup = world.setup.reverse_thinker(careful.clone());
        world.setup = world.setup.approvers(vec![careful]);
        world.setup = world.setup.order(order.to_vec());
        let tool = TestTool { name: "echo", counters: world.counters.clone() };
        world.registry.add(Everything(tool)).unwrap();
        let world = world.close();
        assert_eq!(world.gate.pass(call("everything", text)).await.code(), "ok");
        notes.lock().unwrap().clone().join(" ")
    };
    assert_eq!(passed(&PreflightStep::ORDER, "git a").await, "thinking person checkpoint");
    let order = &[Checkpoint, Approval, ReverseThinking];
    assert_eq!(passed(order, "git a").await, "checkpoint person thinking");
    // Doubt that comes after the person's place in the order still reaches a person.
    assert_eq!(passed(order, "doubtful").await, "checkpoint thinking person");
    // One instead of the other; both left out, both are taken.
    assert_eq!(passed(&[Approval, Checkpoint], "git a").await, "person checkpoint");
    assert_eq!(passed(&[Approval, ReverseThinking], "git a").await, "person thinking");
    assert_eq!(passed(&[Approval], "git a").await, "thinking person checkpoint");
}
