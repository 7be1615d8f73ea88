//! What the gate costs: each number beside a baseline measured in the same run.
//!
//! `cargo run --release -p eclusa-bench [SECTION]`; the numbers that were
//! seen, and what limits them, are in `bench/README.md`.

mod commit;
mod gate;
mod hands;
mod judge;
mod mcp;
mod measure;
mod parse;
mod redact;
mod sandboxes;
mod search;
mod store;
mod validate;

/// A part of the report.
type Section = (&'static str, fn() -> measure::Told);

fn main() -> std::process::ExitCode {
    let only = std::env::args().nth(1);
    let sections: [Section; 11] = [
        ("gate", gate::run),
        ("judge", judge::run),
        ("validate", validate::run),
        ("parse", parse::run),
        ("redact", redact::run),
        ("store", store::run),
        ("commit", commit::run),
        ("hands", hands::run),
        ("search", search::run),
        ("sandboxes", sandboxes::run),
        ("mcp", mcp::run),
    ];
    if let Some(only) = &only
        && !sections.iter().any(|(name, _)| name == only)
    {
        let names = sections.map(|(name, _)| name).join(", ");
        println!("`{only}` is not a section; use one of {names}");
        return 2.into();
    }
    for (name, run) in sections {
        if only.as_deref().is_none_or(|only| only == name) {
            println!("{name}");
            if let Err(err) = run() {
                println!("  failed: {err}");
                return 1.into();
            }
            println!();
        }
    }
    0.into()
}
