//! Changes are values before they are real: judged, shown, committed or discarded.

use std::{path::PathBuf, sync::Arc};

use eclusa::{policy::EffectLimits, *};
use futures::future::BoxFuture;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::world::Person;

/// A tool that would write the files of its argument, and says so only of `path`.
struct Writer {
    root: PathBuf,
}

impl Tool for Writer {
    fn name(&self) -> &str {
        "put"
    }
    fn description(&self, _: &Scene) -> String {
        "puts text into files".to_owned()
    }
    fn input_schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "path": {"type": "string"},
                "text": {"type": "string"},
                "also": {"type": "string"},
                "fail": {"type": "boolean"},
            },
            "required": ["path", "text"],
        })
    }
    fn facts(&self) -> Facts {
        Facts { class: Some(PermissionClass::File), stages: true, ..Facts::default() }
    }
    fn touches(&self, args: &Value) -> Vec<Touch> {
        vec![Touch::Write(args["path"].as_str().unwrap_or_default().to_owned())]
    }
    fn run<'a>(&'a self, job: &'a Job) -> BoxFuture<'a, Result<Output, ToolError>> {
        Box::pin(async move {
            let args = job.args();
            let text = args["text"].as_str().unwrap_or_default();
            let paths = [&args["path"], &args["also"]].into_iter().filter_map(Value::as_str);
            let changes = paths.map(|path| {
                let before = std::fs::read(self.root.join(path)).ok();
                Change {
                    path: path.into(),
                    from: None,
                    before: before.map(|it| Node::File(FileNode::new(it, 0o644))),
                    after: Some(Node::File(FileNode::new(text.as_bytes(), 0o644))),
                }
            });
            Ok(Output {
                changes: Changes::of(changes.collect::<Vec<_>>()),
                error: args["fail"].as_bool().unwrap_or_default().then(|| "it failed".to_owned()),
                ..Output::text("put it")
            })
        })
    }
}

/// A workspace with a gate around it, and somebody who gives answers.
struct Place {
    dir: TempDir,
    gate: Gate,
    log: Arc<MemoryLog>,
    person: Arc<Person>,
}

struct Setting {
    rules: Vec<Rule>,
    effects: EffectLimits,
    mode: Mode,
    answers: Vec<Answer>,
    server: bool,
    workspace: bool,
}

impl Default for Setting {
    fn default() -> Setting {
        Setting {
            rules: Vec::new(),
            effects: EffectLimits::default(),
            mode: Mode::default(),
            answers: Vec::new(),
            server: false,
            workspace: true,
        }
    }
}

impl Place {
    fn new(setting: Setting) -> Place {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("workspace");
        std::fs::create_dir(&root).unwrap();
        let registry = Registry::new();
        let tool = Registration::new(Writer { root: root.clone() });
        let tool = if setting.server { tool.foreign("far") } else { tool };
        registry.register(tool).unwrap();
        let rules = Rules::new(setting.rules, &root).with_effects(setting.effects);
        let log = Arc::new(MemoryLog::default());
        let mut setup = Gate::builder().registry(registry).policy(rules).log(log.clone());
        if setting.workspace {
            let (workspace, _) = Workspace::open(&root, dir.path().join("state")).unwrap();
            setup = setup.workspace(workspace);
        }
        let person = Arc::new(Person::default());
        person.answers.lock().unwrap().extend(setting.answers.into_iter().map(Ok));
        setup = setup.approvers(vec![person.clone()]);
        let run = Run { mode: setting.mode, ..Run::default() };
        Place { dir, gate: setup.build().unwrap().for_run(run), log, person }
    }

    async fn put(&self, args: Value) -> Reply {
        self.gate.pass(ToolCall::new("c1", "put", args)).await
    }

    fn file(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.dir.path().join("workspace").join(name)).ok()
    }

    fn asked(&self) -> Vec<Question> {
        self.person.asked.lock().unwrap().clone()
    }

    /// What the last record says of changes.
    fn changes(&self) -> Value {
        let records = self.log.records();
        let last: Value = serde_json::from_str(&records.last().unwrap().body).unwrap();
        last["changes"].clone()
    }
}

fn allow(path: &str) -> Rule {
    Rule::new(Decision::Allow).path([path]).unwrap()
}

