//! Nodes and changes made by hand, for tests of rules over effects.

use std::path::Path;

use eclusa::{Change, FileNode, Node};

pub(super) fn file(content: &str, mode: u32) -> Option<Node> {
    Some(Node::File(FileNode::new(content.as_bytes(), mode)))
}

pub(super) fn link(target: &str) -> Option<Node> {
    Some(Node::Link { target: target.into() })
}

pub(super) fn directory() -> Option<Node> {
    Some(Node::Directory { mode: 0o755 })
}

pub(super) fn change(path: impl AsRef<Path>, before: Option<Node>, after: Option<Node>) -> Change {
    Change { path: path.as_ref().to_owned(), from: None, before, after }
}

/// What moving a thing does, and perhaps altering it on the way.
pub(super) fn moved(from: &str, to: &str, node: Option<Node>, after: Option<Node>) -> [Change; 2] {
    let to = Change { from: Some(from.into()), ..change(to, None, after) };
    [change(from, node, None), to]
}
