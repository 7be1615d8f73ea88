//! What git knew of the paths of some changes, and what it did to its names: values, read from no disk.

use std::{collections::BTreeMap, fmt, sync::LazyLock};

use super::{NewCommit, SettingChange};

/// What git knew of the paths of some changes before the call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RepositoryFacts {
    /// One for each change, in their order. Of what is missing nothing is known.
    pub paths: Vec<PathFacts>,
    /// The names of commits that change: branches, tags, the stash.
    pub refs: Vec<RefChange>,
    /// The commits that are made.
    pub commits: Vec<NewCommit>,
    /// Whether a rebase is left that would run commands when it goes on.
    pub plans_commands: bool,
    /// Whether a further working tree is made outside the workspace.
    pub tree_outside: bool,
    /// What changes in the settings of a repository, by the number of the change: of what is missing, something
    /// changes that only a person changes.
    pub settings: BTreeMap<usize, Vec<SettingChange>>,
    /// Where the repository lies elsewhere: what of it belongs to this working tree alone, beneath `.git`,
    /// such as `worktrees/NAME`. Empty for a submodule. `None`: the repository is in the workspace.
    pub own: Option<String>,
    /// The working trees that stand inside the workspace, by their names beneath `.git/worktrees`: what git keeps of
    /// them belongs to the workspace.
    pub trees: Vec<String>,
}

/// What git knew of one path.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PathFacts {
    /// Where git ignores it, or, where there is no git, where it is in a directory for caches and
    /// builds: how many names of the path lead to what is ignored as a whole.
    pub ephemeral: Option<usize>,
    /// Whether git tracks it.
    pub tracked: Tracked,
    /// Whether it becomes what git has of it.
    pub restored: bool,
    /// Whether it is no secret although its name is like one: git tracks it, or it belongs to an
    /// installed package, or such files are public, and no key or token is in it.
    pub public: bool,
    /// Whether it is the file `.git` of a further working tree of the same repository.
    pub worktree: bool,
    /// Whether a call of the session has made what is deleted there, and nobody has changed it since.
    pub own: bool,
}

/// What git has of a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Tracked {
    /// Nothing, or nobody knows.
    #[default]
    No,
    /// All of it: it is committed as it is.
    Clean,
    /// An older version.
    Dirty,
    /// Several versions, which a merge has left.
    Unmerged,
}

/// A name that stands for another commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefChange {
    /// The name, like `refs/heads/main`.
    pub name: String,
    /// What it stood for. `None`: it was not there.
    pub before: Option<String>,
    /// What it will stand for. `None`: it is gone.
    pub after: Option<String>,
}

impl RepositoryFacts {
    /// Nothing is known.
    pub fn unknown() -> &'static RepositoryFacts {
        static UNKNOWN: LazyLock<RepositoryFacts> = LazyLock::new(RepositoryFacts::default);
        &UNKNOWN
    }

    /// What is known of the change with this number.
    pub fn path(&self, number: usize) -> PathFacts {
        self.paths.get(number).copied().unwrap_or_default()
    }

    /// What git did, as somebody would say it: one line each, `1 commit on main: a message`.
    pub fn actions(&self) -> Vec<GitAction> {
        self.refs.iter().flat_map(|it| self.action(it)).collect()
    }

    fn action(&self, change: &RefChange) -> Vec<GitAction> {
        let RefChange { name, before, after } = change;
        let action = |kind, name: &str| GitAction { kind, name: name.to_owned(), subjects: vec![] };
        if let Some(branch) = name.strip_prefix("refs/heads/") {
            let subjects = self.made_for(after.as_deref());
            let kind = match (before, after) {
                (_, None) => GitActionKind::DeleteBranch,
                (_, Some(_)) if !subjects.is_empty() => GitActionKind::Commit,
                (None, Some(_)) => GitActionKind::NewBranch,
                (Some(_), Some(_)) => GitActionKind::MoveBranch,
            };
            vec![GitAction { subjects, ..action(kind, branch) }]
        } else if let Some(tag) = name.strip_prefix("refs/tags/") {
            vec![action(GitActionKind::Tag, tag)]
        } else if let Some(remote) = name.strip_prefix("refs/remotes/") {
            vec![action(GitActionKind::RemoteTracking, remote)]
        } else if name == "refs/stash" {
            let kind = match after {
                Some(_) => GitActionKind::Stash,
                None => GitActionKind::DropStash,
            };
            vec![action(kind, "stash")]
        } else if name.starts_with("refs/bisect/") {
            vec![]
        } else {
            vec![action(GitActionKind::OtherRef, name)]
        }
    }

    /// The subjects of the new commits that this name leads to, latest first.
    fn made_for(&self, id: Option<&str>) -> Vec<String> {
        let mut left: Vec<&str> = id.into_iter().collect();
        let mut found: Vec<&NewCommit> = Vec::new();
        while let Some(id) = left.pop() {
            let commit = self.commits.iter().find(|it| it.id == id);
            if let Some(commit) = commit.filter(|it| !found.iter().any(|old| old.id == it.id)) {
                found.push(commit);
                left.extend(commit.parents.iter().rev().map(String::as_str));
            }
        }
        found.into_iter().map(|it| it.subject.clone()).collect()
    }
}

/// Something that git did to its names, as it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitAction {
    /// What it did.
    pub kind: GitActionKind,
    /// To which branch, tag or other name.
    pub name: String,
    /// The first lines of the messages of the commits that were made, latest first.
    pub subjects: Vec<String>,
}

/// What git can do to a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum GitActionKind {
    /// Adds commits to a branch.
    Commit,
    /// Makes a branch at a commit that is there.
    NewBranch,
    /// Lets a branch stand for another commit.
    MoveBranch,
    /// Removes a branch.
    DeleteBranch,
    /// Notes where a branch of another repository is.
    RemoteTracking,
    /// Makes, moves or removes a tag.
    Tag,
    /// Puts changes aside.
    Stash,
    /// Empties the stash.
    DropStash,
    /// Changes any other name.
    OtherRef,
}

impl GitAction {
    /// True when nothing is committed, moved or lost by it.
    pub fn is_free(&self) -> bool {
        matches!(self.kind, GitActionKind::NewBranch | GitActionKind::RemoteTracking)
    }
}

impl fmt::Display for GitAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = &self.name;
        match self.kind {
            GitActionKind::Commit => {
                let count = self.subjects.len();
                let plural = if count == 1 { "" } else { "s" };
                let subjects = self.subjects.join("; ");
                write!(f, "{count} commit{plural} on `{name}`: {subjects}")
            }
            GitActionKind::NewBranch => write!(f, "new branch `{name}`"),
            GitActionKind::MoveBranch => write!(f, "branch `{name}` moved to another commit"),
            GitActionKind::DeleteBranch => write!(f, "branch `{name}` deleted"),
            GitActionKind::RemoteTracking => write!(f, "remote branch `{name}` noted"),
            GitActionKind::Tag => write!(f, "tag `{name}`"),
            GitActionKind::Stash => f.write_str("changes stashed"),
            GitActionKind::DropStash => f.write_str("the stash is emptied"),
            GitActionKind::OtherRef => write!(f, "`{name}` changed"),
        }
    }
}
