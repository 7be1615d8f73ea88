//! Programs of the workspace that the caller's `PATH` names: `.venv/bin`, `node_modules/.bin`, `bin`.
//!
//! They are code of the workspace, which runs in the sandbox like a script that is named by its path.

use std::{
    ffi::{OsStr, OsString},
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
};

/// Names that a directory of the workspace does not take the place of: what everybody takes for the system's, and what
/// is trusted with keys. A directory that has one is looked into last.
const SYSTEM: [&str; 60] = [
    "awk", "bash", "cat", "chmod", "chown", "cp", "curl", "cut", "dash", "date", "df", "docker",
    "du", "echo", "egrep", "env", "false", "fgrep", "file", "find", "gh", "git", "grep", "head",
    "id", "kill", "kubectl", "ln", "ls", "make", "mkdir", "mv", "podman", "printf", "ps", "pwd",
    "rm", "rmdir", "rsync", "scp", "sed", "sftp", "sh", "sort", "ssh", "stat", "su", "sudo",
    "tail", "tar", "tee", "test", "touch", "tr", "true", "uname", "uniq", "wc", "wget", "which",
];

/// Variables that say which environment of the workspace is in use. They start nothing.
const ENVIRONMENTS: [&str; 3] = ["VIRTUAL_ENV", "CONDA_PREFIX", "CONDA_DEFAULT_ENV"];

/// Puts what the caller uses of the workspace back into an environment that was cleaned.
pub(crate) fn keep(
    env: &mut Vec<(OsString, OsString)>,
    given: impl IntoIterator<Item = (OsString, OsString)>,
    workspace: &Path,
) {
    for (name, value) in given {
        if name == "PATH" {
            let Some((_, cleaned)) = env.iter_mut().find(|(name, _)| name == "PATH") else {
                continue;
            };
            *cleaned = with_workspace(&value, cleaned, workspace);
        } else if ENVIRONMENTS.iter().any(|it| name == *it)
            && (place(Path::new(&value), workspace).is_some() || is_word(&value))
        {
            env.push((name, value));
        }
    }
}

/// The cleaned `PATH` with the workspace's directories in the places that they have in the given one.
fn with_workspace(given: &OsStr, cleaned: &OsStr, workspace: &Path) -> OsString {
    let parts = |path: &OsStr| -> Vec<PathBuf> {
        let parts = path.as_bytes().split(|it| *it == b':');
        parts.map(|it| PathBuf::from(OsStr::from_bytes(it))).collect()
    };
    let mut left = parts(cleaned);
    let (mut first, mut last) = (Vec::new(), Vec::new());
    for part in parts(given) {
        match place(&part, workspace) {
            Some(directory) if takes_place_of_system(&directory) => last.push(part),
            Some(_) => first.push(part),
            None => {
                if let Some(at) = left.iter().position(|it| *it == part) {
                    first.push(left.remove(at));
                }
            }
        }
    }
    let all = first.into_iter().chain(left).chain(last).map(PathBuf::into_os_string);
    all.collect::<Vec<_>>().join(OsStr::new(":"))
}

/// Where a directory of the workspace really is; nothing for any other, and for what is git's.
fn place(path: &Path, workspace: &Path) -> Option<PathBuf> {
    let real = path.starts_with(workspace).then(|| path.canonicalize().ok()).flatten()?;
    let beneath = real.strip_prefix(workspace).ok()?;
    let of_git = beneath.components().any(|it| it.as_os_str() == ".git");
    (real.is_dir() && !of_git).then_some(real)
}

fn takes_place_of_system(directory: &Path) -> bool {
    SYSTEM.iter().any(|name| directory.join(name).symlink_metadata().is_ok())
}

/// A name, as conda calls its environments.
fn is_word(value: &OsStr) -> bool {
    let plain = |it: &u8| it.is_ascii_alphanumeric() || b"_-.".contains(it);
    !value.is_empty() && value.len() < 64 && value.as_bytes().iter().all(plain)
}

#[cfg(test)]
mod tests;
