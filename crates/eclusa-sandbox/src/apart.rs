//! Starting a program apart from this one, and from whoever waits for this one: no terminal, no session, no
//! descriptor of it is left to the other.

use std::ffi::{CString, OsString};
use std::fs::OpenOptions;
use std::io::{self, BufRead as _, BufReader};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// Says to a program that is started apart that it is there.
const HELD: &str = "--held";

/// What a process is called that is started apart: this, and its name.
const CALLED: &str = "eclusa-";

/// Starts a program, and returns the first line that it says. It is started by a process in between, which
/// calls [`step_apart`] and leaves: so it is nobody's child, and ends with nobody.
pub fn start_apart(program: &Path, args: &[OsString]) -> io::Result<String> {
    crate::inherit_nothing()?;
    let (reader, writer) = io::pipe()?;
    let mut command = prepared(program);
    command.args(args).stdout(writer);
    let status = command.spawn()?.wait()?;
    // It holds our writing end of the pipe.
    drop(command);
    let mut line = String::new();
    BufReader::new(reader).read_line(&mut line)?;
    match status.success() && !line.is_empty() {
        true => Ok(line.trim_end().to_owned()),
        false => Err(io::Error::other(format!("`{}` did not start: {status}", program.display()))),
    }
}

/// What the process in between does: the first argument is what the program is called by, the others are its own.
/// `false`: this is the program itself, which goes on without the first of its arguments.
pub fn step_apart(name: &str, args: &[OsString]) -> io::Result<bool> {
    if args.first().is_some_and(|it| it == HELD) {
        let called = CString::new(format!("{CALLED}{name}"))?;
        rustix::thread::set_name(&called)?;
        return Ok(false);
    }
    rustix::process::setsid()?;
    let mut command = prepared(Path::new("/proc/self/exe"));
    command.arg(name).arg(HELD).args(args).stdout(Stdio::inherit()).process_group(0);
    command.spawn()?;
    Ok(true)
}

/// Says nothing any more: whoever waits for the end of what we say need not.
pub fn forget_streams() -> io::Result<()> {
    let nothing = OpenOptions::new().read(true).write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdin(&nothing)?;
    rustix::stdio::dup2_stdout(&nothing)?;
    rustix::stdio::dup2_stderr(&nothing)?;
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "a part of this program, which outlives it")]
fn prepared(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.env_clear().current_dir("/").stdin(Stdio::null()).stderr(Stdio::null());
    command
}
