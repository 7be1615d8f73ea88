//! A workspace, and a gate with all tools for files that makes changes real.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use eclusa::{
    Answer, Approver, Blocked, Durability, Files, Gate, GateBuilder, MemoryLog, Mode, NotAsked,
    Question, Registry, Reply, Rules, Run, ToolCall, Workspace,
};
use eclusa_config::{Config, Layer};
use eclusa_tools::{FileToolContext, register_file_tools, search::List};
use futures::future::BoxFuture;
use serde_json::Value;
use tempfile::TempDir;

/// Rules of a person who switches deleting off.
pub(crate) const NO_DELETE: &str = "[effects]\nallow_delete = false\n";
/// Rules of a person who lets things be deleted, besides the shipped ones.
pub(crate) const MAY_DELETE: &str = "[effects]\nallow_delete = true\n";

/// A directory with a workspace in it.
pub(crate) struct World {
    pub(crate) dir: TempDir,
}

impl World {
    pub(crate) fn new() -> World {
        let world = World { dir: tempfile::tempdir().unwrap() };
        fs::create_dir(world.root()).unwrap();
        world
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.dir.path().join("ws")
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub(crate) fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    pub(crate) fn text(&self, name: &str) -> String {
        String::from_utf8(self.bytes(name)).unwrap()
    }

    pub(crate) fn mode(&self, name: &str) -> u32 {
        fs::symlink_metadata(self.path(name)).unwrap().permissions().mode() & 0o7777
    }

    pub(crate) fn set_mode(&self, name: &str, mode: u32) {
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(mode)).unwrap();
    }

    /// A new state: each gate has a log of its own, and numbers its calls from the start.
    pub(crate) fn state(&self) -> PathBuf {
        tempfile::tempdir_in(self.dir.path()).unwrap().keep()
    }

    /// A gate that nobody watches, with the shipped rules and one more layer.
    pub(crate) fn work(&self, layer: &str) -> Work {
        Work::new(&self.root(), &self.state(), Mode::Yolo, layer, |it| it)
    }

    /// A gate at which a person answers.
    pub(crate) fn asked(&self, answers: Vec<Answer>) -> (Work, Arc<Person>) {
        let person = Arc::new(Person { answers: Mutex::new(answers), asked: Mutex::default() });
        let approver = person.clone();
        let state = self.state();
        let furnish = |setup: GateBuilder| setup.approvers(vec![approver]);
        (Work::new(&self.root(), &state, Mode::ConfirmSensitive, MAY_DELETE, furnish), person)
    }

    /// Everything in the workspace: names, what they are, and what is in them.
    pub(crate) fn tree(&self) -> Vec<String> {
        let mut all = Vec::new();
        list(&self.root(), &self.root(), &mut all);
        all.sort();
        all
    }
}

fn list(root: &Path, directory: &Path, all: &mut Vec<String>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let name = path.strip_prefix(root).unwrap().display().to_string();
        let meta = fs::symlink_metadata(&path).unwrap();
        if meta.is_dir() {
            all.push(format!("{name}/"));
            list(root, &path, all);
        } else if meta.is_symlink() {
            all.push(format!("{name} -> {}", fs::read_link(&path).unwrap().display()));
        } else if meta.len() < 1000 {
            all.push(format!("{name}: {}", String::from_utf8_lossy(&fs::read(&path).unwrap())));
        } else {
            all.push(format!("{name}: {} bytes", meta.len()));
        }
    }
}

/// A gate and its log.
pub(crate) struct Work {
    pub(crate) gate: Gate,
    pub(crate) log: Arc<MemoryLog>,
}

impl Work {
    pub(crate) fn new(
        root: &Path,
        state: &Path,
        mode: Mode,
        layer: &str,
        furnish: impl FnOnce(GateBuilder) -> GateBuilder,
    ) -> Work {
        let config = Config::load(&[Layer::of_person("test", layer)]).unwrap();
        let registry = Arc::new(Registry::new());
        let files = Files::open(root, Blocked::default()).unwrap();
        let context = FileToolContext::new(files.clone()).max_size(config.max_file_size);
        register_file_tools(&registry, &context).unwrap();
        registry.add(List::new(files)).unwrap();
        let rules = Rules::new(config.rules, root).with_effects(config.effects);
        let log = Arc::new(MemoryLog::default());
        let setup = Gate::builder()
            .registry(registry)
            .policy(rules)
            .log(log.clone())
            .workspace(Workspace::open(root, state).unwrap().0)
            .durability(Durability::Crash);
        let gate = furnish(setup).run(Run { mode, ..Run::default() }).build().unwrap();
        Work { gate, log }
    }

    /// Passes one call.
    pub(crate) fn call(&self, tool: &str, args: Value) -> Reply {
        self.gate.pass_blocking(ToolCall::new("c", tool, args)).unwrap()
    }

    /// Passes one call of another session.
    pub(crate) fn call_in(&self, session: &str, tool: &str, args: Value) -> Reply {
        let run = Run { session: session.into(), mode: Mode::Yolo, ..Run::default() };
        self.gate.for_run(run).pass_blocking(ToolCall::new("c", tool, args)).unwrap()
    }

    /// Passes one call that must work, and gives its text.
    pub(crate) fn done(&self, tool: &str, args: Value) -> String {
        let reply = self.call(tool, args);
        assert_eq!(reply.code(), "ok", "{}", reply.content());
        reply.text().to_owned()
    }

    /// Passes one call that must not work, and gives what is said about it.
    pub(crate) fn fails(&self, tool: &str, args: Value) -> String {
        let reply = self.call(tool, args);
        assert!(reply.is_error(), "{}", reply.content());
        reply.content().into_owned()
    }

    /// What the last record says of changes.
    pub(crate) fn last_changes(&self) -> Value {
        let records = self.log.records();
        let body: Value = serde_json::from_str(&records.last().unwrap().body).unwrap();
        body["changes"].clone()
    }
}

/// A person with a script, who remembers what they were shown.
pub(crate) struct Person {
    answers: Mutex<Vec<Answer>>,
    pub(crate) asked: Mutex<Vec<Question>>,
}

impl Approver for Person {
    fn name(&self) -> &str {
        "person"
    }

    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Result<Answer, NotAsked>> {
        self.asked.lock().unwrap().push(question.clone());
        let mut answers = self.answers.lock().unwrap();
        let answer = if answers.is_empty() { Answer::Abort } else { answers.remove(0) };
        Box::pin(async move { Ok(answer) })
    }
}
