//! A working tree whose repository lies elsewhere: its `.git` is a file that names it.
//!
//! The file belongs to the working tree and may come from a stranger, so that it alone proves nothing:
//! the repository must name this working tree in turn.

use std::{
    os::unix::fs::MetadataExt as _,
    path::{Component, Path, PathBuf},
};

use crate::{config::read_plain_config, directory::read_small};

/// The largest file of git's that is read here.
const MAX_READ: u64 = 1 << 20;

/// The repository of a working tree whose `.git` is a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkedRepository {
    /// What all working trees of the repository share. Neither it nor the working tree lies in the other,
    /// and both are on one filesystem.
    pub common: PathBuf,
    /// What belongs to this working tree alone, beneath `common`: `worktrees/NAME`. Empty for a submodule,
    /// which shares its repository with nobody.
    pub own: PathBuf,
}

/// The repository that the working tree `tree` is linked to, if `.git` is a file there and the repository
/// says the same.
#[must_use]
pub fn linked_repository(tree: &Path) -> Option<LinkedRepository> {
    let tree = tree.canonicalize().ok()?;
    let pointer = text(&tree.join(".git"))?;
    let git = tree.join(pointer.strip_prefix("gitdir:")?.trim()).canonicalize().ok()?;
    let linked = match text(&git.join("commondir")) {
        Some(common) => worktree(&tree, &git, common.trim())?,
        None => submodule(&tree, git)?,
    };
    let LinkedRepository { common, .. } = &linked;
    let whole = common.join("HEAD").is_file()
        && common.join("objects").is_dir()
        && common.join("refs").is_dir();
    let apart = !common.starts_with(&tree) && !tree.starts_with(common);
    let device = |it: &Path| it.metadata().ok().map(|it| it.dev());
    (whole && apart && device(common) == device(&tree)).then_some(linked)
}

/// `git` is `COMMON/worktrees/NAME`, and its file `gitdir` names the working tree.
fn worktree(tree: &Path, git: &Path, common: &str) -> Option<LinkedRepository> {
    let common = git.join(common).canonicalize().ok()?;
    let own = git.strip_prefix(&common).ok()?;
    let mut parts = own.components();
    let room = matches!(parts.next(), Some(Component::Normal(it)) if it == "worktrees");
    let named = matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None));
    let back = text(&git.join("gitdir"))?;
    let back = git.join(back.trim_end_matches('\n'));
    let same = back.file_name().is_some_and(|it| it == ".git")
        && back.parent().and_then(|it| it.canonicalize().ok()).as_deref() == Some(tree);
    (room && named && same).then(|| LinkedRepository { own: own.to_owned(), common })
}

/// `git` lies in the `modules` of a repository, and its configuration names the working tree.
fn submodule(tree: &Path, git: PathBuf) -> Option<LinkedRepository> {
    let parts: Vec<_> = git.components().map(|it| it.as_os_str()).collect();
    let inside = parts.windows(2).any(|it| matches!(it, [a, b] if *a == ".git" && *b == "modules"));
    let settings = read_plain_config(&read_small(&git.join("config"), MAX_READ)?)?;
    let is_tree = |name: &crate::ConfigName| name.section == "core" && name.key == "worktree";
    let (_, value) = settings.into_iter().rfind(|it| is_tree(&it.0))?;
    let said = git.join(String::from_utf8(value).ok()?).canonicalize().ok()?;
    (inside && said == tree).then(|| LinkedRepository { common: git, own: PathBuf::new() })
}

/// What is in a plain file.
fn text(path: &Path) -> Option<String> {
    String::from_utf8(read_small(path, 4096)?).ok()
}

/// Whether a directory lies in a repository of git's own, or is one: `.git`, or a bare one.
#[must_use]
pub fn is_in_git_directory(path: &Path) -> bool {
    path.ancestors().any(|it| {
        it.file_name().is_some_and(|name| name.eq_ignore_ascii_case(".git"))
            || (it.join("HEAD").is_file()
                && it.join("objects").is_dir()
                && it.join("refs").is_dir())
    })
}
