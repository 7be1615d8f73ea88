//! What a run did to the repositories of a workspace, by its meaning: which refs went from where to
//! where, and what the index staged before and after. So a run is applied, or undone, although git
//! itself has written its files meanwhile, and is refused where a person has moved a ref or staged
//! something.
//!
//! Repositories with reftables, other hashes than SHA-1, split or sparse indexes are compared byte for
//! byte, like every other file.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use eclusa_git::{index_meaning, packed_refs, read_small, split_git_path};
use serde::{Deserialize, Serialize};

use crate::{Change, Changes, ContentDigest, Contents, Node, Side, places::Places};

pub(crate) mod locks;
mod rebase;

pub(crate) use rebase::rebase;

/// The largest file of git's own that is looked into.
const MAX_READ: u64 = 64 << 20;

/// What a run did to one repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GitRun {
    /// The directory of the repository, relative to the workspace.
    dir: PathBuf,
    refs: Vec<RefMove>,
    /// What the index staged before and after, as digests; `None` where nobody can tell.
    index: [Option<[u8; 32]>; 2],
    /// What `HEAD` said all the time, where the run rests on it: it changes the index, or the branch that `HEAD` names.
    #[serde(default)]
    head: Option<String>,
    /// Whether somebody else moved `HEAD` while the command ran: nobody can tell what it rests on.
    #[serde(default)]
    crossed: bool,
}

/// A ref, and what it said before and after.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct RefMove {
    name: String,
    old: Option<String>,
    new: Option<String>,
}

impl GitRun {
    /// What taking this back does.
    pub(crate) fn swapped(&self) -> GitRun {
        let [before, after] = self.index;
        let swap = |it: &RefMove| RefMove {
            name: it.name.clone(),
            old: it.new.clone(),
            new: it.old.clone(),
        };
        GitRun {
            dir: self.dir.clone(),
            refs: self.refs.iter().map(swap).collect(),
            index: [after, before],
            head: self.head.clone(),
            crossed: false,
        }
    }

    /// The directory of the repository, relative to the workspace.
    pub(crate) fn directory(&self) -> &Path {
        &self.dir
    }

    /// What it did to branches, tags and the stash, in words for people: that of an undo is what it took
    /// back, and that of a redo what is as it was.
    pub(crate) fn told(&self, redone: bool) -> Vec<String> {
        let (moved, gone) = match redone {
            true => ("brought back", "deleted again"),
            false => ("taken back", "taken back"),
        };
        let short = |it: &str| it.get(..7).unwrap_or(it).to_owned();
        let told = |it: &RefMove| {
            let (kind, name) = match it.name.strip_prefix("refs/")?.split_once('/') {
                Some(("heads", name)) => ("branch", name),
                Some(("tags", name)) => ("tag", name),
                None if it.name == "refs/stash" => ("the", "stash"),
                _ => return None,
            };
            Some(match (&it.old, &it.new) {
                (Some(old), Some(new)) => {
                    format!("{kind} {name} {moved} from {} to {}", short(old), short(new))
                }
                (Some(old), None) => format!("{kind} {name} {gone}: it was at {}", short(old)),
                (None, Some(new)) => format!("{kind} {name} is there again, at {}", short(new)),
                (None, None) => return None,
            })
        };
        self.refs.iter().filter_map(told).collect()
    }

    /// This and what came after it, as one.
    fn followed_by(&mut self, next: &GitRun) {
        for moved in &next.refs {
            match self.refs.iter_mut().find(|it| it.name == moved.name) {
                Some(known) => known.new.clone_from(&moved.new),
                None => self.refs.push(moved.clone()),
            }
        }
        let [first, last] = self.index;
        let [before, after] = next.index;
        self.index = [first.or(before), after.or(last)];
        self.head = next.head.clone().or(self.head.take());
        self.crossed |= next.crossed;
    }

    fn path(&self, rest: &str) -> PathBuf {
        self.dir.join(rest)
    }
}

/// Several runs, one after the other, as one for each repository.
pub(crate) fn joined(runs: impl IntoIterator<Item = GitRun>) -> Vec<GitRun> {
    let mut all: Vec<GitRun> = Vec::new();
    for run in runs {
        match all.iter_mut().find(|it| it.dir == run.dir) {
            Some(known) => known.followed_by(&run),
            None => all.push(run),
        }
    }
    all
}

/// What these changes do to the repositories that are there, whose files are still as they were before
/// the run. A repository that cannot be understood is left out: its files are compared byte for byte.
pub(crate) fn runs(places: &Places, changes: &Changes, contents: &impl Contents) -> Vec<GitRun> {
    let dirs: BTreeSet<PathBuf> =
        changes.iter().filter_map(|it| repository(places, &it.path)).map(|it| it.0).collect();
    // One that goes with all that is in it has nothing left to be compared, and no place for a lock.
    let goes = |dir: &PathBuf| {
        let changed = dir.ancestors().filter_map(|it| changes.get(it));
        changed.into_iter().any(|it| !matches!(it.after, Some(Node::Directory { .. })))
    };
    let read = |dir: PathBuf| run(places, dir, changes, contents);
    dirs.into_iter().filter(|it| !goes(it)).filter_map(read).collect()
}

