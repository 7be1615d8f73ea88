//! What holds between the calls of a session: modes, counted rules, text from outside, budgets, and
//! answers. What is kept of it may be kept elsewhere, and what cannot be read holds nothing open.

use std::{path::Path, sync::Arc};

use eclusa::{
    policy::{Budget, EffectLimits, Names, Validity},
    session::{MemorySessions, SessionError, SessionRecord, SessionState},
    *,
};
use futures::future::BoxFuture;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::world::{Person, world};

/// A tool that would write a file, or would fetch from a host.
struct Stub(&'static str);

impl Tool for Stub {
    fn name(&self) -> &str {
        self.0
    }
    fn description(&self, _: &Scene) -> String {
        "does what its name says".to_owned()
    }
    fn input_schema(&self) -> Value {
        json!({"type": "object", "properties": {"what": {"type": "string"}}})
    }
    fn facts(&self) -> Facts {
        let class = if self.0 == "put" { PermissionClass::File } else { PermissionClass::Web };
        Facts { class: Some(class), stages: self.0 == "put", ..Facts::default() }
    }
    fn touches(&self, args: &Value) -> Vec<Touch> {
        let what = args["what"].as_str().unwrap_or_default().to_owned();
        vec![if self.0 == "put" { Touch::Write(what) } else { Touch::Fetch(what) }]
    }
    fn run<'a>(&'a self, job: &'a Job) -> BoxFuture<'a, Result<Output, ToolError>> {
        Box::pin(async move {
            let changes = (self.0 == "put").then(|| Change {
                path: job.args()["what"].as_str().unwrap_or_default().into(),
                from: None,
                before: None,
                after: Some(Node::File(FileNode::new(*b"text", 0o644))),
            });
            Ok(Output { changes: Changes::of(changes), ..Output::text("done") })
        })
    }
}

/// A gate as one process of a session has it.
struct Process {
    gate: Gate,
    person: Arc<Person>,
    dir: TempDir,
}

/// Everything is allowed; two files may change without a question.
fn process(sessions: Arc<dyn SessionState>, answers: &[Answer]) -> Process {
    let rules = vec![
        Rule::new(Decision::Allow).path(["*"]).unwrap(),
        Rule::new(Decision::Allow).domain(["docs.example"]).unwrap(),
    ];
    process_with(rules, sessions, answers)
}

/// The same with other rules.
fn process_with(rules: Vec<Rule>, sessions: Arc<dyn SessionState>, answers: &[Answer]) -> Process {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("workspace");
    std::fs::create_dir(&root).unwrap();
    let registry = Registry::new();
    registry.add(Stub("put")).unwrap();
    registry.add(Stub("fetch")).unwrap();
    let budget = Budget { files: Some(2), ..Budget::default() };
    let effects = EffectLimits { budget, ..EffectLimits::default() };
    let rules = Rules::new(rules, &root).with_effects(effects);
    let mut setup = Gate::builder()
        .registry(registry)
        .policy(rules)
        .workspace(Workspace::open(&root, dir.path().join("state")).unwrap().0);
    let person = Arc::new(Person::default());
    person.answers.lock().unwrap().extend(answers.iter().cloned().map(Ok));
    setup = setup.approvers(vec![person.clone()]).sessions(sessions);
    Process { gate: setup.build().unwrap(), person, dir }
}

impl Process {
    async fn pass(&self, tool: &str, what: &str) -> Reply {
        self.gate.pass(ToolCall::new("c", tool, json!({"what": what}))).await
    }

    /// How often a person was asked so far.
    fn asked(&self) -> usize {
        self.person.asked.lock().unwrap().len()
    }
}

fn modes(session: &str, mode: Mode) -> ModeRule {
    let session = Some(Names::new([session]).unwrap());
    ModeRule { mode, client: None, session }
}

#[tokio::test]
async fn rules_about_modes_hold_for_every_run_and_for_no_other() {
    let mut world = world();
    world.setup =
        world.setup.modes(vec![modes("careful", Mode::ConfirmAll), modes("loose", Mode::Yolo)]);
    let gate = world.close().gate;
    let named =
        |gate: &Gate, name: &str| gate.for_run(Run { session: name.into(), ..gate.run().clone() });
    let decided = |gate: &Gate| {
        let call = ToolCall::new("c", "echo", json!({"text": "x"}));
        gate.check(call).unwrap().1.decision
    };
    assert_eq!(decided(&gate), Decision::Allow);
    assert_eq!(decided(&named(&gate, "careful")), Decision::Ask);
    // The mode of a run is worked out from its own, whatever held for the one before it.
    let loose = named(&gate, "loose");
    assert_eq!(loose.run().mode_in_force(), Mode::Yolo);
    assert_eq!(named(&loose, "other").run().mode_in_force(), Mode::ConfirmSensitive);
    assert_eq!(decided(&named(&loose, "careful")), Decision::Ask);
    // What a run is held to is never loosened.
    let held = gate.run().clone().held_to(Some(Mode::ConfirmAll));
    let held = gate.for_run(Run { session: "loose".into(), ..held });
    assert_eq!(decided(&held), Decision::Ask);
    assert_eq!(gate.in_mode(Mode::ConfirmAll).run().mode_in_force(), Mode::ConfirmAll);
}

#[tokio::test]
async fn what_a_call_used_when_it_was_judged_is_not_counted_again_when_it_runs() {
    let registry = Registry::new();
    registry.add(Stub("fetch")).unwrap();
    let validity = Validity { times: Some(1), ..Validity::default() };
    let rule = Rule::new(Decision::Allow).domain(["docs.example"]).unwrap().id("once");
    let rules = Rules::new(vec![rule.bounded(validity).unwrap()], Path::new("/w"));
    let setup = Gate::builder().registry(registry).policy(rules);
    let gate = setup.build().unwrap();
    let call = || ToolCall::new("c", "fetch", json!({"what": "docs.example"}));
    let judged = gate.pass(call()).await;
    assert_eq!((judged.code(), &judged.uses().rules[..]), ("ok", &["once".to_owned()][..]));
    assert_ne!(gate.pass(call()).await.code(), "ok", "it is used up");
    let before = Some(Arc::new(judged.uses().clone()));
    let same = gate.for_run(Run { judged_before: before, session: "b".into(), ..Run::default() });
    assert_eq!(same.pass(call()).await.code(), "ok");
}

#[tokio::test]
async fn processes_of_a_session_know_what_came_into_it_and_what_people_answered() {
    let sessions = Arc::new(MemorySessions::default());
    let first = process(sessions.clone(), &[]);
    assert_eq!(first.pass("fetch", "docs.example").await.code(), "ok");
    let second = process(sessions.clone(), &[Answer::Once]);
    assert_eq!(second.pass("fetch", "docs.example").await.code(), "ok");
    assert_eq!(second.asked(), 1, "{:?}", second.gate.taint());
    second.gate.leave_session();
    assert!(first.gate.taint().is_some(), "a session that is left may be taken up again");
    first.gate.end_session();
    assert_eq!(second.gate.taint(), None);
}

#[tokio::test]
async fn a_budget_holds_over_the_processes_of_a_session_and_a_yes_begins_it_anew() {
    let sessions = Arc::new(MemorySessions::default());
    for name in ["a", "b"] {
        let process = process(sessions.clone(), &[]);
        assert_eq!(process.pass("put", name).await.code(), "ok");
    }
    let third = process(sessions.clone(), &[Answer::Once]);
    assert_eq!(third.pass("put", "c").await.code(), "ok");
    assert_eq!(third.asked(), 1);
    let fourth = process(sessions.clone(), &[]);
    assert_eq!(fourth.pass("put", "d").await.code(), "ok");
    assert_eq!(fourth.asked(), 0);
    let other = process(sessions, &[]);
    let gate = other.gate.for_run(Run { session: "other".into(), ..Run::default() });
    for name in ["a", "b"] {
        let call = ToolCall::new("c", "put", json!({"what": name}));
        assert_eq!(gate.pass(call).await.code(), "ok");
    }
}

#[tokio::test]
async fn an_answer_for_the_session_does_not_begin_its_budget_anew() {
    let rules = vec![Rule::new(Decision::Allow).path(["b", "c"]).unwrap()];
    let answers = [Answer::Session, Answer::No(String::new())];
    let process = process_with(rules, Arc::new(MemorySessions::default()), &answers);
    for name in ["a", "b", "a"] {
        #[expect(clippy::disallowed_methods, reason = "the tool only makes what is not there")]
        let _absent = std::fs::remove_file(process.dir.path().join("workspace").join(name));
        assert_eq!(process.pass("put", name).await.code(), "ok", "{name}");
    }
    assert_eq!(process.asked(), 1, "the answer covers `a` the second time");
    // Two files have changed since a person has seen any.
    assert_eq!(process.pass("put", "c").await.code(), "changes_discarded");
    assert_eq!(process.asked(), 2);
}

/// Sessions in which another process changes two files just before this one counts its own.
#[derive(Default)]
struct Overtaken(MemorySessions);

impl SessionState for Overtaken {
    fn load(&self, session: &str) -> Result<SessionRecord, SessionError> {
        self.0.load(session)
    }
    fn update(
        &self,
        session: &str,
        change: &mut dyn FnMut(&mut SessionRecord),
    ) -> Result<(), SessionError> {
        if self.0.load(session)?.is_empty() {
            let spent = r#"{"files": ["x", "y"], "deleted": 0, "lines": 0, "bytes": 2}"#;
            let other = SessionRecord::from_text(&format!(r#"{{"v": 1, "spent": {spent}}}"#))?;
            self.0.update(session, &mut |it| *it = other.clone())?;
        }
        self.0.update(session, change)
    }
    fn forget(&self, session: &str) -> Result<(), SessionError> {
        self.0.forget(session)
    }
}

#[tokio::test]
async fn of_two_calls_at_the_same_moment_one_sees_what_the_other_has_used() {
    let process = process(Arc::new(Overtaken::default()), &[Answer::No("enough".into())]);
    assert_eq!(process.pass("put", "a").await.code(), "changes_discarded");
    assert_eq!(process.asked(), 1);
}

/// Sessions that cannot be read, or not be changed.
struct Broken {
    reads: bool,
}

impl SessionState for Broken {
    fn load(&self, _: &str) -> Result<SessionRecord, SessionError> {
        match self.reads {
            true => Ok(SessionRecord::default()),
            false => Err("the disk is gone".into()),
        }
    }
    fn update(&self, _: &str, _: &mut dyn FnMut(&mut SessionRecord)) -> Result<(), SessionError> {
        Err("the disk is gone".into())
    }
    fn forget(&self, _: &str) -> Result<(), SessionError> {
        Err("the disk is gone".into())
    }
}

#[tokio::test]
async fn a_session_that_cannot_be_read_is_tainted_spent_and_not_granted() {
    let broken = process(Arc::new(Broken { reads: false }), &[]);
    let call = ToolCall::new("c", "fetch", json!({"what": "docs.example"}));
    let (_, verdict) = broken.gate.check(call).unwrap();
    assert_eq!(verdict.decision, Decision::Ask, "{}", verdict.why());
    assert!(broken.gate.taint().is_some());
    // Its budget counts as used up, and nobody answers.
    assert_eq!(broken.pass("put", "a").await.code(), "changes_discarded");
    assert_eq!(broken.asked(), 1);
}

#[tokio::test]
async fn what_cannot_be_kept_of_a_session_does_not_happen() {
    let broken = process(Arc::new(Broken { reads: true }), &[Answer::Session]);
    // Text from outside must not come in unnoticed, nor changes be applied uncounted.
    let refused = broken.pass("fetch", "docs.example").await;
    assert!(refused.refused() && refused.text().contains("cannot be kept"), "{}", refused.text());
    let discarded = broken.pass("put", "a").await;
    assert_eq!(discarded.code(), "changes_discarded");
    assert!(discarded.text().contains("cannot be counted"), "{}", discarded.text());
    assert_eq!(broken.asked(), 0);
}
