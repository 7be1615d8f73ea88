//! Each way out of the lock: one reply, one closed entry, and nothing run that should not be.

use std::sync::{Arc, Mutex};

use eclusa::{call::Malformed, *};
use serde_json::json;

use crate::world::*;

const RAN: &str = "started ended:ok";

#[tokio::test]
async fn an_allowed_call_runs_and_is_on_record() {
    // S0.17, S4.26, S4.33-S4.35, S2.16
    check(world(), call("echo", "ls"), "did: ls", RAN).await;
    check(world(), call("bash", "ls"), "did: ls", RAN).await;
}

#[tokio::test]
async fn an_unknown_tool_is_an_answer_with_the_nearest_names() {
    // S1.41, S4.19, S4.27, C13, E1
    check(
        world(),
        call("ecco", "ls"),
        "no tool is called `ecco`; did you mean `echo`?",
        "ended:unknown_tool",
    )
    .await;
    check(
        world(),
        call("zzzz", "ls"),
        "no tool is called `zzzz`; use one of the tools you were given",
        "ended:unknown_tool",
    )
    .await;
}

#[tokio::test]
async fn a_malformed_call_is_answered_and_recorded() {
    // C12, S4.57
    let world = world().close();
    let bad = Malformed {
        id: "m1".into(),
        tool: None,
        problem: "line 3: expected `}`".into(),
        origin: Origin::Fenced,
    };
    let reply = world.gate.pass(bad).await;
    assert_eq!(reply.code(), "malformed_call");
    assert_eq!(reply.text(), "this is not a tool call that can be read: line 3: expected `}`");
    assert_eq!((world.events().as_str(), reply.id()), ("ended:malformed_call", "m1"));
}

#[tokio::test]
async fn what_policy_denies_is_denied_with_its_rule() {
    // S4.29, C10
    check(
        world(),
        call("bash", "rm x"),
        "denied by policy: deny `rm x` (test:1); nothing was run",
        "ended:denied_by_policy",
    )
    .await;
}

#[tokio::test]
async fn a_policy_that_panics_has_denied() {
    check(
        world().mode(Mode::Yolo),
        call("bash", "policy panics"),
        "denied by policy: the policy crashed (policy); nothing was run",
        "ended:denied_by_policy",
    )
    .await;
}

#[tokio::test]
async fn a_policy_that_gives_no_reason_has_denied() {
    struct Silent;
    impl Policy for Silent {
        fn judge(&self, _: &CallView<'_>) -> Verdict {
            Verdict::from_reasons(Vec::new())
        }
    }
    let mut world = world().mode(Mode::Yolo);
    world.setup = world.setup.policy(Silent);
    check(
        world,
        call("echo", "ls"),
        "denied by policy: nothing allows it; nothing was run",
        "ended:denied_by_policy",
    )
    .await;
}

#[tokio::test]
async fn a_tool_that_fails_keeps_its_output() {
    // S1.31, S3.39, S4.2, S4.36, E8, appendix G.a
    let world =
        check(world(), call("fail", "x"), "exit status 3\npartly: x", "started ended:tool_failed")
            .await;
    let reply = world.gate.pass(call("fail", "x")).await;
    assert_eq!((reply.text(), reply.error()), ("partly: x", Some("exit status 3")));
}

#[tokio::test]
async fn a_tool_that_panics_is_an_answer() {
    // E2, S4.36
    check(
        world(),
        call("panic", "x"),
        "the tool crashed; it may have done part of its work",
        "started ended:tool_panicked",
    )
    .await;
}

#[tokio::test]
async fn a_tool_that_panics_before_its_future_is_an_answer() {
    let world = world();
    let tool = TestTool { name: "panic early", counters: world.counters.clone() };
    // Its name has a blank, so it must be registered under another.
    struct Named(TestTool);
    impl Tool for Named {
        fn name(&self) -> &str {
            "early"
        }
        fn description(&self, scene: &Scene) -> String {
            self.0.description(scene)
        }
        fn input_schema(&self) -> serde_json::Value {
            self.0.input_schema()
        }
        fn touches(&self, args: &serde_json::Value) -> Vec<Touch> {
            self.0.touches(args)
        }
        fn run<'a>(
            &'a self,
            job: &'a Job,
        ) -> futures::future::BoxFuture<'a, Result<Output, ToolError>> {
            self.0.run(job)
        }
    }
    world.registry.add(Named(tool)).unwrap();
    let world = world.close();
    let reply = world.gate.pass(call("early", "x")).await;
    assert_eq!(
        (reply.code(), world.events().as_str()),
        ("tool_panicked", "started ended:tool_panicked")
    );
}

#[tokio::test]
async fn a_dry_run_judges_and_does_nothing() {
    // S4.32, S4.58, C9, fact D: nobody is prompted, with or without somebody to prompt.
    let dry = || {
        let mut world = world().person([]);
        world.run.dry_run = true;
        world
    };
    let allowed = check(
        dry(),
        call("bash", "ls"),
        "dry run, nothing was done: bash({\"count\":1,\"text\":\"ls\"}) would run, because allow `ls` (test:1)",
        "ended:dry_run",
    )
    .await;
    assert_eq!((allowed.ran(), allowed.questions()), (0, 0));
    let asked = check(
        dry(),
        call("bash", "git push"),
        "dry run, nothing was done: bash({\"count\":1,\"text\":\"git push\"}) would ask a person first, because ask `git push` (test:1)",
        "ended:dry_run",
    )
    .await;
    assert_eq!((asked.ran(), asked.questions()), (0, 0));
    check(
        dry(),
        call("bash", "rm x"),
        "dry run, nothing was done: bash({\"count\":1,\"text\":\"rm x\"}) would be denied, because deny `rm x` (test:1)",
        "ended:dry_run_denied",
    )
    .await;
}

