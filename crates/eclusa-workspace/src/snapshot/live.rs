//! Directories that tools make and remake: neither copied before a command nor put back after it.

use std::{
    fs::File,
    path::{Path, PathBuf},
};

use eclusa_git::{git_directory, read_index};

use super::{
    SnapshotError, SnapshotOptions,
    walk::{self, Closed, Found, Visitor},
};
use crate::commit::{Workspace, stat::Kind};

/// Directories that tools make and remake.
const BUILD_DIRECTORIES: [&str; 15] = [
    "target",
    "node_modules",
    ".venv",
    "venv",
    "__pycache__",
    "build",
    "dist",
    "out",
    ".next",
    ".tox",
    ".cache",
    ".gradle",
    "_build",
    "_site",
    "vendor",
];

/// Those of them that nobody gives this name to by hand, for where there is no git to say what
/// somebody wrote.
const TOOLS_OWN: [&str; 6] = ["node_modules", ".venv", "__pycache__", ".next", ".tox", ".gradle"];

/// True when a path lies in a directory that is named like build output.
pub fn is_build_output(path: &Path) -> bool {
    path.iter().any(|part| BUILD_DIRECTORIES.iter().any(|it| part == *it))
}

/// True when a directory of a workspace is named like build output and git tracks nothing in it.
pub(super) fn is_live(root: &Path, path: &Path) -> bool {
    let is_named =
        |names: &[&str]| path.file_name().is_some_and(|name| names.iter().any(|it| name == *it));
    // Branches have such names too.
    if !is_named(&BUILD_DIRECTORIES) || path.iter().any(|part| part == ".git") {
        return false;
    }
    let whole = root.join(path);
    let tree = whole.ancestors().skip(1).find_map(|it| Some((it, git_directory(it)?)));
    let Some((tree, git)) = tree else { return is_named(&TOOLS_OWN) };
    let (index, beneath) = (read_index(&git), whole.strip_prefix(tree));
    index.zip(beneath.ok()).is_some_and(|(index, beneath)| !index.tracks_beneath(beneath))
}

/// Directories of a workspace that are neither copied nor put back, so that others may write to them while commands
/// come and go. While this lives no command runs on the real files, and none gives these names to anything else.
#[derive(Debug)]
pub struct LiveDirectories {
    /// Where they are, from the workspace. None lies in another.
    pub paths: Vec<PathBuf>,
    _lock: File,
}

impl Workspace {
    /// Those that are there now, of which there are so many at most. Waits for a command that runs.
    pub fn live_directories(
        &self,
        options: &SnapshotOptions,
        most: usize,
    ) -> Result<LiveDirectories, SnapshotError> {
        let lock = self.lock_for_snapshot(options.patience)?;
        let root = self.dirs()?.root.root;
        let state = self.state().strip_prefix(self.root()).ok();
        let mut finder =
            LiveFinder { root: self.root(), state, options, most, paths: Vec::new(), names: 0 };
        walk::walk(&root, Path::new(""), &mut finder)?;
        Ok(LiveDirectories { paths: finder.paths, _lock: lock })
    }
}

struct LiveFinder<'a> {
    root: &'a Path,
    /// The state, should it be inside the workspace.
    state: Option<&'a Path>,
    options: &'a SnapshotOptions,
    most: usize,
    paths: Vec<PathBuf>,
    names: usize,
}

impl Visitor for LiveFinder<'_> {
    fn name(&mut self, found: &Found<'_>) -> Result<bool, SnapshotError> {
        self.names += 1;
        let is_over = self.names > self.options.max_names || self.paths.len() >= self.most;
        let is_git = found.name == ".git";
        if is_over
            || is_git
            || found.meta.kind() != Kind::Directory
            || self.state == Some(found.path)
        {
            return Ok(false);
        }
        if self.options.live.iter().any(|it| it == found.path) || is_live(self.root, found.path) {
            self.paths.push(found.path.to_owned());
            return Ok(false);
        }
        Ok(true)
    }

    fn closed(&mut self, _: &Found<'_>, _: Closed) -> Result<(), SnapshotError> {
        Ok(())
    }
}
