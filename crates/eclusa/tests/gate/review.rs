//! Reviewers: the matrix of seed 000, loose forms, merging, and the cache.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use eclusa::{
    review::{ReviewCache, ReviewConfig, ReviewError, ReviewResult},
    workspace::digest,
    *,
};
use futures::future::BoxFuture;
use serde_json::{Value, json};

use crate::world::*;

/// Says on input what the text tells it to say, and on output what the output tells it to say;
/// at once or a moment later.
struct Obeys {
    later: bool,
}

fn obey<T>(text: &str, modified: impl Fn(&str) -> T) -> Result<Review<T>, ReviewError> {
    match text.rsplit(": ").next().unwrap_or_default() {
        "deny" => Ok(Review::Deny("not today".into())),
        "fail" => Err("the service is down".into()),
        "panic" => panic!("reviewer"),
        word if word.starts_with("modify") => Ok(Review::Modify(modified("changed"))),
        _ => Ok(Review::Approve),
    }
}

impl Obeys {
    async fn moment(&self, text: &str) {
        if self.later {
            tokio::task::yield_now().await;
        }
        if text.ends_with("hang") {
            std::future::pending::<()>().await;
        }
    }
}

/// Only reads outputs when the text starts with `out `, only inputs otherwise.
impl Reviewer for Obeys {
    fn name(&self) -> &str {
        "obeys"
    }
    fn input<'a>(
        &'a self,
        call: &'a Validated,
    ) -> BoxFuture<'a, Result<Review<Value>, ReviewError>> {
        Box::pin(async move {
            let text = call.args()["text"].as_str().unwrap();
            if text.starts_with("out ") {
                return Ok(Review::Approve);
            }
            self.moment(text).await;
            obey(text, |it| json!({"text": it}))
        })
    }
    fn output<'a>(
        &'a self,
        call: &'a Validated,
        output: &'a Output,
    ) -> BoxFuture<'a, Result<Review<Output>, ReviewError>> {
        Box::pin(async move {
            let text = call.args()["text"].as_str().unwrap();
            let Some(word) = text.strip_prefix("out ") else { return Ok(Review::Approve) };
            assert_eq!(output.text, format!("did: {text}"));
            self.moment(text).await;
            obey(word, |it| Output::text(it))
        })
    }
}

#[tokio::test(start_paused = true)]
async fn the_whole_matrix() {
    // Fact W: {approve, deny, modify, raise, panic, time out} x {input, output} x {sync, async};
    // S0.1, S0.10-S0.15, S0.19, S0.27, S0.31, C22, W1
    for later in [false, true] {
        let world = || world().reviewer(Obeys { later });
        let ok = "started ended:ok";
        let denied = "ended:denied_by_review";
        let withheld = "started ended:executed_output_withheld";
        let stopped = |why: &str| format!("denied by reviewer `obeys`: {why}; nothing was run");
        let hidden = |why: &str| {
            format!(
                "the tool ran, but its output is withheld: denied by reviewer `obeys`: {why}; do not run it again to get the output"
            )
        };
        let down = "it could not decide: the service is down";
        let crashed = "it could not decide: it crashed";
        let silent = "it could not decide: it said nothing within 5 s";
        check(world(), call("echo", "approve"), "did: approve", ok).await;
        check(world(), call("echo", "deny"), &stopped("not today"), denied).await;
        check(world(), call("echo", "modify"), "did: changed", ok).await;
        check(world(), call("echo", "fail"), &stopped(down), denied).await;
        check(world(), call("echo", "panic"), &stopped(crashed), denied).await;
        check(world(), call("echo", "hang"), &stopped(silent), denied).await;
        check(world(), call("echo", "out approve"), "did: out approve", ok).await;
        check(world(), call("echo", "out deny"), &hidden("not today"), withheld).await;
        check(world(), call("echo", "out modify"), "changed", ok).await;
        check(world(), call("echo", "out fail"), &hidden(down), withheld).await;
        check(world(), call("echo", "out panic"), &hidden(crashed), withheld).await;
        check(world(), call("echo", "out hang"), &hidden(silent), withheld).await;
    }
}

