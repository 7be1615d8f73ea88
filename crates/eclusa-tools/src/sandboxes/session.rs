//! What the commands of one session share: a `/tmp` that lasts, and a loopback network.
//!
//! ```text
//! STATE/tmp/NAME/lock    held by every process that uses it; its time is that of the last use
//! STATE/tmp/NAME/root    what commands see as /tmp
//! STATE/tmp/NAME/home    what programs write for themselves below the home
//! ```

use std::{
    collections::HashMap,
    ffi::OsStr,
    fs::{self, File, OpenOptions},
    io,
    os::unix::ffi::OsStrExt as _,
    path::{Component, Path, PathBuf},
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, SystemTime},
};

use eclusa::Hash;
use eclusa_sandbox::{HostCapabilities, OwnServers, Plan, SharedNetwork, scan::discard};
use rustix::{
    fs::{
        AtFlags, Dir, FileType, Mode, OFlags, ResolveFlags, chmodat, mkdirat, open, openat2,
        statat, unlinkat,
    },
    io::Errno,
};

use super::{caches::Caches, private};
use crate::owner::{OwnerClient, OwnerError};

/// What commands see as `/tmp`, in the directory of a session.
const ROOT: &str = "root";
/// A `/tmp` that nobody has used for this long belongs to a session that is over.
const MAX_AGE: Duration = Duration::from_secs(24 * 3600);
/// Sessions that are open at once; beyond that those are closed that run nothing.
const MAX_CONVERSATIONS: usize = 256;
/// The most names in a `/tmp`, beyond which it counts as full.
const MAX_NAMES: usize = 100_000;

/// Every session of this program.
#[derive(Debug)]
pub(super) struct SandboxSessions {
    place: PathBuf,
    open: Mutex<HashMap<String, Arc<SandboxSession>>>,
}

/// One session. What it has goes when it is over and the last command of it has ended.
#[derive(Debug)]
pub(super) struct SandboxSession {
    tmp: Option<Tmp>,
    /// What programs write for themselves below the home.
    home: Option<Caches>,
    network: OnceLock<Option<SharedNetwork>>,
    /// What its commands listen on, where there is no such network.
    servers: OwnServers,
    over: AtomicBool,
}

#[derive(Debug)]
struct Tmp {
    path: PathBuf,
    lock: File,
}

impl SandboxSessions {
    /// Sessions whose `/tmp` are beneath this directory of state.
    pub(super) fn new(state: &Path) -> SandboxSessions {
        SandboxSessions { place: state.join("tmp"), open: Mutex::default() }
    }

    /// Where they are: nobody's business inside a sandbox.
    pub(super) fn place(&self) -> &Path {
        &self.place
    }

    /// A session by its name. `most` is the size of its `/tmp` in bytes.
    pub(super) fn get(&self, name: &str, most: u64) -> Arc<SandboxSession> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = open.get(name) {
            found.used();
            return found.clone();
        }
        if open.len() >= MAX_CONVERSATIONS {
            open.retain(|_, it| Arc::strong_count(it) > 1);
        }
        let mut hex = Hash::sha256(name.as_bytes()).to_string();
        hex.truncate(24);
        let tmp = Tmp::open(self.place.join(hex), most);
        let tmp = tmp.inspect_err(|err| tracing::warn!("no /tmp that lasts: {err}")).ok();
        let home = tmp.as_ref().map(|it| Caches::of_session(it.path.join("home")));
        let (network, over) = (OnceLock::new(), AtomicBool::new(false));
        let new = SandboxSession { tmp, home, network, servers: OwnServers::default(), over };
        let new = Arc::new(new);
        open.insert(name.to_owned(), new.clone());
        new
    }

    /// The network of a session, where a command of this program has one.
    pub(super) fn network(&self, name: &str) -> Option<SharedNetwork> {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.get(name)?.network.get()?.clone()
    }

    /// The session is over: what it has goes with the last of its commands.
    pub(super) fn end(&self, name: &str) {
        let ended = self.open.lock().unwrap_or_else(PoisonError::into_inner).remove(name);
        if let Some(ended) = ended {
            ended.over.store(true, Ordering::Relaxed);
        }
    }

    /// Removes what sessions of programs that died have left, and says how much that was.
    pub(super) fn sweep(&self) -> io::Result<usize> {
        let mut swept = 0;
        let entries = match fs::read_dir(&self.place) {
            Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(0),
            entries => entries?,
        };
        for entry in entries {
            let path = entry?.path();
            let Ok(lock) = File::open(path.join("lock")) else { continue };
            let age = lock.metadata()?.modified()?.elapsed().unwrap_or_default();
            if age > MAX_AGE && lock.try_lock().is_ok() {
                discard(&path)?;
                swept += 1;
            }
        }
        Ok(swept)
    }
}

impl SandboxSession {
    /// Gives a plan the `/tmp` of the session, and clears the way to what is mounted in it.
    pub(super) fn furnish(&self, plan: &mut Plan) {
        let Some(tmp) = &self.tmp else { return };
        let root = tmp.path.join(ROOT);
        let staged = plan.stage.iter().map(|it| &it.lower);
        let named = plan.read.iter().chain(&plan.write).chain([&plan.cwd]).chain(staged);
        for path in named {
            let path = path.canonicalize().unwrap_or_else(|_| path.clone());
            for place in ["/tmp", "/var/tmp"] {
                if let Ok(beneath) = path.strip_prefix(place) {
                    clear_way(&root, beneath);
                }
            }
        }
        plan.tmp = Some(root);
    }

