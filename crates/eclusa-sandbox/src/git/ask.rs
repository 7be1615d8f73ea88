//! Asking git: which one, in what environment, and for how long.

use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Where a git of the system is.
const PLACES: [&str; 5] = [
    "/usr/bin/git",
    "/usr/local/bin/git",
    "/bin/git",
    "/opt/homebrew/bin/git",
    "/opt/local/bin/git",
];
/// How long git may take to read a file.
const MAX_WAIT: Duration = Duration::from_secs(10);
/// How much it may print.
const MAX_OUTPUT: u64 = 16 << 20;

/// A git that knows of no configuration but what it is pointed to, and stands in no repository.
#[expect(
    clippy::disallowed_methods,
    reason = "it only reads a file, and is not given the command's"
)]
pub(super) fn git() -> Option<Command> {
    let program = PLACES.into_iter().find(|it| Path::new(it).is_file())?;
    let mut command = Command::new(program);
    command.env_clear().current_dir("/");
    command.env("PATH", "/usr/bin:/bin").env("LC_ALL", "C");
    command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null");
    command.env("GIT_CEILING_DIRECTORIES", "/").env("GIT_PAGER", "cat");
    Some(command)
}

/// What a command prints, if it ends well and in time.
pub(super) fn output(mut command: Command) -> Option<Vec<u8>> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    let mut printed = child.stdout.take()?;
    let reader = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = printed.by_ref().take(MAX_OUTPUT + 1).read_to_end(&mut bytes);
        read.ok().filter(|it| *it as u64 <= MAX_OUTPUT).map(|_| bytes)
    });
    let until = Instant::now() + MAX_WAIT;
    while !reader.is_finished() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(1));
    }
    if !reader.is_finished() {
        let _ = child.kill();
    }
    let bytes = reader.join().ok().flatten();
    // One that goes on after its output is closed is not waited for.
    if bytes.is_none() {
        let _ = child.kill();
    }
    let status = child.wait().ok()?;
    bytes.filter(|_| status.success())
}
