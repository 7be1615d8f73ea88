//! Takes back what a command did in place, and keeps what it made: the workspace is then as it was,
//! and the changes wait to be judged as if they had been staged.

use std::{
    collections::{BTreeMap, HashSet},
    fs::File,
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
};

use rustix::{
    fs::{Mode, OFlags},
    io::Errno,
};

use super::log::UndoLog;
use crate::scan::{
    Effects, FileNode, Node,
    handle::{self, Look},
};

/// What became of the changes of a command that ran in place.
#[derive(Debug)]
pub enum Withdrawn {
    /// The workspace is as before. The new contents lie at these places, by their paths in the
    /// workspace.
    Kept(BTreeMap<PathBuf, PathBuf>),
    /// The workspace is as before. The new contents could not be kept, and are lost.
    Lost(io::Error),
    /// Somebody else has changed these since. Nothing was taken back.
    Changed(Vec<PathBuf>),
}

impl UndoLog {
    /// Takes everything back, as [`undo`](UndoLog::undo) does, after the new contents were moved
    /// to `into`, an empty directory that nobody else can reach. The stamps of the new files in
    /// `effects` follow.
    ///
    /// An error says that the workspace may be neither as before nor as the command left it.
    pub fn withdraw(&mut self, effects: &mut Effects, into: &Path) -> io::Result<Withdrawn> {
        let changed = self.changed_since(effects)?;
        if !changed.is_empty() {
            return Ok(Withdrawn::Changed(changed));
        }
        let kept = self.keep_all(effects, into);
        self.all_back()?;
        Ok(kept.map_or_else(Withdrawn::Lost, Withdrawn::Kept))
    }

    fn keep_all(
        &self,
        effects: &mut Effects,
        into: &Path,
    ) -> io::Result<BTreeMap<PathBuf, PathBuf>> {
        // What was there before moves back by itself, and so it must be where it is.
        let old: HashSet<u64> = self.first.values().flatten().filter_map(inode).collect();
        let mut kept = BTreeMap::new();
        for (number, effect) in effects.entries.iter_mut().enumerate() {
            let Some(Node::File(file)) = &mut effect.after else { continue };
            if file.digest.is_none() {
                continue;
            }
            let to = into.join(number.to_string());
            self.keep(&effect.path, file, &to, !old.contains(&file.stamp.inode)).map_err(
                |err| {
                    let path = effect.path.display();
                    io::Error::other(format!("the new content of `{path}` cannot be kept: {err}"))
                },
            )?;
            kept.insert(effect.path.clone(), to);
        }
        Ok(kept)
    }

    /// Keeps one new file: by moving it, if it is new and has no other name, else as a copy.
    fn keep(&self, path: &Path, file: &mut FileNode, to: &Path, new: bool) -> io::Result<()> {
        let (dir, name) = self.parent(path)?;
        let look = Look::at(&dir, name)?.ok_or(Errno::NOENT)?;
        let moved = new && look.links == 1 && look.stamp == file.stamp;
        match moved.then(|| rustix::fs::renameat(&dir, name, rustix::fs::CWD, to)) {
            Some(Ok(())) => {}
            Some(Err(Errno::XDEV)) | None => copy(handle::open_file(&dir, name)?, file, to)?,
            Some(Err(err)) => return Err(err.into()),
        }
        let kept = rustix::fs::open(to, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
        file.stamp = Look::of(kept)?.stamp;
        Ok(())
    }
}

fn inode(node: &Node) -> Option<u64> {
    node.file().map(|it| it.stamp.inode)
}

/// Copies a file, provided that its content is the one that was told.
fn copy(mut from: File, file: &FileNode, to: &Path) -> io::Result<()> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let mut to = File::from(rustix::fs::open(to, flags, Mode::from_raw_mode(0o600))?);
    let mut hasher = blake3::Hasher::new();
    let mut buffer = vec![0; 128 * 1024];
    loop {
        let read = match from.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => read,
            Err(err) if err.kind() == io::ErrorKind::Interrupted => continue,
            Err(err) => return Err(err),
        };
        let part = buffer.get(..read).unwrap_or_default();
        hasher.update(part);
        to.write_all(part)?;
    }
    match file.digest == Some(*hasher.finalize().as_bytes()) {
        true => Ok(rustix::fs::fchmod(&to, Mode::from_raw_mode(file.mode & 0o777 | 0o200))?),
        false => Err(io::Error::other("somebody is changing it")),
    }
}
