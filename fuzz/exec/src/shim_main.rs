//! What stands in the place of every program in the room: it notes that it was started, and becomes
//! the program that it is named after.

mod shim;

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    let mut args = std::env::args();
    let name = args.next().unwrap_or_default();
    let name = name.rsplit('/').next().unwrap_or_default().to_owned();
    become_real(&name, args)
}

/// Notes the start and becomes the program.
fn become_real(name: &str, args: impl Iterator<Item = String>) -> ExitCode {
    let args: Vec<String> = args.collect();
    let mut line = name.to_owned();
    for arg in args.iter().take(4) {
        line.push('\u{1f}');
        line.extend(arg.chars().take(80).map(|it| if it == '\n' { ' ' } else { it }));
    }
    line.push('\n');
    let log = OpenOptions::new().append(true).open(shim::LOG);
    let _ = log.and_then(|mut it| it.write_all(line.as_bytes()));
    let Some(real) = shim::real(name) else { return ExitCode::from(127) };
    #[expect(clippy::disallowed_methods, reason = "it becomes the program that was meant")]
    let err = Command::new(real).arg0(name).args(args).exec();
    eprintln!("hunt: {name}: {err}");
    ExitCode::from(126)
}
