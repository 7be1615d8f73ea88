//! What git knew of a workspace before a call, read from its files without running git.
//!
//! While changes are judged they are not applied yet, so that the workspace is as it was before
//! the call. The configuration of a repository is not read: it could say what is ignored.

use std::{
    collections::HashMap,
    path::{Component, Path, PathBuf},
    sync::Arc,
};

use eclusa_git::{GitIndex, Ignored, blob_id, common_directory, git_directory, read_index};
use eclusa_workspace::files::may_hold_secret;

use crate::{Change, Changes, Contents, Node, Side, Workspace, workspace::Places};

pub use eclusa_git::NewCommit;
pub use facts::{GitAction, GitActionKind, PathFacts, RefChange, RepositoryFacts, Tracked};
pub use settings::{SettingChange, SettingKind};

mod facts;
mod objects;
mod public;
mod refs;
mod settings;
#[cfg(test)]
mod tests;
mod trees;

/// How much of the contents of changes is read to see whether git has them.
const MAX_COMPARED: u64 = 64 << 20;

/// Directories for caches and builds, for where there is no git to say.
const EPHEMERAL: [&str; 26] = [
    "__pycache__",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    ".hypothesis",
    ".tox",
    ".nox",
    ".venv",
    "target",
    "node_modules",
    "dist",
    "build",
    "_build",
    ".next",
    ".nuxt",
    ".svelte-kit",
    ".parcel-cache",
    ".turbo",
    ".cache",
    ".gradle",
    ".eslintcache",
    "coverage",
    "htmlcov",
    ".nyc_output",
    ".terraform",
    "cmake-build-debug",
];

/// Directories that nothing but a tool's cache is called by: git need not ignore them, and many a
/// small repository does not. Build directories are not among them: `build` may hold what somebody
/// wrote.
const CACHES: [&str; 8] = [
    "__pycache__",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    ".hypothesis",
    ".eslintcache",
    ".nyc_output",
    ".parcel-cache",
];

/// What git knows of the paths of these changes, which are not applied yet.
pub(crate) fn facts(workspace: &Workspace, changes: &Changes) -> RepositoryFacts {
    let places = workspace.places();
    let mut reader = RepositoryReader {
        workspace,
        places: &places,
        repositories: HashMap::new(),
        excludes: workspace.excludes(),
        left: MAX_COMPARED,
    };
    let paths = changes.iter().map(|it| reader.path(it)).collect();
    let commits = objects::commits(changes, workspace);
    let refs = refs::changed(&places, changes, workspace);
    let plans_commands = refs::plans_commands(changes, workspace);
    let numbered = changes.iter().enumerate();
    let settings =
        numbered.filter_map(|(number, it)| Some((number, settings::changed(it, workspace)?)));
    let settings = settings.collect();
    let tree_outside = refs::makes_tree_outside(workspace.root(), changes, workspace);
    let own = places.linked().map(|it| it.own.to_string_lossy().into_owned());
    let trees = match places.linked() {
        None => trees::inside(workspace.root(), changes),
        Some(_) => Vec::new(),
    };
    RepositoryFacts { paths, refs, commits, plans_commands, tree_outside, settings, own, trees }
}

/// One repository, and its working tree.
struct Repository {
    /// Where its working tree begins, relative to the workspace. Empty where it begins at the
    /// workspace or above.
    tree: PathBuf,
    /// Where the workspace lies in the working tree, where that begins above.
    prefix: PathBuf,
    index: Option<Arc<GitIndex>>,
    ignored: Ignored,
}

struct RepositoryReader<'a> {
    workspace: &'a Workspace,
    places: &'a Places,
    /// By directory of the workspace: the repository that begins there.
    repositories: HashMap<PathBuf, Option<Repository>>,
    excludes: Option<&'a str>,
    left: u64,
}

