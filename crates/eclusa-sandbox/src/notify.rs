//! System calls of a command that wait for an answer from outside its sandbox.
//!
//! A filter that the command is started with ([`renames`]) holds certain calls and tells of them on
//! a descriptor. Whoever has the descriptor looks at the call, does what is to be
//! done, and answers: with a result, with an error, or by letting the kernel go on.
//!
//! * [`help_renames`]: an overlay refuses to rename a directory of the workspace (`EXDEV`), on
//!   which `git mv`, `os.rename` and `fs.renameSync` rely. Here it is done piece by piece.
//!
//! * `OwnSide`: without namespaces, signals to other processes, metadata of files outside, the network, and `/tmp`.
//!
//! What a call says is read from the memory of a process that goes on running, and that may change
//! it at any time. So nothing is decided by it that protects anything: a call that goes on is held
//! by the namespaces of the sandbox as any other, or is judged by its registers alone; and what is done in its place is
//! done by a thread that has no more rights than the command, on handles, in the directories that were named beforehand.
//! That the process is still the one that asked is verified after it was looked at.

use std::{
    fmt, io,
    os::fd::{AsFd, OwnedFd},
    sync::Arc,
    thread::JoinHandle,
};

use rustix::{
    event::{PollFd, PollFlags},
    io::Errno,
    thread::{CapabilitySet, CapabilitySets},
};

pub use crate::exit::DirRenames;
pub use dir_rename::help_renames;
pub use filter::renames;
pub(crate) use network::{Reachable, SOCKETS};
pub(crate) use outside::{OwnSide, SIGNALS};
pub(crate) use own_tmp::{OwnTmp, path_calls};

mod again;
mod caller;
mod dir_rename;
mod filter;
mod kernel;
mod moving;
mod network;
mod outside;
mod own_tmp;
mod times;

/// What becomes of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SyscallAnswer {
    /// The kernel does it, as if nobody had looked.
    GoOn,
    /// It was done here.
    Done,
    /// It fails with this error.
    Fail(Errno),
    /// It does not wait any more, and is made again.
    Again,
}

/// Looks at one call after the other.
trait Observer: Send + 'static {
    /// What is known at the end.
    type Found: Send + 'static;

    /// Answers a call.
    fn answer(&mut self, call: &kernel::Call, listener: &OwnedFd) -> SyscallAnswer;

    /// There will be no more calls.
    fn finish(self) -> Self::Found;
}

/// A thread that answers calls, until nobody is left who could make one.
#[must_use = "calls wait for ever when nobody answers them"]
pub struct Watching<Found> {
    wake: Arc<OwnedFd>,
    /// Ends with the descriptor. If it panics the descriptor is closed, and whoever waits is told so.
    thread: Option<JoinHandle<(Found, OwnedFd)>>,
}

impl<Found> Watching<Found> {
    /// Answers what still waits, ends, and returns what was found. To be called when the command
    /// has ended with everything it started: a call that is made later fails, as if the kernel did
    /// not know it.
    pub fn finish(self) -> io::Result<Found> {
        self.leave().map(|it| it.0)
    }

    /// The same, with the descriptor on which later calls wait for whoever answers next.
    pub(crate) fn leave(mut self) -> io::Result<(Found, OwnedFd)> {
        let thread = self.thread.take().ok_or_else(|| io::Error::other("it has finished"))?;
        let _ = rustix::io::write(&*self.wake, &1_u64.to_ne_bytes());
        thread.join().map_err(|_| io::Error::other("the thread that answers calls has panicked"))
    }
}

impl<Found> Drop for Watching<Found> {
    fn drop(&mut self) {
        let _ = rustix::io::write(&*self.wake, &1_u64.to_ne_bytes());
    }
}

impl<Found> fmt::Debug for Watching<Found> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Watching")
    }
}

/// Starts a thread that answers the calls of a listener.
fn watch<O: Observer>(listener: OwnedFd, mut observer: O) -> io::Result<Watching<O::Found>> {
    let wake = Arc::new(crate::reach::wake_event()?);
    let woken = wake.clone();
    let serve = move || {
        // Without rights of its own, the thread can do no more than whoever started the command
        // could as an ordinary user. If that fails, nothing is done here at all.
        let humble = give_up_rights().is_ok();
        kernel::wake_quickly(&listener);
        while wait(&listener, &woken) {
            let Some(call) = kernel::receive(&listener) else { continue };
            let answer = if humble {
                observer.answer(&call, &listener)
            } else {
                SyscallAnswer::Fail(Errno::PERM)
            };
            // Whoever asked may be gone; then nobody needs the answer.
            let _ = match answer {
                SyscallAnswer::GoOn => kernel::go_on(&listener, call.id),
                SyscallAnswer::Done => kernel::reply(&listener, call.id, None),
                SyscallAnswer::Fail(errno) => kernel::reply(&listener, call.id, Some(errno)),
                SyscallAnswer::Again => Ok(()),
            };
        }
        (observer.finish(), listener)
    };
    let thread = std::thread::Builder::new().name("notify".to_owned()).spawn(serve)?;
    Ok(Watching { wake, thread: Some(thread) })
}

/// True when a call waits. False when no process has the filter any more, or when somebody wants
/// an end and nothing waits.
fn wait(listener: &OwnedFd, woken: &OwnedFd) -> bool {
    loop {
        let mut ready = [PollFd::new(listener, PollFlags::IN), PollFd::new(woken, PollFlags::IN)];
        match rustix::event::poll(&mut ready, None) {
            Ok(_) => {}
            Err(Errno::INTR) => continue,
            Err(_) => return false,
        }
        let [calls, end] = &ready;
        if calls.revents().contains(PollFlags::IN) {
            return true;
        }
        if !calls.revents().is_empty() || !end.revents().is_empty() {
            return false;
        }
    }
}

/// Gives up every capability of this thread, and of no other.
fn give_up_rights() -> rustix::io::Result<()> {
    let none = CapabilitySet::empty();
    let none = CapabilitySets { effective: none, permitted: none, inheritable: none };
    rustix::thread::set_capabilities(None, none)
}

/// The file that a handle leads to, on which device and at which inode.
fn identity(handle: impl AsFd) -> rustix::io::Result<(u64, u64)> {
    let stat = rustix::fs::fstat(handle)?;
    Ok((stat.st_dev, stat.st_ino))
}
