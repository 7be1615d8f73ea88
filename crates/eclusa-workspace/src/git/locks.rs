//! Git's own locks, held while its files are compared and written: files `NAME.lock` beside those that
//! change. All of them are one file with several names, which the state notes first: whoever comes after
//! a crash removes those and no others.

use std::{
    fs, io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};

use super::GitRun;
use crate::{Changes, Durability, places::Places, private_file};

/// How long another git is waited for.
const PATIENCE: Duration = Duration::from_secs(1);
/// How often it is looked whether it has ended.
const LOOK: Duration = Duration::from_millis(20);

/// What the state notes of the locks.
#[derive(Serialize, Deserialize)]
struct Noted {
    /// The file that all of them are.
    source: PathBuf,
    locks: Vec<PathBuf>,
}

/// Why a lock cannot be had.
pub(crate) enum LockError {
    /// Another git has it: the lock, from the workspace if it is there.
    Held(PathBuf),
    /// The disk or the kernel refused.
    Io(PathBuf, io::Error),
}

/// Locks that are held. They are removed when this is dropped.
pub(crate) struct GitLocks {
    state: PathBuf,
}

impl GitLocks {
    /// Takes the locks of everything that these runs change. `None`: nothing of git's changes.
    pub(crate) fn take(
        places: &Places,
        state: &Path,
        changes: &Changes,
        runs: &[GitRun],
    ) -> Result<Option<GitLocks>, LockError> {
        let locks = names(places, changes, runs);
        let Some(first) = runs.first().filter(|_| !locks.is_empty()) else { return Ok(None) };
        let source = places.at(&first.path(&format!("eclusa-{}", std::process::id())));
        let noted = Noted { source: source.clone(), locks: locks.clone() };
        let failed = |err| LockError::Io(source.clone(), err);
        let text = serde_json::to_vec(&noted).map_err(|err| failed(err.into()))?;
        private_file::write(&file(state), text, Durability::Crash).map_err(failed)?;
        let held = GitLocks { state: state.to_owned() };
        unlink(&source);
        private_file::create(&source, "", Durability::Crash).map_err(failed)?;
        let until = Instant::now() + PATIENCE;
        for lock in locks {
            loop {
                match fs::hard_link(&source, &lock) {
                    Ok(()) => break,
                    Err(err) if err.kind() != io::ErrorKind::AlreadyExists => {
                        return Err(LockError::Io(lock, err));
                    }
                    Err(_) if Instant::now() < until => thread::sleep(LOOK),
                    Err(_) => {
                        let path = lock.strip_prefix(places.root()).unwrap_or(&lock).to_owned();
                        return Err(LockError::Held(path));
                    }
                }
            }
        }
        Ok(Some(held))
    }
}

impl Drop for GitLocks {
    fn drop(&mut self) {
        recover(&self.state);
    }
}

/// Removes locks that were noted, where they are still the ones that were made then.
/// INVARIANT: the lock of the workspace is held.
pub(crate) fn recover(state: &Path) {
    let Ok(text) = fs::read(file(state)) else { return };
    if let Ok(noted) = serde_json::from_slice::<Noted>(&text)
        && let Ok(source) = fs::symlink_metadata(&noted.source)
    {
        let own = (source.dev(), source.ino());
        for lock in &noted.locks {
            let found = fs::symlink_metadata(lock);
            if found.is_ok_and(|it| (it.dev(), it.ino()) == own) {
                unlink(lock);
            }
        }
        unlink(&noted.source);
    }
    unlink(&file(state));
}

fn file(state: &Path) -> PathBuf {
    state.join("git-locks.json")
}

/// The locks, in the order in which they are taken: index, HEAD, refs by name, packed refs last.
fn names(places: &Places, changes: &Changes, runs: &[GitRun]) -> Vec<PathBuf> {
    let mut locks = Vec::new();
    for run in runs {
        let mut lock = |rest: &str| {
            let path = places.at(&run.path(&format!("{rest}.lock")));
            // A ref whose directory is not there cannot be written by another git unnoticed.
            if path.parent().is_some_and(Path::is_dir) {
                locks.push(path);
            }
        };
        for rest in ["index", "HEAD"] {
            // A branch goes, and nobody may change to it meanwhile.
            let goes = || run.refs.iter().any(|it| it.new.is_none());
            let rests = rest == "HEAD" && (run.head.is_some() || goes());
            if rests || changes.get(&run.path(rest)).is_some() {
                lock(rest);
            }
        }
        let mut refs: Vec<_> = run.refs.iter().collect();
        refs.sort_by(|a, b| a.name.cmp(&b.name));
        for moved in &refs {
            lock(&moved.name);
        }
        if refs.iter().any(|it| it.new.is_none()) {
            lock("packed-refs");
        }
    }
    locks
}

#[expect(clippy::disallowed_methods, reason = "locks that were made here")]
fn unlink(path: &Path) {
    let _ = fs::remove_file(path);
}
