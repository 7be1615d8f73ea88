//! What git ignores: `.gitignore` files, `info/exclude`, and the person's own excludes.
//!
//! Read as they were before the call, and without the configuration of the repository, which the
//! call could have been told to change.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
};

use ignore::{
    Match,
    gitignore::{Gitignore, GitignoreBuilder},
};

use crate::directory::read_small;

/// The largest file of patterns that is read.
const MAX_PATTERNS: u64 = 1 << 20;

/// The patterns of one repository, read as they are needed.
#[derive(Debug)]
pub struct Ignored {
    root: PathBuf,
    /// `info/exclude`, then the person's.
    others: Vec<Gitignore>,
    of_directories: HashMap<PathBuf, Option<Gitignore>>,
    /// What is known of directories: as [`Ignored::ignored_at`].
    directories: HashMap<PathBuf, Option<usize>>,
}

impl Ignored {
    /// The patterns of the working tree `root`, whose repository is `git`.
    #[must_use]
    pub fn new(root: &Path, git: &Path, excludes: Option<&str>) -> Ignored {
        let exclude = read_small(&git.join("info/exclude"), MAX_PATTERNS);
        let exclude = exclude.map(|it| String::from_utf8_lossy(&it).into_owned());
        let others = [exclude.as_deref(), excludes];
        let others = others.into_iter().flatten().filter_map(|it| patterns(root, it)).collect();
        Ignored {
            root: root.to_owned(),
            others,
            of_directories: HashMap::new(),
            directories: HashMap::new(),
        }
    }

    /// Whether git ignores this path of the working tree, were it not tracked: how many names of
    /// it, from the front, lead to what is ignored as a whole.
    pub fn ignored_at(&mut self, path: &Path, directory: bool) -> Option<usize> {
        // What lies in an ignored directory is ignored, and no pattern takes that back.
        let above = path.parent().filter(|it| !it.as_os_str().is_empty());
        if let Some(at) = above.and_then(|it| self.directory_ignored_at(it)) {
            return Some(at);
        }
        self.matches(path, directory).then(|| path.components().count())
    }

    fn directory_ignored_at(&mut self, path: &Path) -> Option<usize> {
        if let Some(known) = self.directories.get(path) {
            return *known;
        }
        let ignored = self.ignored_at(path, true);
        self.directories.insert(path.to_owned(), ignored);
        ignored
    }

    /// The last pattern of the nearest file that fits decides.
    fn matches(&mut self, path: &Path, directory: bool) -> bool {
        let full = self.root.join(path);
        for above in path.ancestors().skip(1) {
            let root = &self.root;
            let known = self.of_directories.entry(above.to_owned()).or_insert_with(|| {
                let text = read_small(&root.join(above).join(".gitignore"), MAX_PATTERNS)?;
                patterns(&root.join(above), &String::from_utf8_lossy(&text))
            });
            match known.as_ref().map(|it| it.matched(&full, directory)) {
                Some(Match::Ignore(_)) => return true,
                Some(Match::Whitelist(_)) => return false,
                Some(Match::None) | None => {}
            }
        }
        for others in &self.others {
            match others.matched(&full, directory) {
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
                Match::None => {}
            }
        }
        false
    }
}

/// The patterns of one file.
fn patterns(directory: &Path, text: &str) -> Option<Gitignore> {
    let mut builder = GitignoreBuilder::new(directory);
    add_patterns(&mut builder, text);
    builder.build().ok().filter(|it| !it.is_empty())
}

/// Adds the patterns of a text. A line that is no pattern ignores nothing, as in git.
pub fn add_patterns(builder: &mut GitignoreBuilder, text: &str) {
    for line in text.trim_start_matches('\u{feff}').lines() {
        let _unreadable = builder.add_line(None, line);
    }
}
