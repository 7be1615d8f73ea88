//! Changes that were discarded, kept for a day: a person can look at them again, and apply them
//! after all.
//!
//! ```text
//! STATE/discarded/17/changes.json    what call 17 would have changed
//! STATE/discarded/17/0, 1, 2 …       the new contents, by the place of their change
//! ```
//!
//! They are a convenience beside the record: what cannot be kept is not, and nothing rests on it.

use std::{
    fs, io,
    io::Write as _,
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
    time::Duration,
};

use serde::{Deserialize, Serialize};

use crate::{
    Change, Changes, Content, ContentDigest, Contents as _, FileNode, Node, Side, Workspace,
};

/// How long they are kept.
const MAX_AGE: Duration = Duration::from_secs(24 * 60 * 60);
/// How many calls are kept.
const MAX_CALLS: usize = 20;
/// How many bytes of new contents are kept of one call.
const MAX_BYTES: u64 = 64 << 20;

/// What `changes.json` says. Contents lie beside it.
#[derive(Serialize, Deserialize)]
struct KeptChanges {
    v: u32,
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

impl Workspace {
    /// Keeps the changes of a call that were discarded, and drops what was kept for too long. The
    /// new contents must still be there. `false`: they are too large to be kept.
    pub fn keep_discarded(&self, call: u64, changes: &Changes) -> io::Result<bool> {
        let size = |it: &Change| it.after.as_ref().and_then(Node::file).map_or(0, |it| it.size);
        if changes.iter().map(size).sum::<u64>() > MAX_BYTES {
            return Ok(false);
        }
        let all = self.state().join("discarded");
        make_directory(&all)?;
        self.drop_old_discarded(MAX_CALLS - 1);
        // Complete, or not there: the name comes last.
        let part = all.join(format!("{call}.part"));
        remove(&part);
        make_directory(&part)?;
        let kept = self.write_discarded(&part, changes);
        let kept = kept.and_then(|()| rename(&part, &all.join(call.to_string())));
        if kept.is_err() {
            remove(&part);
        }
        kept.map(|()| true)
    }

    fn write_discarded(&self, to: &Path, changes: &Changes) -> io::Result<()> {
        let mut kept = KeptChanges { v: 1, changes: Vec::with_capacity(changes.len()) };
        for (place, change) in changes.iter().enumerate() {
            if change.after.as_ref().and_then(Node::file).is_some() {
                write(&to.join(place.to_string()), &self.content(change, Side::After)?)?;
            }
            kept.changes.push(KeptChange {
                path: change.path.clone(),
                from: change.from.clone(),
                before: change.before.as_ref().map(KeptNode::new),
                after: change.after.as_ref().map(KeptNode::new),
            });
        }
        write(&to.join("changes.json"), &serde_json::to_vec(&kept)?)
    }

    /// The calls whose discarded changes are kept, in order.
    pub fn discarded_calls(&self) -> Vec<u64> {
        let entries = fs::read_dir(self.state().join("discarded")).into_iter().flatten().flatten();
        let fresh = entries.filter(|it| age(&it.path()).is_some_and(|it| it <= MAX_AGE));
        let mut calls: Vec<u64> =
            fresh.filter_map(|it| it.file_name().to_str()?.parse().ok()).collect();
        calls.sort_unstable();
        calls
    }

    /// What a call would have changed, to be looked at or committed. `None`: it is not kept.
    pub fn discarded_changes(&self, call: u64) -> io::Result<Option<Changes>> {
        if !self.discarded_calls().contains(&call) {
            return Ok(None);
        }
        let directory = self.state().join("discarded").join(call.to_string());
        let kept: KeptChanges = serde_json::from_slice(&fs::read(directory.join("changes.json"))?)?;
        let change = |(place, it): (usize, KeptChange)| Change {
            path: it.path,
            from: it.from,
            before: it.before.map(|it| it.node(Content::InPlace)),
            after: it.after.map(|it| it.node(Content::At(directory.join(place.to_string())))),
        };
        let mut changes: Vec<Change> = kept.changes.into_iter().enumerate().map(change).collect();
        // Departures stand before arrivals, so that what was moved keeps its origin.
        changes.sort_by_key(|it| it.after.is_some());
        Ok(Some(Changes::of(changes)))
    }

    /// Forgets what a call would have changed.
    pub fn forget_discarded(&self, call: u64) {
        remove(&self.state().join("discarded").join(call.to_string()));
    }

    /// Drops what is too old, and the oldest beyond a number.
    fn drop_old_discarded(&self, most: usize) {
        let all = self.state().join("discarded");
        for entry in fs::read_dir(&all).into_iter().flatten().flatten() {
            if age(&entry.path()).is_none_or(|it| it > MAX_AGE) {
                remove(&entry.path());
            }
        }
        let calls = self.discarded_calls();
        for call in calls.iter().take(calls.len().saturating_sub(most)) {
            self.forget_discarded(*call);
        }
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

fn age(path: &Path) -> Option<Duration> {
    let modified = fs::symlink_metadata(path).and_then(|it| it.modified()).ok()?;
    // One from the future has just been written.
    Some(modified.elapsed().unwrap_or_default())
}

fn make_directory(path: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    let file = fs::File::options().write(true).create_new(true).mode(0o600).open(path);
    file?.write_all(content)
}

#[expect(clippy::disallowed_methods, reason = "the workspace's own state")]
fn rename(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to)
}

#[expect(clippy::disallowed_methods, reason = "the workspace's own state")]
fn remove(directory: &Path) {
    let _ = fs::remove_dir_all(directory);
}

#[cfg(test)]
mod tests;