impl RepositoryReader<'_> {
    fn path(&mut self, change: &Change) -> PathFacts {
        let facts = self.known_to_git(change);
        let public = public::may_be(&change.path, facts.tracked != Tracked::No)
            && self.holds_no_secret(change);
        let worktree = self.is_worktree_link(change);
        PathFacts { public, worktree, ..facts }
    }

    /// True for the file `.git` of a further working tree of the same repository.
    fn is_worktree_link(&self, change: &Change) -> bool {
        let file = change.after.as_ref().and_then(Node::file).filter(|it| it.size <= 4096);
        let named = change.path.file_name().is_some_and(|it| it == ".git");
        if !named || file.is_none() || change.before.is_some() {
            return false;
        }
        let Ok(text) = self.workspace.content(change, Side::After) else { return false };
        let text = String::from_utf8_lossy(&text);
        let known = self.places.at(Path::new(".git/worktrees"));
        text.strip_prefix("gitdir: ").and_then(|it| it.strip_suffix('\n')).is_some_and(|it| {
            let rest = Path::new(it).strip_prefix(&known).ok();
            rest.is_some_and(|it| {
                let mut parts = it.components();
                matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None))
            })
        })
    }

    /// True when what is written there is no private key and no token, as far as can be seen.
    fn holds_no_secret(&mut self, change: &Change) -> bool {
        match &change.after {
            Some(Node::File(file)) if file.size <= public::MAX_READ.min(self.left) => {
                self.left -= file.size;
                let content = self.workspace.content(change, Side::After);
                content.is_ok_and(|it| !may_hold_secret(&it))
            }
            Some(Node::File(_)) => false,
            Some(Node::Link { .. } | Node::Directory { .. }) | None => true,
        }
    }

    fn known_to_git(&mut self, change: &Change) -> PathFacts {
        if is_of_git(&change.path) {
            return PathFacts::default();
        }
        let Some(tree) = self.tree_of(&change.path) else {
            let ephemeral = names_to(&EPHEMERAL, &change.path);
            return PathFacts { ephemeral, ..PathFacts::default() };
        };
        let directory = |it: &Node| matches!(it, Node::Directory { .. });
        let is_directory = change.after.as_ref().or(change.before.as_ref()).is_some_and(directory);
        let Some(Some(repository)) = self.repositories.get_mut(&tree) else {
            return PathFacts::default();
        };
        let beneath = change.path.strip_prefix(&repository.tree).unwrap_or(&change.path);
        let path = repository.prefix.join(beneath);
        // Without an index nobody knows what is tracked, and what is tracked is never ignored.
        let Some(index) = &repository.index else { return PathFacts::default() };
        let Some(entry) = index.get(&path).copied() else {
            let tracked = is_directory && index.tracks_beneath(&path);
            let ignored = repository.ignored.ignored_at(&path, is_directory);
            let ignored = ignored.or_else(|| {
                let names = names_to(&CACHES, &path)?;
                let cache: PathBuf = path.components().take(names).collect();
                (!index.tracks_beneath(&cache)).then_some(names)
            });
            // Counted from the workspace on, and not from where the working tree begins.
            let beside = change.path.components().count().wrapping_sub(path.components().count());
            let ephemeral = ignored.filter(|_| !tracked).map(|it| it.wrapping_add(beside).max(1));
            return PathFacts { ephemeral, ..PathFacts::default() };
        };
        let written = index.is_written(&path);
        let before = change.before.as_ref().and_then(Node::file);
        let same_stat = before.and_then(|it| it.stamp).is_some_and(|it| {
            it.modified == entry.modified && it.size & 0xFFFF_FFFF == u64::from(entry.size)
        });
        let tracked = if entry.unmerged {
            Tracked::Unmerged
        } else if (same_stat || self.is_content(change, Side::Before, entry.id)) && written {
            Tracked::Clean
        } else {
            Tracked::Dirty
        };
        let restored = tracked == Tracked::Dirty && self.is_content(change, Side::After, entry.id);
        PathFacts { ephemeral: None, tracked, restored, ..PathFacts::default() }
    }

    /// Whether a side of a change is the content that git calls by this name.
    fn is_content(&mut self, change: &Change, side: Side, id: [u8; 20]) -> bool {
        let node = match side {
            Side::Before => &change.before,
            Side::After => &change.after,
        };
        match node {
            Some(Node::File(file)) if file.size <= self.left => {
                self.left -= file.size;
                let content = self.workspace.content(change, side);
                content.is_ok_and(|it| blob_id(&it) == id)
            }
            Some(Node::Link { target }) => blob_id(target.as_os_str().as_encoded_bytes()) == id,
            Some(Node::File(_) | Node::Directory { .. }) | None => false,
        }
    }

    /// Where the working tree begins that a path belongs to.
    fn tree_of(&mut self, path: &Path) -> Option<PathBuf> {
        for above in path.ancestors().skip(1) {
            let (workspace, excludes) = (self.workspace, self.excludes);
            let known = self.repositories.entry(above.to_owned());
            if known
                .or_insert_with(|| Repository::open(workspace.root(), above, excludes))
                .is_some()
            {
                return Some(above.to_owned());
            }
        }
        None
    }
}

impl Repository {
    /// The repository whose working tree begins in this directory of the workspace. For the
    /// workspace itself, one that begins above it will do.
    fn open(root: &Path, directory: &Path, excludes: Option<&str>) -> Option<Repository> {
        let here = root.join(directory);
        let top = directory.as_os_str().is_empty();
        let trees = here.ancestors().take(if top { usize::MAX } else { 1 });
        let (tree, git) = trees.filter_map(|it| Some((it, git_directory(it)?))).next()?;
        let index = read_index(&git);
        let prefix = here.strip_prefix(tree).unwrap_or(Path::new("")).to_owned();
        // The common directory of working trees has the excludes.
        let ignored = Ignored::new(tree, &common_directory(&git), excludes);
        Some(Repository { tree: directory.to_owned(), prefix, index, ignored })
    }
}

/// True for what lies in a `.git`, and for that itself.
fn is_of_git(path: &Path) -> bool {
    path.components().any(|it| it.as_os_str().eq_ignore_ascii_case(".git"))
}

/// For what lies in one of these directories: how many names lead to that.
fn names_to(directories: &[&str], path: &Path) -> Option<usize> {
    let is_one = |it: Component<'_>| directories.iter().any(|name| it.as_os_str() == *name);
    path.components().position(is_one).map(|it| it + 1)
}
