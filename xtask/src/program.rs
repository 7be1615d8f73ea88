//! Programs of the workshop: cargo, git and tests are started in this one place.

use std::{ffi::OsStr, path::Path, process::Command};

/// A program that will run in this directory.
#[expect(clippy::disallowed_methods, reason = "its work is to start cargo, git and tests")]
pub(crate) fn program(name: impl AsRef<OsStr>, directory: &Path) -> Command {
    let mut program = Command::new(name);
    program.current_dir(directory);
    program
}
