//! How many allocations a call through the gate makes. A program of its own, because counting
//! slows every allocation down.

use std::{hint::black_box, sync::Arc};

use eclusa::{Gate, MemoryLog, Redactor, ToolCall};
use futures::FutureExt as _;

#[path = "../gate.rs"]
#[expect(dead_code, reason = "only the setup and its tool are needed here")]
mod gate;
#[path = "../measure.rs"]
#[expect(dead_code, reason = "nothing is timed here")]
mod measure;

fn main() -> measure::Told {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    let _inside = runtime.enter();
    let setup = gate::setup(Arc::new(MemoryLog::default()))?;
    let gate = Gate::new(setup);
    let mut calls: Vec<ToolCall> =
        (0..200).map(|_| ToolCall::new("call_1", "nothing", gate::args())).collect();
    let count = median(|| {
        if let Some(call) = calls.pop() {
            black_box(gate.pass(call).now_or_never());
        }
    });
    println!("one call through the gate (goal: under 12): {count} allocations");
    let redactor = Redactor::default();
    let text = "The lock has two gates, and they are never open at the same time. ".repeat(5);
    println!("redaction of clean text: {} allocations", median(|| drop(redactor.text(&text))));
    Ok(())
}

/// The median number of allocations of one call of `work`, once it is warm.
fn median(mut work: impl FnMut()) -> u64 {
    work();
    let mut counts: Vec<u64> =
        (0..101).map(|_| allocation_counter::measure(&mut work).count_total).collect();
    counts.sort_unstable();
    counts.get(counts.len() / 2).copied().unwrap_or_default()
}