    /// What programs write for themselves below the home, where it lasts.
    pub(super) fn home(&self) -> Option<&Caches> {
        self.home.as_ref()
    }

    /// The network of the session: that of its owner, or one that is made when it is first wanted.
    pub(super) fn network(
        &self,
        capabilities: &HostCapabilities,
        owner: Option<OwnerClient>,
    ) -> Result<Option<SharedNetwork>, OwnerError> {
        if let (Some(owner), None) = (owner, self.network.get())
            && let Some(network) = owner.network()?
        {
            return Ok(self.network.get_or_init(|| Some(network)).clone());
        }
        let make = || {
            let made = SharedNetwork::new(capabilities);
            made.inspect_err(|err| tracing::debug!("no network of its own: {err}")).ok()
        };
        Ok(self.network.get_or_init(make).clone())
    }

    /// What its commands listen on, where none has a network of its own.
    pub(super) fn servers(&self) -> OwnServers {
        self.servers.clone()
    }

    /// A handle that keeps its `/tmp` for as long as it is open.
    pub(super) fn lock(&self) -> Option<File> {
        self.tmp.as_ref().and_then(|it| it.lock.try_clone().ok())
    }

    /// Whether another process is in the session: each holds a share of the lock, and so does a job.
    pub(super) fn is_used_elsewhere(&self) -> bool {
        let Some(tmp) = &self.tmp else { return false };
        let alone = tmp.lock.try_lock().is_ok();
        // Whoever comes meanwhile waits for this.
        let shared = tmp.lock.lock_shared();
        !alone || shared.is_err()
    }

    fn used(&self) {
        if let Some(tmp) = &self.tmp {
            let _ = tmp.lock.set_modified(SystemTime::now());
        }
    }
}

impl Drop for SandboxSession {
    fn drop(&mut self) {
        if let (true, Some(tmp)) = (self.over.load(Ordering::Relaxed), &self.tmp) {
            // Another program may be in the same session.
            if tmp.lock.unlock().is_ok()
                && tmp.lock.try_lock().is_ok()
                && let Err(err) = discard(&tmp.path)
            {
                tracing::warn!("`{}` could not be removed: {err}", tmp.path.display());
            }
        }
    }
}

impl Tmp {
    /// Opens the `/tmp` of a session, or makes it. One that is full is emptied first, unless
    /// another program uses it.
    fn open(path: PathBuf, most: u64) -> io::Result<Tmp> {
        private(&path)?;
        let lock = path.join("lock");
        let lock = OpenOptions::new().create(true).append(true).open(lock)?;
        let root = path.join(ROOT);
        if is_full(&root, most) && lock.try_lock().is_ok() {
            tracing::warn!("`{}` was full and has been emptied", root.display());
            discard(&root)?;
            lock.unlock()?;
        }
        lock.lock_shared()?;
        lock.set_modified(SystemTime::now())?;
        // It is there, or it is made: a link in its place is an error.
        let held = open(&path, STEP, Mode::empty())?;
        match mkdirat(&held, ROOT, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(err) => return Err(err.into()),
        }
        openat2(&held, ROOT, STEP, Mode::empty(), within())?;
        chmodat(&held, ROOT, Mode::from_raw_mode(0o1777), AtFlags::empty())?;
        Ok(Tmp { path, lock })
    }
}

/// Whether a directory holds more than it may, as far as its names can be read.
fn is_full(root: &Path, most: u64) -> bool {
    let (mut names, mut bytes) = (0_usize, 0_u64);
    let Ok(root) = open(root, STEP, Mode::empty()) else { return false };
    let mut pending = vec![PathBuf::from(".")];
    while let Some(path) = pending.pop() {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = openat2(&root, &path, flags, Mode::empty(), within());
        let Ok(mut entries) = opened.and_then(Dir::new) else { continue };
        while let Some(Ok(entry)) = entries.read() {
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            let dots = name == "." || name == "..";
            let about = entries.fd().and_then(|it| statat(it, name, AtFlags::SYMLINK_NOFOLLOW));
            let Some(about) = about.ok().filter(|_| !dots) else { continue };
            names += 1;
            bytes = bytes.saturating_add(u64::try_from(about.st_size).unwrap_or_default());
            if FileType::from_raw_mode(about.st_mode) == FileType::Directory {
                pending.push(path.join(name));
            }
            if names > MAX_NAMES || bytes > most {
                return true;
            }
        }
    }
    false
}

/// How a directory on the way is held.
const STEP: OFlags =
    OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Commands change this tree while it is walked: no link is followed, and no mount is entered.
fn within() -> ResolveFlags {
    ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_XDEV
}

/// Removes what a command has put in the way to a place where something will be mounted: only
/// directories may lead there. A command that still runs may swap them for links at any moment, so
/// each step is taken from a handle to the last and follows no link.
fn clear_way(root: &Path, beneath: &Path) {
    let Ok(mut at) = open(root, STEP, Mode::empty()) else { return };
    for part in beneath.components() {
        let Component::Normal(part) = part else { continue };
        match openat2(&at, part, STEP, Mode::empty(), within()) {
            Ok(next) => at = next,
            Err(Errno::NOENT) => return,
            // Whatever it is, it is no directory of this tree. It lies in the directory that is held.
            Err(_) => {
                let _ = unlinkat(&at, part, AtFlags::empty());
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests;
