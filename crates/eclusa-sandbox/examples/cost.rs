//! What a cell costs: `true` and `bash -c true`, plain, in a full cell, in a full cell with an
//! overlay, and in bubblewrap without one if it is there, interleaved, shortest and medians; and
//! how fast output is taken.
//!
//! `cargo run --release -p eclusa-sandbox --example cost [ROUNDS] [MEGABYTES]`: the second number
//! is memory that the caller holds meanwhile, because a cell must not cost more in a large caller.
#![expect(clippy::disallowed_methods, reason = "what is measured against is started plainly")]

use std::error::Error;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use eclusa_sandbox::{Cell, Ground, Keep, Plan, Shelf, probe};

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let number = |n: usize| std::env::args().nth(n).and_then(|text| text.parse().ok());
    let rounds: usize = number(1).unwrap_or(200);
    let ballast = vec![1u8; number(2).unwrap_or(0) << 20];
    let state = tempfile::tempdir_in(".")?;
    let began = Instant::now();
    let ground = probe(state.path());
    println!(
        "{}: {}, self-test {:.1} ms",
        ground.rung(),
        ground.enforcement(),
        millis(began.elapsed())
    );
    let programs: [&[&str]; 2] =
        [&["/bin/true"], &["/bin/bash", "--norc", "--noprofile", "-p", "-c", "true"]];
    let shelf = Shelf::new(state.path().canonicalize()?.join("stages"), |_, err| println!("{err}"));
    let lower = state.path().canonicalize()?.join("lower");
    std::fs::create_dir(&lower)?;
    for argv in programs {
        let mut times = [const { Vec::new() }; 5];
        let wrapped: Vec<&str> = BUBBLEWRAP.iter().chain(argv).copied().collect();
        for _ in 0..rounds {
            let [plain, cell, overlay, cleared, bubblewrap] = &mut times;
            plain.push(timed(|| plainly(argv))?);
            cell.push(timed(|| celled(argv, &ground, &lower, None))?);
            let began = Instant::now();
            celled(argv, &ground, &lower, Some(&shelf))?;
            overlay.push(began.elapsed());
            shelf.settle();
            cleared.push(began.elapsed());
            if Path::new("/usr/bin/bwrap").exists() {
                bubblewrap.push(timed(|| plainly(&wrapped))?);
            }
        }
        println!("{}", argv.join(" "));
        let names = ["plain", "full cell", "full cell, overlay", "... cleared", "bubblewrap"];
        for (name, times) in names.iter().zip(&mut times) {
            times.sort();
            let at = |part: usize| times.get(times.len() * part / 100).copied().map_or(0.0, millis);
            println!("  {name:20} min {:6.2}  median {:6.2}  p95 {:6.2} ms", at(0), at(50), at(95));
        }
    }
    output(&ground)?;
    drop(ballast);
    Ok(())
}

/// A profile that is as strict as bubblewrap can be without a filter of ours.
const BUBBLEWRAP: [&str; 23] = [
    "/usr/bin/bwrap",
    "--unshare-all",
    "--die-with-parent",
    "--new-session",
    "--clearenv",
    "--ro-bind",
    "/",
    "/",
    "--proc",
    "/proc",
    "--dev",
    "/dev",
    "--tmpfs",
    "/tmp",
    "--tmpfs",
    "/run",
    "--cap-drop",
    "ALL",
    "--hostname",
    "cell",
    "--chdir",
    "/",
    "--",
];

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn timed(run: impl FnOnce() -> Outcome<()>) -> Outcome<Duration> {
    let began = Instant::now();
    run()?;
    Ok(began.elapsed())
}

fn plainly(argv: &[&str]) -> Outcome<()> {
    let (program, arguments) = argv.split_first().ok_or("no program")?;
    Command::new(program).args(arguments).output()?;
    Ok(())
}

fn celled(argv: &[&str], ground: &Ground, lower: &Path, shelf: Option<&Shelf>) -> Outcome<()> {
    let mut plan = Plan::new(argv.iter().map(Into::into).collect(), "/");
    plan.limits.disk = None;
    let layer = shelf.map(Shelf::take).transpose()?;
    if let (Some(layer), Some(shelf)) = (&layer, shelf) {
        plan.cwd = lower.to_owned();
        plan.stage.push(layer.over(lower, &[]));
        plan.hide.push(shelf.place().to_owned());
    }
    let exit = Cell::spawn(&plan, ground, |_| {})?.wait()?;
    if exit.success() { Ok(()) } else { Err(format!("{:?}", exit.how).into()) }
}

/// How fast a command can write, when a little of it is kept.
fn output(ground: &Ground) -> Outcome<()> {
    let bytes = 4u64 << 30;
    let mut plan = Plan::bash(&format!("head -c {bytes} /dev/zero"), "/");
    plan.env.push(("PATH".into(), "/usr/bin:/bin".into()));
    plan.keep = Keep { head: 48 << 10, tail: 16 << 10 };
    let exit = Cell::spawn(&plan, ground, |_| {})?.wait()?;
    let rate = exit.output.total() as f64 / exit.wall.as_secs_f64() / 1e9;
    println!(
        "output: {} bytes at {rate:.2} GB/s, {:.0} KiB kept",
        exit.output.total(),
        (exit.output.head().len() + exit.output.tail().len()) as f64 / 1024.0
    );
    Ok(())
}
