//! The workspace as a job sees it, written to through the descriptor of its mount, so that contents, listings and
//! events are right inside.
//!
//! The job may swap anything for a link at any moment. So a path is only ever walked from the mount itself, never
//! through a link nor to another mount, and the last part is never followed: at worst a job spoils its own view.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, Read as _, Seek as _, Write as _},
    os::fd::{AsFd as _, BorrowedFd, OwnedFd},
    path::{Path, PathBuf},
};

use eclusa::{
    Durability, one_line,
    workspace::{ComingNode, ComingStep, private_file},
};
use rustix::{
    fs::{
        AtFlags, CWD, FileType, Mode, OFlags, RawMode, ResolveFlags, Stat, Timespec, Timestamps,
        UTIME_OMIT, fchmod, fstat, ftruncate, futimens, mkdirat, openat, openat2, renameat, statat,
        symlinkat, unlinkat,
    },
    io::Errno,
};

use super::{same_node::same, wire::ViewAbout};

mod heal;

/// How a path is walked.
const WALK: ResolveFlags = ResolveFlags::BENEATH
    .union(ResolveFlags::NO_SYMLINKS)
    .union(ResolveFlags::NO_MAGICLINKS)
    .union(ResolveFlags::NO_XDEV);
/// How a file is opened to be written: whatever lies there, nobody waits for it.
const WRITE: OFlags = OFlags::WRONLY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY)
    .union(OFlags::CLOEXEC);
const LOOK: OFlags = OFlags::PATH.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
/// The name of a file that takes the place of another.
const TEMPORARY: &str = ".eclusa-coming";
/// So much of a file is copied in one piece.
const SMALL: usize = 64 << 10;
/// How many paths are told by name.
const MAX_TOLD: usize = 3;

/// What lies in a layer, by path, as it was when we had brought it there.
pub(super) type Stamps = BTreeMap<PathBuf, String>;

/// What is written beside a layer: what was judged with the call, and what was brought in. Neither is the job's doing.
pub(super) fn stamps_at(layer: &Path, name: &str) -> Stamps {
    let bytes = fs::read(layer.join(name)).unwrap_or_default();
    let pairs: Vec<(PathBuf, String)> = serde_json::from_slice(&bytes).unwrap_or_default();
    pairs.into_iter().collect()
}

pub(super) const SETTLED: &str = "settled.json";
pub(super) const SHOWN: &str = "shown.json";
/// What the job had already when it came: settled once it is in the workspace.
const COMING: &str = "coming.json";

/// The view of one job.
pub(super) struct JobMount {
    about: ViewAbout,
    mount: OwnedFd,
    upper: OwnedFd,
    shown: Stamps,
    settled: Stamps,
    coming: Stamps,
    /// What the job has of its own, and what could not be shown to it.
    own: Vec<PathBuf>,
    failed: Vec<(PathBuf, io::Error)>,
    changed: bool,
    /// What else is told.
    notes: Vec<String>,
}

/// Whether a step was shown.
enum Shown {
    Yes,
    /// The job has written the path itself.
    Own,
    /// It has written the same itself.
    Same,
}

fn directory(path: &Path) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    openat(CWD, path, flags, Mode::empty())
}

/// What lies at a path beneath a directory. `None`: nothing that could be reached without a link.
fn look(root: &OwnedFd, path: &Path) -> Option<Stat> {
    let walk = WALK.difference(ResolveFlags::NO_XDEV);
    fstat(openat2(root, path, LOOK, Mode::empty(), walk).ok()?).ok()
}

fn kind(stat: &Stat) -> FileType {
    FileType::from_raw_mode(stat.st_mode)
}

pub(super) fn stamp(stat: Option<&Stat>) -> String {
    match stat {
        None => "-".to_owned(),
        // The whiteouts of an overlay are links to one node, whose time changes with each further deletion.
        Some(it) if kind(it) == FileType::CharacterDevice && it.st_rdev == 0 => {
            "deleted".to_owned()
        }
        Some(it) => format!("{}:{}.{}:{}", it.st_ino, it.st_ctime, it.st_ctime_nsec, it.st_size),
    }
}

impl JobMount {
    pub(super) fn new(about: ViewAbout, mount: OwnedFd) -> io::Result<JobMount> {
        let upper = directory(&about.layer.join("upper"))?;
        let (shown, settled) = (stamps_at(&about.layer, SHOWN), stamps_at(&about.layer, SETTLED));
        let coming = stamps_at(&about.layer, COMING);
        let (own, failed, changed, notes) = (Vec::new(), Vec::new(), false, Vec::new());
        let root = about.root.clone();
        let mut mount =
            JobMount { about, mount, upper, shown, settled, coming, own, failed, changed, notes };
        if !mount.coming.is_empty() {
            mount.confirm(&directory(&root)?);
        }
        Ok(mount)
    }

