//! Changes as data: JSON of our own, and the shapes that clients of protocols expect.

use std::{borrow::Cow, collections::BTreeSet, path::Path};

use serde::Serialize;
use serde_json::{Value, json};

use super::{
    Change, ContentKind, Diff, FileNode, Node,
    diff::{DiffBody, Part},
    names,
};

/// Raised when a field changes its meaning or goes away.
const VERSION: u32 = 1;

#[derive(Serialize)]
struct ChangesWire<'a> {
    v: u32,
    digest: String,
    summary: CountsWire,
    changes: Vec<ChangeEntry<'a>>,
}

#[derive(Serialize)]
struct CountsWire {
    text: String,
    files: u64,
    directories: u64,
    added: u64,
    removed: u64,
    made: u64,
    deleted: u64,
    moved: u64,
    modes: u64,
    links: u64,
    binary: u64,
    uncounted: u64,
}

/// One change. `added` and `removed` are absent where lines were not counted.
#[derive(Serialize)]
struct ChangeEntry<'a> {
    #[serde(flatten)]
    path: Name<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<Name<'a>>,
    change: &'static str,
    before: Option<Thing<'a>>,
    after: Option<Thing<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    added: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    removed: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unread: Option<&'a str>,
}

/// A path. One that is no UTF-8 is given byte for byte too; the text is for people then.
#[derive(Serialize)]
struct Name<'a> {
    path: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path_hex: Option<String>,
}

#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Thing<'a> {
    File {
        digest: String,
        size: u64,
        mode: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        content: Option<&'static str>,
    },
    Directory {
        mode: String,
    },
    Link {
        target: Name<'a>,
    },
}

impl Diff<'_> {
    /// The changes as JSON, with a version `v`. No content is in it, and every change is.
    pub fn json(&self) -> Value {
        let summary = self.summary();
        let counts = CountsWire {
            text: summary.to_string(),
            files: summary.files,
            directories: summary.directories,
            added: summary.added,
            removed: summary.removed,
            made: summary.made,
            deleted: summary.deleted,
            moved: summary.moved,
            modes: summary.modes,
            links: summary.links,
            binary: summary.binary,
            uncounted: summary.uncounted,
        };
        let left = self.changes.left();
        let written = ChangesWire {
            v: VERSION,
            digest: self.changes.digest().to_string(),
            summary: counts,
            changes: self.changes.iter().map(|it| self.entry(it, &left)).collect(),
        };
        // Nothing of these types can fail to be JSON; if ever something did, null says so.
        serde_json::to_value(written).unwrap_or(Value::Null)
    }

    fn entry<'a>(&'a self, change: &'a Change, left: &BTreeSet<&Path>) -> ChangeEntry<'a> {
        // The parts stand in the order of the changes.
        let first = self.parts.partition_point(|it| it.change.path < change.path);
        let rest = self.parts.get(first..).unwrap_or_default();
        let parts = || rest.iter().take_while(|it| it.change.path == change.path);
        let lines = parts().try_fold((0, 0), |sum, part| {
            let (added, removed) = part.lines()?;
            Some((sum.0 + added, sum.1 + removed))
        });
        let sort = |pick: fn(&Part<'_>) -> Option<ContentKind>| {
            parts().find_map(pick).map(ContentKind::as_str)
        };
        ChangeEntry {
            path: name(&change.path),
            from: change.from.as_deref().map(name),
            change: word(self, change, left),
            before: change.before.as_ref().map(|it| thing(it, sort(|part| part.sorts().0))),
            after: change.after.as_ref().map(|it| thing(it, sort(|part| part.sorts().1))),
            added: lines.map(|it| it.0),
            removed: lines.map(|it| it.1),
            unread: parts().find_map(|it| match &it.body {
                DiffBody::Unread(why) => Some(why.as_str()),
                DiffBody::Same | DiffBody::Text { .. } | DiffBody::Opaque { .. } => None,
            }),
        }
    }

    /// The changes as content blocks of the Agent Client Protocol, for files of this workspace: a
    /// `diff` for each text, and words for what a `diff` cannot say.
    pub fn acp(&self, workspace: &Path) -> Vec<Value> {
        self.parts.iter().flat_map(|part| acp(part, workspace)).collect()
    }

    /// The changes as content blocks of the Model Context Protocol: the summary and the patch.
    pub fn mcp(&self) -> Vec<Value> {
        let mut text = self.summary().to_string();
        let patch = self.unified();
        if !patch.is_empty() {
            text.push_str("\n\n");
            text.push_str(&patch);
        }
        vec![json!({ "type": "text", "text": text })]
    }
}

/// The word for what becomes of a path.
fn word(diff: &Diff<'_>, change: &Change, left: &BTreeSet<&Path>) -> &'static str {
    match (&change.before, &change.after) {
        _ if diff.changes.source(change).is_some() => "moved",
        (None, _) => "made",
        (Some(_), None) if left.contains(change.path.as_path()) => "left",
        (Some(_), None) => "deleted",
        (Some(was), Some(is)) if !was.same_kind(is) => "replaced",
        (Some(_), Some(_)) => "altered",
    }
}

fn name(path: &Path) -> Name<'_> {
    Name { path: path.to_string_lossy(), path_hex: names::hex(path) }
}

fn thing<'a>(node: &'a Node, content: Option<&'static str>) -> Thing<'a> {
    let octal = |mode: &u32| format!("{mode:04o}");
    match node {
        Node::File(FileNode { digest, size, mode, .. }) => {
            Thing::File { digest: digest.to_string(), size: *size, mode: octal(mode), content }
        }
        Node::Directory { mode } => Thing::Directory { mode: octal(mode) },
        Node::Link { target } => Thing::Link { target: name(target) },
    }
}

impl Part<'_> {
    /// The sorts of what was and of what will be there, as far as it was looked at.
    fn sorts(&self) -> (Option<ContentKind>, Option<ContentKind>) {
        match &self.body {
            DiffBody::Text { .. } => {
                (self.old.map(|_| ContentKind::Text), self.new.map(|_| ContentKind::Text))
            }
            DiffBody::Opaque { old, new } => (*old, *new),
            DiffBody::Same | DiffBody::Unread(_) => (None, None),
        }
    }
}

fn acp(part: &Part<'_>, workspace: &Path) -> Vec<Value> {
    let mut blocks = Vec::new();
    if let DiffBody::Text { old, new, .. } = &part.body
        && part.is_file()
    {
        blocks.push(json!({
            "type": "diff",
            "path": workspace.join(&part.change.path).to_string_lossy(),
            "oldText": part.old.map(|_| old),
            "newText": new,
        }));
    }
    // A `diff` has no word for a deletion, a move, a mode, a link or what is not text.
    let plain = blocks.len() == 1 && part.new.is_some() && part.moved.is_none();
    if !plain || part.modes().is_some() || part.change.path.to_str().is_none() {
        let text = part.describe();
        blocks.push(json!({ "type": "content", "content": { "type": "text", "text": text } }));
    }
    blocks
}
