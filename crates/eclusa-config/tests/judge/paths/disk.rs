//! What a tool does with a file, as small as possible: writing and deleting through handles.

use std::{fs::File, io::Write, path::Path};

use eclusa::{Files, Node, workspace::files::PathState};
use rustix::{
    fs::{AtFlags, Mode, OFlags, mkdirat, openat, renameat, unlinkat},
    io::Errno,
};

/// Runs commands of a shell in a directory. True: all went well.
pub(crate) fn sh(directory: &Path, commands: &str) -> bool {
    let script = format!("set -e\n{commands}");
    std::process::Command::new("sh")
        .args(["-c", &script])
        .current_dir(directory)
        .stdin(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .status()
        .unwrap()
        .success()
}

/// Writes a file as the commit does: directories on the way are made one by one, the content goes
/// into a temporary file beside its place, and a rename puts it there.
pub(crate) fn put(files: &Files, path: &Path, between: impl FnOnce()) -> Result<(), String> {
    let above: Vec<&Path> = path.ancestors().skip(1).filter(|it| *it != Path::new("")).collect();
    for directory in above.into_iter().rev() {
        let (parent, name) = files.parent(directory).map_err(|err| err.to_string())?;
        match mkdirat(&parent, &name, Mode::from(0o755)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(err) => return Err(format!("made: {err}")),
        }
    }
    let (parent, name) = files.parent(path).map_err(|err| err.to_string())?;
    between();
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let temporary = openat(&parent, ".tmp-of-test", flags, Mode::from(0o644));
    let temporary = temporary.map_err(|err| format!("temporary: {err}"))?;
    File::from(temporary).write_all(b"WRITTEN").unwrap();
    renameat(&parent, ".tmp-of-test", &parent, &name).map_err(|err| format!("renamed: {err}"))
}

/// Deletes what has this name, and never what a link leads to.
pub(crate) fn delete(files: &Files, found: PathState) -> Result<(), String> {
    let flags = match found.node {
        None => return Err(files.missing(&found.path.to_string_lossy()).to_string()),
        Some(Node::Directory { .. }) => {
            let inside = files.directory(found.path.to_str().unwrap());
            for entry in inside.map_err(|err| err.to_string())? {
                let path = found.path.join(entry.map_err(|err| err.to_string())?.name);
                let entry = files.entry(path.to_str().unwrap(), 0);
                delete(files, entry.map_err(|err| err.to_string())?)?;
            }
            AtFlags::REMOVEDIR
        }
        Some(Node::File(_) | Node::Link { .. }) => AtFlags::empty(),
    };
    let (parent, name) = files.parent(&found.path).map_err(|err| err.to_string())?;
    unlinkat(&parent, &name, flags).map_err(|err| format!("deleted: {err}"))
}
