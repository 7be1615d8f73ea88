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
            true => format!("its program `{program}` is not there"),
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
mod tests {
    use super::*;

    #[test]
    fn a_program_is_found_before_it_is_started() {
        let ctx = Path::new("/");
        let words = |all: &[&str]| all.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
        let found = |all: &[&str]| found(&words(all), OsStr::new("/nowhere:/bin"), ctx);
        assert_eq!(found(&["sh", "-c", "x"]).unwrap(), ["/bin/sh", "-c", "x"]);
        assert_eq!(found(&["/bin/sh"]).unwrap(), ["/bin/sh"]);
        assert_eq!(found(&["bin/sh"]).unwrap(), ["/bin/sh"]);
        let err = found(&["no-such-program"]).unwrap_err().to_string();
        assert!(err.contains("`no-such-program` is not on the PATH"), "{err}");
        assert!(found(&["./no-such-program"]).is_err());
        assert!(found(&[]).is_err());
    }
}
