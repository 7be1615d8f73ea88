//! What was there before a command changed it, in the order in which it was changed.

use std::{
    collections::{BTreeMap, HashSet},
    fs::File,
    io::{self, Read, Write},
    os::fd::OwnedFd,
    path::{Path, PathBuf},
};

use rustix::{
    fs::{Mode, OFlags},
    io::Errno,
};

use crate::scan::{
    FileNode, Node,
    handle::{self, Look, Sort},
};

/// The largest file that is read to tell what is in it: one of zeros costs its maker nothing.
const LARGEST: u64 = 32 << 30;

/// What a command has changed, and what was there before.
#[derive(Debug)]
pub struct UndoLog {
    pub(super) root: OwnedFd,
    pub(super) root_path: PathBuf,
    /// Beneath these nothing is recorded: relative to the workspace.
    live: Vec<PathBuf>,
    pub(super) store: OwnedFd,
    /// How many bytes may still be saved.
    left: u64,
    /// Paths that were saved since the last directory was moved.
    seen: HashSet<PathBuf>,
    /// What was at each path in the very beginning.
    pub(super) first: BTreeMap<PathBuf, Option<Node>>,
    pub(super) steps: Vec<Step>,
}

/// One thing to take back.
#[derive(Debug)]
pub(super) enum Step {
    /// This was at a path; the content of a file is in the store, under its number.
    Was { path: PathBuf, node: Option<Node>, copy: Option<usize> },
    /// A directory was moved.
    Moved { from: PathBuf, to: PathBuf },
}

impl UndoLog {
    pub(super) fn begin(
        workspace: &Path,
        store: &Path,
        most: u64,
        live: &[PathBuf],
    ) -> io::Result<UndoLog> {
        let open = |path: &Path| {
            let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
            rustix::fs::open(path, flags, Mode::empty())
        };
        Ok(UndoLog {
            root: open(workspace)?,
            root_path: workspace.canonicalize()?,
            live: live.to_vec(),
            store: open(store)?,
            left: most,
            seen: HashSet::new(),
            first: BTreeMap::new(),
            steps: Vec::new(),
        })
    }

    /// A path of the machine as one of the workspace. `None`: it is elsewhere, or beneath what is
    /// live.
    pub(super) fn inside(&self, path: &Path) -> Option<PathBuf> {
        let path = path.strip_prefix(&self.root_path).ok()?;
        let live = |it: &PathBuf| path.starts_with(it) && path != it;
        (!self.live.iter().any(live)).then(|| path.to_owned())
    }

    /// Saves what is at a path, unless that was done before. A directory is noted each time, so
    /// that it is there again before what was in it.
    pub(super) fn save(&mut self, path: &Path) -> rustix::io::Result<()> {
        if self.seen.contains(path) {
            if let Some((_, look)) = self.look(path)?
                && look.sort == Sort::Directory
            {
                let node = Some(Node::Directory { mode: look.mode });
                self.steps.push(Step::Was { path: path.to_owned(), node, copy: None });
            }
            return Ok(());
        }
        let (node, copy) = self.node(path, true)?;
        self.first.entry(path.to_owned()).or_insert_with(|| node.clone());
        self.steps.push(Step::Was { path: path.to_owned(), node, copy });
        self.seen.insert(path.to_owned());
        Ok(())
    }

    /// Saves a directory with everything in it, because it leaves the workspace.
    pub(super) fn save_tree(&mut self, path: &Path) -> rustix::io::Result<()> {
        let paths = self.tree(path)?;
        // What is saved last comes back first, and a directory before what is in it.
        paths.iter().rev().try_for_each(|it| self.save(it))
    }

    /// A directory has come into the workspace with everything in it, where nothing was.
    pub(super) fn arrived(&mut self, path: &Path) -> rustix::io::Result<()> {
        for path in self.tree(path)? {
            if self.seen.insert(path.clone()) {
                self.first.entry(path.clone()).or_insert(None);
                self.steps.push(Step::Was { path, node: None, copy: None });
            }
        }
        Ok(())
    }

