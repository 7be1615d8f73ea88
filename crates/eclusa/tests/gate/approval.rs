//! The person's turn: who is asked, what each answer means, and what it is bound to.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering::SeqCst},
};

use eclusa::{approve::Remember, *};
use futures::future::BoxFuture;
use serde_json::json;

use crate::world::*;

const RAN: &str = "started ended:ok";

fn edit(text: &str) -> Answer {
    Answer::Edit(json!({"text": text}))
}

#[tokio::test]
async fn yes_runs_it_and_the_record_says_who() {
    // S2.3, S2.14, S2.22, S2.24, S4.43, E5
    let world =
        check(world().person([Answer::Once]), call("bash", "git push"), "did: git push", RAN).await;
    let start = &world.bodies()[0];
    assert_eq!(start["approval"]["answer"], "once");
    assert_eq!(start["approval"]["by"], "person");
    assert_eq!(start["approval"]["binding"].as_str().unwrap().len(), 64);
}

#[tokio::test]
async fn no_is_an_answer_to_the_model_too() {
    // S1.43, S1.44, S2.23, S4.31, C11, E6, A3
    check(
        world().person([Answer::No("later".into())]),
        call("bash", "git push"),
        "denied by a person: later; nothing was run",
        "ended:denied_by_person",
    )
    .await;
}

#[tokio::test]
async fn nobody_is_asked_about_what_policy_denies() {
    // C10, invariant 8, appendix G.e
    let world = check(
        world().person([Answer::Once]).mode(Mode::ConfirmAll),
        call("bash", "rm x"),
        "denied by policy: deny `rm x` (test:1); nothing was run",
        "ended:denied_by_policy",
    )
    .await;
    assert_eq!(world.questions(), 0);
}

#[tokio::test]
async fn nobody_is_asked_about_what_needs_no_question() {
    // S2.19, S2.25, E5
    let world = check(world().person([]), call("look", "x"), "did: x", RAN).await;
    assert_eq!(world.questions(), 0);
}

#[tokio::test]
async fn without_anybody_to_ask_the_call_is_denied() {
    // C1, S3.29, S4.30, S4.41, E7
    let world = check(
        world(),
        call("bash", "git push"),
        "not run: this call needs approval, and nobody is available to approve it: ask `git push` (test:1); a person can run it in a terminal, change the rule that asks, or have such questions wait for `eclusa approvals` (`on_no_approver = \"queue\"`)",
        "ended:no_approver",
    )
    .await;
    assert_eq!(world.bodies()[0]["approval"]["by"], "nobody");
}

#[tokio::test]
async fn allow_with_warning_is_an_explicit_recorded_choice() {
    // S2.20, S2.27, C1
    let mut world = world();
    world.setup = world.setup.on_no_approver(OnNoApprover::AllowWithWarning);
    let mut events = world.events.listen();
    let world = world.close();
    let reply = world.gate.pass(call("bash", "git push")).await;
    assert_eq!((reply.code(), reply.warnings().len()), ("ok", 1));
    assert_eq!(world.bodies()[0]["approval"]["by"], "no_handler");
    assert!(world.bodies()[0]["warnings"][0].as_str().unwrap().contains("without approval"));
    let mut warned = false;
    let mut approved = false;
    while let Ok(event) = events.try_recv() {
        warned |= matches!(&*event, Event::Warning { .. });
        approved |= matches!(&*event, Event::ToolApproval { approved: true, source, .. } if source == "no_handler");
    }
    assert!(warned && approved);
}

