//! Where the paths of a plan really are, and what becomes of each.

use std::ffi::CString;
use std::path::{Component, Path, PathBuf};

use super::{Bind, LiveDir, MAX_PATHS, Mask, Overlay, Rules, c_path, readable, root_layout};
use crate::capabilities::Namespaces;
use crate::plan::{Plan, PrivateMount, Staging};
use crate::step::SandboxError;

/// Devices that are written to.
const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// The most files that are held by leases: each is an open descriptor.
const MAX_LEASES: usize = 500;

/// Directories that every sandbox has of its own.
const PRIVATE: [&str; 4] = ["/tmp", "/var/tmp", "/run", "/dev"];

/// The places of a plan, each where it really is.
pub(super) struct Places {
    stage: Vec<Staging>,
    write: Vec<PathBuf>,
    read: Vec<PathBuf>,
    hide: Vec<PathBuf>,
    mounts: Vec<PrivateMount>,
    sealed: Vec<PathBuf>,
    /// What `/tmp` is, or without namespaces what takes its place.
    pub(super) tmp: Option<PathBuf>,
    pub(super) cwd: PathBuf,
}

impl Places {
    pub(super) fn new(plan: &Plan) -> Result<Places, SandboxError> {
        let all = |paths: &[PathBuf], what| {
            let mut real: Vec<PathBuf> =
                paths.iter().map(|path| real(path, what)).collect::<Result<_, _>>()?;
            real.sort();
            real.dedup();
            if real.len() > MAX_PATHS {
                return Err(SandboxError::Plan(format!("more than {MAX_PATHS} entries as {what}")));
            }
            Ok(real)
        };
        let mut stage = Vec::with_capacity(plan.stage.len());
        for one in &plan.stage {
            stage.push(Staging {
                covers: one
                    .covers
                    .iter()
                    .map(|it| real(it, "directory that covers another"))
                    .collect::<Result<_, _>>()?,
                lower: real(&one.lower, "staged directory")?,
                upper: real(&one.upper, "upper layer")?,
                work: real(&one.work, "work directory")?,
                live: one.live.clone(),
            });
        }
        // What lies in another comes after it. The first stays the first: its mount may be handed over.
        let first = stage.first().map(|it| it.lower.clone());
        let nested = stage.iter().any(|it| {
            first.as_ref().is_some_and(|first| *first != it.lower && first.starts_with(&it.lower))
        });
        let is_later = |it: &Staging| !nested && first.as_ref() != Some(&it.lower);
        stage.sort_by_key(|it| (is_later(it), it.lower.clone()));
        if stage.len() > MAX_PATHS {
            return Err(SandboxError::Plan(format!("more than {MAX_PATHS} staged directories")));
        }
        let mut hide = Vec::with_capacity(plan.hide.len() + 2 * stage.len());
        for path in &plan.hide {
            match real(path, "hidden path") {
                Ok(real) => hide.push(real),
                // What is not there needs no hiding.
                Err(_) if path.is_absolute() => {}
                Err(error) => return Err(error),
            }
        }
        // The layers show what is hidden above them, and are nobody's business inside.
        hide.extend(stage.iter().flat_map(|one| [one.upper.clone(), one.work.clone()]));
        hide.sort();
        // Beneath what is hidden there is nothing to hide.
        hide.dedup_by(|later, earlier| later.starts_with(&*earlier));
        let read = plan.read.iter().filter(|path| path.exists()).cloned().collect::<Vec<_>>();
        let mut mounts = Vec::with_capacity(plan.mounts.len());
        for one in &plan.mounts {
            if !plan.made.contains(&one.target) && !is_beneath_own(&one.target) {
                let target = one.target.display();
                return Err(SandboxError::Plan(format!("`{target}` is not beneath /run or /tmp")));
            }
            let source = real(&one.source, "mounted directory")?;
            mounts.push(PrivateMount { source, target: one.target.clone() });
        }
        Ok(Places {
            stage,
            mounts,
            sealed: plan.sealed.clone(),
            write: all(&plan.write, "writable directory")?,
            read: all(&read, "readable directory")?,
            hide,
            tmp: plan.tmp.as_deref().map(|it| real(it, "directory for /tmp")).transpose()?,
            cwd: real(&plan.cwd, "working directory")?,
        })
    }

    pub(super) fn overlays(&self) -> Result<Vec<Overlay>, SandboxError> {
        self.stage
            .iter()
            .map(|one| {
                Ok(Overlay {
                    lower: c_path(&one.lower)?,
                    covers: one.covers.iter().map(|it| c_path(it)).collect::<Result<_, _>>()?,
                    upper: c_path(&one.upper)?,
                    work: c_path(&one.work)?,
                })
            })
            .collect()
    }

