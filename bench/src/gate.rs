//! A no-op call through the whole gate, beside the same tool called directly.

use std::{hint::black_box, sync::Arc};

use eclusa::*;
use futures::{FutureExt, future::BoxFuture};
use serde_json::{Value, json};

use crate::measure::{allocations, line, median, nanos};

/// A tool that does nothing.
struct Nothing;

impl Tool for Nothing {
    fn name(&self) -> &str {
        "nothing"
    }
    fn description(&self, _: &Scene) -> String {
        "Does nothing.".to_owned()
    }
    fn input_schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "path": {"type": "string"},
                "count": {"type": "integer", "minimum": 0},
                "all": {"type": "boolean"},
                "how": {"enum": ["fast", "slow"]},
            },
            "required": ["path", "count", "all", "how"],
        })
    }
    fn facts(&self) -> Facts {
        Facts { class: Some(PermissionClass::ReadOnly), ..Facts::default() }
    }
    fn touches(&self, _: &Value) -> Vec<Touch> {
        Vec::new()
    }
    fn run<'a>(&'a self, _: &'a Job) -> BoxFuture<'a, Result<Output, ToolError>> {
        Box::pin(std::future::ready(Ok(Output::text("done"))))
    }
}

pub fn args() -> Value {
    json!({"path": "src/main.rs", "count": 3, "all": true, "how": "fast"})
}

struct Allow;

impl Policy for Allow {
    fn judge(&self, _: &Validated) -> Verdict {
        Verdict::of(vec![Reason {
            decision: Decision::Allow,
            source: Source::Rule,
            origin: "bench:1".into(),
            text: "nothing is done".into(),
        }])
    }
}

pub fn run() {
    let registry = Registry::new();
    if let Err(err) = registry.add(Nothing) {
        println!("  {err}");
        return;
    }
    let house = House::new(Arc::new(registry), Allow, Arc::new(MemoryLog::default()));
    let gate = Gate::new(house);
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_time().build() else {
        return println!("  no runtime");
    };
    let call = || ToolCall::new("call_1", "nothing", args());
    let _inside = runtime.enter();
    // The calls never wait, so they are polled once, without the runtime's scheduling.
    let pass = |call: ToolCall| gate.pass(call).now_or_never();
    let making = median(call);
    let passing = median(|| pass(call()));
    let baseline = median(|| black_box(Output::text(black_box(call()).args.to_string())));
    line("baseline: make the call, print its arguments", baseline, baseline);
    line("pass: make the call, whole gate, log in memory", passing, baseline);
    println!("  of which making the call is {}", nanos(making));
    println!("  one call through the gate: {}", nanos(passing.saturating_sub(making)));
    let calls: Vec<ToolCall> = (0..200).map(|_| call()).collect();
    let mut calls = calls.into_iter();
    let count = allocations(|| {
        if let Some(call) = calls.next() {
            black_box(pass(call));
        }
    });
    println!("  allocations in the gate: {count}");
}

struct Drops(std::sync::Mutex<Head>);
impl AuditSink for Drops {
    fn append(&self, draft: Draft) -> Appending {
        let mut head = self.0.lock().unwrap_or_else(|it| it.into_inner());
        Appending::Done(Ok(Record::chain(draft.body, &mut head).receipt()))
    }
}
pub fn spin() {
    let registry = Registry::new();
    let _ = registry.add(Nothing);
    let house = House::new(Arc::new(registry), Allow, Arc::new(Drops(Default::default())));
    let gate = Gate::new(house);
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_time().build() else {
        return println!("  no runtime");
    };
    let call = ToolCall::new("call_1", "nothing", args());
    let _inside = runtime.enter();
    let start = std::time::Instant::now();
    for _ in 0..1_000_000 {
        black_box(gate.pass(call.clone()).now_or_never());
    }
    println!("{:?} per call", start.elapsed() / 1_000_000);
}
