//! What ran is told (C34): discarding the changes of a run does not discard its output.

use std::sync::Arc;

use eclusa::{spool::MemorySpool, *};
use futures::future::BoxFuture;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::world::Person;

/// A tool that says what it is told to say, and would leave a file behind.
struct Build;

impl Tool for Build {
    fn name(&self) -> &str {
        "build"
    }
    fn description(&self, _: &Scene) -> String {
        "builds something".to_owned()
    }
    fn input_schema(&self) -> Value {
        json!({"type": "object", "properties": {"say": {}, "fail": {"type": "boolean"}}})
    }
    fn facts(&self) -> Facts {
        Facts { class: Some(PermissionClass::Shell), stages: true, ..Facts::default() }
    }
    fn touches(&self, args: &Value) -> Vec<Touch> {
        vec![Touch::Run(args["command"].as_str().unwrap_or("make").to_owned())]
    }
    fn run<'a>(&'a self, job: &'a Job) -> BoxFuture<'a, Result<Output, ToolError>> {
        Box::pin(async move {
            let made = Change {
                path: "made".into(),
                from: None,
                before: None,
                after: Some(Node::File(FileNode::new(b"made\n".as_slice(), 0o644))),
            };
            let failed = job.args()["fail"] == true;
            Ok(Output {
                changes: Changes::of(vec![made]),
                data: Some(json!({"exit_code": i32::from(failed)})),
                error: failed.then(|| "exit status 1".to_owned()),
                ..Output::text(job.args()["say"].as_str().unwrap_or_default())
            })
        })
    }
}

struct Place {
    dir: TempDir,
    gate: Gate,
    log: Arc<MemoryLog>,
}

impl Place {
    /// Somebody says no to every change.
    fn new(rules: Vec<Rule>, change: impl FnOnce(GateBuilder) -> GateBuilder) -> Place {
        let no = Some(Answer::No("not now".to_owned()));
        Place::answered(no, rules, change)
    }

    /// Somebody answers this, or nobody is there; the setup is as usual but for `change`.
    fn answered(
        answer: Option<Answer>,
        rules: Vec<Rule>,
        change: impl FnOnce(GateBuilder) -> GateBuilder,
    ) -> Place {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("workspace");
        std::fs::create_dir(&root).unwrap();
        let registry = Registry::new();
        registry.add(Build).unwrap();
        let log = Arc::new(MemoryLog::default());
        let rules = Rules::new(rules, &root);
        let mut setup = Gate::builder()
            .registry(registry)
            .policy(rules)
            .log(log.clone())
            .workspace(Workspace::open(&root, dir.path().join("state")).unwrap().0);
        if let Some(answer) = answer {
            let person = Person::default();
            person.answers.lock().unwrap().push_back(Ok(answer));
            setup = setup.approver(person);
        }
        Place { dir, gate: change(setup).build().unwrap(), log }
    }

    async fn build(&self, args: Value) -> Reply {
        let reply = self.gate.pass(ToolCall::new("c1", "build", args)).await;
        assert!(!self.dir.path().join("workspace/made").exists(), "it was applied");
        reply
    }

    fn last(&self) -> Value {
        serde_json::from_str(&self.log.records().last().unwrap().body).unwrap()
    }
}

const WHY: &str = "changes discarded, nothing was applied: denied by a person: not now";

/// Shows C34.
#[tokio::test]
async fn what_ran_is_told_when_its_changes_are_discarded() {
    // S1.34
    let place = Place::new(Vec::new(), |it| it);
    let reply = place.build(json!({"say": "3 tests passed"})).await;
    assert_eq!((reply.code(), reply.refused()), ("changes_discarded", true));
    assert_eq!(reply.output(), Some("3 tests passed"));
    assert_eq!(reply.error(), Some(WHY));
    assert_eq!(reply.content(), format!("{WHY}\n3 tests passed"));
    assert_eq!(reply.data(), Some(&json!({"exit_code": 0, "applied": false})));
    assert!(reply.undo().is_none() && reply.run_time() > std::time::Duration::ZERO);
    let record = place.last();
    assert_eq!(
        (&record["code"], &record["stage"]),
        (&"changes_discarded".into(), &"released".into())
    );
    assert_eq!((&record["message"], &record["output"]["bytes"]), (&WHY.into(), &14.into()));
    assert_eq!(record["changes"]["outcome"], "discarded");
}

#[tokio::test]
async fn how_the_tool_failed_is_told_too() {
    let place = Place::new(Vec::new(), |it| it);
    let reply = place.build(json!({"say": "1 test failed", "fail": true})).await;
    assert_eq!(reply.code(), "changes_discarded");
    assert_eq!(reply.content(), format!("{WHY}\nexit status 1\n1 test failed"));
    assert_eq!(reply.data().unwrap()["exit_code"], 1);
}

#[tokio::test]
async fn it_is_redacted_cut_and_saved_like_any_output() {
    let place = Place::new(Vec::new(), |setup| {
        let setup = setup.limits(Limits { output: 100, ..Limits::default() });
        setup.spool(Arc::new(MemorySpool::default()))
    });
    let token = format!("ghp_{}", "A1b2C3d4E5f6".repeat(3));
    let reply = place.build(json!({"say": format!("{token} {}", "x".repeat(500))})).await;
    assert_eq!(reply.code(), "changes_discarded");
    assert!(reply.truncated() && !reply.content().contains(&token), "{}", reply.content());
    let spool = place.gate.spool().cloned().unwrap();
    let whole = spool.read(reply.spool().unwrap(), 0..usize::MAX).await.unwrap();
    assert!(!whole.contains(&token) && whole.ends_with(&"x".repeat(500)));
    assert_eq!(place.last()["output"]["redacted"], 1);
}

#[tokio::test]
async fn a_reviewer_may_hold_it_back_and_still_nothing_was_applied() {
    let place = Place::new(Vec::new(), |setup| {
        let no =
            |_: &Validated, _: &Output| Ok(Review::<Output>::Deny("not for models".to_owned()));
        setup.reviewer(FnReviewer::output("reader", no))
    });
    let reply = place.build(json!({"say": "the plan"})).await;
    assert_eq!(reply.code(), "changes_discarded");
    let content = reply.content();
    assert!(content.starts_with(WHY) && content.contains("not for models"), "{content}");
    assert!(!content.contains("the plan") && reply.data().is_none(), "{content}");
}

#[tokio::test]
async fn what_a_rule_denies_before_it_runs_has_no_output() {
    let deny = Rule::new(Decision::Deny).tool(["build"]).unwrap();
    let place = Place::new(vec![deny], |it| it);
    let reply = place.build(json!({"say": "never"})).await;
    assert_eq!((reply.code(), reply.output()), ("denied_by_policy", None));
}

#[tokio::test]
async fn nobody_to_ask_and_an_end_of_the_turn_tell_it_as_well() {
    for (answer, code) in [(None, "changes_discarded"), (Some(Answer::Abort), "aborted")] {
        let place = Place::answered(answer, Vec::new(), |it| it);
        let reply = place.build(json!({"say": "built"})).await;
        assert_eq!((reply.code(), reply.output()), (code, Some("built")));
    }
}
