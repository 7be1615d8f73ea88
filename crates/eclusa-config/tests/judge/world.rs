//! A gate with a shell tool that stages, and the verdict on a command.

use std::{
    path::Path,
    sync::{Arc, Mutex},
};

use eclusa::{approve::Remember, audit::Clock, *};
use eclusa_config::{Config, Layer};
use futures::future::BoxFuture;
use serde_json::{Value, json};

/// A shell that runs nothing. A command with `REACHED` in it has reached another machine.
pub(crate) struct Shell;

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
        if job.args()["command"].as_str().is_some_and(|it| it.contains("REACHED")) {
            job.reached_outside();
        }
        Box::pin(async { Ok(Output::default()) })
    }
}

/// A tool that reads a page.
struct Fetch;

impl Tool for Fetch {
    fn name(&self) -> &str {
        "fetch"
    }
    fn description(&self, _: &Scene) -> String {
        "reads a page".to_owned()
    }
    fn input_schema(&self) -> Value {
        json!({"type": "object", "properties": {"host": {"type": "string"}}})
    }
    fn facts(&self) -> Facts {
        Facts { class: Some(PermissionClass::Web), ..Facts::default() }
    }
    fn touches(&self, args: &Value) -> Vec<Touch> {
        vec![Touch::Fetch(args["host"].as_str().unwrap_or_default().to_owned())]
    }
    fn run<'a>(&'a self, _: &'a Job) -> BoxFuture<'a, Result<Output, ToolError>> {
        Box::pin(async { Ok(Output::text("a page")) })
    }
}

/// A tool of another server.
struct Look;

impl Tool for Look {
    fn name(&self) -> &str {
        "mcp_far_look"
    }
    fn description(&self, _: &Scene) -> String {
        "looks somewhere else".to_owned()
    }
    fn input_schema(&self) -> Value {
        json!({"type": "object"})
    }
    fn touches(&self, _: &Value) -> Vec<Touch> {
        Vec::new()
    }
    fn run<'a>(&'a self, _: &'a Job) -> BoxFuture<'a, Result<Output, ToolError>> {
        Box::pin(async { Ok(Output::text("an answer")) })
    }
}

/// A tool that makes a file of ten bytes.
struct Put;

impl Tool for Put {
    fn name(&self) -> &str {
        "put"
    }
    fn description(&self, _: &Scene) -> String {
        "makes a file".to_owned()
    }
    fn input_schema(&self) -> Value {
        json!({"type": "object", "properties": {"path": {"type": "string"}}})
    }
    fn facts(&self) -> Facts {
        Facts { class: Some(PermissionClass::File), stages: true, ..Facts::default() }
    }
    fn touches(&self, args: &Value) -> Vec<Touch> {
        vec![Touch::Write(args["path"].as_str().unwrap_or_default().to_owned())]
    }
    fn run<'a>(&'a self, job: &'a Job) -> BoxFuture<'a, Result<Output, ToolError>> {
        let path = job.args()["path"].as_str().unwrap_or_default();
        let after = Some(Node::File(FileNode::new(&b"0123456789"[..], 0o644)));
        let change = Change { path: path.into(), from: None, before: None, after };
        Box::pin(async { Ok(Output { changes: Changes::of([change]), ..Output::default() }) })
    }
}

/// Says yes to everything, once unless told otherwise, and keeps the questions.
#[derive(Default)]
pub(crate) struct Yes(pub(crate) Mutex<Vec<Question>>, pub(crate) Mutex<Option<Answer>>);

impl Approver for Yes {
    fn name(&self) -> &str {
        "yes"
    }
    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Result<Answer, NotAsked>> {
        self.0.lock().unwrap().push(question.clone());
        let answer = self.1.lock().unwrap().clone();
        Box::pin(async { Ok(answer.unwrap_or(Answer::Once)) })
    }
}

/// A clock that stands still.
struct Still(u64);

impl Clock for Still {
    fn unix_ms(&self) -> u64 {
        self.0
    }
}

/// Keeps nothing, so that "always" is offered.
struct Keeps;

impl Remember for Keeps {
    fn always(&self, _: &Grant) -> Result<(), eclusa::approve::RememberError> {
        Ok(())
    }
}

/// A gate with these rules, over a workspace at `/workspace`.
pub(crate) struct World {
    pub(crate) gate: Gate,
    pub(crate) person: Arc<Yes>,
    _dir: tempfile::TempDir,
}

impl World {
    pub(crate) fn with(rules: Vec<Rule>) -> World {
        World::at(Rules::new(rules, Path::new("/workspace")), 0)
    }

    /// With this policy, at this time.
    pub(crate) fn at(rules: impl Policy + 'static, now: u64) -> World {
        let dir = tempfile::tempdir().unwrap();
        let registry = Registry::new();
        registry.add(Shell).unwrap();
        registry.add(Fetch).unwrap();
        registry.add(Put).unwrap();
        registry.register(Registration::new(Look).foreign("far")).unwrap();
        let log = Arc::new(MemoryLog::default());
        let mut setup = Gate::builder().registry(registry).policy(rules).log(log);
        let root = dir.path().join("workspace");
        std::fs::create_dir(&root).unwrap();
        setup = setup.workspace(Workspace::open(root, dir.path().join("state")).unwrap().0);
        let person = Arc::new(Yes::default());
        setup = setup.approvers(vec![person.clone()]);
        setup = setup.remember(Arc::new(Keeps));
        setup = setup.clock(Arc::new(Still(now)));
        World { gate: setup.build().unwrap(), person, _dir: dir }
    }

    /// With the rules that are shipped.
    pub(crate) fn shipped() -> World {
        World::with(Config::load(&[]).unwrap().rules)
    }

    /// The configuration of a person, at this time.
    pub(crate) fn configured(text: &str, now: u64) -> World {
        let config = Config::load(&[Layer::of_person("mine.toml", text)]).unwrap();
        let rules = Rules::new(config.rules.clone(), Path::new("/workspace"));
        World::at(rules.with_effects(config.effects), now)
    }

    /// Takes a call through, and says how many questions there were by then.
    pub(crate) async fn pass(&self, tool: &str, args: Value) -> (&'static str, usize) {
        let reply = self.gate.pass(ToolCall::new("c", tool, args)).await;
        (reply.code(), self.person.0.lock().unwrap().len())
    }

    pub(crate) fn judge(&self, command: &str) -> Verdict {
        let call = ToolCall::new("c1", "bash", json!({"command": command}));
        self.gate.check(call).unwrap().1
    }
}
