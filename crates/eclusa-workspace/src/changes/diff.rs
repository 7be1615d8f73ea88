//! Changes, compared: read once, for every face that they have.

use std::{borrow::Cow, collections::BTreeSet, path::Path};

use super::{
    Bounds, Change, Changes, ContentKind, Contents, FileNode, Node, Side,
    content::Reading,
    lines::{self, Compared},
};

/// Changes with the lines in which their files differ.
///
/// Making one reads what the changes do not hold themselves; its faces read nothing. The same
/// changes with the same contents always give the same faces.
#[derive(Debug)]
pub struct Diff<'a> {
    pub(super) changes: &'a Changes,
    pub(super) parts: Vec<Part<'a>>,
    pub(super) bounds: Bounds,
}

/// One thing that is made, altered, moved or deleted. A change that replaces one kind of thing
/// by another has two.
#[derive(Debug)]
pub(super) struct Part<'a> {
    pub(super) change: &'a Change,
    /// Where it was, if it was moved and nothing else was in its place.
    pub(super) moved: Option<&'a Path>,
    pub(super) old: Option<&'a Node>,
    pub(super) new: Option<&'a Node>,
    pub(super) body: DiffBody<'a>,
}

/// What of the content of a part can be told.
#[derive(Debug)]
pub(super) enum DiffBody<'a> {
    /// There is none, or it stays the same and was not read.
    Same,
    /// Text, and the lines that differ.
    Text { old: Cow<'a, str>, new: Cow<'a, str>, compared: Compared },
    /// Something that is not shown: the sorts of what was and of what will be there.
    Opaque { old: Option<ContentKind>, new: Option<ContentKind> },
    /// It was not looked at, for this reason.
    Unread(String),
}

impl<'a> Diff<'a> {
    /// Compares all files of some changes.
    pub fn of(changes: &'a Changes, contents: &'a dyn Contents, bounds: Bounds) -> Diff<'a> {
        let mut reading = Reading::new(contents, bounds);
        let moves = Moves::new(changes);
        let parts = changes
            .iter()
            .filter(|it| !moves.left.contains(it.path.as_path()))
            .flat_map(|it| parts(it, moves.source(changes, it)))
            .map(|(side, part)| read(&mut reading, side, part))
            .collect();
        Diff { changes, parts, bounds }
    }

    /// What was compared.
    pub fn changes(&self) -> &'a Changes {
        self.changes
    }

    /// Lines that come and lines that go, all files together; nothing when some were not
    /// counted.
    pub fn lines(&self) -> Option<u64> {
        self.parts.iter().try_fold(0u64, |sum, part| {
            let (added, removed) = part.lines()?;
            Some(sum.saturating_add(added).saturating_add(removed))
        })
    }
}

/// The moves that can be told as such: to a place where nothing was, and each source once.
struct Moves<'a> {
    to: BTreeSet<&'a Path>,
    left: BTreeSet<&'a Path>,
}

impl<'a> Moves<'a> {
    fn new(changes: &'a Changes) -> Moves<'a> {
        let mut moves = Moves { to: BTreeSet::new(), left: BTreeSet::new() };
        for change in changes.iter().filter(|it| it.before.is_none()) {
            if let Some(source) = changes.source(change)
                && moves.left.insert(&source.path)
            {
                moves.to.insert(&change.path);
            }
        }
        moves
    }

    fn source(&self, changes: &'a Changes, change: &Change) -> Option<&'a Change> {
        changes.source(change).filter(|_| self.to.contains(change.path.as_path()))
    }
}

/// The parts of a change, and the change that has what was there before.
fn parts<'a>(
    change: &'a Change,
    source: Option<&'a Change>,
) -> impl Iterator<Item = (&'a Change, Part<'a>)> {
    let part = |moved, old, new| Part { change, moved, old, new, body: DiffBody::Same };
    let (old, new) = (change.before.as_ref(), change.after.as_ref());
    let (first, second) = match (source, old, new) {
        (Some(source), _, _) => {
            (part(Some(source.path.as_path()), source.before.as_ref(), new), None)
        }
        (None, Some(was), Some(is)) if !was.same_kind(is) => {
            (part(None, old, None), Some(part(None, None, new)))
        }
        (None, _, _) => (part(None, old, new), None),
    };
    let before = source.unwrap_or(change);
    std::iter::once(first).chain(second).map(move |part| (before, part))
}

/// The part with its content.
fn read<'a>(reading: &mut Reading<'a>, before: &'a Change, part: Part<'a>) -> Part<'a> {
    let body = match (part.old, part.new) {
        (Some(Node::Directory { .. }), _) | (_, Some(Node::Directory { .. })) => DiffBody::Same,
        (Some(Node::Link { .. }), _) | (_, Some(Node::Link { .. })) => {
            links(part.old.and_then(Node::target), part.new.and_then(Node::target))
        }
        (old, new) => {
            let (old, new) = (old.and_then(Node::file), new.and_then(Node::file));
            files(reading, (before, old), (part.change, new))
        }
    };
    Part { body, ..part }
}