#[tokio::test]
async fn a_person_sees_the_diff_and_the_answer_is_bound_to_it() {
    let place = Place::new(Setting { answers: vec![Answer::Once], ..Setting::default() });
    let reply = place.put(json!({"path": "a.txt", "text": "hello\n"})).await;
    assert_eq!((reply.code(), reply.text()), ("ok", "put it"));
    assert_eq!(place.file("a.txt").as_deref(), Some("hello\n"));
    let asked = place.asked();
    let [question] = asked.as_slice() else { panic!("asked {} times", asked.len()) };
    let preview = question.preview().unwrap();
    assert!(preview.diff.contains("made a.txt"), "{}", preview.diff);
    assert!(preview.diff.contains("+ hello"), "{}", preview.diff);
    let page = render(question).to_string();
    assert!(page.contains("not applied yet") && page.contains("+ hello"), "{page}");
    assert!(!page.contains("edit the arguments"), "{page}");
    let noted = place.changes();
    let digest = noted["sha256"].as_str().unwrap();
    assert!(question.binding.ends_with(digest), "{} is not bound", question.binding);
    assert_eq!((&noted["outcome"], &noted["decision"]), (&json!("committed"), &json!("ask")));
    assert_eq!(noted["approval"]["binding"], json!(question.binding));
    assert_eq!(noted["paths"], json!(["a.txt"]));
}

#[tokio::test]
async fn a_no_discards_and_leaves_no_trace() {
    let no = Answer::No("not there".to_owned());
    let place = Place::new(Setting { answers: vec![no], ..Setting::default() });
    let reply = place.put(json!({"path": "a.txt", "text": "hello\n"})).await;
    assert_eq!(reply.code(), "changes_discarded");
    assert!(reply.refused() && reply.undo().is_none());
    let text = "changes discarded, nothing was applied: denied by a person: not there";
    // A file tool has run nothing: "put it" would not be true.
    assert_eq!((reply.content(), reply.output()), (text.into(), None));
    assert_eq!((place.file("a.txt"), &place.changes()["outcome"]), (None, &json!("discarded")));
}

#[tokio::test]
async fn an_abort_ends_the_turn() {
    let place = Place::new(Setting { answers: vec![Answer::Abort], ..Setting::default() });
    let reply = place.put(json!({"path": "a.txt", "text": "hello\n"})).await;
    assert!(reply.aborted());
    assert_eq!((place.file("a.txt"), &place.changes()["outcome"]), (None, &json!("discarded")));
}

#[tokio::test]
async fn nobody_to_ask_is_a_no() {
    let place = Place::new(Setting::default());
    place.person.answers.lock().unwrap().push_back(Err(NotAsked::Unavailable("away".into())));
    let reply = place.put(json!({"path": "a.txt", "text": "hello\n"})).await;
    assert_eq!((reply.code(), place.file("a.txt")), ("changes_discarded", None));
    assert!(reply.content().contains("nobody is available to approve"), "{}", reply.content());
}

#[tokio::test]
async fn an_edit_of_arguments_is_no_answer_to_changes() {
    let edit = Answer::Edit(json!({"path": "b.txt", "text": "x"}));
    let place = Place::new(Setting { answers: vec![edit], ..Setting::default() });
    let reply = place.put(json!({"path": "a.txt", "text": "hello\n"})).await;
    assert_eq!(reply.code(), "changes_discarded");
    assert_eq!((place.file("a.txt"), place.file("b.txt")), (None, None));
}

#[tokio::test]
async fn what_changes_nothing_asks_nobody() {
    let place = Place::new(Setting { answers: vec![Answer::Once], ..Setting::default() });
    place.put(json!({"path": "a.txt", "text": "same"})).await;
    let reply = place.put(json!({"path": "a.txt", "text": "same"})).await;
    assert_eq!((reply.code(), place.asked().len()), ("ok", 1));
    assert!(reply.undo().is_none() && place.changes().is_null());
}

#[tokio::test]
async fn a_rule_that_allows_the_path_asks_nobody() {
    let rules = vec![allow("docs/**")];
    let place = Place::new(Setting { rules, answers: vec![Answer::Once], ..Setting::default() });
    std::fs::create_dir(place.dir.path().join("workspace/docs")).unwrap();
    let reply = place.put(json!({"path": "docs/a.md", "text": "hello"})).await;
    assert_eq!((reply.code(), place.asked().len()), ("ok", 0));
    assert_eq!(place.file("docs/a.md").as_deref(), Some("hello"));
    // What the call did not say it would write is judged by what it does.
    let rest = json!({"path": "docs/a.md", "text": "more", "also": "other.md"});
    let reply = place.put(rest).await;
    assert_eq!((reply.code(), place.asked().len()), ("ok", 1), "{}", reply.text());
}

