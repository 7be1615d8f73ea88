//! What a past call did, as the changes that it made.

use std::{cell::OnceCell, io::Read, path::Path};

use super::{
    UndoEntry, UndoError, after_images,
    history::{self, Past},
    plan,
};
use crate::{
    Change, Changes, Content, ContentDigest, FileNode, Node, Stamp, Workspace,
    commit::{
        Dirs,
        op::{Op, Source, StepKind},
        parents::{self, Parents},
        stat::{Expected, NodeContent, Stat},
    },
};

/// Contents of the store up to this size are held in memory.
const HELD: u64 = 16 * 1024 * 1024;

impl Workspace {
    /// The changes that a call made, whether or not they still stand.
    ///
    /// A content that is kept nowhere, or is too large to unpack, counts as being in the
    /// workspace: its digest tells whether what is there now is still it.
    pub fn changes(&self, call: u64) -> Result<Changes, UndoError> {
        let dirs = self.dirs()?;
        let past = history::all(&dirs, self.state())?;
        let found = past.iter().find(|it| it.call == call).ok_or(UndoError::Unknown(call))?;
        self.changes_in(&dirs, found, Some(&past))
    }

    /// The same for lists, which show no contents: those that are no longer in place are not looked for.
    pub fn outline(&self, entry: &UndoEntry) -> Result<Changes, UndoError> {
        self.changes_in(&self.dirs()?, &entry.past(), None)
    }

    /// What a transaction changed. Contents are looked for among all transactions, where they are given.
    fn changes_in(
        &self,
        dirs: &Dirs,
        found: &Past,
        past: Option<&[Past]>,
    ) -> Result<Changes, UndoError> {
        let journal = history::journal(dirs, found, self.state())?;
        let mut parents = Parents::new(&dirs.root);
        let images = OnceCell::new();
        let image = |digest: ContentDigest| {
            let images = images.get_or_init(|| after_images::read(self.state(), found.call));
            images.get(&digest.0).map(|it| Content::Bytes(it.clone().into()))
        };
        let mut node = |seen: &Option<Expected>, op: &Op| {
            let seen = seen.as_ref()?;
            Some(match &seen.what {
                NodeContent::Directory => Node::Directory { mode: seen.mode },
                NodeContent::Link(target) => Node::Link { target: target.clone() },
                NodeContent::File(digest) => {
                    let home = op.home.clone().unwrap_or_else(|| found.name.clone());
                    let op = Op { home: Some(home), ..op.clone() };
                    let moved = op.other.as_deref();
                    let moved = moved.filter(|it| is_in_place(seen, it, &mut parents));
                    let content = match (moved, past) {
                        _ if is_in_place(seen, &op.path, &mut parents) => Content::InPlace,
                        (Some(other), _) => Content::At(self.places().at(other)),
                        (None, None) => Content::InPlace,
                        // Every journal is read only for what is nowhere else.
                        (None, Some(past)) => {
                            let kept = plan::find_kept(self, dirs, Some(&op), *digest);
                            let kept = kept.and_then(|it| content(it, *digest));
                            let moved = || {
                                let moved = plan::find_moved(self, dirs, past, *digest)?;
                                content(moved, *digest)
                            };
                            let found = kept.or_else(|| image(*digest)).or_else(moved);
                            found.unwrap_or(Content::InPlace)
                        }
                    };
                    Node::File(file(seen, *digest, content))
                }
            })
        };
        let changes = journal.ops.iter().map(|op| Change {
            path: op.path.clone(),
            from: op.other.clone().filter(|_| op.act == StepKind::Put),
            before: node(&op.old, op),
            after: node(&op.new, op),
        });
        Ok(Changes::of(changes.collect::<Vec<Change>>()))
    }
}

fn content(source: Source<'_>, digest: ContentDigest) -> Option<Content> {
    match source {
        Source::File(path) => Some(Content::At(path)),
        Source::Packed(path) => unpacked(&path, digest),
        _ => None,
    }
}

fn is_in_place(seen: &Expected, path: &Path, parents: &mut Parents<'_>) -> bool {
    let stat = parents.of(path).and_then(|it| Stat::at(&*it, parents::name(path)));
    stat.is_ok_and(|it| it.is_some_and(|it| it.is_still(seen)))
}

fn file(seen: &Expected, digest: ContentDigest, content: Content) -> FileNode {
    let stamp = seen.id.and_then(|id| {
        Some(Stamp {
            device: 0,
            inode: id.inode,
            size: id.size,
            modified: id.modified.into(),
            changed: id.changed?.into(),
        })
    });
    let size = seen.id.map_or(0, |it| it.size);
    FileNode { digest, size, mode: seen.mode, content, stamp }
}

fn unpacked(path: &std::path::Path, digest: ContentDigest) -> Option<Content> {
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).ok()?;
    crate::commit::packed::unpack(file).take(HELD + 1).read_to_end(&mut bytes).ok()?;
    let right = bytes.len() as u64 <= HELD && ContentDigest::of(&bytes) == digest;
    right.then(|| Content::Bytes(bytes.into()))
}