#[tokio::test]
async fn what_a_reviewer_changed_is_validated_judged_and_reviewed_on() {
    // S0.36, S0.37, W2, appendix A.a
    let turns_into =
        |args: Value| FnReviewer::input("turns", move |_| Ok(Review::Modify(args.clone())));
    check(
        world().reviewer(turns_into(json!({"text": 7}))),
        call("bash", "ls"),
        "the arguments do not fit the tool's schema, so nothing was run: as the reviewer `turns` changed them: `/text`: expected type \"string\" (it is a number)",
        "ended:invalid_args",
    )
    .await;
    check(
        world().reviewer(turns_into(json!({"text": "rm x"}))),
        call("bash", "ls"),
        "denied by policy: deny `rm x` (test:1); nothing was run",
        "ended:denied_by_policy",
    )
    .await;
    let sees = FnReviewer::input("sees", |call| match call.args()["text"].as_str() {
        Some("second") => Ok(Review::Deny("saw the change".into())),
        _ => Ok(Review::Approve),
    });
    check(
        world().reviewer(turns_into(json!({"text": "second"}))).reviewer(sees),
        call("bash", "first"),
        "denied by reviewer `sees`: saw the change; nothing was run",
        "ended:denied_by_review",
    )
    .await;
}

#[tokio::test]
async fn the_sql_sanitiser_merges_and_keeps_the_other_arguments() {
    // S0.24, S0.37: RFC 7396
    let sanitise = FnReviewer::input("sql", |call| {
        let Some(query) = call.args()["text"].as_str() else { return Ok(Review::Approve) };
        Ok(Review::Merge(json!({"text": query.replace(';', "").replace("--", "")})))
    });
    let world = world().reviewer(sanitise).close();
    let args = json!({"text": "select 1; drop -- x", "count": 3});
    let reply = world.gate.pass(ToolCall::new("c", "echo", args)).await;
    assert_eq!(reply.text(), "did: select 1 drop  x");
    assert_eq!(world.bodies()[0]["args"], json!({"text": "select 1 drop  x", "count": 3}));
    assert_eq!(world.bodies()[0]["reviews"][0]["said"], "modify");
}

#[tokio::test]
async fn the_output_filter_drops_keys_of_objects_only() {
    // S0.25
    struct Data(Value);
    impl Tool for Data {
        fn name(&self) -> &str {
            "data"
        }
        fn description(&self, _: &Scene) -> String {
            String::new()
        }
        fn input_schema(&self) -> Value {
            json!({})
        }
        fn touches(&self, _: &Value) -> Vec<Touch> {
            Vec::new()
        }
        fn run<'a>(&'a self, _: &'a Job) -> BoxFuture<'a, Result<Output, ToolError>> {
            Box::pin(async { Ok(Output::from(self.0.clone())) })
        }
    }
    let filtered = |value: Value| async move {
        let filter = FnReviewer::output("filter", |_, output: &Output| {
            Ok::<Review<Output>, ReviewError>(match &output.data {
                Some(Value::Object(_)) => Review::Merge(json!({"password": null, "token": null})),
                _ => Review::Approve,
            })
        });
        let mut world = world();
        world.limits.output = 1000;
        let review = ReviewConfig { output: Some(Arc::new(filter)), input: None };
        world.registry.register(Registration::new(Data(value)).review(review)).unwrap();
        let world = world.close();
        let reply = world.gate.pass(ToolCall::new("c", "data", json!({}))).await;
        (reply.text().to_owned(), reply.data().cloned())
    };
    let rest = json!({"user": "ana"});
    let (text, data) = filtered(json!({"user": "ana", "password": "x", "token": "y"})).await;
    assert_eq!((text, data), (rest.to_string(), Some(rest)));
    assert_eq!(filtered(json!("password")).await, ("password".to_owned(), None));
    assert_eq!(filtered(json!([1, 2])).await, ("[1,2]".to_owned(), Some(json!([1, 2]))));
}

