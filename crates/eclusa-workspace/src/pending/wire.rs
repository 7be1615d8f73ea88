//! How a pending run is written: its changes with the digests of their contents, which lie beside.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Change, Changes, Content, ContentDigest, FileNode, GitRun, Node};

/// The form of what is written. Another form is not read.
pub(super) const FORM: u32 = 2;

/// What `head.json` says: enough to tell what may go, without reading the rest.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Head {
    pub(super) v: u32,
    /// Whether a question names it.
    pub(super) asked: bool,
    /// Until when it is kept, in seconds since 1970.
    pub(super) until: u64,
    /// How many bytes its contents have.
    pub(super) bytes: u64,
}

/// What `run.json` says. Contents lie beside it, under the place of their change.
#[derive(Serialize, Deserialize)]
pub(super) struct KeptRun {
    pub(super) v: u32,
    /// The number of the last transaction when the run was kept.
    pub(super) sequence: u64,
    pub(super) about: Value,
    /// What it did to repositories.
    pub(super) git: Vec<GitRun>,
    changes: Vec<KeptChange>,
}

#[derive(Serialize, Deserialize)]
struct KeptChange {
    path: PathBuf,
    from: Option<PathBuf>,
    before: Option<KeptNode>,
    after: Option<KeptNode>,
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum KeptNode {
    File { digest: [u8; 32], size: u64, mode: u32 },
    Directory { mode: u32 },
    Link { target: PathBuf },
}

impl KeptRun {
    pub(super) fn new(about: Value, sequence: u64, changes: &Changes, git: Vec<GitRun>) -> KeptRun {
        let kept = |it: &Change| KeptChange {
            path: it.path.clone(),
            from: it.from.clone(),
            before: it.before.as_ref().map(KeptNode::new),
            after: it.after.as_ref().map(KeptNode::new),
        };
        let changes = changes.iter().map(kept).collect();
        KeptRun { v: FORM, sequence, about, git, changes }
    }

    /// The changes, whose contents lie in this directory.
    pub(super) fn changes(self, directory: &Path) -> Changes {
        let change = |(place, it): (usize, KeptChange)| Change {
            path: it.path,
            from: it.from,
            before: it.before.map(|it| it.node(Content::InPlace)),
            after: it.after.map(|it| it.node(Content::At(directory.join(place.to_string())))),
        };
        let mut changes: Vec<Change> = self.changes.into_iter().enumerate().map(change).collect();
        // Departures stand before arrivals, so that what was moved keeps its origin.
        changes.sort_by_key(|it| it.after.is_some());
        Changes::of(changes)
    }
}

impl KeptNode {
    fn new(node: &Node) -> KeptNode {
        match node {
            Node::File(file) => {
                KeptNode::File { digest: file.digest.0, size: file.size, mode: file.mode }
            }
            Node::Directory { mode } => KeptNode::Directory { mode: *mode },
            Node::Link { target } => KeptNode::Link { target: target.clone() },
        }
    }

    fn node(self, content: Content) -> Node {
        match self {
            KeptNode::File { digest, size, mode } => {
                let digest = ContentDigest(digest);
                Node::File(FileNode { digest, size, mode, content, stamp: None })
            }
            KeptNode::Directory { mode } => Node::Directory { mode },
            KeptNode::Link { target } => Node::Link { target },
        }
    }
}
