//! What lies in a workspace that commands must not see, and the repositories that they may meet.
//!
//! Every directory is read once. Afterwards it is only looked at, and read again when it has
//! changed: whatever appears in a directory, or gets another name there, changes its times. A
//! directory that changed a moment before it was read is read again, because its next change may
//! bear the same time.

use std::{
    collections::HashMap,
    ffi::OsStr,
    fs, io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use eclusa::{Blocked, policy::HiddenPaths};
use eclusa_sandbox::is_secret;

/// The clocks of filesystems are coarser than this at no setting.
const COARSE: Duration = Duration::from_millis(100);

/// The most paths that rules hide one by one. Beyond that, what they lie in is hidden.
const MAX_HIDDEN: usize = 1000;

/// Directories that hold programs of others, with keys for tests and certificates for everybody:
/// names alone say nothing there. What a person has blocked is hidden there too.
const SKIPPED: [&str; 4] = ["node_modules", "target", ".git", ".venv"];

/// Surveys one workspace, again and again.
#[derive(Debug)]
pub(super) struct Survey {
    root: PathBuf,
    /// What nobody may see.
    blocked: Blocked,
    /// What a person has blocked beyond what everybody has.
    own: Blocked,
    /// What rules hide from the command.
    rules: HiddenPaths,
    known: Mutex<HashMap<PathBuf, Directory>>,
}

/// What was found.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    /// What must be hidden.
    pub(super) hidden: Vec<PathBuf>,
    /// What rules hide besides.
    pub(super) by_rules: Vec<PathBuf>,
    /// Directories that git takes for a working tree or for a repository.
    pub(super) trees: Vec<PathBuf>,
}

/// One directory, as it was when it was read.
#[derive(Debug)]
struct Directory {
    stamp: Stamp,
    /// Whether its times would tell of any change since.
    settled: bool,
    inner: Vec<PathBuf>,
    hidden: Vec<PathBuf>,
    by_rules: Vec<PathBuf>,
    /// Files that are shown because git has just what is in them, as they were then.
    clean: Vec<(PathBuf, Stamp)>,
    tree: bool,
}

type Stamp = (u64, u64, i64, i64, i64, i64);

fn stamp(it: &fs::Metadata) -> Stamp {
    (it.dev(), it.ino(), it.mtime(), it.mtime_nsec(), it.ctime(), it.ctime_nsec())
}

impl Survey {
    /// What a workspace has that nobody may see, and what rules hide from commands.
    pub(super) fn new(root: &Path, blocked: Blocked, rules: HiddenPaths) -> Survey {
        let own = blocked.own();
        Survey { root: root.to_owned(), blocked, own, rules, known: Mutex::default() }
    }

    /// What it was made to hide besides.
    pub(super) fn rules(&self) -> &HiddenPaths {
        &self.rules
    }

    /// What is there now.
    pub(super) fn look(&self) -> Found {
        self.look_beneath(&self.root)
    }

    /// The same of one directory.
    fn look_beneath(&self, from: &Path) -> Found {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let mut before = std::mem::take(&mut *known);
        let mut found = Found::default();
        let mut pending = vec![from.to_owned()];
        while let Some(path) = pending.pop() {
            // What is gone, or has become something else, holds nothing.
            let Ok(about) = fs::symlink_metadata(&path) else { continue };
            let same =
                |it: &Directory| it.settled && it.stamp == stamp(&about) && is_same(&it.clean);
            let directory = match before.remove(&path).filter(same) {
                Some(directory) => directory,
                None => match self.read(&path, &about) {
                    Ok(directory) => directory,
                    Err(err) if err.kind() == io::ErrorKind::NotFound => continue,
                    // Nobody knows what is in it.
                    Err(_) => {
                        found.hidden.push(path);
                        continue;
                    }
                },
            };
            found.hidden.extend_from_slice(&directory.hidden);
            found.by_rules.extend_from_slice(&directory.by_rules);
            pending.extend_from_slice(&directory.inner);
            if directory.tree {
                found.trees.push(path.clone());
            }
            known.insert(path, directory);
        }
        found.by_rules = self.bounded(found.by_rules);
        found
    }

    /// So many that each can be covered: where there are more, the directories that they lie in.
    fn bounded(&self, mut hidden: Vec<PathBuf>) -> Vec<PathBuf> {
        while hidden.len() > MAX_HIDDEN {
            let before = hidden.len();
            let wider = |it: &PathBuf| match it.parent() {
                Some(parent) if parent != self.root => parent.to_owned(),
                _ => it.clone(),
            };
            let deepest = hidden.iter().map(|it| it.iter().count()).max().unwrap_or_default();
            hidden = hidden
                .iter()
                .map(|it| if it.iter().count() == deepest { wider(it) } else { it.clone() })
                .collect();
            hidden.sort();
            hidden.dedup_by(|later, earlier| later.starts_with(&*earlier));
            let top = self.root.iter().count() + 1;
            if hidden.len() == before && hidden.iter().all(|it| it.iter().count() <= top) {
                break;
            }
        }
        hidden
    }

