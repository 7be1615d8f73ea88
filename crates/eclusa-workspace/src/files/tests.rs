//! Tests of the one way to a file: a workspace `ws` beside a directory `outside`, in both ways of
//! opening beneath.

use std::{
    ffi::OsString,
    fs::File,
    io::{Read, Write},
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
};

use rustix::fs::{AtFlags, Mode, OFlags, mkdirat, openat, renameat, unlinkat};
use tempfile::TempDir;

use super::*;

mod blocked;
mod contents;
mod hostile;
mod in_memory;
mod messages;
mod paths;
mod races;
mod secrets;

const BOTH: [Beneath; 2] = [Beneath::Kernel, Beneath::Walked];
const HOLD: u64 = 1 << 20;

/// A directory with a workspace in it.
struct World {
    tmp: TempDir,
    files: Files,
}

impl World {
    /// Runs the commands in a fresh directory and opens `ws` in it.
    fn new(setup: &str, how: Beneath) -> World {
        let tmp = tempfile::tempdir().unwrap();
        assert!(sh(tmp.path(), "mkdir -p ws/src outside && printf INSIDE > ws/a.txt"));
        assert!(sh(tmp.path(), "printf SECRET > outside/secret.txt"));
        assert!(sh(tmp.path(), setup), "{setup}");
        let files = open(&tmp.path().join("ws"), how);
        World { tmp, files }
    }

    /// The same world in both ways.
    fn both(setup: &str) -> [World; 2] {
        BOTH.map(|how| World::new(setup, how))
    }

    fn sh(&self, commands: &str) -> bool {
        sh(self.tmp.path(), commands)
    }

    /// The content of a file, read as a tool reads it.
    fn read(&self, asked: &str) -> Result<String, String> {
        let mut opened = self.files.file(asked).map_err(|err| err.to_string())?;
        let mut text = String::new();
        opened.file.read_to_string(&mut text).unwrap();
        Ok(text)
    }

    /// The names in a directory, sorted.
    fn list(&self, asked: &str) -> Result<Vec<String>, String> {
        let opened = self.files.directory(asked).map_err(|err| err.to_string())?;
        let mut names: Vec<String> =
            opened.map(|it| it.unwrap().name.to_string_lossy().into_owned()).collect();
        names.sort();
        Ok(names)
    }
}

fn open(root: &Path, how: Beneath) -> Files {
    let files = Files::open_with(root, Blocked::default(), how).unwrap();
    assert_eq!(files.beneath(), how);
    files
}

#[expect(clippy::disallowed_methods, reason = "the cases of the corpus are set up by a shell")]
fn sh(directory: &Path, commands: &str) -> bool {
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

/// Runs `try_it` so many times while another thread does something over and over.
fn while_another(mut something: impl FnMut() + Send, tries: usize, mut try_it: impl FnMut()) {
    // The other thread ends however the tries do.
    struct End<'a>(&'a AtomicBool);
    impl Drop for End<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                something();
            }
        });
        let _end = End(&done);
        for _ in 0..tries {
            try_it();
        }
    });
}

/// Writes a file as the commit does: directories on the way are made one by one, the content goes
/// into a temporary file beside its place, and a rename puts it there.
fn put(files: &Files, path: &Path, between: impl FnOnce()) -> Result<(), FileError> {
    let above: Vec<&Path> = path.ancestors().skip(1).filter(|it| *it != Path::new("")).collect();
    for directory in above.into_iter().rev() {
        let (parent, name) = files.parent(directory)?;
        match mkdirat(&parent, &name, Mode::from(0o755)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(err) => return Err(FileError::io("made", err)),
        }
    }
    let (parent, name) = files.parent(path)?;
    between();
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let temporary = openat(&parent, ".tmp-of-test", flags, Mode::from(0o644));
    let temporary = temporary.map_err(|err| FileError::io("temporary", err))?;
    File::from(temporary).write_all(b"WRITTEN").unwrap();
    renameat(&parent, ".tmp-of-test", &parent, &name).map_err(|err| FileError::io("renamed", err))
}

/// Deletes what has this name, and never what a link leads to.
fn delete(files: &Files, found: PathState) -> Result<(), FileError> {
    let flags = match found.node {
        None => return Err(files.missing(&found.path.to_string_lossy())),
        Some(Node::Directory { .. }) => {
            for entry in files.directory(found.path.to_str().unwrap())? {
                let path = found.path.join(entry?.name);
                delete(files, files.entry(path.to_str().unwrap(), 0)?)?;
            }
            AtFlags::REMOVEDIR
        }
        Some(Node::File(_) | Node::Link { .. }) => AtFlags::empty(),
    };
    let (parent, name) = files.parent(&found.path)?;
    unlinkat(&parent, &name, flags).map_err(|err| FileError::io("deleted", err))
}