    /// Settles what came and was the job's already, where it is in the workspace by now. The rest is the job's own.
    fn confirm(&mut self, root: &OwnedFd) {
        self.changed = true;
        for (path, known) in std::mem::take(&mut self.coming) {
            let lies = look(&self.upper, &path);
            if stamp(lies.as_ref()) != known {
                continue;
            }
            let same =
                present(root, &path).and_then(|mut node| same(&self.upper, &path, &mut node));
            if same.unwrap_or(false) {
                self.settled.insert(path, known);
            }
        }
    }

    pub(super) fn job(&self) -> u64 {
        self.about.job
    }

    /// Shows the job one step of a change.
    pub(super) fn show(&mut self, step: &mut ComingStep) {
        let path = step.path.clone();
        let shown = match &mut step.node {
            Ok(node) => self.try_show(&path, node),
            Err(err) => Err(io::Error::new(err.kind(), err.to_string())),
        };
        match shown {
            Ok(Shown::Yes) => {
                let now = stamp(look(&self.upper, &path).as_ref());
                self.shown.insert(path, now);
                self.changed = true;
            }
            Ok(Shown::Own) => self.own.push(path),
            Ok(Shown::Same) => {
                let now = stamp(look(&self.upper, &path).as_ref());
                self.coming.insert(path, now);
                self.changed = true;
            }
            // Another mount: it is hidden from the job, or the real one.
            Err(err) if Errno::from_io_error(&err) == Some(Errno::XDEV) => {}
            Err(err) => self.failed.push((path, err)),
        }
    }

    fn try_show(&self, path: &Path, node: &mut ComingNode) -> io::Result<Shown> {
        let Some(name) = path.file_name() else { return Err(Errno::INVAL.into()) };
        let lies = look(&self.upper, path);
        let is_directory = lies.as_ref().is_some_and(|it| kind(it) == FileType::Directory);
        if lies.is_some() && !is_directory {
            let now = stamp(lies.as_ref());
            if ![&self.shown, &self.settled].iter().any(|it| it.get(path) == Some(&now)) {
                let same = same(&self.upper, path, node).unwrap_or(false);
                return Ok(if same { Shown::Same } else { Shown::Own });
            }
        }
        let parent = path.parent().filter(|it| !it.as_os_str().is_empty());
        let opened = parent.map(|parent| {
            let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
            openat2(&self.mount, parent, flags, Mode::empty(), WALK)
        });
        let opened = opened.transpose();
        let dir = match &opened {
            Ok(Some(dir)) => dir.as_fd(),
            Ok(None) => self.mount.as_fd(),
            // What is in no directory is gone.
            Err(Errno::NOENT) if matches!(node, ComingNode::Nothing) => return Ok(Shown::Yes),
            Err(err) => return Err((*err).into()),
        };
        let name = Path::new(name);
        match node {
            ComingNode::Nothing => remove(dir, name)?,
            ComingNode::Directory(mode) => {
                match mkdirat(dir, name, Mode::from_raw_mode(*mode as RawMode)) {
                    Err(Errno::EXIST) if is_directory_at(dir, name)? => {}
                    Err(Errno::EXIST) => {
                        remove(dir, name)?;
                        mkdirat(dir, name, Mode::from_raw_mode(*mode as RawMode))?;
                    }
                    made => made?,
                }
            }
            ComingNode::Link(target) => {
                remove(dir, name)?;
                symlinkat(target.as_path(), dir, name)?;
            }
            ComingNode::File { content, mode } => put(dir, name, content, *mode)?,
        }
        Ok(Shown::Yes)
    }

    /// Puts on record what was brought in, and says what was not.
    pub(super) fn finish(self) -> Vec<String> {
        let mut told = Vec::new();
        let who = format!("job {} ({})", self.about.job, one_line(&self.about.command));
        if self.changed {
            for (name, stamps) in
                [(SHOWN, &self.shown), (SETTLED, &self.settled), (COMING, &self.coming)]
            {
                let pairs: Vec<_> = stamps.iter().collect();
                let kept = serde_json::to_vec(&pairs).map_err(io::Error::from).and_then(|bytes| {
                    private_file::write(&self.about.layer.join(name), bytes, Durability::Crash)
                });
                if let Err(err) = kept {
                    told.push(format!("what {who} was shown is not on record: {err}"));
                }
            }
        }
        if let Some(paths) = named(&self.own) {
            told.push(format!("{who} still has its own {paths}"));
        }
        if let Some((_, why)) = self.failed.first() {
            let paths: Vec<PathBuf> = self.failed.iter().map(|it| it.0.clone()).collect();
            let paths = named(&paths).unwrap_or_default();
            told.push(format!(
                "{who} does not see the change of {paths}: {why}; start it again to have it seen"
            ));
        }
        told
    }
}