#[tokio::test]
async fn a_parked_question_waits_at_the_desk() {
    // C1: queue
    let mut world = world();
    world.setup = world.setup.on_no_approver(OnNoApprover::Queue);
    let desk = Arc::new(Person::default());
    desk.answers.lock().unwrap().push_back(Ok(Answer::Once));
    world.setup = world.setup.approval_queue(desk.clone());
    check(world, call("bash", "git push"), "did: git push", RAN).await;
    assert_eq!(desk.asked.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn the_next_approver_is_tried_only_when_nobody_could_be_reached() {
    let with_first = |first: NotAsked| {
        let mut world = world();
        let away = Person::default();
        away.answers.lock().unwrap().push_back(Err(first));
        world.setup = world.setup.approver(away);
        world.person([Answer::Once])
    };
    let unavailable = NotAsked::Unavailable("no terminal".into());
    check(with_first(unavailable), call("bash", "git push"), "did: git push", RAN).await;
    let world = check(
        with_first(NotAsked::Failed("the page broke".into())),
        call("bash", "git push"),
        "denied by approver `person`: the page broke; nothing was run",
        "ended:approver_failed",
    )
    .await;
    assert_eq!(world.questions(), 0);
}

#[tokio::test]
async fn what_a_person_edits_is_validated_reviewed_and_judged_again() {
    // Invariant 2, A6
    let told = r#"a person changed the arguments: {"count":1,"text":"ls"}"#;
    let world = || world().output(200);
    check(world().person([edit("ls")]), call("bash", "git push"), &format!("{told}\ndid: ls"), RAN)
        .await;
    check(
        world().person([edit("rm x")]),
        call("bash", "git push"),
        "denied by policy: deny `rm x` (test:1); nothing was run",
        "ended:denied_by_policy",
    )
    .await;
    check(
        world().person([Answer::Edit(json!({}))]),
        call("bash", "git push"),
        "the arguments do not fit the tool's schema, so nothing was run: the arguments must have `text`",
        "ended:invalid_args",
    )
    .await;
    // An edit is an answer: nobody is asked about what they wrote themselves.
    let world_ = check(
        world().person([edit("git b")]),
        call("bash", "git a"),
        "a person changed the arguments: {\"count\":1,\"text\":\"git b\"}\ndid: git b",
        RAN,
    )
    .await;
    assert_eq!(world_.person.asked.lock().unwrap().len(), 1);
    let no_semicolons = FnReviewer::input("no-semicolons", |call| {
        let text = call.args()["text"].as_str().unwrap();
        Ok(Review::Merge(json!({"text": text.replace(';', "")})))
    });
    check(
        world().reviewer(no_semicolons).person([edit("a;b")]),
        call("bash", "git x"),
        "a person changed the arguments: {\"count\":1,\"text\":\"ab\"}\ndid: ab",
        RAN,
    )
    .await;
}

#[tokio::test]
async fn an_answer_for_the_conversation_holds_in_it_and_nowhere_else() {
    // S4.42
    let world = world().person([Answer::Session, Answer::No("no".into())]).close();
    assert_eq!(world.gate.pass(call("nest", "git 1")).await.code(), "ok");
    let asked = world.questions();
    assert_eq!(world.gate.pass(call("nest", "git 1")).await.code(), "ok");
    assert_eq!(world.questions(), asked);
    let other = world.gate.for_run(Run { session: "other".into(), ..Run::default() });
    assert_eq!(other.pass(call("nest", "git 1")).await.code(), "denied_by_person");
    world.gate.end_session();
    assert_eq!(world.gate.pass(call("nest", "git 1")).await.code(), "approver_failed");
}

#[tokio::test]
async fn a_remembered_answer_for_a_shell_covers_the_same_text_only() {
    let world = world().person([Answer::Session, Answer::No("no".into())]).close();
    assert_eq!(world.gate.pass(call("bash", "git a")).await.code(), "ok");
    assert_eq!(world.gate.pass(call("bash", "git a")).await.code(), "ok");
    assert_eq!(world.questions(), 1);
    assert_eq!(world.gate.pass(call("bash", "git b")).await.code(), "denied_by_person");
}

/// Each call of a machine that has not heard of its fleet for too long is asked about on its own.
#[tokio::test]
async fn no_earlier_answer_covers_what_a_stale_machine_asks() {
    for (id, questions) in [(eclusa::policy::STALE_RULE, 2), ("other", 1)] {
        let world = world().person([Answer::Session, Answer::Session]).close();
        let rule = Rule::new(Decision::Ask).id(id).of_administrator();
        world.gate.set_policy(Rules::new(vec![rule], std::path::Path::new("/w")));
        assert_eq!(world.gate.pass(call("bash", "git a")).await.code(), "ok");
        assert_eq!(world.gate.pass(call("bash", "git a")).await.code(), "ok");
        assert_eq!(world.questions(), questions, "{id}");
    }
}

#[tokio::test]
async fn a_remembered_answer_does_not_cover_another_revision() {
    // A5
    struct Revised(TestTool, &'static str);
    impl Tool for Revised {
        fn name(&self) -> &str {
            self.0.name()
        }
        fn description(&self, scene: &Scene) -> String {
            self.0.description(scene)
        }
        fn input_schema(&self) -> serde_json::Value {
            self.0.input_schema()
        }
        fn revision(&self) -> &str {
            self.1
        }
        fn touches(&self, args: &serde_json::Value) -> Vec<Touch> {
            self.0.touches(args)
        }
        fn run<'a>(&'a self, job: &'a Job) -> BoxFuture<'a, Result<Output, ToolError>> {
            self.0.run(job)
        }
    }
    let world = world().person([Answer::Session, Answer::No("who are you?".into())]).close();
    let tool = |revision| Revised(TestTool { name: "fail", counters: Arc::default() }, revision);
    let registry = world.gate.registry();
    registry.register(Registration::new(tool("1")).replace()).unwrap();
    assert_eq!(world.gate.pass(call("fail", "git a")).await.code(), "tool_failed");
    registry.register(Registration::new(tool("2")).replace()).unwrap();
    assert_eq!(world.gate.pass(call("fail", "git a")).await.code(), "denied_by_person");
}

#[derive(Default)]
struct Kept(Mutex<Vec<Grant>>);

impl Remember for Kept {
    fn always(&self, grant: &Grant) -> Result<(), eclusa::approve::RememberError> {
        if grant.tool == "fail" {
            return Err("the disk is full".into());
        }
        self.0.lock().unwrap().push(grant.clone());
        Ok(())
    }
}

#[tokio::test]
async fn always_is_kept_where_there_is_a_place_for_it() {
    let mut world = world().person([Answer::Always, Answer::Always]);
    let kept = Arc::new(Kept::default());
    world.setup = world.setup.remember(kept.clone());
    let world = world.close();
    assert_eq!(world.gate.pass(call("look", "git a")).await.code(), "ok");
    assert_eq!(kept.0.lock().unwrap()[0].to_string(), "every call of `look`");
    let other = world.gate.for_run(Run { session: "other".into(), ..Run::default() });
    assert_eq!(other.pass(call("look", "git b")).await.code(), "ok");
    assert_eq!(world.questions(), 1);
    // What cannot be kept is still a yes, once, and says so.
    let reply = world.gate.pass(call("fail", "git a")).await;
    assert_eq!(reply.code(), "tool_failed");
    assert!(reply.warnings()[0].contains("the disk is full"));
}

#[tokio::test]
async fn a_tool_that_changes_while_a_person_thinks_is_not_run() {
    // A5: the yes was to something else.
    struct Swaps(Arc<Registry>);
    impl Approver for Swaps {
        fn name(&self) -> &str {
            "swaps"
        }
        fn ask<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, Result<Answer, NotAsked>> {
            self.0.remove("bash").unwrap();
            Box::pin(async { Ok(Answer::Once) })
        }
    }
    let mut world = world();
    world.setup = world.setup.approver(Swaps(world.registry.clone()));
    check(
        world,
        call("bash", "git push"),
        "denied by policy: the tool changed while a person was asked; nothing was run",
        "ended:denied_by_policy",
    )
    .await;
}

#[tokio::test]
async fn modes_decide_when_people_are_asked() {
    // S1.14, S2.1, S2.2, S2.4, S2.21, S4.38-S4.40, C2, S2.7, S2.18
    let asked = |mode, tool, text| async move {
        let world = world().person([Answer::Once]).mode(mode).close();
        let reply = world.gate.pass(call(tool, text)).await;
        (world.questions(), reply.code())
    };
    assert_eq!(asked(Mode::ConfirmAll, "look", "x").await, (1, "ok"));
    assert_eq!(asked(Mode::ConfirmSensitive, "look", "x").await, (0, "ok"));
    assert_eq!(asked(Mode::ConfirmSensitive, "bash", "default").await, (1, "ok"));
    // Unattended: what nobody wrote a rule about runs; what somebody wrote `ask` about asks.
    assert_eq!(asked(Mode::AutoApprove, "bash", "default").await, (0, "ok"));
    assert_eq!(asked(Mode::AutoApprove, "bash", "git push").await, (1, "ok"));
    assert_eq!(asked(Mode::Yolo, "bash", "git push").await, (0, "ok"));
    for mode in Mode::ALL {
        assert_eq!(asked(mode, "bash", "closed").await, (1, "ok"), "the administrator's question");
        assert_eq!(asked(mode, "bash", "rm x").await, (0, "denied_by_policy"));
        assert_eq!(asked(mode, "deploy", "x").await.1, "denied_by_checkpoint");
    }
}

#[tokio::test]
async fn staging_where_nothing_stages_is_asking_and_the_record_says_so() {
    let world =
        check(world().person([Answer::Once]), call("bash", "stage x"), "did: stage x", RAN).await;
    assert_eq!(world.questions(), 1);
    assert_eq!(world.bodies()[0]["because"][0]["origin"], "staging");
}

/// Never answers, and counts how many questions are open at once.
#[derive(Default)]
struct Slow {
    open: AtomicUsize,
    most: AtomicUsize,
}

impl Approver for Slow {
    fn name(&self) -> &str {
        "slow"
    }
    fn ask<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, Result<Answer, NotAsked>> {
        Box::pin(async {
            let open = self.open.fetch_add(1, SeqCst) + 1;
            self.most.fetch_max(open, SeqCst);
            for _ in 0..10 {
                tokio::task::yield_now().await;
            }
            self.open.fetch_sub(1, SeqCst);
            Ok(Answer::Once)
        })
    }
}

#[tokio::test]
async fn one_question_at_a_time() {
    let mut world = world();
    let slow = Arc::new(Slow::default());
    world.setup = world.setup.approvers(vec![slow.clone()]);
    let world = world.close();
    let calls: Vec<ToolCall> =
        (0..6).map(|n| ToolCall::new(format!("c{n}"), "look", json!({"text": "git"}))).collect();
    let replies = world.gate.pass_all(calls).await;
    assert!(replies.iter().all(|it| it.code() == "ok"));
    assert_eq!(slow.most.load(SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn waiting_for_a_person_is_not_the_tools_time() {
    // E16, C15
    struct Thinks;
    impl Approver for Thinks {
        fn name(&self) -> &str {
            "thinks"
        }
        fn ask<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, Result<Answer, NotAsked>> {
            Box::pin(async {
                tokio::time::sleep(std::time::Duration::from_secs(300)).await;
                Ok(Answer::Once)
            })
        }
    }
    let mut world = world();
    world.limits.approval = std::time::Duration::from_secs(600);
    world.setup = world.setup.approver(Thinks);
    check(world, call("bash", "git push"), "did: git push", RAN).await;
}