#[tokio::test]
async fn the_output_reviewer_sees_the_arguments_that_were_used() {
    // S0.6, S0.16, W3
    let changes = FnReviewer::input("changes", |_| Ok(Review::Modify(json!({"text": "used"}))));
    let reads = FnReviewer::output_async("reads", |id, tool, args, output| async move {
        Ok(Review::Modify(Output::text(format!("{id} {tool} {} {}", args["text"], output.text))))
    });
    check(
        world().reviewer(changes).reviewer(reads),
        call("echo", "written"),
        "c1 echo \"used\" did: used",
        "started ended:ok",
    )
    .await;
}

#[tokio::test]
async fn review_belongs_to_the_registration_of_a_tool() {
    // S0.3-S0.5, S0.22, S0.35: per tool; other tools are untouched.
    let own = FnReviewer::input_async("own", |id, name, params| async move {
        Ok(Review::Deny(format!("{id} {name} {}", params["text"])))
    });
    let review = ReviewConfig { input: Some(Arc::new(own)), output: None };
    let new = || {
        let world = world();
        let tool = TestTool { name: "echo", counters: world.counters.clone() };
        let registration = Registration::new(tool).review(review.clone()).replace();
        world.registry.register(registration).unwrap();
        assert!(world.registry.get("echo").unwrap().review().input.is_some());
        world
    };
    check(
        new(),
        call("echo", "x"),
        "denied by reviewer `own`: c1 echo \"x\"; nothing was run",
        "ended:denied_by_review",
    )
    .await;
    check(new(), call("look", "x"), "did: x", "started ended:ok").await;
}

#[tokio::test]
async fn a_reviewer_reads_only_the_tools_it_wants() {
    struct OnlyBash;
    impl Reviewer for OnlyBash {
        fn name(&self) -> &str {
            "only-bash"
        }
        fn reads(&self, tool: &str) -> bool {
            tool == "bash"
        }
        fn input<'a>(
            &'a self,
            _: &'a Validated,
        ) -> BoxFuture<'a, Result<Review<Value>, ReviewError>> {
            Box::pin(async { Ok(Review::Deny("bash".into())) })
        }
    }
    let world = world().reviewer(OnlyBash).close();
    assert_eq!(world.gate.pass(call("echo", "x")).await.code(), "ok");
    assert_eq!(world.gate.pass(call("bash", "x")).await.code(), "denied_by_review");
}

#[test]
fn loose_forms_are_conversions() {
    // S0.7-S0.9, S0.36
    assert_eq!(Review::from(true), Review::Approve);
    assert_eq!(Review::from(false), Review::Deny("not approved".into()));
    assert_eq!(Review::from(json!(true)), Review::Approve);
    assert_eq!(Review::from(json!(false)), Review::Deny("not approved".into()));
    assert_eq!(Review::from(json!({"a": 1})), Review::Modify(json!({"a": 1})));
    let result = |approved, modified_value, reason: Option<&str>| {
        Review::from(ReviewResult { approved, modified_value, reason: reason.map(Into::into) })
    };
    assert_eq!(result(true, None, Some("fine")), Review::Approve);
    assert_eq!(result(true, Some(json!(1)), None), Review::Modify(json!(1)));
    assert_eq!(result(false, Some(json!(1)), Some("why")), Review::Deny("why".into()));
    // What the loose form cannot say, the enum can: the result becomes `true`.
    let literal: Review<Output> = Review::Modify(json!(true)).into();
    assert_eq!(
        literal,
        Review::Modify(Output {
            text: "true".into(),
            data: Some(json!(true)),
            ..Output::default()
        })
    );
}