/// Paths as they are told.
fn named(paths: &[PathBuf]) -> Option<String> {
    let names =
        paths.iter().take(MAX_TOLD).map(|it| format!("`{}`", one_line(&it.to_string_lossy())));
    let names = names.collect::<Vec<_>>().join(", ");
    match paths.len() {
        0 => None,
        count if count > MAX_TOLD => Some(format!("{names} and {} more", count - MAX_TOLD)),
        _ => Some(names),
    }
}

fn is_directory_at(dir: BorrowedFd<'_>, name: &Path) -> rustix::io::Result<bool> {
    Ok(kind(&statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)?) == FileType::Directory)
}

fn remove(dir: BorrowedFd<'_>, name: &Path) -> rustix::io::Result<()> {
    let removed = match is_directory_at(dir, name) {
        Ok(true) => unlinkat(dir, name, AtFlags::REMOVEDIR),
        Ok(false) => unlinkat(dir, name, AtFlags::empty()),
        Err(err) => Err(err),
    };
    if removed == Err(Errno::NOENT) { Ok(()) } else { removed }
}

/// A file in its place. One that is there is written over, so that whoever watches it goes on watching.
fn put(dir: BorrowedFd<'_>, name: &Path, content: &mut File, mode: u32) -> io::Result<()> {
    match openat2(dir, name, WRITE, Mode::empty(), WALK) {
        Ok(file) => {
            let old = fstat(&file)?;
            if kind(&old) != FileType::RegularFile {
                return Err(io::Error::other("it is no file there"));
            }
            fill(File::from(file), &old, content, mode)
        }
        Err(Errno::NOENT) => create(dir, name, content, mode),
        Err(Errno::ISDIR | Errno::LOOP | Errno::NXIO) => {
            remove(dir, name)?;
            create(dir, name, content, mode)
        }
        // It runs, or may not be written: another takes its place.
        Err(Errno::TXTBSY | Errno::ACCESS) => {
            let temporary = Path::new(TEMPORARY);
            let put = create(dir, temporary, content, mode)
                .and_then(|()| Ok(renameat(dir, temporary, dir, name)?));
            if put.is_err() {
                let _ = unlinkat(dir, temporary, AtFlags::empty());
            }
            put
        }
        Err(err) => Err(err.into()),
    }
}

fn create(dir: BorrowedFd<'_>, name: &Path, content: &mut File, mode: u32) -> io::Result<()> {
    let flags = WRITE | OFlags::CREATE | OFlags::EXCL;
    let file = openat2(dir, name, flags, Mode::from_raw_mode((mode & 0o777) as RawMode), WALK)?;
    let new = fstat(&file)?;
    fill(File::from(file), &new, content, mode)
}

/// Content, mode and time. It is cut at the end and not at the beginning: nobody reads an empty file.
fn fill(mut file: File, old: &Stat, content: &mut File, mode: u32) -> io::Result<()> {
    content.rewind()?;
    // Most files are small, and two calls copy them; the kernel's own way of copying takes five between two file systems.
    let mut bytes = Vec::with_capacity(SMALL);
    (&mut *content).take(SMALL as u64).read_to_end(&mut bytes)?;
    file.write_all(&bytes)?;
    let mut length = bytes.len() as u64;
    if bytes.len() == SMALL {
        length += io::copy(content, &mut file)?;
    }
    if u64::try_from(old.st_size).unwrap_or(0) > length {
        ftruncate(&file, length)?;
    }
    if old.st_mode & 0o7777 != mode & 0o7777 {
        fchmod(&file, Mode::from_raw_mode(mode as RawMode))?;
    }
    let from = fstat(&*content)?;
    let last_access = Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT };
    let last_modification =
        Timespec { tv_sec: from.st_mtime as _, tv_nsec: from.st_mtime_nsec as _ };
    Ok(futimens(&file, &Timestamps { last_access, last_modification })?)
}

/// What is at a path of the workspace.
fn present(root: &OwnedFd, path: &Path) -> io::Result<ComingNode> {
    let walk = WALK.difference(ResolveFlags::NO_XDEV);
    let Some(found) = look(root, path) else { return Ok(ComingNode::Nothing) };
    let mode = found.st_mode & 0o7777;
    match kind(&found) {
        FileType::Directory => Ok(ComingNode::Directory(mode)),
        FileType::Symlink => {
            use std::os::unix::ffi::OsStringExt as _;
            let link = openat2(root, path, LOOK, Mode::empty(), walk)?;
            let target = rustix::fs::readlinkat(&link, "", Vec::new())?.into_bytes();
            Ok(ComingNode::Link(std::ffi::OsString::from_vec(target).into()))
        }
        FileType::RegularFile => {
            let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
            let content = openat2(root, path, flags, Mode::empty(), walk)?;
            Ok(ComingNode::File { content: content.into(), mode })
        }
        _ => Err(io::Error::other("it is neither file nor directory nor link")),
    }
}
