//! Which repositories a command may meet, and all names in their configuration.

use std::collections::{BTreeSet, VecDeque};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use eclusa_git::{ConfigName, git_directories, read_pointer};

use super::config;

/// How deep and how wide repositories are looked for beneath a place.
const DEPTH: usize = 3;
const ENTRIES: usize = 4000;
/// Files that one configuration includes, all together. One with more cannot be judged.
const MAX_INCLUDES: usize = 100;

/// Directories that hold programs of others in such numbers that a search would take too long.
const SKIPPED: [&str; 3] = ["node_modules", "target", ".venv"];

/// The names in some configurations.
#[derive(Debug, Default)]
pub(super) struct DriverNames {
    pub(super) list: BTreeSet<ConfigName>,
    /// True when one of them cannot be judged.
    pub(super) unreadable: bool,
}

/// All names in the configuration of every repository around these places.
pub(super) fn names(places: &[PathBuf]) -> DriverNames {
    let mut directories = above(places);
    for place in places {
        beneath(place, &mut directories);
    }
    all_names(&directories)
}

/// The same, where everything beneath these places is known.
pub(super) fn names_of(places: &[PathBuf], trees: &[PathBuf]) -> DriverNames {
    let mut directories = above(places);
    directories.extend(trees.iter().flat_map(|it| git_directories(it)));
    all_names(&directories)
}

/// The repositories that places lie in.
fn above(places: &[PathBuf]) -> BTreeSet<PathBuf> {
    let above: BTreeSet<&Path> = places.iter().flat_map(|it| it.ancestors()).collect();
    above.into_iter().flat_map(git_directories).collect()
}

/// The configuration files of the repositories that places lie in, each after those that it overrules.
pub(super) fn files_above(places: &[PathBuf]) -> BTreeSet<PathBuf> {
    let mut files = BTreeSet::new();
    for directory in above(places) {
        configurations(&directory, &mut files);
    }
    files
}

fn all_names(directories: &BTreeSet<PathBuf>) -> DriverNames {
    let mut files = BTreeSet::new();
    let mut names = DriverNames::default();
    for directory in directories {
        names.unreadable |= !configurations(directory, &mut files);
    }
    for file in files {
        read(&file, &mut names);
    }
    names
}

/// Looks for repositories a few levels down.
fn beneath(place: &Path, found: &mut BTreeSet<PathBuf>) {
    let mut seen = 0;
    let mut look = VecDeque::from([(place.to_path_buf(), 0)]);
    while let Some((directory, depth)) = look.pop_front() {
        found.extend(git_directories(&directory));
        let Ok(entries) = std::fs::read_dir(&directory) else { continue };
        for entry in entries.flatten() {
            seen += 1;
            if seen > ENTRIES {
                return;
            }
            let skipped = SKIPPED.iter().any(|name| entry.file_name() == *name);
            if depth < DEPTH && !skipped && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                look.push_back((entry.path(), depth + 1));
            }
        }
    }
}

/// The configuration files of one repository: its own, those it shares, and its submodules'. False
/// where nobody can say which it shares.
fn configurations(directory: &Path, files: &mut BTreeSet<PathBuf>) -> bool {
    let shared = read_pointer(&directory.join("commondir"));
    let is_clear = shared.is_ok();
    let shared = shared.ok().flatten();
    let shared = shared.map(|to| directory.join(OsStr::from_bytes(to.trim_ascii_end())));
    for directory in [Some(directory.to_path_buf()), shared].into_iter().flatten() {
        files.insert(directory.join("config"));
        files.insert(directory.join("config.worktree"));
        for inner in ["worktrees", "modules"] {
            nested(&directory.join(inner), 4, files);
        }
    }
    is_clear
}

/// Configuration files of work trees and submodules, whose names may contain slashes.
fn nested(directory: &Path, depth: usize, files: &mut BTreeSet<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(directory) else { return };
    for entry in entries.flatten().take(ENTRIES) {
        if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        let at = entry.path();
        if at.join("HEAD").exists() {
            files.insert(at.join("config"));
            files.insert(at.join("config.worktree"));
            nested(&at.join("modules"), depth.saturating_sub(1), files);
        } else if depth > 0 {
            nested(&at, depth - 1, files);
        }
    }
}

/// Adds the names of a file and of all it includes, on whatever condition.
fn read(file: &Path, names: &mut DriverNames) {
    let mut seen = BTreeSet::new();
    let mut next = vec![file.to_path_buf()];
    while let Some(file) = next.pop() {
        if !seen.insert(file.clone()) {
            continue;
        }
        let found = config::read(&file).filter(|_| seen.len() <= MAX_INCLUDES);
        let Some(found) = found else {
            names.unreadable = true;
            return;
        };
        for (name, value) in found {
            if matches!(name.section.as_str(), "include" | "includeif") && name.key == "path" {
                next.extend(included(&file, &value));
            }
            names.list.insert(name);
        }
    }
}

/// Where an include points. Behind `~` and `%(prefix)` lie files of the person and of git, which no
/// repository has brought.
fn included(file: &Path, to: &[u8]) -> Option<PathBuf> {
    if to.is_empty() || to.starts_with(b"~") || to.starts_with(b"%(prefix)") {
        return None;
    }
    Some(file.parent().unwrap_or(Path::new("/")).join(OsStr::from_bytes(to)))
}
