//! Where the paths of changes lie: in the workspace or, for a working tree whose `.git` is a file, what is
//! beneath `.git` in the repository that the file names.

use std::path::{Path, PathBuf};

use eclusa_git::{LinkedRepository, linked_repository};

/// The name that a repository elsewhere has in changes.
pub(crate) const GIT: &str = ".git";

/// The directories that the paths of changes are relative to.
#[derive(Debug, Clone)]
pub struct Places {
    root: PathBuf,
    linked: Option<LinkedRepository>,
}

impl Places {
    /// The places of the workspace at `root`, as they are now.
    pub fn of(root: &Path) -> Places {
        Places { root: root.to_owned(), linked: linked_repository(root) }
    }

    /// Where a path of changes is.
    pub fn at(&self, path: &Path) -> PathBuf {
        let beneath = path.strip_prefix(GIT).ok().filter(|it| !it.as_os_str().is_empty());
        match self.linked.as_ref().zip(beneath) {
            Some((linked, beneath)) => linked.common.join(beneath),
            None => self.root.join(path),
        }
    }

    /// The workspace itself.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Where the repository is that all working trees share, if there is one.
    pub(crate) fn repository(&self) -> PathBuf {
        self.linked.as_ref().map_or_else(|| self.root.join(GIT), |it| it.common.clone())
    }

    /// The repository elsewhere, if there is one.
    pub fn linked(&self) -> Option<&LinkedRepository> {
        self.linked.as_ref()
    }
}
