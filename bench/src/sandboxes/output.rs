//! How fast the output of a command is taken, when a little of it is kept: written to the sandbox's pipe
//! and to one of our own that is only emptied.

use std::{
    io::Read,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use eclusa_sandbox::{HostCapabilities, Keep, Plan, Sandbox};

use super::Outcome;
use crate::measure::{Told, rate};

/// How much is written.
const BYTES: u64 = 1 << 30;

pub(super) fn run(rounds: usize, capabilities: &HostCapabilities) -> Told {
    let (mut plain, mut inside) = (Duration::MAX, Duration::MAX);
    for _ in 0..rounds {
        plain = plain.min(plainly()?);
        inside = inside.min(sandboxed(capabilities)?);
    }
    let per_second = |it: Duration| BYTES as f64 / 1e6 / it.as_secs_f64();
    rate(
        "baseline: 1 GiB of output, read and forgotten",
        per_second(plain),
        "MB/s",
        per_second(plain),
    );
    rate("1 GiB of output, in a sandbox", per_second(inside), "MB/s", per_second(plain));
    Ok(())
}

fn plainly() -> Outcome<Duration> {
    let began = Instant::now();
    #[expect(clippy::disallowed_methods, reason = "it is what a sandbox is compared with")]
    let mut command = Command::new("/usr/bin/head");
    command.args(["-c", &BYTES.to_string(), "/dev/zero"]).stdout(Stdio::piped());
    let mut child = command.spawn()?;
    let mut buffer = vec![0; 1 << 20];
    while child.stdout.as_mut().ok_or("no output")?.read(&mut buffer)? > 0 {}
    child.wait()?;
    Ok(began.elapsed())
}

fn sandboxed(capabilities: &HostCapabilities) -> Outcome<Duration> {
    let mut plan = Plan::bash(&format!("head -c {BYTES} /dev/zero"), "/");
    plan.env.push(("PATH".into(), "/usr/bin:/bin".into()));
    plan.may_lack = capabilities.missing();
    plan.keep = Keep { head: 48 << 10, tail: 16 << 10 };
    let exit = Sandbox::spawn(&plan, capabilities, |_| {})?.wait()?;
    let kept = exit.output.head().len() + exit.output.tail().len();
    match (exit.output.total(), kept) {
        (BYTES, 65536) => Ok(exit.wall),
        (total, kept) => Err(format!("{total} bytes came, {kept} were kept").into()),
    }
}
