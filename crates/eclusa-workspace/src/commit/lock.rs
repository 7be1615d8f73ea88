//! One transaction at a time for a workspace, whoever makes it, and a number for each.

use std::{
    collections::HashSet,
    fs::File,
    io,
    os::{fd::OwnedFd, unix::fs::FileExt},
    path::Path,
    sync::{Mutex, MutexGuard, OnceLock, PoisonError},
};

use rustix::fs::{FlockOperation, Mode, OFlags};

/// The lock of a state directory: between threads by itself, between processes by its file. The
/// file holds the last sequence number and whether a transaction is going on.
#[derive(Debug)]
pub(crate) struct Lock(Mutex<LockInner>);

#[derive(Debug)]
struct LockInner {
    file: File,
    /// Which calls have made a transaction, up to the transaction of this number; `None`: nobody has
    /// looked.
    calls: HashSet<u64>,
    known: Option<u64>,
}

/// How much is kept for undo, as far as whoever last looked knew.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct KeptTally {
    /// Bytes when it was last counted, and what transactions kept since.
    pub(crate) bytes: u64,
    /// How many transactions there were since.
    pub(crate) since: u64,
}

/// Where the mark stands in the file, behind the number.
const BUSY: u64 = 8;

/// Where the tally stands in the file, behind the number and its mark.
const TALLY: u64 = 16;

/// Where the highest call stands that may have made a transaction; behind it the number of the transaction
/// up to which that is so, and since which start of the machine: what was written just before one may be lost.
const HIGHEST: u64 = 32;

/// The lock, held. It is given back when dropped, and by the kernel when the process dies.
pub(crate) struct LockGuard<'a> {
    inner: MutexGuard<'a, LockInner>,
    /// The lock of the repository that other working trees share, held as long.
    _repository: Option<OwnedFd>,
}

/// Waits for the lock that all working trees of a repository have in common, which is on the directory that they
/// share: each has a state of its own, and what they change of the repository is one thing. `None` where there is no
/// such directory, or its filesystem knows no locks; git's own locks hold there.
pub(crate) fn hold_repository(common: &Path) -> Option<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let directory = rustix::fs::open(common, flags, Mode::empty()).ok()?;
    loop {
        match rustix::fs::flock(&directory, FlockOperation::LockExclusive) {
            Ok(()) => return Some(directory),
            Err(rustix::io::Errno::INTR) => {}
            Err(err) => {
                tracing::debug!(%err, "a repository cannot be locked for all its working trees");
                return None;
            }
        }
    }
}

impl Lock {
    /// Opens the lock file in a state directory.
    pub(crate) fn open(state: &OwnedFd) -> io::Result<Lock> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = rustix::fs::openat(state, "lock", flags, Mode::from_raw_mode(0o600))?;
        let file = File::from(file);
        Ok(Lock(Mutex::new(LockInner { file, calls: HashSet::new(), known: None })))
    }

    /// What is known of how much is kept, at some moment. `None`: it was never counted.
    pub(crate) fn tally(&self) -> io::Result<Option<KeptTally>> {
        tally(&self.0.lock().unwrap_or_else(PoisonError::into_inner).file)
    }

    /// The number of the last transaction, at some moment.
    pub(crate) fn last_number(&self) -> io::Result<u64> {
        let inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut number = [0; 8];
        match inner.file.read_exact_at(&mut number, 0) {
            Ok(()) => Ok(u64::from_le_bytes(number)),
            Err(err) if err.kind() == io::ErrorKind::UnexpectedEof => Ok(0),
            Err(err) => Err(err),
        }
    }

    /// Waits for the lock, and then for that of the repository in this directory.
    pub(crate) fn hold(&self, common: &Path) -> io::Result<LockGuard<'_>> {
        let inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            match rustix::fs::flock(&inner.file, FlockOperation::LockExclusive) {
                Ok(()) => {
                    let _repository = hold_repository(common);
                    return Ok(LockGuard { inner, _repository });
                }
                Err(rustix::io::Errno::INTR) => {}
                Err(err) => return Err(err.into()),
            }
        }
    }
}

