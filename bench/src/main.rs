//! What the gate costs: each number beside a baseline measured in the same run.
//!
//! `cargo run --release -p eclusa-bench -- [SECTION]… [--json]` measures and keeps a report,
//! `compare OLD NEW` compares two, `draw REPORT` draws one, `fleet` loads a fleet's server; the numbers that were seen, and what
//! limits them, are in `workshop/bench.md`.

mod answers;
mod commit;
mod compare;
mod conversation;
mod draw;
mod fleet;
mod gate;
mod growth;
mod hands;
mod judge;
mod mcp;
mod measure;
mod parse;
mod redact;
mod report;
mod sandboxes;
mod search;
mod starts;
mod store;
mod validate;

use std::time::{Duration, Instant};

use report::Report;

/// In a run of everything no section begins after this.
const MAX_TIME: Duration = Duration::from_secs(6 * 60);

/// A part of the report.
type Section = (&'static str, fn() -> measure::Told);

const SECTIONS: [Section; 15] = [
    ("gate", gate::run),
    ("judge", judge::run),
    ("validate", validate::run),
    ("parse", parse::run),
    ("redact", redact::run),
    ("starts", starts::run),
    ("store", store::run),
    ("mcp", mcp::run),
    ("hands", hands::run),
    ("sandboxes", sandboxes::run),
    ("conversation", conversation::run),
    ("answers", answers::run),
    // These delete tens of thousands of files, after which some filesystems are slow to make any.
    ("commit", commit::run),
    ("search", search::run),
    ("growth", growth::run),
];

fn main() -> std::process::ExitCode {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    let json = words.iter().any(|it| it == "--json");
    words.retain(|it| it != "--json");
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["compare", old, new] => compared(old, new),
        ["draw", report] => drawn(report, false),
        ["draw", report, "goals"] => drawn(report, true),
        ["compare" | "draw", ..] => {
            Err("use `compare OLD NEW`, `draw REPORT` or `draw REPORT goals`".into())
        }
        ["fleet", words @ ..] => fleet::run(words, json),
        sections => measured(sections, json),
    };
    match done {
        Ok(()) => 0.into(),
        Err(err) => {
            eprintln!("eclusa-bench: {err}");
            1.into()
        }
    }
}

/// Measures these sections, or all, and keeps a report of all.
fn measured(only: &[&str], json: bool) -> measure::Told {
    let names = SECTIONS.map(|(name, _)| name);
    if let Some(unknown) = only.iter().find(|it| !names.contains(it)) {
        return Err(format!("`{unknown}` is not a section; use {}", names.join(", ")).into());
    }
    let load = report::load();
    let began = Instant::now();
    let mut failed = Vec::new();
    for (name, run) in SECTIONS {
        if !only.is_empty() && !only.contains(&name) {
            continue;
        }
        measure::begin(name, json);
        if only.is_empty() && began.elapsed() > MAX_TIME {
            measure::tell(format_args!("  left out: no time is left; name it to measure it alone"));
            continue;
        }
        let start = Instant::now();
        if let Err(err) = run() {
            measure::tell(format_args!("  failed: {err}"));
            failed.push(name);
        }
        measure::tell(format_args!("  ({} s)\n", start.elapsed().as_secs()));
    }
    let report = Report::new(load, measure::noted());
    if json {
        println!("{}", serde_json::to_string_pretty(&report)?);
    }
    if only.is_empty() {
        eprintln!("kept as {}", report.keep()?.display());
    }
    match failed.is_empty() {
        true => Ok(()),
        false => Err(format!("these sections failed: {}", failed.join(", ")).into()),
    }
}

fn compared(old: &str, new: &str) -> measure::Told {
    print!("{}", compare::compare(&Report::load(old)?, &Report::load(new)?));
    Ok(())
}

fn drawn(report: &str, goals: bool) -> measure::Told {
    print!("{}", draw::draw(&Report::load(report)?, goals));
    Ok(())
}
