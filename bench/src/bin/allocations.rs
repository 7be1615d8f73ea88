//! How many allocations calls make. A program of its own, because counting slows every allocation
//! down. `--json` prints them as `bench/budget.json` has them.

#[path = "../counts.rs"]
mod counts;
#[path = "../gate.rs"]
#[expect(dead_code, reason = "only the setup and its tool are needed here")]
mod gate;
#[path = "../judge.rs"]
#[expect(dead_code, reason = "only the gate and the cases are needed here")]
mod judge;
#[path = "../measure.rs"]
#[expect(dead_code, reason = "nothing is timed here")]
mod measure;

fn main() -> measure::Told {
    let counts = counts::all()?;
    if std::env::args().any(|it| it == "--json") {
        let counts = counts.into_iter().map(|(name, count)| (name.to_owned(), count.into()));
        let counts: serde_json::Map<String, serde_json::Value> = counts.collect();
        println!("{}", serde_json::to_string_pretty(&counts)?);
        return Ok(());
    }
    for (name, count) in counts {
        println!("{name:<40} {count:>8} allocations");
    }
    Ok(())
}