#[tokio::test]
async fn every_review_is_on_record() {
    // S0.32-S0.34
    let approves = FnReviewer::input("one", |_| Ok(true));
    let changes = FnReviewer::input("two", |_| Ok(Review::Modify(json!({"text": "b"}))));
    let reads = FnReviewer::output("three", |_, _: &Output| {
        Ok::<_, ReviewError>(Review::<Output>::Approve)
    });
    let world = world().reviewer(approves).reviewer(changes).reviewer(reads).close();
    world.gate.pass(call("echo", "a")).await;
    let bodies = world.bodies();
    let said = |body: &Value| -> Vec<String> {
        let reviews = body["reviews"].as_array().cloned().unwrap_or_default();
        reviews
            .iter()
            .map(|it| {
                format!(
                    "{} {} {}",
                    it["on"].as_str().unwrap(),
                    it["by"].as_str().unwrap(),
                    it["said"].as_str().unwrap()
                )
            })
            .collect()
    };
    assert_eq!(said(&bodies[0]), ["input one approve", "input two modify", "input three approve"]);
    assert_eq!(
        said(&bodies[1]),
        ["output one approve", "output two approve", "output three approve"]
    );
    let after = digest(&json!({"text": "b"})).to_string();
    assert_eq!(bodies[0]["reviews"][1]["sha256"], after);
    // A no has its reason there.
    let refuses = FnReviewer::input("four", |_| Ok(Review::Deny("not on a Friday".into())));
    let world = crate::world::world().reviewer(refuses).close();
    world.gate.pass(call("echo", "a")).await;
    let review = &world.bodies()[0]["reviews"][0];
    assert_eq!((&review["said"], &review["why"]), (&json!("deny"), &json!("not on a Friday")));
}

#[tokio::test]
async fn repeated_decisions_can_be_cached() {
    // S0.29
    let asked = Arc::new(AtomicUsize::new(0));
    let counting = |asked: Arc<AtomicUsize>| {
        FnReviewer::input("counts", move |_| {
            asked.fetch_add(1, SeqCst);
            Ok(true)
        })
    };
    let mut cached = world().reviewer(counting(asked.clone()));
    cached.setup = cached.setup.review_cache(ReviewCache::new(Duration::from_secs(60), 2));
    let cached = cached.close();
    for text in ["a", "a", "b", "a"] {
        cached.gate.pass(call("echo", text)).await;
    }
    assert_eq!(asked.load(SeqCst), 2);
    assert_eq!(cached.bodies()[2]["reviews"][0]["cached"], true);
    // Bounded: a third text pushes out the oldest.
    cached.gate.pass(call("echo", "c")).await;
    cached.gate.pass(call("echo", "a")).await;
    assert_eq!(asked.load(SeqCst), 4);
    // Another tool is another question, an elapsed time is another question.
    cached.gate.pass(call("look", "a")).await;
    assert_eq!(asked.load(SeqCst), 5);
    let mut short = world().reviewer(counting(asked.clone()));
    short.setup = short.setup.review_cache(ReviewCache::new(Duration::ZERO, 2));
    let short = short.close();
    short.gate.pass(call("echo", "a")).await;
    short.gate.pass(call("echo", "a")).await;
    assert_eq!(asked.load(SeqCst), 7);
}

#[tokio::test]
async fn a_reviewer_can_have_a_person_asked_whatever_the_rules_say() {
    let asks = || FnReviewer::input("watch", |_| Ok(Review::<Value>::Ask("a new face".into())));
    let world = world().reviewer(asks()).person([Answer::Once]);
    let world = check(world, call("echo", "hi"), "did: hi", "started ended:ok").await;
    assert_eq!(world.questions(), 1);
    let question = world.person.asked.lock().unwrap()[0].clone();
    assert!(question.verdict.why().contains("reviewer `watch` asks for a person: a new face"));
    // Nobody there is a no, and what policy denies is not asked about.
    let world = crate::world::world().reviewer(asks()).close();
    assert_eq!(world.gate.pass(call("echo", "hi")).await.code(), "no_approver");
    assert_eq!(world.gate.pass(call("bash", "rm x")).await.code(), "denied_by_policy");
    // An output is there already: it is withheld.
    let asks = FnReviewer::output("watch", |_, _| Ok(Review::<Output>::Ask("odd".into())));
    let world = crate::world::world().reviewer(asks).close();
    assert_eq!(world.gate.pass(call("echo", "hi")).await.code(), "executed_output_withheld");
}
