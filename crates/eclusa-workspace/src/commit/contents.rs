//! What is in the files of changes, read from where it lies: staged, set aside, or in the
//! workspace.

use std::{
    borrow::Cow,
    fs::File,
    io::{self, Read},
};

use super::{
    Workspace,
    parents::{self, Parents},
    stat,
};
use crate::{Change, Content, Contents, FileNode, Node, Side};

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
            Content::At(path) | Content::Staged(path) => whole(File::open(path)?, file),
            Content::InPlace => {
                let root = self.root_dirs().map_err(io::Error::other)?;
                let parent = Parents::new(&root).of(&change.path)?;
                whole(stat::open_file(&*parent, parents::name(&change.path))?, file)
            }
        }
    }
}

/// All of a file, and not more than was there when it was looked at: whoever asks has bounded that.
fn whole(opened: File, file: &FileNode) -> io::Result<Cow<'static, [u8]>> {
    let mut bytes = Vec::new();
    opened.take(file.size.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok(Cow::Owned(bytes))
}
