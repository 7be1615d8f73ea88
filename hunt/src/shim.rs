//! What stands in the place of every program in the room: it notes that it was started, and becomes
//! the program that it is named after.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Where starts are noted, in the room.
pub(crate) const LOG: &str = "/hunt/started";

/// Where real shells lie, in the room.
const SHELLS: &str = "/hunt/real";

/// Where programs are looked for.
pub(crate) const DIRECTORIES: [&str; 6] =
    ["/usr/local/bin", "/usr/bin", "/bin", "/usr/local/sbin", "/usr/sbin", "/sbin"];

/// The program of this name.
pub(crate) fn real(name: &str) -> Option<PathBuf> {
    let shell = Path::new(SHELLS).join(name);
    let found = DIRECTORIES.iter().map(|it| Path::new(it).join(name));
    std::iter::once(shell).chain(found).find(|it| it.is_file())
}

/// Notes the start and becomes the program.
pub(crate) fn become_real(name: &str, args: impl Iterator<Item = String>) -> ExitCode {
    let args: Vec<String> = args.collect();
    let mut line = name.to_owned();
    for arg in args.iter().take(4) {
        line.push('\u{1f}');
        line.extend(arg.chars().take(80).map(|it| if it == '\n' { ' ' } else { it }));
    }
    line.push('\n');
    let log = OpenOptions::new().append(true).open(LOG);
    let _ = log.and_then(|mut it| it.write_all(line.as_bytes()));
    let Some(real) = real(name) else { return ExitCode::from(127) };
    #[expect(clippy::disallowed_methods, reason = "it becomes the program that was meant")]
    let err = Command::new(real).arg0(name).args(args).exec();
    eprintln!("hunt: {name}: {err}");
    ExitCode::from(126)
}
