//! Changes in one line.

use std::fmt;

use super::{Change, Diff, Node, diff::DiffBody};

/// How much changes, in numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Summary {
    /// Files and links that change; one that is moved counts once.
    pub files: u64,
    /// Directories that change.
    pub directories: u64,
    /// Lines that come.
    pub added: u64,
    /// Lines that go.
    pub removed: u64,
    /// Files and links that were not there.
    pub made: u64,
    /// Files and links that are gone, those included that something else took the place of.
    pub deleted: u64,
    /// Files and links that are somewhere else.
    pub moved: u64,
    /// Files with other permission bits.
    pub modes: u64,
    /// Links among the files.
    pub links: u64,
    /// Files whose content is not text that can be shown.
    pub binary: u64,
    /// Files whose lines were not counted.
    pub uncounted: u64,
}

impl Diff<'_> {
    /// How much changes.
    pub fn summary(&self) -> Summary {
        let mut sum = Summary::default();
        let left = self.changes.left();
        for change in self.changes.iter().filter(|it| !left.contains(it.path.as_path())) {
            sum.add(change, self.changes.source(change));
        }
        for part in &self.parts {
            let (added, removed) = part.lines().unwrap_or_default();
            sum.added += added;
            sum.removed += removed;
            sum.binary += u64::from(matches!(part.body, DiffBody::Opaque { .. }));
            sum.uncounted += u64::from(matches!(part.body, DiffBody::Unread(_)));
        }
        sum
    }
}

impl Summary {
    /// True when nothing changes.
    pub fn is_nothing(&self) -> bool {
        self.files == 0 && self.directories == 0
    }

    fn add(&mut self, change: &Change, source: Option<&Change>) {
        let (old, new) = (change.before.as_ref(), change.after.as_ref());
        let sides = [old, new];
        let any = |holds: fn(&Node) -> bool| u64::from(sides.into_iter().flatten().any(holds));
        self.directories += any(|it| matches!(it, Node::Directory { .. }));
        self.links += any(|it| matches!(it, Node::Link { .. }));
        self.files += any(is_file);
        let (was, is) = (old.filter(|it| is_file(it)), new.filter(|it| is_file(it)));
        match (was, is) {
            (None, Some(_)) if source.is_some() => self.moved += 1,
            (Some(_), Some(_)) if source.is_some() => {
                self.moved += 1;
                self.deleted += 1;
            }
            (None, Some(_)) => self.made += 1,
            (Some(_), None) => self.deleted += 1,
            (Some(was), Some(is)) if !was.same_kind(is) => {
                self.made += 1;
                self.deleted += 1;
            }
            _ => {}
        }
        let old = source.map_or(old, |it| it.before.as_ref());
        if let (Some(Node::File(old)), Some(Node::File(new))) = (old, new) {
            self.modes += u64::from(old.mode != new.mode);
        }
    }
}

/// A file or a link.
fn is_file(node: &Node) -> bool {
    !matches!(node, Node::Directory { .. })
}

/// `3 files changed, +12 -4 (1 made, 1 moved)`
impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.files, self.directories) {
            (0, 0) => return f.write_str("nothing changed"),
            (1, _) => f.write_str("1 file changed")?,
            (files, _) => write!(f, "{files} files changed")?,
        }
        write!(f, ", +{} -{}", self.added, self.removed)?;
        let words = [
            (self.made, "made"),
            (self.deleted, "deleted"),
            (self.moved, "moved"),
            (self.modes, "with another mode"),
            (self.links, if self.links == 1 { "link" } else { "links" }),
            (self.binary, "binary"),
            (self.uncounted, "too large to compare or not readable"),
            (self.directories, if self.directories == 1 { "directory" } else { "directories" }),
        ];
        let told = words.into_iter().filter(|(count, _)| *count > 0);
        for (index, (count, word)) in told.clone().enumerate() {
            write!(f, "{}{count} {word}", if index == 0 { " (" } else { ", " })?;
        }
        if told.count() > 0 { f.write_str(")") } else { Ok(()) }
    }
}