    /// True when rules hide an entry of the workspace from commands.
    fn is_ruled_out(&self, inner: &Path, at: &Path, kind: fs::FileType) -> bool {
        if self.rules.is_nothing() {
            return false;
        }
        if kind.is_dir() {
            return self.rules.hides_all_of(inner);
        }
        // A link is covered by covering what it leads to, and nothing is left without the workspace.
        let upwards = || at.canonicalize().is_ok_and(|it| self.root.starts_with(it));
        self.rules.hides(inner) && !(kind.is_symlink() && upwards())
    }

    /// True for a link to what every command needs or to what the workspace lies in: covering what it
    /// leads to would leave no command anything, and nothing there is a secret for its name.
    fn leads_to_all(&self, at: &Path) -> bool {
        const PROGRAMS: [&str; 8] =
            ["/usr", "/bin", "/sbin", "/lib", "/lib64", "/proc", "/sys", "/dev"];
        const WHOLE: [&str; 2] = ["/etc", "/opt"];
        at.canonicalize().is_ok_and(|to| {
            self.root.starts_with(&to)
                || PROGRAMS.iter().any(|it| to.starts_with(it))
                || WHOLE.iter().any(|it| to == Path::new(it))
        })
    }

    /// Reads one directory.
    fn read(&self, path: &Path, about: &fs::Metadata) -> io::Result<Directory> {
        let mut directory = Directory {
            stamp: stamp(about),
            settled: is_past(about),
            inner: Vec::new(),
            hidden: Vec::new(),
            by_rules: Vec::new(),
            clean: Vec::new(),
            tree: false,
        };
        let beneath = path.strip_prefix(&self.root).unwrap_or(path);
        let foreign = beneath.iter().any(is_skipped);
        let (mut head, mut config) = (false, false);
        for entry in fs::read_dir(path)? {
            let entry = entry?;
            let name = entry.file_name();
            let kind = entry.file_type()?;
            head |= name == "HEAD";
            config |= name == "config";
            directory.tree |= name == ".git";
            let inner = beneath.join(&name);
            let at = path.join(&name);
            if !foreign && kind.is_file() && self.blocked.must_be_clean(&inner) {
                let about = fs::symlink_metadata(&at).ok();
                directory.clean.extend(about.map(|it| (at.clone(), stamp(&it))));
            }
            let secret = !foreign && is_secret(&self.blocked, &inner, &at, kind.is_dir());
            if secret || self.own.by(&inner).is_some() {
                if !(kind.is_symlink() && self.leads_to_all(&at)) {
                    directory.hidden.push(at);
                }
            } else if self.is_ruled_out(&inner, &at, kind) {
                directory.by_rules.push(at);
            } else if kind.is_dir() && self.enters(&name, &inner) {
                directory.inner.push(at);
            }
        }
        directory.tree |= head && config;
        Ok(directory)
    }

    fn enters(&self, name: &OsStr, inner: &Path) -> bool {
        !is_skipped(name)
            || !self.own.patterns().is_empty()
            || (!self.rules.is_nothing() && self.rules.may_hide_below(inner))
    }
}

/// What nobody may see beneath a directory of a workspace, and what rules hide there: relative to the
/// workspace.
pub(crate) fn hidden_beneath(
    root: &Path,
    blocked: &Blocked,
    rules: &HiddenPaths,
    from: &Path,
) -> Vec<PathBuf> {
    let found = Survey::new(root, blocked.clone(), rules.clone()).look_beneath(&root.join(from));
    let all = found.hidden.into_iter().chain(found.by_rules);
    all.filter_map(|it| it.strip_prefix(root).ok().map(Path::to_owned)).collect()
}

/// Whether files are as they were.
fn is_same(files: &[(PathBuf, Stamp)]) -> bool {
    files.iter().all(|(path, then)| {
        fs::symlink_metadata(path).is_ok_and(|now| stamp(&now) == *then && is_past(&now))
    })
}

fn is_skipped(name: &OsStr) -> bool {
    SKIPPED.iter().any(|it| name == *it)
}

/// True when the last change is so long ago that the next one cannot bear the same time.
fn is_past(about: &fs::Metadata) -> bool {
    let (Ok(seconds), Ok(nanos)) =
        (u64::try_from(about.ctime()), u32::try_from(about.ctime_nsec()))
    else {
        return false;
    };
    let changed = UNIX_EPOCH + Duration::new(seconds, nanos);
    SystemTime::now().duration_since(changed).is_ok_and(|it| it > COARSE)
}

#[cfg(test)]
mod tests;
