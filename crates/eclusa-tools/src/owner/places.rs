//! Where the owner of a session is found: a socket that nobody else can reach, in a directory that is this user's.
//!
//! ```text
//! STATE/sessions/ID/lock     held by the owner for as long as it lives
//! STATE/sessions/ID/owner    its socket
//! ```

use std::{
    fs::{DirBuilder, File, OpenOptions},
    io,
    os::{
        fd::{AsRawFd as _, OwnedFd},
        unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    },
    path::{Path, PathBuf},
    time::Duration,
};

use eclusa::Hash;
use rustix::{
    fs::{AtFlags, Mode, OFlags, fstat, open, unlinkat},
    io::Errno,
    net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, listen, socket_with},
};

const SOCKET: &str = "owner";
/// How often a place is tried that somebody else has at this moment, and how long after.
const TRIES: usize = 100;
const STEP: Duration = Duration::from_millis(5);

/// Where sessions have their owners, beneath a directory of state.
pub(crate) fn all_sessions(state: &Path) -> PathBuf {
    state.join("sessions")
}

/// What a session is called where it is kept.
pub(crate) fn session_id(session: &str) -> String {
    let mut hex = Hash::sha256(session.as_bytes()).to_string();
    hex.truncate(24);
    hex
}

/// The directory of one session, open.
#[derive(Debug)]
pub(super) struct SessionPlace {
    path: PathBuf,
    dir: OwnedFd,
}

impl SessionPlace {
    /// The directory of a session, made if need be.
    pub(super) fn make(path: &Path) -> io::Result<SessionPlace> {
        DirBuilder::new().recursive(true).mode(0o700).create(path)?;
        SessionPlace::open(path)?.ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// The directory of a session, if there is one. One that others can write to is an error.
    pub(super) fn open(path: &Path) -> io::Result<Option<SessionPlace>> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let dir = match open(path, flags, Mode::empty()) {
            Err(Errno::NOENT) => return Ok(None),
            dir => dir?,
        };
        let about = fstat(&dir)?;
        if about.st_uid != rustix::process::geteuid().as_raw() || about.st_mode & 0o077 != 0 {
            let text = format!("other users can reach `{}`; remove it", path.display());
            return Err(io::Error::other(text));
        }
        Ok(Some(SessionPlace { path: path.to_owned(), dir }))
    }

    /// The lock of the owner, if nobody has it.
    pub(super) fn lock(&self) -> io::Result<Option<File>> {
        let path = self.path.join("lock");
        let lock = OpenOptions::new().create(true).append(true).mode(0o600).open(path)?;
        Ok(lock.try_lock().is_ok().then_some(lock))
    }

    /// Whether it is still found where it was.
    fn is_there(&self) -> bool {
        let there = rustix::fs::stat(&self.path).map(|it| (it.st_dev, it.st_ino));
        let ours = fstat(&self.dir).map(|it| (it.st_dev, it.st_ino));
        ours.is_ok() && there == ours
    }

    /// The directory of a session for its new owner, with its lock. `None`: it has one that lives.
    pub(super) fn take(path: &Path) -> io::Result<Option<(SessionPlace, File)>> {
        for _ in 0..TRIES {
            let place = match SessionPlace::make(path) {
                Err(err) if err.kind() == io::ErrorKind::NotFound => continue,
                place => place?,
            };
            match place.lock() {
                Ok(Some(lock)) if place.is_there() => return Ok(Some((place, lock))),
                Ok(None) if place.connect()?.is_some() => return Ok(None),
                // Somebody begins, or removes what an owner that died has left.
                Ok(_) => std::thread::sleep(STEP),
                Err(err) if err.kind() == io::ErrorKind::NotFound => {}
                Err(err) => return Err(err),
            }
        }
        Ok(None)
    }

    /// The socket by a name that is short enough wherever the directory lies.
    fn address(&self) -> io::Result<SocketAddrUnix> {
        Ok(SocketAddrUnix::new(format!("/proc/self/fd/{}/{SOCKET}", self.dir.as_raw_fd()))?)
    }

    /// A new socket that listens, in the place of one whose owner has died. Whoever has the lock may.
    pub(super) fn listen(&self) -> io::Result<OwnedFd> {
        self.remove_socket();
        let flags = SocketFlags::CLOEXEC;
        let socket = socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?;
        bind(&socket, &self.address()?)?;
        let private = Mode::RUSR | Mode::WUSR;
        rustix::fs::chmodat(&self.dir, SOCKET, private, AtFlags::empty())?;
        listen(&socket, 64)?;
        Ok(socket)
    }

    /// Connects to the owner. `None`: there is none that lives.
    pub(super) fn connect(&self) -> io::Result<Option<OwnedFd>> {
        let flags = SocketFlags::CLOEXEC;
        let socket = socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?;
        match rustix::net::connect(&socket, &self.address()?) {
            Ok(()) => {}
            Err(Errno::NOENT | Errno::CONNREFUSED | Errno::NOTDIR) => return Ok(None),
            Err(err) => return Err(err.into()),
        }
        Ok(Some(socket))
    }

    fn remove_socket(&self) {
        let _ = unlinkat(&self.dir, SOCKET, AtFlags::empty());
    }

    /// Removes the directory with what an owner leaves in it. Whoever has the lock may.
    pub(super) fn remove(&self) {
        self.remove_socket();
        let _ = unlinkat(&self.dir, "lock", AtFlags::empty());
        let _ = rustix::fs::rmdir(&self.path);
    }
}

/// Removes what owners that died have left, and says how many those were.
pub(crate) fn sweep_sessions(state: &Path) -> usize {
    let mut swept = 0;
    for entry in std::fs::read_dir(all_sessions(state)).into_iter().flatten().flatten() {
        let Ok(Some(place)) = SessionPlace::open(&entry.path()) else { continue };
        // One that lives has the lock.
        if let Ok(Some(lock)) = place.lock()
            && place.is_there()
            && matches!(place.connect(), Ok(None))
        {
            place.remove();
            drop(lock);
            swept += 1;
        }
    }
    swept
}

/// True when whoever is at the other end is this user.
pub(super) fn is_ours(socket: &OwnedFd) -> io::Result<i32> {
    let peer = rustix::net::sockopt::socket_peercred(socket)?;
    match peer.uid == rustix::process::geteuid() {
        true => Ok(peer.pid.as_raw_nonzero().get()),
        false => Err(io::Error::other("the other end of the socket is another user's")),
    }
}
