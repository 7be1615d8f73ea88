//! A workspace with `bash` around it, and somebody who always gives the same answer.

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use eclusa::{
    Answer, Approver, Blocked, CallView, Decision, Durability, Files, Gate, MemoryLog, NotAsked,
    Policy, Question, Reason, Registry, Reply, Rules, Run, Source, ToolCall, Verdict, Workspace,
    policy::EffectLimits,
};
use eclusa_tools::{Bash, SandboxSettings, Sandboxes};
use futures::future::BoxFuture;
use serde_json::{Value, json};
use tempfile::TempDir;

pub(crate) struct World {
    dir: TempDir,
    pub(crate) gate: Gate,
    log: Arc<MemoryLog>,
    undone: AtomicU64,
}

/// Runs everything where it can be seen, and asks about whatever changes.
struct Lenient;

impl Policy for Lenient {
    fn judge(&self, _: &CallView<'_>) -> Verdict {
        Verdict::from_reasons(vec![Reason {
            decision: Decision::Stage,
            source: Source::Rule,
            origin: "test".into(),
            text: "all is staged".into(),
        }])
    }
}

struct Person(Answer);

impl Approver for Person {
    fn name(&self) -> &str {
        "person"
    }
    fn ask<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, Result<Answer, NotAsked>> {
        Box::pin(async { Ok(self.0.clone()) })
    }
}

impl World {
    pub(crate) fn new(answer: Answer) -> World {
        World::with(answer, |_| {})
    }

    /// With rules that let everything be done: for what commands do, not for what they may.
    pub(crate) fn lenient(answer: Answer, settle: impl FnOnce(&mut SandboxSettings)) -> World {
        let world = World::with(answer, settle);
        world.gate.set_policy(Lenient);
        world
    }

    pub(crate) fn with(answer: Answer, settle: impl FnOnce(&mut SandboxSettings)) -> World {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("workspace");
        std::fs::create_dir(&root).unwrap();
        let (workspace, _) = Workspace::open(&root, dir.path().join("state")).unwrap();
        let mut settings = SandboxSettings::new(workspace.root(), workspace.state());
        settings.identity = Some(("Ada".to_owned(), "ada@example.org".to_owned()));
        settle(&mut settings);
        let files = Files::open(&root, Blocked::default()).unwrap();
        let registry = Registry::new();
        registry.add(Bash::new(Sandboxes::new(settings).unwrap(), files)).unwrap();
        let effects = EffectLimits { delete: Decision::Allow, ..EffectLimits::default() };
        let rules = Rules::new(Vec::new(), &root).with_effects(effects);
        let log = Arc::new(MemoryLog::default());
        let setup = Gate::builder()
            .registry(registry)
            .policy(rules)
            .log(log.clone())
            .workspace(workspace)
            .durability(Durability::Crash)
            .approver(Person(answer));
        World {
            dir,
            gate: setup.build().unwrap().for_run(Run::default()),
            log,
            undone: AtomicU64::new(1_000_000),
        }
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.dir.path().join("workspace")
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root().join(name)
    }

    pub(crate) fn bash(&self, command: &str) -> Reply {
        self.bash_for(command, Duration::from_secs(300))
    }

    pub(crate) fn bash_for(&self, command: &str, time: Duration) -> Reply {
        let ms = u64::try_from(time.as_millis()).unwrap();
        pass(&self.gate, json!({"command": command, "timeout_ms": ms}))
    }

    /// A command in another run.
    pub(crate) fn bash_in(&self, run: Run, command: &str) -> Reply {
        let args = json!({"command": command, "timeout_ms": 300_000});
        pass(&self.gate.for_run(run), args)
    }

    /// Takes a call back.
    pub(crate) fn undo(&self, reply: &Reply) {
        let workspace = self.gate.workspace().cloned().unwrap();
        let number = self.undone.fetch_add(1, Ordering::Relaxed);
        workspace.undo(number, &[reply.number().unwrap()], Durability::Crash).unwrap();
    }

    /// The last record.
    pub(crate) fn end(&self) -> Value {
        serde_json::from_str(&self.log.records().last().unwrap().body).unwrap()
    }
}

pub(crate) fn pass(gate: &Gate, args: Value) -> Reply {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.enable_all().worker_threads(1).build().unwrap();
    runtime.block_on(gate.pass(ToolCall::new("c1", "bash", args)))
}

/// Runs a script plainly.
pub(crate) fn plainly(root: &Path, script: &str) {
    let mut bash = std::process::Command::new("/bin/bash");
    bash.args(["--norc", "--noprofile", "-p", "-c", script]).current_dir(root);
    bash.stdout(std::process::Stdio::null()).stdin(std::process::Stdio::null());
    bash.status().unwrap();
}