#[tokio::test]
async fn a_denied_path_is_denied_on_every_route() {
    let deny = Rule::new(Decision::Deny).path(["secret/**"]).unwrap();
    let rules = vec![allow("**"), deny];
    let place = Place::new(Setting { rules, mode: Mode::Yolo, ..Setting::default() });
    std::fs::create_dir(place.dir.path().join("workspace/secret")).unwrap();
    let reply = place.put(json!({"path": "a", "text": "x", "also": "secret/b"})).await;
    assert_eq!(reply.code(), "changes_discarded");
    assert!(reply.content().contains("denied by policy"), "{}", reply.content());
    assert_eq!((place.file("a"), place.file("secret/b")), (None, None));
}

#[tokio::test]
async fn limits_on_lines_are_counted() {
    let effects = EffectLimits { max_lines: Some(2), ..EffectLimits::default() };
    let setting = Setting { effects, mode: Mode::Yolo, ..Setting::default() };
    let place = Place::new(setting);
    assert_eq!(place.put(json!({"path": "a", "text": "1\n2\n"})).await.code(), "ok");
    let reply = place.put(json!({"path": "a", "text": "3\n4\n5\n"})).await;
    assert_eq!(reply.code(), "changes_discarded");
    assert_eq!(place.file("a").as_deref(), Some("1\n2\n"));
}

/// Shows A16.
#[tokio::test]
async fn what_changed_meanwhile_is_a_conflict_and_nothing_is_written() {
    let place = Place::new(Setting { mode: Mode::Yolo, ..Setting::default() });
    let root = place.dir.path().join("workspace");
    place.put(json!({"path": "a", "text": "old"})).await;
    /// Changes the file while the person looks at the diff.
    struct Meddler(PathBuf);
    impl Approver for Meddler {
        fn name(&self) -> &str {
            "meddler"
        }
        fn ask<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, Result<Answer, NotAsked>> {
            Box::pin(async {
                let file = std::fs::OpenOptions::new().append(true).open(&self.0).unwrap();
                std::io::Write::write_all(&mut &file, b" and more").unwrap();
                Ok(Answer::Once)
            })
        }
    }
    let registry = Registry::new();
    registry.add(Writer { root: root.clone() }).unwrap();
    let setup = Gate::builder()
        .registry(registry)
        .policy(Rules::new(Vec::new(), &root))
        .log(place.log.clone())
        .workspace(place.gate.workspace().cloned().unwrap())
        .approver(Meddler(root.join("a")));
    let gate = setup.build().unwrap();
    let args = json!({"path": "a", "text": "new", "also": "b"});
    let reply = gate.pass(ToolCall::new("c1", "put", args)).await;
    assert_eq!(reply.code(), "conflict");
    assert!(reply.content().contains("`a`") && !reply.refused(), "{}", reply.content());
    assert_eq!((place.file("a").as_deref(), place.file("b")), (Some("old and more"), None));
    assert_eq!(place.changes()["outcome"], "conflict");
}

#[tokio::test]
async fn an_answer_for_the_conversation_covers_later_changes_but_not_what_a_rule_asks_about() {
    let ask = Rule::new(Decision::Ask).path(["ci/**"]).unwrap().because("it runs by itself");
    let no = Answer::No(String::new());
    let answers = vec![Answer::Session, no];
    let place = Place::new(Setting { rules: vec![ask], answers, ..Setting::default() });
    std::fs::create_dir(place.dir.path().join("workspace/ci")).unwrap();
    place.put(json!({"path": "a", "text": "1"})).await;
    assert_eq!(place.put(json!({"path": "a", "text": "2"})).await.code(), "ok");
    assert_eq!(place.changes()["approval"]["answer"], "remembered");
    assert_eq!(place.asked().len(), 1);
    let reply = place.put(json!({"path": "a", "text": "3", "also": "ci/x"})).await;
    assert_eq!((reply.code(), place.asked().len()), ("changes_discarded", 2));
    assert!(place.asked()[1].grant.is_none(), "it must not be offered to remember");
}

