//! Runs a program as it would run in a container: behind a filter like Docker's default one.
//!
//! `container_filter -- PROGRAM ARGS...`. It ends as the program ends, or with 125 where the filter cannot
//! be had and with 127 where the program cannot be started.

use std::process::ExitCode;

#[cfg(enforced)]
fn main() -> ExitCode {
    use std::os::unix::process::CommandExt as _;

    let mut words = std::env::args_os().skip(1);
    let (Some(dashes), Some(program)) = (words.next(), words.next()) else { return usage() };
    if dashes != "--" {
        return usage();
    }
    if let Err(error) = eclusa_sandbox::test_support::container() {
        eprintln!("the filter cannot be installed: {error}");
        return ExitCode::from(125);
    }
    #[expect(clippy::disallowed_methods, reason = "it becomes the program that it was given")]
    let error = std::process::Command::new(&program).args(words).exec();
    eprintln!("`{}` cannot be started: {error}", program.display());
    ExitCode::from(127)
}

#[cfg(not(enforced))]
fn main() -> ExitCode {
    eprintln!("filters of system calls are not there on this system");
    ExitCode::from(125)
}

fn usage() -> ExitCode {
    eprintln!("usage: container_filter -- PROGRAM ARGS...");
    ExitCode::from(2)
}
