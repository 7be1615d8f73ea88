//! What the workspace's own `.gitignore` files hide.
//!
//! They are read through [`Files`], because a `.gitignore` can be a pipe that never ends or a link
//! to somewhere else, and a walker that opens it by name would wait or follow.

use std::{
    collections::HashMap,
    io::Read,
    path::{Path, PathBuf},
    sync::{Arc, PoisonError, RwLock},
};

use eclusa::Files;
use eclusa_git::add_patterns;
use ignore::{
    Match,
    gitignore::{Gitignore, GitignoreBuilder},
};

/// Files of patterns, the later ones over the earlier.
const NAMES: [&str; 2] = [".gitignore", ".ignore"];
/// Longer ones are read so far.
const BYTES: u64 = 1 << 20;
/// So many directories are remembered before all are forgotten.
const REMEMBERED: usize = 16_384;

/// The patterns of every directory that was looked at.
#[derive(Debug)]
pub(super) struct Ignores {
    files: Files,
    levels: RwLock<HashMap<PathBuf, Option<Arc<Level>>>>,
}

/// The patterns of one directory, and those of the nearest above that has any.
#[derive(Debug)]
struct Level {
    own: Gitignore,
    above: Option<Arc<Level>>,
}

impl Ignores {
    pub(super) fn new(files: Files) -> Ignores {
        Ignores { files, levels: RwLock::default() }
    }

    /// True if a path of the workspace is hidden by a pattern that names it. What is above it is
    /// not looked at: whoever walks does not get here then, and whoever names it, means it.
    pub(super) fn hide(&self, path: &Path, is_dir: bool) -> bool {
        let mut level = self.level(path.parent().unwrap_or(Path::new("")));
        let whole = self.files.root().join(path);
        while let Some(it) = level {
            match it.own.matched(&whole, is_dir) {
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
                Match::None => level = it.above.clone(),
            }
        }
        false
    }

    fn level(&self, dir: &Path) -> Option<Arc<Level>> {
        let levels = self.levels.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(level) = levels.get(dir) {
            return level.clone();
        }
        drop(levels);
        let above = dir.parent().and_then(|it| self.level(it));
        let level = match self.read(dir) {
            Some(own) => Some(Arc::new(Level { own, above })),
            None => above,
        };
        let mut levels = self.levels.write().unwrap_or_else(PoisonError::into_inner);
        if levels.len() >= REMEMBERED {
            levels.clear();
        }
        levels.insert(dir.to_owned(), level.clone());
        level
    }

    fn read(&self, dir: &Path) -> Option<Gitignore> {
        let whole = self.files.root().join(dir);
        let mut builder = GitignoreBuilder::new(&whole);
        let mut any = false;
        let exclude = dir.as_os_str().is_empty().then_some(".git/info/exclude");
        for name in exclude.into_iter().chain(NAMES) {
            // Most directories have none, and this look is the cheapest way to know.
            if !std::fs::symlink_metadata(whole.join(name)).is_ok_and(|it| it.is_file()) {
                continue;
            }
            let Ok(opened) = self.files.reach(&dir.join(name)) else { continue };
            let mut bytes = Vec::new();
            if opened.file.take(BYTES).read_to_end(&mut bytes).is_err() {
                continue;
            }
            add_patterns(&mut builder, &String::from_utf8_lossy(&bytes));
            any = true;
        }
        any.then(|| builder.build().ok()).flatten().filter(|it| !it.is_empty())
    }
}