#[tokio::test]
async fn a_question_answered_before_the_run_is_not_asked_again() {
    let ask = Rule::new(Decision::Ask).path(["ci/**"]).unwrap().because("it runs by itself");
    let place =
        Place::new(Setting { rules: vec![ask], answers: vec![Answer::Once], ..Setting::default() });
    std::fs::create_dir(place.dir.path().join("workspace/ci")).unwrap();
    let reply = place.put(json!({"path": "ci/x", "text": "1"})).await;
    assert_eq!((reply.code(), place.asked().len()), ("ok", 1), "{}", reply.text());
    assert!(place.asked()[0].preview().is_none());
}

#[tokio::test]
async fn confirm_all_asks_once() {
    let setting =
        Setting { mode: Mode::ConfirmAll, answers: vec![Answer::Once], ..Setting::default() };
    let place = Place::new(setting);
    let reply = place.put(json!({"path": "a", "text": "1"})).await;
    assert_eq!((reply.code(), place.asked().len()), ("ok", 1), "{}", reply.text());
}

#[tokio::test]
async fn a_tool_of_another_server_is_not_believed_that_it_stages() {
    let answers = vec![Answer::No(String::new())];
    // A rule speaks for it, and another wants it staged.
    let rule = |decision| Rule::new(decision).tool(["put"]).unwrap();
    let rules = vec![rule(Decision::Allow), rule(Decision::Stage)];
    let place = Place::new(Setting { server: true, rules, answers, ..Setting::default() });
    let reply = place.put(json!({"path": "a", "text": "1"})).await;
    assert_eq!(reply.code(), "denied_by_person", "it must be asked about before it runs");
    assert!(place.asked()[0].preview().is_none());
}

#[tokio::test]
async fn without_a_workspace_stage_is_ask_and_changes_are_discarded() {
    let answers = vec![Answer::Once];
    let place = Place::new(Setting { workspace: false, answers, ..Setting::default() });
    let reply = place.put(json!({"path": "a", "text": "1"})).await;
    assert_eq!((reply.code(), place.asked().len()), ("changes_discarded", 1));
    assert_eq!(place.file("a"), None);
}

#[tokio::test]
async fn rules_that_changed_while_a_person_thought_are_heard() {
    struct Changer(std::sync::OnceLock<Gate>, PathBuf);
    impl Approver for Changer {
        fn name(&self) -> &str {
            "changer"
        }
        fn ask<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, Result<Answer, NotAsked>> {
            Box::pin(async {
                let deny = Rule::new(Decision::Deny).path(["a"]).unwrap();
                let rules = Rules::new(vec![deny], &self.1);
                let gate = self.0.get().unwrap();
                gate.set_policy(rules);
                Ok(Answer::Once)
            })
        }
    }
    let place = Place::new(Setting::default());
    let root = place.dir.path().join("workspace");
    let registry = Registry::new();
    registry.add(Writer { root: root.clone() }).unwrap();
    let mut setup = Gate::builder()
        .registry(registry)
        .policy(Rules::new(Vec::new(), &root))
        .log(place.log.clone())
        .workspace(place.gate.workspace().cloned().unwrap());
    let changer = Arc::new(Changer(Default::default(), root));
    setup = setup.approvers(vec![changer.clone()]);
    let gate = setup.build().unwrap();
    let _ = changer.0.set(gate.clone());
    let reply = gate.pass(ToolCall::new("c1", "put", json!({"path": "a", "text": "1"}))).await;
    assert_eq!((reply.code(), place.file("a")), ("changes_discarded", None));
}

#[tokio::test]
async fn what_was_committed_can_be_undone_by_its_number() {
    let place = Place::new(Setting { mode: Mode::Yolo, ..Setting::default() });
    place.put(json!({"path": "a", "text": "1"})).await;
    let reply = place.put(json!({"path": "a", "text": "2"})).await;
    let undo = reply.undo().unwrap();
    let number = reply.number().unwrap();
    assert_eq!(undo.data, json!({"call": number}));
    let workspace = place.gate.workspace().cloned().unwrap();
    workspace.undo(900, &[number], Durability::Crash).unwrap();
    assert_eq!(place.file("a").as_deref(), Some("1"));
}

#[tokio::test]
async fn a_tool_that_failed_after_changing_something_is_judged_like_any_other() {
    let place = Place::new(Setting { mode: Mode::Yolo, ..Setting::default() });
    let reply = place.put(json!({"path": "a", "text": "1", "fail": true})).await;
    assert_eq!((reply.code(), place.file("a").as_deref()), ("tool_failed", Some("1")));
    assert!(reply.undo().is_some());
}
