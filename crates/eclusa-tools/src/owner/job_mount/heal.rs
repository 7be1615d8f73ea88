//! The view of a job brought up to date with what nobody brought in: edits of a person, and what was not finished.

use std::{
    fs, io,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
};

use eclusa::{
    Durability,
    workspace::{Blocked, ComingNode, ComingStep, private_file},
};
use rustix::fs::{FileType, Mode, OFlags, Stat, fchmod, fstat, openat2};
use serde::{Deserialize, Serialize};

use super::{JobMount, WALK, directory, kind, look, present, same, stamp};
use crate::owner::person_edits::{Edits, MAX_LOOKED_AT};

/// Beside a layer: until when edits of a person are known.
const LOOKED: &str = "looked.json";

/// What is known of edits that a person made.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct Looked {
    /// Until then they are, in nanoseconds since 1970.
    until: i64,
    /// Whether it was told that nobody looks.
    told: bool,
}

impl JobMount {
    fn looked(&self) -> Option<Looked> {
        serde_json::from_slice(&fs::read(self.about.layer.join(LOOKED)).ok()?).ok()
    }

    /// Since when nobody has looked for edits of a person, in nanoseconds since 1970.
    pub(in crate::owner) fn since(&self) -> i64 {
        let began = || self.about.began.parse().unwrap_or(i64::MAX);
        self.looked().map_or_else(began, |it| it.until)
    }

    /// Shows what has changed in the workspace since it was brought in, and what a person has edited.
    pub(in crate::owner) fn heal(
        &mut self,
        root: &Path,
        edits: &Edits,
        blocked: &Blocked,
    ) -> io::Result<()> {
        let root = directory(root)?;
        let differing: Vec<PathBuf> =
            self.shown.keys().filter(|it| self.differs(&root, it)).cloned().collect();
        for path in differing {
            let node = present(&root, &path);
            self.show(&mut ComingStep { path, node });
        }
        let (looked, since) = (self.looked(), self.since());
        for (path, at) in &edits.paths {
            // What its own call wrote is in the workspace since the beginning.
            let of_its_call = looked.is_none() && self.settled.contains_key(path);
            let is_new = *at >= since && !of_its_call && blocked.by(path).is_none();
            if !is_new {
                continue;
            }
            if !self.has(&root, path) {
                self.show_all(&root, path, blocked);
            } else if edits.new_directories.contains(path) && !self.shown.contains_key(path) {
                self.tell_of(path);
            }
        }
        let told = looked.is_some_and(|it| it.told) || !edits.is_whole;
        if !edits.is_whole && looked.is_none_or(|it| !it.told) {
            self.notes.push(format!(
                "job {} does not see your edits: the workspace has more than {MAX_LOOKED_AT} files",
                self.about.job
            ));
        }
        let Some(until) = edits.until else { return Ok(()) };
        let bytes = serde_json::to_vec(&Looked { until, told })?;
        private_file::write(&self.about.layer.join(LOOKED), bytes, Durability::Crash)
    }

    /// Has whoever watches hear of a directory that shows by itself: it gets the mode that it has.
    fn tell_of(&mut self, path: &Path) {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = openat2(&self.mount, path, flags, Mode::empty(), WALK);
        let told = opened.and_then(|it| fchmod(&it, Mode::from_raw_mode(fstat(&it)?.st_mode)));
        if told.is_ok() {
            let now = stamp(look(&self.upper, path).as_ref());
            self.shown.insert(path.to_owned(), now);
            self.changed = true;
        }
    }

    /// What is told of it.
    pub(in crate::owner) fn take_notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }

    /// Whether what was shown is still ours, and is not what the workspace has.
    fn differs(&self, root: &OwnedFd, path: &Path) -> bool {
        let (ours, theirs) = (look(&self.upper, path), look(root, path));
        let is_ours = ours.is_some() && self.shown.get(path) == Some(&stamp(ours.as_ref()));
        let same = match (&ours, &theirs) {
            (Some(ours), Some(theirs)) if kind(ours) == kind(theirs) => {
                let time = |it: &Stat| (it.st_size, it.st_mtime, it.st_mtime_nsec);
                kind(ours) != FileType::RegularFile || time(ours) == time(theirs)
            }
            // A whiteout.
            (Some(ours), None) => kind(ours) == FileType::CharacterDevice,
            _ => false,
        };
        is_ours && !same
    }

    /// Whether the job has what the workspace has, or something of its own, or is shown it by what was done for paths
    /// above.
    fn has(&self, root: &OwnedFd, path: &Path) -> bool {
        let (ours, theirs) = (look(&self.upper, path), look(root, path));
        match (&ours, &theirs) {
            (None, None) => self.shown.get(path).is_some_and(|it| it == "-"),
            (None, Some(theirs)) => {
                let is_directory = |it: &Stat| kind(it) == FileType::Directory;
                is_directory(theirs) && look(&self.mount, path).as_ref().is_some_and(is_directory)
            }
            (Some(ours), _) if kind(ours) == FileType::Directory => {
                theirs.as_ref().is_some_and(|it| kind(it) == FileType::Directory)
            }
            (Some(ours), _) => {
                let now = stamp(Some(ours));
                let known = |it: &super::Stamps| it.get(path) == Some(&now);
                // What was shown was compared before.
                known(&self.shown)
                    || !known(&self.settled)
                    || present(root, path)
                        .and_then(|mut node| same(&self.upper, path, &mut node))
                        .unwrap_or(false)
            }
        }
    }

    /// Shows what the workspace has at a path. A directory that the job gets by that hides what lies in that of the
    /// workspace, so all of it comes too.
    fn show_all(&mut self, root: &OwnedFd, path: &Path, blocked: &Blocked) {
        let mut pending = vec![path.to_owned()];
        let mut count = 0;
        while let Some(path) = pending.pop() {
            let node = present(root, &path);
            let is_directory = matches!(node, Ok(ComingNode::Directory(_)));
            self.show(&mut ComingStep { path: path.clone(), node });
            count += 1;
            if !is_directory {
                continue;
            }
            for entry in fs::read_dir(self.about.root.join(&path)).into_iter().flatten().flatten() {
                let inner = path.join(entry.file_name());
                if count + pending.len() < MAX_LOOKED_AT && blocked.by(&inner).is_none() {
                    pending.push(inner);
                }
            }
        }
    }
}
