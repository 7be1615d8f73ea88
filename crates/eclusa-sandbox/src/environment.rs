//! The environment of a command, built from a list: what isn't named here doesn't get in.
//!
//! Variables make harmless commands run other programs (`PATH`, `BASH_ENV`, `RIPGREP_CONFIG_PATH`,
//! `GIT_CONFIG_COUNT`, `LD_PRELOAD`, `NODE_OPTIONS` and many more), so a list of bad ones would
//! never be complete.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// Where programs are looked for, if the caller's `PATH` leaves nothing.
const DEFAULT_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Names that say something about the person or the machine and start nothing.
const PASSED: [&str; 9] =
    ["LANG", "LANGUAGE", "TZ", "TERM", "USER", "LOGNAME", "NO_COLOR", "CI", "SOURCE_DATE_EPOCH"];

/// Names of directories where tools keep themselves. Passed if nobody in the sandbox can write there.
const DIRECTORIES: [&str; 10] = [
    "HOME",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "GOROOT",
    "GOPATH",
    "JAVA_HOME",
    "NVM_DIR",
    "PYENV_ROOT",
    "RBENV_ROOT",
    "VOLTA_HOME",
];

/// The variables of a command, from those of the caller. `writable` are the directories that the
/// command, or whoever wrote them before, may have put programs into: the workspace above all.
#[must_use]
pub fn clean_environment<I>(given: I, writable: &[PathBuf]) -> Vec<(OsString, OsString)>
where
    I: IntoIterator<Item = (OsString, OsString)>,
{
    let real = writable.iter().filter_map(|it| it.canonicalize().ok());
    let writable: Vec<PathBuf> = writable.iter().cloned().chain(real).collect();
    let mut path = OsString::new();
    let mut env = Vec::new();
    for (name, value) in given {
        let Some(text) = name.to_str() else { continue };
        if text == "PATH" {
            path = safe_path(&value, &writable);
        } else if DIRECTORIES.contains(&text) {
            if is_safe_directory(Path::new(&value), &writable) {
                env.push((name, value));
            }
        } else if (PASSED.contains(&text) || text.starts_with("LC_")) && is_plain(&value) {
            env.push((name, value));
        }
    }
    if path.is_empty() {
        path = DEFAULT_PATH.into();
    }
    env.push(("PATH".into(), path));
    for (name, value) in [("PAGER", "cat"), ("TMPDIR", "/tmp"), ("SHELL", "/bin/bash")] {
        env.push((name.into(), value.into()));
    }
    if !env.iter().any(|(name, _)| name == "TERM") {
        env.push(("TERM".into(), "dumb".into()));
    }
    env
}

/// The directories of a `PATH` that are absolute, exist, and aren't writable by the command,
/// neither by their name nor by the place they really are.
fn safe_path(path: &OsStr, writable: &[PathBuf]) -> OsString {
    let kept = path
        .as_bytes()
        .split(|byte| *byte == b':')
        .map(|part| Path::new(OsStr::from_bytes(part)))
        .filter(|part| is_safe_directory(part, writable));
    kept.map(|part| part.as_os_str()).collect::<Vec<_>>().join(OsStr::new(":"))
}

fn is_safe_directory(path: &Path, writable: &[PathBuf]) -> bool {
    let Ok(real) = path.canonicalize() else { return false };
    let beneath = |root: &PathBuf| path.starts_with(root) || real.starts_with(root);
    path.is_absolute() && !writable.iter().any(beneath)
}

/// A short word without anything a shell or a format would take for more.
fn is_plain(value: &OsStr) -> bool {
    let allowed = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.,:@/+ ".contains(byte);
    value.len() < 200 && value.as_bytes().iter().all(allowed)
}
