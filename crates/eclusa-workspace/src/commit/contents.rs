//! What is in the files of changes, read from where it lies: staged, set aside, or in the
//! workspace.

use std::{
    borrow::Cow,
    fs::File,
    io::{self, Read},
    path::Path,
    sync::Arc,
};

use super::{
    IoFailure, Workspace, directory,
    parents::{self, Parents, RootDirs},
    stat,
};
use crate::{Change, Content, Contents, FileNode, Node, Side, places::GIT};

impl Contents for Workspace {
    fn content<'a>(&'a self, change: &'a Change, side: Side) -> io::Result<Cow<'a, [u8]>> {
        let node = match side {
            Side::Before => &change.before,
            Side::After => &change.after,
        };
        let Some(file) = node.as_ref().and_then(Node::file) else {
            return Err(io::Error::new(io::ErrorKind::NotFound, "there is no file"));
        };
        match &file.content {
            Content::Bytes(bytes) => Ok(Cow::Borrowed(bytes)),
            Content::At(path) | Content::Staged(path) => whole(stat::open_at(path)?, file),
            Content::InPlace => {
                let root = self.dirs_of(&change.path).map_err(io::Error::other)?;
                let parent = Parents::new(&root).of(&change.path)?;
                whole(stat::open_file(&*parent, parents::name(&change.path))?, file)
            }
        }
    }
}

impl Workspace {
    /// Where this path is: a repository elsewhere has nothing but what is beneath `.git`.
    fn dirs_of(&self, path: &Path) -> Result<RootDirs, IoFailure> {
        match path.starts_with(GIT) {
            true => self.root_dirs(),
            false => Ok(RootDirs { root: Arc::new(directory(&self.root)?), linked: None }),
        }
    }
}

/// All of a file, and not more than was there when it was looked at: whoever asks has bounded that.
fn whole(opened: File, file: &FileNode) -> io::Result<Cow<'static, [u8]>> {
    let most = file.size.saturating_add(1);
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(usize::try_from(most).map_err(io::Error::other)?)?;
    opened.take(most).read_to_end(&mut bytes)?;
    Ok(Cow::Owned(bytes))
}