    /// Moves a directory within the workspace. Nothing in it is copied: taking it back is moving
    /// it back.
    pub(super) fn move_tree(
        &mut self,
        from: &Path,
        to: &Path,
        act: impl FnOnce() -> rustix::io::Result<()>,
    ) -> rustix::io::Result<()> {
        let mut told = Vec::new();
        for path in self.tree(from)? {
            let (node, _) = self.node(&path, false)?;
            let arrives =
                path.strip_prefix(from).map(|it| to.join(it)).map_err(|_| Errno::INVAL)?;
            // The empty path at the end of a join would add a slash.
            let arrives: PathBuf = arrives.components().collect();
            told.push((path, node, arrives));
        }
        self.save(to)?;
        act()?;
        for (path, node, arrives) in told {
            self.first.entry(path).or_insert(node);
            self.first.entry(arrives).or_insert(None);
        }
        self.steps.push(Step::Moved { from: from.to_owned(), to: to.to_owned() });
        self.seen.clear();
        Ok(())
    }

    /// A directory and everything in it, parents first.
    fn tree(&self, path: &Path) -> rustix::io::Result<Vec<PathBuf>> {
        let mut paths = vec![path.to_owned()];
        let mut pending = vec![path.to_owned()];
        while let Some(path) = pending.pop() {
            let dir = handle::beneath(&self.root, &path, OFlags::RDONLY)?;
            for name in handle::names(&dir, usize::MAX)? {
                let inner = path.join(&name);
                if Look::at(&dir, &name)?.is_some_and(|it| it.sort == Sort::Directory) {
                    pending.push(inner.clone());
                }
                paths.push(inner);
            }
        }
        Ok(paths)
    }

    /// What is at a path, and where its content was copied to.
    pub(super) fn node(
        &mut self,
        path: &Path,
        keep: bool,
    ) -> rustix::io::Result<(Option<Node>, Option<usize>)> {
        let name = path.file_name().ok_or(Errno::BUSY)?;
        let Some((dir, look)) = self.look(path)? else { return Ok((None, None)) };
        Ok(match look.sort {
            Sort::Directory => (Some(Node::Directory { mode: look.mode }), None),
            Sort::Link => (Some(Node::Link { target: handle::target(&dir, name)? }), None),
            Sort::Other(special) => (Some(Node::Other(special)), None),
            Sort::File => {
                let file = handle::open_file(&dir, name)?;
                let look = Look::of(&file)?;
                let number = self.steps.len();
                let size = look.stamp.size;
                let digest = match (keep, size > LARGEST) {
                    (true, _) => Some(self.copy(&file, number)?),
                    (false, false) => Some(digest(&file, size)?),
                    (false, true) => None,
                };
                let node = FileNode { digest, size, mode: look.mode, stamp: look.stamp };
                (Some(Node::File(node)), keep.then_some(number))
            }
        })
    }

    /// The directory that a path is in, and what is there. `None`: nothing.
    fn look(&self, path: &Path) -> rustix::io::Result<Option<(OwnedFd, Look)>> {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(Errno::BUSY);
        };
        match handle::beneath(&self.root, parent, OFlags::PATH) {
            Ok(dir) => Ok(Look::at(&dir, name)?.map(|look| (dir, look))),
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(None),
            Err(err) => Err(err),
        }
    }

    /// Copies a file to the store, and returns its digest.
    fn copy(&mut self, mut from: &File, number: usize) -> rustix::io::Result<[u8; 32]> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(0o600);
        let to = rustix::fs::openat(&self.store, number.to_string(), flags, mode)?;
        let mut to = File::from(to);
        let mut hasher = blake3::Hasher::new();
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let read = match from.read(&mut buffer) {
                Ok(0) => return Ok(*hasher.finalize().as_bytes()),
                Ok(read) => read,
                Err(err) if err.kind() == io::ErrorKind::Interrupted => continue,
                Err(err) => return Err(errno(&err)),
            };
            let part = buffer.get(..read).unwrap_or_default();
            self.left = self.left.checked_sub(read as u64).ok_or(Errno::NOSPC)?;
            hasher.update(part);
            to.write_all(part).map_err(|err| errno(&err))?;
        }
    }
}

fn digest(file: &File, size: u64) -> rustix::io::Result<[u8; 32]> {
    handle::digest(file, size).map_err(|err| errno(&err))
}

fn errno(err: &io::Error) -> Errno {
    Errno::from_io_error(err).unwrap_or(Errno::IO)
}