#[tokio::test]
async fn a_dry_run_succeeds_unless_it_is_denied() {
    // C9
    let mut world = world();
    world.run.dry_run = true;
    let world = world.close();
    assert!(!world.gate.pass(call("bash", "git x")).await.is_error());
    assert!(world.gate.pass(call("bash", "rm x")).await.is_error());
    assert_eq!(world.ran(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_caller_who_leaves_is_on_record() {
    // S1.47: a dropped caller is recorded, with the stage it had reached.
    let running = world().close();
    let left = tokio::time::timeout(
        std::time::Duration::from_millis(30),
        running.gate.pass(call("hang", "x")),
    );
    assert!(left.await.is_err());
    assert_eq!(running.events(), "started abandoned");
    let last = running.bodies().pop().unwrap();
    assert_eq!((&last["stage"], &last["start"]), (&json!("running"), &json!(1)));
    running.log.verify().unwrap();
}

#[tokio::test]
async fn the_gate_can_be_shared_and_spawned() {
    let world = world().close();
    let gate = world.gate.clone();
    let spawned = tokio::spawn(async move { gate.pass(call("echo", "a")).await.text().to_owned() });
    assert_eq!(spawned.await.unwrap(), "did: a");
}

#[test]
fn a_program_without_a_runtime_passes_the_same_gates() {
    // S0.20, S3.6
    let world = world().close();
    assert_eq!(world.gate.pass_blocking(call("echo", "a")).unwrap().text(), "did: a");
    assert_eq!(world.gate.pass_blocking(call("bash", "rm a")).unwrap().code(), "denied_by_policy");
    assert_eq!(world.events(), "started ended:ok ended:denied_by_policy");
}

#[tokio::test]
async fn a_blocking_call_works_from_inside_a_runtime() {
    let world = world().close();
    assert_eq!(world.gate.pass_blocking(call("echo", "a")).unwrap().text(), "did: a");
}

#[tokio::test]
async fn checking_runs_and_records_nothing() {
    let world = world().person([]).close();
    let (class, verdict) = world.gate.check(call("bash", "git x")).unwrap();
    assert_eq!((class, verdict.decision), (PermissionClass::Shell, Decision::Ask));
    assert_eq!(world.gate.check(call("nope", "x")).unwrap_err().code(), "unknown_tool");
    assert_eq!((world.ran(), world.questions(), world.events().as_str()), (0, 0, ""));
}

#[tokio::test]
async fn outcomes_and_destructive_calls_are_counted() {
    // S1.57, S3.14
    let mut world = world();
    world.setup = world.setup.checkpoint(std::sync::Arc::new(crate::preflight::Opens));
    let world = world.close();
    for tool in ["echo", "deploy", "fail", "nope"] {
        world.gate.pass(call(tool, "x")).await;
    }
    let counts = world.gate.metrics().counts();
    assert_eq!((counts.calls, counts.destructive), (4, 1));
    assert_eq!(counts.outcomes["ok"], 2);
    assert_eq!(counts.outcomes["tool_failed"], 1);
    assert_eq!(counts.outcomes["unknown_tool"], 1);
}

#[tokio::test]
async fn events_tell_the_story_and_hold_nothing_up() {
    // S2.13, S3.5, S3.41, C28, S2.26
    let world = world().person([Answer::Once]).close();
    let mut events = world.gate.events().listen();
    let overheard = Arc::new(Mutex::new(Vec::new()));
    let ear = overheard.clone();
    world.gate.events().overhear(move |event| ear.lock().unwrap().push(event.clone()));
    world.gate.events().overhear(|_| panic!("an ear that breaks"));
    world.gate.pass(call("bash", "git push")).await;
    let mut heard = Vec::new();
    let mut story = Vec::new();
    while let Ok(event) = events.try_recv() {
        heard.push(Event::clone(&event));
        story.push(match &*event {
            Event::Received { .. } => "received".to_owned(),
            Event::Queued { .. } => "queued".to_owned(),
            Event::Asked { .. } => "asked".to_owned(),
            Event::ToolApproval { approved, source, params, .. } => {
                assert_eq!(params["text"], "git push");
                format!("approved={approved} by {source}")
            }
            Event::Started { number, .. } => format!("started {number:?}"),
            Event::Progress { fraction, detail, .. } => format!("{fraction} {detail}"),
            Event::Ended { code, .. } => format!("ended {code}"),
            Event::Warning { text, .. } => text.clone(),
        });
    }
    let expected = [
        "received",
        "asked",
        "approved=true by person",
        "started Some(1)",
        "0.5 half way",
        "ended ok",
    ];
    assert_eq!(story, expected);
    assert_eq!(*overheard.lock().unwrap(), heard);
    world.gate.pass(call("bash", "rm x")).await;
    let last = std::iter::from_fn(|| events.try_recv().ok()).last();
    assert!(matches!(last.as_deref(), Some(Event::Ended { code: "denied_by_policy", .. })));
    // A listener that never listens loses the oldest, and the calls go on.
    for _ in 0..2000 {
        world.gate.pass(call("echo", "x")).await;
    }
    assert!(matches!(
        events.try_recv(),
        Err(tokio::sync::broadcast::error::TryRecvError::Lagged(_))
    ));
}
