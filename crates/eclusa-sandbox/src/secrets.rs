//! What no command needs to see: a list to be read, and what of it exists here.

use std::collections::{HashMap, HashSet, VecDeque};
use std::path::{Path, PathBuf};

use eclusa_git::{is_clean, is_tracked};
use eclusa_workspace::{
    Blocked,
    files::{SECRET_PLACES, SYSTEM_SECRETS, secret_in_file},
};

/// Where secrets are looked for by name: so deep, and so many entries at most.
const DEPTH: usize = 3;
const ENTRIES: usize = 4000;
/// The directory of the home that holds many of the places.
const CONFIG: &str = ".config";
const SKIPPED: [&str; 4] = ["node_modules", "target", ".git", ".venv"];

/// The secrets that exist here: the machine's that could be read, those beneath `home` by place, those in each workspace by name,
/// a few levels deep. The workspace itself is never among them.
#[must_use]
pub fn secrets(home: Option<&Path>, workspaces: &[PathBuf]) -> Vec<PathBuf> {
    let readable = |path: &&&str| rustix::fs::access(**path, rustix::fs::Access::READ_OK).is_ok();
    let mut found: Vec<PathBuf> =
        SYSTEM_SECRETS.iter().filter(readable).map(PathBuf::from).collect();
    if let Some(home) = home {
        let mut listings = Listings::default();
        for place in SECRET_PLACES.iter().filter(|place| listings.may_hold(home, place)) {
            expand(home, place, &mut found);
        }
    }
    for workspace in workspaces {
        by_name(workspace, &mut found);
    }
    found.retain(|secret| !workspaces.iter().any(|workspace| workspace.starts_with(secret)));
    found.sort();
    found.dedup();
    found
}

/// The names in the two directories that hold most of the places, read once: most places do not
/// exist, and to ask for each of them is dearer than everything else about them.
#[derive(Default)]
struct Listings(HashMap<PathBuf, Option<HashSet<String>>>);

/// A directory with more names than this is not listed: each place in it is asked for.
const MAX_LISTED: usize = 512;

impl Listings {
    /// False only where a place is certainly not there.
    fn may_hold(&mut self, home: &Path, place: &str) -> bool {
        let mut names = place.split('/');
        let first = names.next().unwrap_or_default();
        let inside = names.next().filter(|_| first == CONFIG);
        self.may_have(home, first) && inside.is_none_or(|it| self.may_have(&home.join(first), it))
    }

    fn may_have(&mut self, directory: &Path, name: &str) -> bool {
        if !self.0.contains_key(directory) {
            self.0.insert(directory.to_owned(), list(directory));
        }
        let names = self.0.get(directory).and_then(Option::as_ref);
        names.is_none_or(|it| name.contains('*') || it.contains(&name.to_ascii_lowercase()))
    }
}

/// The names in lower case, because some filesystems do not tell letters apart by their case.
/// Nothing where they cannot be read, or are too many.
fn list(directory: &Path) -> Option<HashSet<String>> {
    let mut names = HashSet::new();
    for (count, entry) in std::fs::read_dir(directory).ok()?.enumerate() {
        if count == MAX_LISTED {
            return None;
        }
        names.insert(entry.ok()?.file_name().to_string_lossy().to_ascii_lowercase());
    }
    Some(names)
}

/// A place that may end in a name with `*`.
fn expand(home: &Path, place: &str, found: &mut Vec<PathBuf>) {
    let at = home.join(place);
    if !place.contains('*') {
        found.extend(at.symlink_metadata().is_ok().then_some(at));
        return;
    }
    let (Some(directory), Some(pattern)) = (at.parent(), at.file_name()) else { return };
    let Ok(entries) = std::fs::read_dir(directory) else { return };
    let pattern = pattern.to_string_lossy();
    let names =
        entries.flatten().filter(|entry| matches(&pattern, &entry.file_name().to_string_lossy()));
    found.extend(names.map(|entry| entry.path()));
}

fn by_name(workspace: &Path, found: &mut Vec<PathBuf>) {
    let blocked = Blocked::default();
    let mut seen = 0;
    let mut look = VecDeque::from([(workspace.to_path_buf(), 0)]);
    while let Some((directory, depth)) = look.pop_front() {
        let Ok(entries) = std::fs::read_dir(&directory) else { continue };
        let beneath = directory.strip_prefix(workspace).unwrap_or(&directory);
        for entry in entries.flatten() {
            seen += 1;
            if seen > ENTRIES {
                return;
            }
            let name = entry.file_name();
            let Ok(kind) = entry.file_type() else { continue };
            let inner = beneath.join(&name);
            if is_secret(&blocked, &inner, &entry.path(), kind.is_dir()) {
                found.push(entry.path());
            } else if kind.is_dir() && depth < DEPTH && !SKIPPED.iter().any(|it| name == *it) {
                look.push_back((entry.path(), depth + 1));
            }
        }
    }
}

/// Whether what lies at `path` must be hidden: its name beneath the workspace says so, or its
/// content where the name does not tell. What git has just as it is, is not hidden.
#[must_use]
pub fn is_secret(blocked: &Blocked, beneath: &Path, path: &Path, directory: bool) -> bool {
    if directory {
        return blocked.by_directory(beneath).is_some();
    }
    if blocked.by(beneath).is_some() {
        return true;
    }
    // A link has no content of its own, and a pipe would be waited for.
    let plain = || path.symlink_metadata().is_ok_and(|it| it.is_file());
    let holds = || match std::fs::File::open(path) {
        Ok(file) => secret_in_file(&file).map_or(true, |it| it.is_some()),
        Err(_) => true,
    };
    let untracked = || {
        let root = path.ancestors().nth(beneath.components().count());
        blocked.must_be_tracked(beneath) && !root.is_some_and(|it| is_tracked(it, beneath))
    };
    // Whoever can run git can read it: to hide it would only keep git from working.
    let clean = || {
        let root = path.ancestors().nth(beneath.components().count());
        root.is_some_and(|it| is_clean(it, beneath))
    };
    match blocked.must_be_clean(beneath) {
        true => !(plain() && clean()),
        false => blocked.by_content(beneath).is_some() && plain() && (holds() || untracked()),
    }
}

/// Whether a file of this name holds secrets, by the list that every tool and rule uses.
#[must_use]
pub fn is_secret_name(name: &str) -> bool {
    let (blocked, name) = (Blocked::default(), Path::new(name));
    blocked.by(name).is_some() || blocked.must_be_tracked(name)
}

/// Whether a name fits a pattern with at most one `*`.
fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((before, after)) => {
            name.len() >= before.len() + after.len()
                && name.starts_with(before)
                && name.ends_with(after)
        }
    }
}

#[cfg(test)]
mod tests;
