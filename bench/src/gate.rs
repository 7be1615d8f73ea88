//! A no-op call through the whole gate, beside the same work without a gate.

use std::{hint::black_box, sync::Arc};

use eclusa::*;
use futures::{FutureExt, future::BoxFuture};
use serde_json::{Value, json};

use crate::measure::{Told, line, median};

/// A tool that does nothing, with a schema of four fields.
pub(crate) struct Nothing;

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
    fn touches(&self, _: &Value) -> Vec<Touch> {
        Vec::new()
    }
    fn run<'a>(&'a self, _: &'a Job) -> BoxFuture<'a, Result<Output, ToolError>> {
        Box::pin(std::future::ready(Ok(Output::text("done"))))
    }
}

pub(crate) fn args() -> Value {
    json!({"path": "src/main.rs", "count": 3, "all": true, "how": "fast"})
}

/// Two rules that both match: one by name, one by an argument.
pub(crate) fn rules() -> Result<Rules, Box<dyn std::error::Error>> {
    let named = Rule::new(Decision::Allow).tool(["nothing"])?.because("it does nothing");
    let slow = Rule::new(Decision::Deny)
        .arg("/how", policy::Matcher::equals("slow"))?
        .because("nobody waits for it");
    Ok(Rules::new(vec![named, slow], "/workspace".as_ref()))
}

pub(crate) fn setup(log: Arc<dyn AuditSink>) -> Result<GateBuilder, Box<dyn std::error::Error>> {
    let registry = Registry::new();
    registry.add(Nothing)?;
    Ok(Gate::builder().registry(registry).policy(rules()?).log(log))
}

/// Calls between two logs: long enough not to matter, short enough to stay in memory.
const LOG: usize = 5_000;

pub(crate) fn run() -> Told {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    let _inside = runtime.enter();
    let call = || ToolCall::new("call_1", "nothing", args());
    // What any engine must do: make the call, read its arguments into a type, do nothing.
    let baseline = median(|| {
        let call = call();
        let read = serde_json::from_value::<Typed>(call.args);
        black_box(read.map(|it| it.path.len() as u64 + it.count + u64::from(it.all))).is_ok()
    });
    line("baseline: make the call, deserialise its arguments", baseline, baseline);
    let making = median(call);
    let new =
        || Ok::<_, Box<dyn std::error::Error>>(setup(Arc::new(MemoryLog::default()))?.build()?);
    let mut gate = new()?;
    let mut passed = 0;
    let passing = median(|| {
        // A log in memory grows; a new one now and then keeps the page faults out.
        passed += 1;
        if passed % LOG == 0
            && let Ok(fresh) = new()
        {
            gate = fresh;
        }
        // The call never waits, so it is polled once, without a scheduler.
        gate.pass(call()).now_or_never().is_some_and(|reply| reply.code() == "ok")
    });
    line("make the call and pass it: schema, two rules, memory log", passing, baseline);
    line("of which the gate (goal: under 3 µs)", passing.saturating_sub(making), baseline);
    let checking = median(|| gate.check(call()).is_ok());
    line("make the call and check it (verdict only)", checking, baseline);
    Ok(())
}

#[derive(serde::Deserialize)]
struct Typed {
    path: String,
    count: u64,
    all: bool,
    #[expect(dead_code, reason = "it is read, and that is all")]
    how: String,
}
