//! Judging shell text: the public cases with the shipped rules, few rules and many, and reading
//! the shipped configuration.

use std::{
    hint::black_box,
    path::Path,
    time::{Duration, Instant},
};

use eclusa::{
    Decision, Facts, Gate, Job, Output, PermissionClass, Registry, Rule, Rules, Scene, Tool,
    ToolCall, ToolError, Touch, policy::ConditionError,
};
use eclusa_config::Config;
use futures::future::BoxFuture;
use serde_json::{Value, json};

use crate::measure::{Told, line, median, number};

const CASES: &str = include_str!("../../tests/corpus/shell.jsonl");

pub(crate) fn run() -> Told {
    let texts = texts()?;
    let baseline = median(|| json!({"command": "git status"}).to_string());
    line("baseline: a call's arguments as text", baseline, baseline);
    let shipped = gate(Config::load(&[])?.rules)?;
    let (middle, worst) = percentiles(&shipped, &texts);
    line("one case, shipped rules, median (goal: under 10 µs)", middle, baseline);
    line("one case, shipped rules, 99 of 100 (goal: under 80 µs)", worst, baseline);
    let (few, _) = percentiles(&gate(rules(10)?)?, &texts);
    line("one case, 10 rules over commands, median", few, baseline);
    let (many, _) = percentiles(&gate(rules(1000)?)?, &texts);
    line("one case, 1,000 rules (goal: under 2 x of 10)", many, baseline);
    number("1,000 rules to 10", many.as_secs_f64() / few.as_secs_f64(), "x");
    let loading = median(|| Config::load(&[]).is_ok());
    line("reading the shipped configuration (goal: under 5 ms)", loading, baseline);
    Ok(())
}

/// The arguments of the public cases.
pub(crate) fn texts() -> Result<Vec<Value>, serde_json::Error> {
    let text = |line: &str| -> Result<Value, serde_json::Error> {
        let case: Value = serde_json::from_str(line)?;
        Ok(json!({"command": case.get("command")}))
    };
    CASES.lines().map(text).collect()
}

/// Rules over commands of as many programs, some of which the cases run.
fn rules(count: usize) -> Result<Vec<Rule>, ConditionError> {
    let known = ["git push", "cargo test", "npm install", "rm", "curl"];
    let rule = |at: usize| {
        let decision = [Decision::Allow, Decision::Ask, Decision::Deny].get(at % 3);
        let words = known.get(at).map_or_else(|| format!("program{at} run"), |it| (*it).to_owned());
        Rule::new(*decision.unwrap_or(&Decision::Ask)).commands([words])
    };
    (0..count).map(rule).collect()
}

/// A gate with a shell and these rules.
pub(crate) fn gate(rules: Vec<Rule>) -> Result<Gate, Box<dyn std::error::Error>> {
    let registry = Registry::new();
    registry.add(Shell)?;
    let rules = Rules::new(rules, Path::new("/workspace"));
    Ok(Gate::builder().registry(registry).policy(rules).build()?)
}

/// A call of the shell.
pub(crate) fn call(command: &str) -> ToolCall {
    ToolCall::new("c", "bash", json!({"command": command}))
}

/// The time for one case: in the middle, and what 99 of 100 stay under. Each case counts with the
/// shortest of a few tries.
fn percentiles(gate: &Gate, texts: &[Value]) -> (Duration, Duration) {
    let judge = |args: &Value| {
        let call = ToolCall::new("c", "bash", args.clone());
        let start = Instant::now();
        black_box(gate.check(call).is_ok());
        start.elapsed()
    };
    let best = |args: &Value| (0..20).map(|_| judge(args)).min().unwrap_or_default();
    let mut times: Vec<Duration> = texts.iter().map(best).collect();
    times.sort_unstable();
    let at = |part: usize| times.get(times.len() * part / 100).copied().unwrap_or_default();
    (at(50), at(99))
}

/// A shell that runs nothing.
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
        let text = args.get("command").and_then(Value::as_str).unwrap_or_default();
        vec![Touch::Run(text.to_owned())]
    }
    fn run<'a>(&'a self, _: &'a Job) -> BoxFuture<'a, Result<Output, ToolError>> {
        Box::pin(async { Ok(Output::default()) })
    }
}
