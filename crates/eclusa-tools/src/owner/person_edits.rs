//! What a person has edited in a workspace since a moment. Nobody tells of it, so it is looked for.

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    ffi::OsStr,
    fs,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use eclusa_git::{GitIndex, Ignored, git_directory, read_index};

/// The most files and directories that are looked at.
pub(super) const MAX_LOOKED_AT: usize = 50_000;
/// The clocks of filesystems are coarser than this at no setting.
const COARSE: Duration = Duration::from_millis(100);
/// What people do not edit.
const SKIPPED: [&str; 4] = ["node_modules", "target", ".git", ".venv"];

/// What has changed.
#[derive(Debug, Default)]
pub(super) struct Edits {
    /// Each path with the time of its change: what is gone first, the deepest before what it lies in, then what is
    /// there, the other way round.
    pub(super) paths: Vec<(PathBuf, i64)>,
    /// Directories among them that were not there before.
    pub(super) new_directories: HashSet<PathBuf>,
    /// Until when all is known, in nanoseconds since 1970. `None`: nobody has looked.
    pub(super) until: Option<i64>,
    /// False where there is too much to look at.
    pub(super) is_whole: bool,
}

impl Edits {
    /// Nobody has looked.
    pub(super) fn unknown() -> Edits {
        Edits { until: None, is_whole: true, ..Edits::default() }
    }

    /// What has changed in this workspace since then, in nanoseconds since 1970.
    pub(super) fn since(root: &Path, since: i64) -> Edits {
        let now = SystemTime::now() - COARSE;
        let now = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let until = Some(i64::try_from(now).unwrap_or(i64::MAX));
        let mut walk = Walk::new(root, since);
        match walk.walk() {
            true => {
                let new_directories = std::mem::take(&mut walk.new_directories);
                Edits { paths: walk.all(), new_directories, until, is_whole: true }
            }
            false => Edits { until, is_whole: false, ..Edits::default() },
        }
    }
}

/// A look at all of a workspace.
struct Walk<'a> {
    root: &'a Path,
    since: i64,
    repository: Option<GitTracking>,
    /// What is there and has changed.
    changed: BTreeMap<PathBuf, i64>,
    /// The directories among it that were made since.
    new_directories: HashSet<PathBuf>,
    /// All directories, with the time of their last change.
    directories: BTreeMap<PathBuf, i64>,
    /// What lies in directories that have changed.
    names: HashSet<PathBuf>,
}

/// What git knows of the workspace.
struct GitTracking {
    index: Arc<GitIndex>,
    ignored: Ignored,
    /// Where the workspace lies in the working tree.
    prefix: PathBuf,
}

impl GitTracking {
    fn find(root: &Path) -> Option<GitTracking> {
        let found = root.ancestors().find_map(|it| Some((it, git_directory(it)?)));
        let (tree, git) = found?;
        let prefix = root.strip_prefix(tree).ok()?.to_owned();
        let ignored = Ignored::new(tree, &git, None);
        Some(GitTracking { index: read_index(&git)?, ignored, prefix })
    }

    /// Whether git neither tracks this path nor would.
    fn ignores(&mut self, path: &Path, is_directory: bool) -> bool {
        let path = self.prefix.join(path);
        !self.index.tracks_beneath(&path) && self.ignored.ignored_at(&path, is_directory).is_some()
    }
}

impl<'a> Walk<'a> {
    fn new(root: &'a Path, since: i64) -> Walk<'a> {
        Walk {
            root,
            since,
            repository: GitTracking::find(root),
            changed: BTreeMap::new(),
            new_directories: HashSet::new(),
            directories: BTreeMap::new(),
            names: HashSet::new(),
        }
    }

    fn ignores(&mut self, path: &Path, is_directory: bool) -> bool {
        self.repository.as_mut().is_some_and(|it| it.ignores(path, is_directory))
    }

    /// False where there is too much to look at.
    fn walk(&mut self) -> bool {
        let mut pending = vec![PathBuf::new()];
        let mut count = 0;
        while let Some(path) = pending.pop() {
            let at = self.root.join(&path);
            let Ok(about) = fs::symlink_metadata(&at) else { continue };
            let changed = changed_at(&about);
            let is_new = changed >= self.since;
            if is_new && !path.as_os_str().is_empty() {
                self.changed.insert(path.clone(), changed);
                let made = about.created().ok().and_then(|it| it.duration_since(UNIX_EPOCH).ok());
                let made = made.and_then(|it| i64::try_from(it.as_nanos()).ok());
                if made.is_some_and(|it| it >= self.since) {
                    self.new_directories.insert(path.clone());
                }
            }
            for entry in fs::read_dir(&at).into_iter().flatten().flatten() {
                count += 1;
                if count > MAX_LOOKED_AT {
                    return false;
                }
                let (name, inner) = (entry.file_name(), path.join(entry.file_name()));
                if is_skipped(&name) {
                    continue;
                }
                if is_new {
                    self.names.insert(inner.clone());
                }
                let is_directory = entry.file_type().is_ok_and(|it| it.is_dir());
                if is_directory {
                    if !self.ignores(&inner, true) {
                        pending.push(inner);
                    }
                    continue;
                }
                let Ok(about) = entry.metadata() else { continue };
                let changed = changed_at(&about);
                if changed >= self.since && !self.ignores(&inner, false) {
                    self.changed.insert(inner, changed);
                }
            }
            self.directories.insert(path, changed);
        }
        true
    }

    /// What git tracks and is gone, with the directories that it lay in.
    fn gone(&self) -> BTreeMap<PathBuf, i64> {
        let Some(GitTracking { index, prefix, .. }) = &self.repository else {
            return BTreeMap::new();
        };
        let mut gone = BTreeMap::new();
        let mut there: BTreeSet<&Path> = BTreeSet::new();
        for path in index.paths().filter_map(|it| it.strip_prefix(prefix).ok()) {
            if path.iter().any(is_skipped) {
                continue;
            }
            let parent = path.parent().unwrap_or(Path::new(""));
            if there.contains(parent) {
                continue;
            }
            // The nearest directory that is there has changed when what lay in it went.
            let nearest =
                path.ancestors().skip(1).find_map(|it| self.directories.get_key_value(it));
            let Some((nearest, changed)) = nearest else { continue };
            if *changed < self.since {
                if nearest == parent {
                    there.insert(parent);
                }
                continue;
            }
            if self.names.contains(path) {
                continue;
            }
            let lost = path.ancestors().take_while(|it| *it != nearest.as_path());
            gone.extend(lost.map(|it| (it.to_owned(), *changed)));
        }
        // A directory has become something else.
        gone.retain(|path, _| !self.names.contains(path));
        gone
    }

    fn all(self) -> Vec<(PathBuf, i64)> {
        self.gone().into_iter().rev().chain(self.changed).collect()
    }
}

fn changed_at(about: &fs::Metadata) -> i64 {
    about.ctime().saturating_mul(1_000_000_000).saturating_add(about.ctime_nsec())
}

fn is_skipped(name: &OsStr) -> bool {
    SKIPPED.iter().any(|it| name == *it)
}