    pub(super) fn live(&self) -> Result<Vec<LiveDir>, SandboxError> {
        let mut live = Vec::new();
        for one in &self.stage {
            for beneath in &one.live {
                if !beneath.components().all(|part| matches!(part, Component::Normal(_))) {
                    let beneath = beneath.display();
                    return Err(SandboxError::Plan(format!(
                        "live directory `{beneath}` is not beneath its root"
                    )));
                }
                make_beneath(&one.lower, beneath)?;
                live.push(LiveDir {
                    root: c_path(&one.lower)?,
                    beneath: c_path(beneath)?,
                    target: c_path(&one.lower.join(beneath))?,
                });
            }
        }
        if live.len() > MAX_PATHS {
            return Err(SandboxError::Plan(format!("more than {MAX_PATHS} live directories")));
        }
        Ok(live)
    }

    /// The directories in layers that nothing is written to. What a link leads to elsewhere is only read there anyway.
    pub(super) fn sealed(&self) -> Result<Vec<CString>, SandboxError> {
        let at = |path: &PathBuf| match path.canonicalize() {
            Ok(real) => Some(real),
            Err(_) => Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?)),
        };
        let beneath = |it: &PathBuf| {
            self.stage.iter().any(|one| it.starts_with(&one.lower) && *it != one.lower)
        };
        let mut sealed: Vec<PathBuf> = self.sealed.iter().filter_map(at).filter(beneath).collect();
        sealed.sort();
        sealed.dedup();
        if sealed.len() > MAX_PATHS {
            return Err(SandboxError::Plan(format!("more than {MAX_PATHS} sealed directories")));
        }
        sealed.iter().map(|it| c_path(it)).collect()
    }

    /// Without what is seen only in a root of overlays.
    pub(super) fn drop_made(&mut self) {
        self.mounts.retain(|it| is_beneath_own(&it.target));
    }

    /// Writable directories, and readable ones that a private directory would cover: the working
    /// directory is always one that can be read.
    pub(super) fn binds(&self) -> Result<Vec<Bind>, SandboxError> {
        let read = self.read.iter().chain(self.hidden_cwd()).filter(|it| self.is_covered(it));
        let all = self.write.iter().map(|path| (path, true)).chain(read.map(|path| (path, false)));
        let mut binds: Vec<(&PathBuf, bool)> = all.collect();
        binds.sort();
        let at_home = binds.into_iter().map(|(path, writable)| (path, path, writable));
        let elsewhere = self.mounts.iter().map(|it| (&it.source, &it.target, true));
        let bind = |(source, target, writable): (&PathBuf, &PathBuf, bool)| {
            // Where the root is not made of overlays after all it has no place.
            let optional = source != target && !is_beneath_own(target);
            Ok(Bind { source: c_path(source)?, target: c_path(target)?, writable, optional })
        };
        at_home.chain(elsewhere).map(bind).collect()
    }

    /// Whether a command meets inodes of the machine that an overlay cannot take the place of: a directory that is
    /// written at once, or mounts inside one that is read beneath a private directory.
    pub(super) fn shows_sockets(&self) -> bool {
        let read = self.read.iter().chain(self.hidden_cwd());
        !self.write.is_empty()
            || self.stage.iter().any(|one| !one.live.is_empty())
            || root_layout::has_mounts_inside(read.filter(|it| self.is_covered(it)))
    }

    /// Whether a private directory would cover what is to be read.
    fn is_covered(&self, path: &Path) -> bool {
        is_private(path) && !self.shown(path)
    }

    /// Whether a writable or staged directory shows this path.
    fn shown(&self, path: &Path) -> bool {
        self.write.iter().any(|root| path.starts_with(root))
            || self.stage.iter().any(|one| path.starts_with(&one.lower))
    }

    /// The working directory, if nothing else shows it.
    fn hidden_cwd(&self) -> Option<&PathBuf> {
        let read = |root: &PathBuf| is_private(root) && self.cwd.starts_with(root);
        (!self.read.iter().any(read) && !self.shown(&self.cwd) && !is_private_itself(&self.cwd))
            .then_some(&self.cwd)
    }

    /// The directories on the way to mounts beneath a private directory.
    pub(super) fn directories(&self) -> Result<Vec<CString>, SandboxError> {
        let mut directories = Vec::new();
        let targets = self.write.iter().chain(self.read.iter()).chain(self.hidden_cwd());
        let targets = targets.chain(self.mounts.iter().map(|it| &it.target));
        for target in targets.chain(self.stage.iter().map(|one| &one.lower)) {
            for private in PRIVATE.iter().map(Path::new) {
                if let Ok(rest) = target.strip_prefix(private) {
                    let mut at = private.to_path_buf();
                    for part in rest.components() {
                        at.push(part);
                        directories.push(at.clone());
                    }
                }
            }
        }
        directories.sort();
        directories.dedup();
        directories.iter().map(|path| c_path(path)).collect()
    }

    /// What may be written at its own place.
    pub(super) fn own(&self) -> Vec<PathBuf> {
        self.write.iter().chain(&self.tmp).cloned().collect()
    }

    /// What a command sees where it is, also in the machine's `/tmp`.
    pub(super) fn shown_in_tmp(&self) -> impl Iterator<Item = &PathBuf> {
        let staged = self.stage.iter().map(|one| &one.lower);
        self.write.iter().chain(&self.read).chain(staged).chain([&self.cwd])
    }

    /// What is hidden, unless a private directory covers it already.
    pub(super) fn masks(&self) -> Result<Vec<Mask>, SandboxError> {
        let visible = |path: &&PathBuf| {
            // A readable root above a private directory does not show what is beneath it.
            let read = self.read.iter().any(|root| is_private(root) && path.starts_with(root));
            !is_private(path) || self.shown(path) || read
        };
        let mask = |path: &PathBuf| Ok(Mask { path: c_path(path)?, directory: path.is_dir() });
        self.hide.iter().filter(visible).map(mask).collect()
    }

    /// The hidden files inside what may be written: Landlock takes nothing back beneath what it gave, so
    /// without mounts each of them is held by a lease.
    pub(super) fn leased(&self) -> Result<Vec<PathBuf>, SandboxError> {
        let mut files = Vec::new();
        let mut pending: Vec<PathBuf> =
            self.hide.iter().filter(|path| self.shown(path)).cloned().collect();
        while let Some(path) = pending.pop() {
            let failed = |error: std::io::Error| {
                let path = path.display();
                SandboxError::Plan(format!("`{path}` can't be hidden: {error}"))
            };
            let about = path.symlink_metadata().map_err(failed)?;
            if about.is_dir() {
                for entry in path.read_dir().map_err(failed)? {
                    pending.push(entry.map_err(failed)?.path());
                }
            } else if about.is_file() {
                files.push(path);
            }
            if files.len() > MAX_LEASES {
                return Err(SandboxError::Plan(format!(
                    "more than {MAX_LEASES} files are hidden inside a writable directory"
                )));
            }
        }
        Ok(files)
    }

    pub(super) fn rules(
        &self,
        plan: &Plan,
        version: u32,
        namespaces: Namespaces,
    ) -> Result<Rules, SandboxError> {
        let mut write = self.write.clone();
        write.extend(self.stage.iter().map(|one| one.lower.clone()));
        write.extend(self.mounts.iter().map(|it| it.target.clone()));
        write.extend(DEVICES.map(PathBuf::from));
        write.extend(plan.terminal.as_ref().map(|_| PathBuf::from("/dev/tty")));
        let mut list = Vec::new();
        let read = if namespaces == Namespaces::None {
            write.extend(self.tmp.clone());
            // Names show where contents are shut: otherwise nothing around a secret could be listed.
            list.clone_from(&self.read);
            if list.is_empty() {
                list.push("/".into());
            }
            readable::readable(&self.read, &self.hide)
        } else {
            write.extend(["/tmp", "/var/tmp", "/run", "/dev/shm", "/dev/pts"].map(PathBuf::from));
            let mut read = self.read.clone();
            if plan.read.is_empty() {
                read.push("/".into());
            } else {
                read.extend(["/proc", "/dev"].map(PathBuf::from));
            }
            read
        };
        let paths = |paths: Vec<PathBuf>| {
            paths.iter().map(|path| c_path(path)).collect::<Result<Vec<_>, _>>()
        };
        Ok(Rules {
            version,
            read: paths(read)?,
            list: paths(list)?,
            write: paths(write)?,
            no_tcp: namespaces == Namespaces::None,
        })
    }
}

