//! One analysis of a shell text serves everybody who asks about it.

use std::sync::{Arc, Mutex};

use futures::future::BoxFuture;
use serde_json::{Value, json};

use crate::{
    Answer, Approver, Change, Changes, Decision, Facts, FileNode, Gate, Job, MemoryLog, Node,
    NotAsked, Output, PermissionClass, Question, Registry, Remember, Rule, Rules, Scene, Tool,
    ToolCall, ToolError, Touch, Workspace, policy::texts_read,
};

/// A shell that leaves a file behind.
struct Shell;

impl Tool for Shell {
    fn name(&self) -> &str {
        "bash"
    }
    fn description(&self, _: &Scene) -> String {
        "runs nothing".to_owned()
    }
    fn input_schema(&self) -> Value {
        json!({"type": "object", "properties": {"command": {"type": "string"}}})
    }
    fn facts(&self) -> Facts {
        Facts { class: Some(PermissionClass::Shell), stages: true, ..Facts::default() }
    }
    fn touches(&self, args: &Value) -> Vec<Touch> {
        vec![Touch::Run(args["command"].as_str().unwrap_or_default().to_owned())]
    }
    fn run<'a>(&'a self, job: &'a Job) -> BoxFuture<'a, Result<Output, ToolError>> {
        Box::pin(async {
            let after = Some(Node::File(FileNode::new(&b"made"[..], 0o644)));
            let change = Change { path: "made".into(), from: None, before: None, after };
            let changes = if job.only_reads_files() { Vec::new() } else { vec![change] };
            Ok(Output { changes: Changes::of(changes), ..Output::text("ran") })
        })
    }
}

struct Yes(Mutex<usize>);

impl Approver for Yes {
    fn name(&self) -> &str {
        "yes"
    }
    fn ask<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, Result<Answer, NotAsked>> {
        *self.0.lock().unwrap() += 1;
        Box::pin(async { Ok(Answer::Once) })
    }
}

struct Keeps;

impl Remember for Keeps {
    fn always(&self, _: &crate::Grant) -> Result<(), crate::approve::RememberError> {
        Ok(())
    }
}

#[tokio::test]
async fn a_shell_text_is_read_once_however_many_look_at_it() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("workspace");
    std::fs::create_dir(&root).unwrap();
    let registry = Registry::new();
    registry.add(Shell).unwrap();
    let rules = vec![
        Rule::new(Decision::Allow).commands(["make all"]).unwrap(),
        Rule::new(Decision::Ask).commands(["make docs"]).unwrap(),
        Rule::new(Decision::Deny).path(["secret/**"]).unwrap().commands(["make"]).unwrap(),
    ];
    let log = Arc::new(MemoryLog::default());
    let mut setup = Gate::builder()
        .registry(registry)
        .policy(Rules::new(rules, &root))
        .log(log)
        .workspace(Workspace::open(&root, dir.path().join("state")).unwrap().0)
        .remember(Arc::new(Keeps));
    let yes = Arc::new(Yes(Mutex::new(0)));
    setup = setup.approvers(vec![yes.clone()]);
    let gate = setup.build().unwrap();
    let call = |command: &str| ToolCall::new("c", "bash", json!({"command": command}));
    // Allowed; only reading; asked about before it runs; asked about because of what it changed.
    for command in ["make all", "cat a", "make docs", "make x"] {
        let before = texts_read();
        gate.pass(call(command)).await;
        assert_eq!(texts_read() - before, 1, "{command}");
    }
    assert!(*yes.0.lock().unwrap() >= 2, "it was asked about, too");
    let before = texts_read();
    gate.check(call("make all")).unwrap();
    gate.explain(call("make all")).unwrap();
    assert_eq!(texts_read() - before, 2, "once each");
}