/// The repository that a path lies in, and the rest of the path.
fn repository(places: &Places, path: &Path) -> Option<(PathBuf, String)> {
    let (mut git, mut rest) = split_git_path(path)?;
    // Work trees and submodules have directories of their own in there.
    for room in ["worktrees/", "modules/"] {
        let Some(below) = rest.strip_prefix(room) else { continue };
        let parts: Vec<&str> = below.split('/').collect();
        let found = (1..parts.len()).find_map(|count| {
            let (name, inside) = parts.split_at_checked(count)?;
            let dir = git.join(room).join(name.join("/"));
            places.at(&dir.join("HEAD")).is_file().then(|| (dir, inside.join("/")))
        });
        (git, rest) = found?;
    }
    let at = |name: &str| places.at(&git.join(name));
    let usual = at("HEAD").is_file() && !at("reftable").exists();
    let config = || read_small(&at("config"), 1 << 20).unwrap_or_default();
    let plain =
        || !String::from_utf8_lossy(&config()).to_ascii_lowercase().contains("objectformat");
    (usual && plain()).then_some((git, rest))
}

fn run(
    places: &Places,
    dir: PathBuf,
    changes: &Changes,
    contents: &impl Contents,
) -> Option<GitRun> {
    let of = |rest: &str| changes.get(&dir.join(rest));
    let now = |rest: &str| read_small(&places.at(&dir.join(rest)), MAX_READ);
    // Both sides of a file; `None` where it is not as it was before the run, or cannot be read.
    let sides = |rest: &str| -> Option<[Option<Vec<u8>>; 2]> {
        let now = now(rest);
        let Some(change) = of(rest) else { return Some([now.clone(), now]) };
        let was = change.before.as_ref().and_then(Node::file).map(|it| it.digest);
        if now.as_deref().map(ContentDigest::of) != was {
            return None;
        }
        let is = match &change.after {
            Some(Node::File(_)) => Some(after(change, contents)?),
            _ => None,
        };
        Some([now, is])
    };
    let [was, is] = sides("packed-refs")?;
    let packed = |text: &Option<Vec<u8>>| {
        text.as_deref().map(|it| packed_refs(&String::from_utf8_lossy(it))).unwrap_or_default()
    };
    let (was, is): (BTreeMap<String, String>, _) = (packed(&was), packed(&is));
    let mut names: BTreeSet<String> = BTreeSet::new();
    if of("packed-refs").is_some() {
        names.extend(was.keys().chain(is.keys()).cloned());
    }
    let loose = changes.iter().filter_map(|it| Some((it, it.path.strip_prefix(&dir).ok()?)));
    for (change, rest) in loose {
        let file = |it: &Option<Node>| it.as_ref().and_then(Node::file).is_some();
        if rest.starts_with("refs") && (file(&change.before) || file(&change.after)) {
            names.insert(rest.to_str()?.to_owned());
        }
    }
    let mut refs = Vec::new();
    for name in names {
        let [before, after] = sides(&name)?;
        let value = |loose: Option<Vec<u8>>, packed: &BTreeMap<String, String>| {
            let loose = loose.map(|it| String::from_utf8_lossy(&it).trim().to_owned());
            loose.or_else(|| packed.get(&name).cloned())
        };
        let (old, new) = (value(before, &was), value(after, &is));
        if old != new {
            refs.push(RefMove { name, old, new });
        }
    }
    let index = match of("index") {
        Some(_) => sides("index")?.map(|it| staged(it.as_deref())),
        None => [None, None],
    };
    let head = now("HEAD").map(|it| String::from_utf8_lossy(&it).into_owned());
    let rests = |head: &String| {
        let names =
            |it: &RefMove| head.strip_prefix("ref:").map(str::trim) == Some(it.name.as_str());
        of("HEAD").is_none() && (of("index").is_some() || refs.iter().any(names))
    };
    let head = head.filter(rests);
    // Lines that came meanwhile are not in what the run has made of the log of `HEAD`.
    let moves = of("index").is_some() || of("HEAD").is_some() || !refs.is_empty();
    let lost = |change: &Change| match (now("logs/HEAD"), after(change, contents)) {
        (Some(now), Some(after)) => !after.starts_with(&now),
        _ => false,
    };
    let crossed = moves && of("logs/HEAD").is_some_and(lost);
    Some(GitRun { dir, refs, index, head, crossed })
}

/// The digest of what an index stages.
fn staged(index: Option<&[u8]>) -> Option<[u8; 32]> {
    index_meaning(index?).map(|it| ContentDigest::of(&it).0)
}

/// The new content of a file, as long as it is of a size that git's own files have.
fn after(change: &Change, contents: &impl Contents) -> Option<Vec<u8>> {
    let file = change.after.as_ref().and_then(Node::file)?;
    if file.size > MAX_READ {
        return None;
    }
    match file.bytes() {
        Some(bytes) => Some(bytes.to_vec()),
        None => contents.content(change, Side::After).ok().map(std::borrow::Cow::into_owned),
    }
}