/// What links say is text without a line's end.
fn links<'a>(old: Option<&'a Path>, new: Option<&'a Path>) -> DiffBody<'a> {
    if old == new {
        return DiffBody::Same;
    }
    match (old.map_or(Some(""), Path::to_str), new.map_or(Some(""), Path::to_str)) {
        // A target with a line break would not survive being a line.
        (Some(old), Some(new)) => text(Cow::Borrowed(old), Cow::Borrowed(new)),
        _ => {
            let sort = |path: Option<&Path>| path.map(|_| ContentKind::Binary);
            DiffBody::Opaque { old: sort(old), new: sort(new) }
        }
    }
}

fn files<'a>(
    reading: &mut Reading<'a>,
    (before, old): (&'a Change, Option<&'a FileNode>),
    (after, new): (&'a Change, Option<&'a FileNode>),
) -> DiffBody<'a> {
    if old.map(|it| it.digest) == new.map(|it| it.digest) {
        return DiffBody::Same;
    }
    let mut read = |change, side, file: Option<&'a FileNode>| {
        file.map(|it| reading.content(change, side, it)).transpose()
    };
    let (old, new) = match (read(before, Side::Before, old), read(after, Side::After, new)) {
        (Ok(old), Ok(new)) => (old, new),
        (Err(why), _) | (_, Err(why)) => return DiffBody::Unread(why),
    };
    let sorts = (old.as_deref().map(ContentKind::of), new.as_deref().map(ContentKind::of));
    match (utf8(old.unwrap_or_default()), utf8(new.unwrap_or_default())) {
        (Some(old), Some(new)) if [sorts.0, sorts.1].into_iter().flatten().all(is_text) => {
            text(old, new)
        }
        _ => DiffBody::Opaque { old: sorts.0, new: sorts.1 },
    }
}

fn is_text(sort: ContentKind) -> bool {
    sort == ContentKind::Text
}

fn utf8(content: Cow<'_, [u8]>) -> Option<Cow<'_, str>> {
    match content {
        Cow::Borrowed(bytes) => std::str::from_utf8(bytes).ok().map(Cow::Borrowed),
        Cow::Owned(bytes) => String::from_utf8(bytes).ok().map(Cow::Owned),
    }
}

fn text<'a>(old: Cow<'a, str>, new: Cow<'a, str>) -> DiffBody<'a> {
    let compared = lines::compare(&old, &new);
    DiffBody::Text { old, new, compared }
}

impl Part<'_> {
    /// Lines that come and lines that go. Nothing: they were not counted.
    pub(super) fn lines(&self) -> Option<(u64, u64)> {
        match &self.body {
            DiffBody::Text { compared, .. } => Some((compared.added, compared.removed)),
            DiffBody::Same | DiffBody::Opaque { .. } => Some((0, 0)),
            DiffBody::Unread(_) => None,
        }
    }

    /// Permission bits before and after, where they differ and both are known.
    pub(super) fn modes(&self) -> Option<(u32, u32)> {
        let (old, new) = (self.old?.mode()?, self.new?.mode()?);
        (old != new).then_some((old, new))
    }
}

impl Node {
    /// Permission bits, if it has its own.
    pub fn mode(&self) -> Option<u32> {
        match self {
            Node::File(file) => Some(file.mode),
            Node::Directory { mode } => Some(*mode),
            Node::Link { .. } => None,
        }
    }

    /// What it says, if it is a link.
    pub fn target(&self) -> Option<&Path> {
        match self {
            Node::Link { target } => Some(target),
            Node::File(_) | Node::Directory { .. } => None,
        }
    }
}
