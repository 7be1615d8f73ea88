//! What a command did, as changes that the gate can judge.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use eclusa::{
    Change, Changes, FileNode, Node, Staged, one_line,
    workspace::{Content, is_build_output},
};
use eclusa_sandbox::{
    Layer,
    scan::{Effect, Effects, Note, ScannedNode},
};

/// How many notes are told.
const NOTES: usize = 20;

/// What was read back.
#[derive(Debug, Default)]
pub(crate) struct ReadBack {
    pub(crate) changes: Changes,
    pub(crate) staged: Option<Staged>,
    pub(crate) notes: Vec<String>,
}

impl ReadBack {
    /// What was written to a layer, whose contents lie there.
    pub(crate) fn of(
        staged: impl Fn(&Path) -> Option<PathBuf>,
        effects: Effects,
        layer: Arc<Layer>,
    ) -> ReadBack {
        let (changes, notes) = changes(staged, effects);
        ReadBack { changes, staged: Some(Staged::new(layer)), notes }
    }

    /// This and what was read back elsewhere, as one.
    pub(crate) fn beside(mut self, other: ReadBack) -> ReadBack {
        if other.changes.is_empty() && other.notes.is_empty() {
            return self;
        }
        let mut all: Vec<Change> =
            self.changes.iter().chain(other.changes.iter()).cloned().collect();
        all.sort_by_key(|it| it.after.is_some());
        self.notes.extend(other.notes);
        let staged = Some(Staged::new((self.staged, other.staged)));
        ReadBack { changes: Changes::of(all), staged, notes: self.notes }
    }
}

/// The changes, and what they do not say. `staged` says where the new content of a path lies.
pub(crate) fn changes(
    staged: impl Fn(&Path) -> Option<PathBuf>,
    effects: Effects,
) -> (Changes, Vec<String>) {
    let mut notes = Vec::new();
    let mut changes = Vec::with_capacity(effects.entries.len());
    for effect in effects.entries {
        // A name cannot make lines of its own.
        let path = one_line(&effect.path.to_string_lossy());
        if let Some(why) = effect.obstacle() {
            notes.push(format!("`{path}` is left out: {why}"));
            continue;
        }
        let passing = is_build_output(&effect.path);
        // Build tools link what they make, and nobody needs to know.
        let told_of =
            |it: &&Note| !(passing && matches!(it, Note::Shared { .. } | Note::Linked { .. }));
        notes.extend(
            effect
                .notes
                .iter()
                .filter(told_of)
                .map(|note| format!("`{path}` {}", describe_note(note))),
        );
        changes.extend(change(&staged, effect));
    }
    if let Some((before, after)) = effects.root {
        let text = format!("the mode of the workspace itself stays {before:04o}, not {after:04o}");
        notes.push(text);
    }
    if notes.len() > NOTES {
        let more = notes.len() - NOTES;
        notes.truncate(NOTES);
        notes.push(format!("and {more} more remarks of this kind"));
    }
    // Departures stand before arrivals, so that a thing that was moved twice keeps its origin.
    changes.sort_by_key(|it: &Change| it.after.is_some());
    (Changes::of(changes), notes)
}

fn change(staged: impl Fn(&Path) -> Option<PathBuf>, effect: Effect) -> Option<Change> {
    let content = staged(&effect.path).map_or(Content::InPlace, Content::Staged);
    let before = effect.before.map(|it| node(it, Content::InPlace));
    let after = effect.after.map(|it| node(it, content));
    Some(Change {
        before: match before {
            Some(before) => Some(before?),
            None => None,
        },
        after: match after {
            Some(after) => Some(after?),
            None => None,
        },
        path: effect.path,
        from: effect.from,
    })
}

/// The node, unless it is one that has no place in changes.
fn node(node: ScannedNode, content: Content) -> Option<Node> {
    Some(match node {
        ScannedNode::Directory { mode } => Node::Directory { mode },
        ScannedNode::Link { target } => Node::Link { target },
        ScannedNode::File(file) => Node::File(FileNode {
            digest: file.digest?,
            size: file.size,
            mode: file.mode,
            content,
            stamp: Some(file.stamp),
        }),
        ScannedNode::Other(_) => return None,
    })
}

fn describe_note(note: &Note) -> String {
    match note {
        Note::Linked { names } => {
            format!("has {names} names, and stays as it was under the others")
        }
        Note::Shared { names } => {
            format!("was given {names} names")
        }
        Note::Attributes(names) => {
            let names: Vec<_> = names.iter().map(|it| one_line(&it.to_string_lossy())).collect();
            format!("has other extended attributes ({}), which are not kept", names.join(", "))
        }
        Note::Owner { before, after } => format!(
            "would belong to {}:{} instead of {}:{}, which is not kept",
            after.0, after.1, before.0, before.1
        ),
        Note::Since => {
            "was changed by another program while the command ran: the command's version \
        replaced it, and an undo brings it back"
                .to_owned()
        }
        Note::Unread(why) => format!("cannot be read: {why}"),
        _ => "has an effect that has no name here".to_owned(),
    }
}
