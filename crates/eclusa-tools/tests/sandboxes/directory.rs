//! Where a command starts is part of what is judged: relative paths lead from there, and what was
//! judged is what is used.

use std::sync::{Arc, Mutex};

use eclusa::{
    Answer, Approver, Blocked, Decision, Files, Gate, MemoryLog, NotAsked, Question, Registry,
    Reply, Rule, Rules, Run, ToolCall, Workspace,
};
use eclusa_tools::{Bash, SandboxSettings, Sandboxes};
use futures::future::BoxFuture;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::world::plainly;

/// A workspace in which one directory may not be read.
struct World {
    dir: TempDir,
    gate: Gate,
    log: Arc<MemoryLog>,
    asked: Arc<Mutex<Vec<Question>>>,
}

/// Says yes, after doing something to the workspace.
struct Person {
    asked: Arc<Mutex<Vec<Question>>>,
    root: std::path::PathBuf,
    first: &'static str,
}

impl Approver for Person {
    fn name(&self) -> &str {
        "person"
    }
    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Result<Answer, NotAsked>> {
        self.asked.lock().unwrap().push(question.clone());
        plainly(&self.root, self.first);
        Box::pin(async { Ok(Answer::Once) })
    }
}

impl World {
    fn new(first: &'static str) -> World {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("workspace");
        std::fs::create_dir(&root).unwrap();
        plainly(
            &root,
            "mkdir -p sub/deep closed; echo open > sub/a; echo open > a; echo closed > closed/a
             echo deep > sub/deep/a; ln -s closed alias; ln -s sub other",
        );
        let (workspace, _) = Workspace::open(&root, dir.path().join("state")).unwrap();
        let settings = SandboxSettings::new(workspace.root(), workspace.state());
        let files = Files::open(&root, Blocked::default()).unwrap();
        let registry = Registry::new();
        registry.add(Bash::new(Sandboxes::new(settings).unwrap(), files)).unwrap();
        let closed = Rule::new(Decision::Deny).path(["closed/**"]).unwrap().because("it is closed");
        let touchy = Rule::new(Decision::Ask).path(["/sub/deep/**"]).unwrap().because("ask me");
        let rules = Rules::new(vec![closed, touchy], &root);
        let log = Arc::new(MemoryLog::default());
        let mut setup =
            Gate::builder().registry(registry).policy(rules).log(log.clone()).workspace(workspace);
        let asked = Arc::<Mutex<Vec<Question>>>::default();
        setup = setup.approver(Person { asked: asked.clone(), root, first });
        World { dir, gate: setup.build().unwrap(), log, asked }
    }

    fn pass_in(&self, gate: &Gate, args: Value) -> Reply {
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        let runtime = runtime.enable_all().worker_threads(1).build().unwrap();
        runtime.block_on(gate.pass(ToolCall::new("c1", "bash", args)))
    }

    fn pass(&self, args: Value) -> Reply {
        self.pass_in(&self.gate, args)
    }

    fn verdict(&self, args: Value) -> Decision {
        self.gate.check(ToolCall::new("c1", "bash", args)).unwrap().1.decision
    }
}

#[test]
fn relative_paths_are_judged_from_the_directory_of_the_call() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new("");
    let check = |command: &str, cwd: &str| world.verdict(json!({"command": command, "cwd": cwd}));
    assert_eq!(check("cat a", "sub"), Decision::Allow);
    assert_eq!(check("cat a", "closed"), Decision::Deny);
    assert_eq!(check("cat ../closed/a", "sub"), Decision::Deny);
    assert_eq!(check("cat < a", "closed"), Decision::Deny);
    assert_eq!(check("cd deep && cat a", "sub"), Decision::Ask);
    assert_eq!(check("cat a", "sub/deep"), Decision::Ask);
    // Outside from where it starts, or inside though it would not be from the workspace.
    assert_eq!(check("cat ../x", "."), Decision::Ask);
    assert_eq!(check("cat ../a", "sub"), Decision::Allow);
    assert_eq!(check("cat ../../x", "sub"), Decision::Ask);
    assert_eq!(check("cat ../../../x", "sub/deep"), Decision::Ask);
    // A directory by another name is judged by its own.
    assert_eq!(check("cat a", "alias"), Decision::Deny);
    assert_eq!(check("cat a", "other/deep"), Decision::Ask);
    let absolute = world.dir.path().join("workspace/closed");
    assert_eq!(check("cat a", absolute.to_str().unwrap()), Decision::Deny);
}

#[test]
fn the_directory_of_a_conversation_is_judged_and_recorded() {
    let world = World::new("");
    assert_eq!(world.pass(json!({"command": "pwd", "cwd": "sub"})).code(), "ok");
    assert_eq!(world.verdict(json!({"command": "cat ../closed/a"})), Decision::Deny);
    assert_eq!(world.verdict(json!({"command": "cat deep/a"})), Decision::Ask);
    let reply = world.pass(json!({"command": "cat a"}));
    assert_eq!((reply.code(), reply.text()), ("ok", "open\n"));
    let records = world.log.records();
    assert!(records.iter().any(|it| it.body.contains(r#""cwd":"sub""#)), "{records:?}");
    // Another session starts in the workspace, and `.` leads back there.
    let other = world.gate.for_run(Run { session: "other".into(), ..Run::default() });
    let reply = world.pass_in(&other, json!({"command": "pwd"}));
    assert!(reply.text().ends_with("/workspace\n"), "{}", reply.content());
    assert_eq!(world.pass(json!({"command": "pwd", "cwd": "."})).code(), "ok");
    let reply = world.pass(json!({"command": "pwd"}));
    assert!(reply.text().ends_with("/workspace\n"), "{}", reply.content());
}

#[test]
fn the_directory_that_was_judged_is_the_one_that_is_used() {
    // While the person thinks, the directory becomes a link to the closed one, with the same bytes in the file that
    // the command names.
    let world = World::new("cp sub/deep/a closed/a; rm -rf sub/deep; ln -s ../closed sub/deep");
    let reply = world.pass(json!({"command": "cat a", "cwd": "sub/deep"}));
    assert_eq!(reply.code(), "tool_failed", "{}", reply.content());
    assert!(reply.content().contains("than when the call was judged"), "{}", reply.content());
    assert_eq!(world.asked.lock().unwrap().len(), 1);
    // With other bytes the yes was for another file.
    let world = World::new("rm -rf sub/deep; ln -s ../closed sub/deep");
    let reply = world.pass(json!({"command": "cat a", "cwd": "sub/deep"}));
    assert_eq!(reply.code(), "denied_by_policy", "{}", reply.content());
    assert!(!reply.content().contains("closed\n"), "{}", reply.content());
}

#[test]
fn a_person_who_is_asked_sees_the_directory() {
    let world = World::new("");
    world.pass(json!({"command": "pwd", "cwd": "sub"}));
    world.pass(json!({"command": "cat deep/a"}));
    let asked = world.asked.lock().unwrap();
    assert_eq!(asked.first().unwrap().args["cwd"], "sub");
}