fn is_private(path: &Path) -> bool {
    PRIVATE.iter().any(|private| path.starts_with(private))
}

/// A sandbox has another one of its own.
fn is_private_itself(path: &Path) -> bool {
    PRIVATE.iter().any(|private| path == Path::new(private))
}

/// Makes a live directory if it is missing, following no link on the way.
fn make_beneath(root: &Path, beneath: &Path) -> Result<(), SandboxError> {
    use rustix::fs::{Mode, OFlags, ResolveFlags};
    let failed = |error: rustix::io::Errno| {
        let path = root.join(beneath);
        SandboxError::Plan(format!("live directory `{}`: {error}", path.display()))
    };
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut at = rustix::fs::open(root, flags, Mode::empty()).map_err(failed)?;
    for part in beneath.components() {
        match rustix::fs::mkdirat(&at, part.as_os_str(), Mode::from(0o777)) {
            Ok(()) | Err(rustix::io::Errno::EXIST) => {}
            Err(error) => return Err(failed(error)),
        }
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        at = rustix::fs::openat2(&at, part.as_os_str(), flags, Mode::empty(), resolve)
            .map_err(failed)?;
    }
    Ok(())
}

/// The real place of a root: what is bound, hidden or allowed is never a link.
pub(super) fn real(path: &Path, what: &str) -> Result<PathBuf, SandboxError> {
    if !path.is_absolute() {
        return Err(SandboxError::Plan(format!("{what} `{}` is not absolute", path.display())));
    }
    path.canonicalize()
        .map_err(|error| SandboxError::Plan(format!("{what} `{}`: {error}", path.display())))
}

/// Whether a place lies in what a sandbox has of its own.
fn is_beneath_own(target: &Path) -> bool {
    ["/run", "/tmp"].iter().any(|it| target.starts_with(it) && target != Path::new(it))
}
