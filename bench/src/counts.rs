//! Allocations, counted: of a call, of verdicts, of what happens at every start. A count is the same
//! on every machine, so a test holds it against a budget.

use std::{hint::black_box, sync::Arc, time::Duration};

use eclusa::{
    Blocked, Files, Gate, MemoryLog, Redactor, Registry, Rules, Scene, ToolCall, spool::MemorySpool,
};
use eclusa_config::Config;
use eclusa_tools::{BuiltInTools, FileToolContext, SandboxSettings, Sandboxes, register_all, web};
use futures::FutureExt as _;
use serde_json::json;

use crate::{gate, judge};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// What was counted, and how many allocations it takes.
pub(crate) fn all() -> Outcome<Vec<(&'static str, u64)>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    let _inside = runtime.enter();
    let mut counts = Vec::new();
    let passing = gate::setup(Arc::new(MemoryLog::default()))?.build()?;
    let call = || ToolCall::new("call_1", "nothing", gate::args());
    let making = median(|| drop(black_box(call())));
    let passed = median(|| drop(black_box(passing.pass(call()).now_or_never())));
    counts.push(("a call through the gate", passed - making));
    counts.push(("its verdict alone", median(|| drop(passing.check(call()))) - making));
    let redactor = Redactor::default();
    let clean = "The lock has two gates, and they are never open at the same time. ".repeat(5);
    counts.push(("redaction of clean text", median(|| drop(redactor.text(&clean)))));
    let shell = judge::gate(Config::load(&[])?.rules)?;
    let status = || drop(shell.check(judge::call("git status")));
    counts.push(("verdict on `git status`", median(status)));
    let texts = judge::texts()?;
    let verdicts = || {
        for args in &texts {
            drop(black_box(shell.check(ToolCall::new("c", "bash", args.clone()))));
        }
    };
    counts.push(("verdicts on all public cases", once_warm(verdicts)));
    let load = || drop(black_box(Config::load(&[])));
    counts.push(("reading the shipped configuration", once_warm(load)));
    let place = tempfile::tempdir()?;
    let mut start = || drop(black_box(started(place.path())));
    counts.push(("tools and gate of the program", once_warm(&mut start)));
    let args = json!({"path": "src/main.rs", "content": "fn main() {}\n"});
    let first = || {
        let write = ToolCall::new("c", "write", args.clone());
        drop(black_box(started(place.path()).map(|it| it.check(write))));
    };
    counts.push(("tools and gate, and the verdict on a file", once_warm(first)));
    Ok(counts)
}

/// What the program makes of the configuration before the first call.
fn started(root: &std::path::Path) -> Outcome<Gate> {
    let config = Config::load(&[])?;
    let files = Files::open(root, Blocked::default())?;
    let registry = Arc::new(Registry::new());
    let tools = BuiltInTools {
        files,
        max_file_size: FileToolContext::MAX_SIZE,
        web: web::Limits::default(),
        spool: Arc::new(MemorySpool::default()),
        scene: Scene::default(),
        sandboxes: Some(Sandboxes::new(SandboxSettings::new(root, root.join("state")))?),
        command_time: Duration::from_secs(30),
        diagnostics: None,
    };
    register_all(&registry, tools)?;
    let rules = Rules::new(config.rules, root);
    Ok(Gate::builder().registry(registry).policy(rules).build()?)
}

/// How many allocations `work` makes when it is done for the second time.
fn once_warm(mut work: impl FnMut()) -> u64 {
    work();
    allocation_counter::measure(&mut work).count_total
}

/// The median number of allocations of one call of `work`, once it is warm.
fn median(mut work: impl FnMut()) -> u64 {
    work();
    let mut counts: Vec<u64> =
        (0..101).map(|_| allocation_counter::measure(&mut work).count_total).collect();
    counts.sort_unstable();
    counts.get(counts.len() / 2).copied().unwrap_or_default()
}
