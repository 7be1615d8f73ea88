//! Which program a command names: found before the sandbox is made, so that nothing is searched in it.

use std::{
    env,
    ffi::{OsStr, OsString},
    fs, io,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

/// The program and its arguments, the program by its whole path. A name without a slash is looked
/// for on `path`; one with a slash starts at the workspace.
pub(super) fn found(
    command: &[String],
    path: &OsStr,
    workspace: &Path,
) -> io::Result<Vec<OsString>> {
    let (program, args) = command.split_first().ok_or_else(|| missing("no program is named"))?;
    let whole = match program.contains('/') {
        true => Some(workspace.join(program)).filter(|it| it.exists()),
        false => env::split_paths(path).map(|it| it.join(program)).find(is_program),
    };
    let whole = whole.ok_or_else(|| {
        missing(&match program.contains('/') {
            true => format!("its program `{program}` was not found"),
            false => format!(
                "its program `{program}` is not on the PATH (directories of the workspace do not \
                 count); install it, or write its whole path"
            ),
        })
    })?;
    let args = args.iter().map(OsString::from);
    Ok(std::iter::once(whole.into_os_string()).chain(args).collect())
}

fn is_program(path: &PathBuf) -> bool {
    fs::metadata(path).is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
}

fn missing(text: &str) -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, text.to_owned())
}

#[cfg(test)]
mod tests;
