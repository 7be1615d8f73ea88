//! The matches of many files, found in any order, of which only the first can be on the page.
//!
//! Once there are enough matches, a file that comes after all of the files that have them cannot
//! matter, and is not even opened. This is how a search ends early and is sorted all the same.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use super::collector::InFile;

/// What is kept altogether takes no more than this.
const BYTES: usize = 12 << 20;

/// The first matches of a search.
#[derive(Debug)]
pub(super) struct Matches {
    /// So many are needed: the page, what is before it, and one to know that there are more.
    needed: usize,
    /// What a file counts for: its matches, or one.
    by_file: bool,
    kept: BTreeMap<PathBuf, InFile>,
    /// How many matches are kept.
    have: usize,
    bytes: usize,
    /// Nothing behind this was kept, because it was too much.
    closed: Option<PathBuf>,
}

impl Matches {
    pub(super) fn new(needed: usize, by_file: bool) -> Matches {
        Matches { needed, by_file, kept: BTreeMap::new(), have: 0, bytes: 0, closed: None }
    }

    /// False if nothing that is found at this path, or below it, can be on the page.
    pub(super) fn want(&self, path: &Path) -> bool {
        let last = self.kept.last_key_value().filter(|_| self.have >= self.needed);
        self.closed.as_deref().is_none_or(|it| path <= it)
            && last.is_none_or(|(last, _)| path <= last)
    }

    /// Keeps what was found in a file, and lets go of what is behind the page now.
    pub(super) fn add(&mut self, path: &Path, found: InFile) {
        if !self.want(path) {
            return;
        }
        if found.cut {
            // The rest of this file is missing, so nothing behind it may follow.
            self.close(path.to_owned());
        }
        self.have += self.weight(&found);
        self.bytes += found.bytes + path.as_os_str().len();
        self.kept.insert(path.to_owned(), found);
        while let Some((_, last)) = self.kept.last_key_value() {
            let behind = self.have - self.weight(last) >= self.needed;
            let too_much = self.bytes > BYTES && self.kept.len() > 1;
            if !behind && !too_much {
                break;
            }
            self.drop_last();
            if too_much {
                self.closed = self.kept.last_key_value().map(|(path, _)| path.clone());
            }
        }
    }

    /// The files with matches, sorted, and whether there is more than was kept.
    pub(super) fn finish(self) -> (Vec<(PathBuf, InFile)>, bool) {
        let more = self.closed.is_some();
        (self.kept.into_iter().collect(), more)
    }

    /// Nothing behind this is kept any more.
    fn close(&mut self, last: PathBuf) {
        while self.kept.last_key_value().is_some_and(|(path, _)| *path > last) {
            self.drop_last();
        }
        self.closed = Some(last);
    }

    fn drop_last(&mut self) {
        if let Some((path, dropped)) = self.kept.pop_last() {
            self.have -= self.weight(&dropped);
            self.bytes -= dropped.bytes + path.as_os_str().len();
        }
    }

    fn weight(&self, found: &InFile) -> usize {
        if self.by_file { 1 } else { found.matches }
    }
}