impl LockGuard<'_> {
    /// The last number given, and whether the transaction that has it may be unfinished.
    fn read(&self) -> io::Result<(u64, bool)> {
        let mut bytes = [0; 9];
        match self.inner.file.read_exact_at(&mut bytes, 0) {
            Ok(()) => {
                let [number @ .., busy] = bytes;
                Ok((u64::from_le_bytes(number), busy != 0))
            }
            Err(err) if err.kind() == io::ErrorKind::UnexpectedEof => Ok((0, false)),
            Err(err) => Err(err),
        }
    }

    fn write(&self, number: u64, busy: bool) -> io::Result<()> {
        let [a, b, c, d, e, f, g, h] = number.to_le_bytes();
        self.inner.file.write_all_at(&[a, b, c, d, e, f, g, h, u8::from(busy)], 0)
    }

    /// True when whoever had the lock before died in the middle.
    pub(crate) fn is_busy(&self) -> io::Result<bool> {
        Ok(self.read()?.1)
    }

    /// The next number. The state counts as busy until [`LockGuard::rest`].
    pub(crate) fn next(&self, sync: bool) -> io::Result<u64> {
        let number = self.read()?.0 + 1;
        self.write(number, true)?;
        if sync {
            self.inner.file.sync_data()?;
        }
        Ok(number)
    }

    /// Whether a call has made a transaction before this one. `list` reads which have, and is asked
    /// only about a call that is not the highest, if somebody else has made transactions since.
    pub(crate) fn has_made<E>(
        &mut self,
        call: u64,
        number: u64,
        list: impl FnOnce() -> Result<HashSet<u64>, E>,
    ) -> Result<bool, E> {
        let listed = self.inner.known.is_some() && self.inner.known == number.checked_sub(1);
        let highest = self.highest(number.checked_sub(1));
        if highest.is_some_and(|it| call > it) {
            self.set_highest(call, number);
            self.inner.known = listed.then_some(number);
            return Ok(false);
        }
        if !listed {
            self.inner.calls = list()?;
        }
        self.inner.known = Some(number);
        let listed = self.inner.calls.iter().copied().max();
        self.set_highest(listed.max(highest).max(Some(call)).unwrap_or(call), number);
        Ok(self.inner.calls.contains(&call))
    }

    /// A call has made its transaction.
    pub(crate) fn made(&mut self, call: u64) {
        self.inner.calls.insert(call);
    }

    /// No call above this has made one of the transactions up to this number. `None`: nobody can tell.
    fn highest(&self, number: Option<u64>) -> Option<u64> {
        let mut noted = [0; 24];
        self.inner.file.read_exact_at(&mut noted, HIGHEST).ok()?;
        let (call, rest) = noted.split_first_chunk::<8>()?;
        let (until, boot) = rest.split_first_chunk::<8>()?;
        let holds = Some(u64::from_le_bytes(*until)) == number && *boot == boot_mark()?;
        holds.then(|| u64::from_le_bytes(*call))
    }

    /// What cannot be noted is read from the list of transactions the next time.
    fn set_highest(&self, call: u64, number: u64) {
        let Some(boot) = boot_mark() else { return };
        let noted = [call.to_le_bytes(), number.to_le_bytes(), boot].concat();
        if let Err(err) = self.inner.file.write_all_at(&noted, HIGHEST) {
            tracing::debug!(%err, "the highest call cannot be noted");
        }
    }

    /// A transaction keeps so many bytes more. What was never counted stays so.
    pub(crate) fn add_kept(&self, bytes: u64) -> io::Result<()> {
        let Some(KeptTally { bytes: had, since }) = tally(&self.inner.file)? else { return Ok(()) };
        self.set_tally(KeptTally { bytes: had.saturating_add(bytes), since: since + 1 })
    }

    /// So much is kept: somebody has counted.
    pub(crate) fn set_tally(&self, tally: KeptTally) -> io::Result<()> {
        let mut text = [0; 16];
        let (bytes, since) = text.split_at_mut(8);
        bytes.copy_from_slice(&tally.bytes.to_le_bytes());
        since.copy_from_slice(&tally.since.to_le_bytes());
        self.inner.file.write_all_at(&text, TALLY)
    }

    /// Nothing is unfinished, and no number up to this one will be given again.
    pub(crate) fn rest(&self, at_least: u64) -> io::Result<()> {
        let (number, busy) = self.read()?;
        if busy || number < at_least {
            self.write(number.max(at_least), false)?;
        }
        Ok(())
    }
}

fn tally(file: &File) -> io::Result<Option<KeptTally>> {
    let (mut bytes, mut since) = ([0; 8], [0; 8]);
    let read = file.read_exact_at(&mut bytes, TALLY);
    match read.and_then(|()| file.read_exact_at(&mut since, TALLY + 8)) {
        Ok(()) => Ok(Some(KeptTally {
            bytes: u64::from_le_bytes(bytes),
            since: u64::from_le_bytes(since),
        })),
        Err(err) if err.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        Err(err) => Err(err),
    }
}

/// Takes the lock in a file of its own, if nobody has it, and says whether whoever had it before died
/// in the middle. It is given back when the file is closed. `None`: somebody has it.
pub(crate) fn try_hold(path: &Path) -> io::Result<Option<(File, bool)>> {
    let file = File::options().read(true).write(true).open(path)?;
    match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => {}
        Err(rustix::io::Errno::WOULDBLOCK | rustix::io::Errno::INTR) => return Ok(None),
        Err(err) => return Err(err.into()),
    }
    let mut busy = [0];
    let marked = match file.read_exact_at(&mut busy, BUSY) {
        Ok(()) => busy != [0],
        Err(err) if err.kind() == io::ErrorKind::UnexpectedEof => false,
        Err(err) => return Err(err),
    };
    Ok(Some((file, marked)))
}

/// Says in a lock file that something is going on, or that nothing is.
pub(crate) fn mark(lock: &File, busy: bool) -> io::Result<()> {
    lock.write_all_at(&[u8::from(busy)], BUSY)
}

/// Which start of the machine this is.
fn boot_mark() -> Option<[u8; 8]> {
    static MARK: OnceLock<Option<[u8; 8]>> = OnceLock::new();
    let read = || {
        let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
        blake3::hash(id.trim().as_bytes()).as_bytes().first_chunk().copied()
    };
    *MARK.get_or_init(read)
}

impl Drop for LockGuard<'_> {
    fn drop(&mut self) {
        // The kernel would do it when the file is closed; a failure here has no cure.
        let _ = rustix::fs::flock(&self.inner.file, FlockOperation::Unlock);
    }
}

#[cfg(test)]
mod tests;
