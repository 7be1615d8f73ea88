//! Directories that tools make and remake: neither copied before a command nor put back after it.

use std::path::Path;

use eclusa_git::{git_directory, read_index};

/// Directories that tools make and remake.
const BUILD_DIRECTORIES: [&str; 14] = [
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
