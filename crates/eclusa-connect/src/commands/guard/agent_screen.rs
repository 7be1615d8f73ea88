//! The terminal of a guarded agent. It is one of its own: what the agent writes goes to the person's
//! terminal and what the person types goes to the agent, but for the time of a question of ours.

use std::{
    io::{self, IsTerminal as _},
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread::JoinHandle,
};

use eclusa_sandbox::pseudo_terminal;
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr, tcsetwinsize},
};
use tokio::signal::unix::{SignalKind, signal};

use super::terminal_modes::TerminalModes;
use crate::commands::{failure::Failure, screen::spinner};

/// How long one look for bytes lasts: whoever wants the terminal waits that long at most.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
/// How much passes at once.
const CHUNK: usize = 16 << 10;

/// The screen of an agent. Clones are the same screen.
#[derive(Clone)]
pub(super) struct AgentScreen(Arc<Relay>);

struct Relay {
    ours: OwnedFd,
    /// How the person's terminal was.
    before: Termios,
    state: Mutex<RelayState>,
    changed: Condvar,
    /// Held while bytes pass, one for each direction.
    typing: Mutex<()>,
    drawing: Mutex<()>,
    modes: Mutex<TerminalModes>,
}

#[derive(Default)]
struct RelayState {
    /// How many want the terminal for themselves.
    aside: usize,
    ended: bool,
}

/// Bytes pass until it is dropped; then the person's terminal is as it was.
pub(super) struct Relaying {
    relay: Arc<Relay>,
    threads: Vec<JoinHandle<()>>,
    resizing: tokio::task::JoinHandle<()>,
    _quiet: spinner::Paused,
}

/// The screen is the person's and ours until this is dropped.
pub(super) struct SteppedBack<'a>(&'a Relay);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl AgentScreen {
    /// A screen on the person's terminal, and the agent's side of it.
    pub(super) fn open() -> Result<(AgentScreen, OwnedFd), Failure> {
        let made = || -> io::Result<_> {
            let (ours, theirs) = pseudo_terminal()?;
            rustix::io::ioctl_fionbio(&ours, true)?;
            let before = tcgetattr(io::stdin())?;
            // What the agent finds is what the person has.
            tcsetattr(&theirs, OptionalActions::Now, &before)?;
            Ok((ours, theirs, before))
        };
        let (ours, theirs, before) = made().map_err(|err| {
            Failure::failed(format!("no terminal can be made for the agent: {err}"))
        })?;
        let relay = Relay {
            ours,
            before,
            state: Mutex::default(),
            changed: Condvar::new(),
            typing: Mutex::default(),
            drawing: Mutex::default(),
            modes: Mutex::default(),
        };
        relay.resize();
        Ok((AgentScreen(Arc::new(relay)), theirs))
    }

    /// Whether there is a terminal of the person's.
    pub(super) fn is_there() -> bool {
        io::stdin().is_terminal() && io::stdout().is_terminal() && io::stderr().is_terminal()
    }

    /// Begins to relay.
    pub(super) fn relay(&self) -> Result<Relaying, Failure> {
        let mut windows = signal(SignalKind::window_change())?;
        let relay = self.0.clone();
        let resizing = tokio::spawn(async move {
            while windows.recv().await.is_some() {
                relay.resize();
            }
        });
        self.0.raw();
        let (drawer, typist) = (self.0.clone(), self.0.clone());
        let threads = vec![
            std::thread::spawn(move || drawer.draw()),
            std::thread::spawn(move || typist.pass_keys()),
        ];
        Ok(Relaying { relay: self.0.clone(), threads, resizing, _quiet: spinner::pause() })
    }

    /// Gives the terminal to a question.
    pub(super) fn step_back(&self) -> SteppedBack<'_> {
        let relay = &*self.0;
        lock(&relay.state).aside += 1;
        // What is under way ends first.
        let (typing, drawing) = (lock(&relay.typing), lock(&relay.drawing));
        relay.make_room();
        drop((typing, drawing));
        SteppedBack(relay)
    }
}

impl Drop for SteppedBack<'_> {
    fn drop(&mut self) {
        let relay = self.0;
        let mut state = lock(&relay.state);
        state.aside = state.aside.saturating_sub(1);
        if state.aside > 0 || state.ended {
            return;
        }
        relay.raw();
        write_all(io::stdout().as_fd(), lock(&relay.modes).enter().as_bytes());
        drop(state);
        relay.changed.notify_all();
        relay.repaint();
    }
}

impl Drop for Relaying {
    fn drop(&mut self) {
        lock(&self.relay.state).ended = true;
        self.relay.changed.notify_all();
        self.resizing.abort();
        for thread in self.threads.drain(..) {
            // One that crashed passes nothing any more.
            let _ = thread.join();
        }
        self.relay.restore();
    }
}

impl Relay {
    /// The person's terminal hands every key on as it is.
    fn raw(&self) {
        let mut raw = self.before.clone();
        raw.make_raw();
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &raw);
    }

    /// The person's terminal for a question: cleared, and nothing that the agent wrote is in force.
    fn make_room(&self) {
        let room = lock(&self.modes).make_room();
        write_all(io::stdout().as_fd(), room.as_bytes());
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.before);
    }

    /// The person's terminal as it was, with the cursor at the start of a line.
    fn restore(&self) {
        let leave = lock(&self.modes).leave();
        write_all(io::stdout().as_fd(), format!("{leave}\r\n").as_bytes());
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.before);
    }

    /// The agent's terminal is as large as the person's.
    fn resize(&self) {
        if let Ok(size) = tcgetwinsize(io::stdin()) {
            let _ = tcsetwinsize(&self.ours, size);
        }
    }

    /// Has the agent draw everything again, by a size that it had not and the one that it has.
    fn repaint(&self) {
        if let Ok(size) = tcgetwinsize(io::stdin()) {
            let mut other = size;
            other.ws_row = size.ws_row.saturating_sub(1).max(1);
            let _ = tcsetwinsize(&self.ours, other);
            let _ = tcsetwinsize(&self.ours, size);
        }
    }

    /// Waits while somebody else has the terminal. False: it is over.
    fn is_wanted(&self) -> bool {
        let mut state = lock(&self.state);
        while state.aside > 0 && !state.ended {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        !state.ended
    }

    fn is_aside(&self) -> bool {
        lock(&self.state).aside > 0
    }

    /// What the agent writes, until its end and then to its last byte.
    fn draw(&self) {
        let mut buffer = vec![0; CHUNK];
        loop {
            let wanted = self.is_wanted();
            let _drawing = lock(&self.drawing);
            if wanted && self.is_aside() {
                continue;
            }
            let readable = is_ready(self.ours.as_fd(), PollFlags::IN);
            let read = if readable { rustix::io::read(&self.ours, &mut buffer[..]) } else { Ok(0) };
            match read {
                Ok(0) | Err(Errno::AGAIN) if wanted => {}
                Ok(count) if count > 0 => {
                    let bytes = buffer.get(..count).unwrap_or_default();
                    lock(&self.modes).read(bytes);
                    write_all(io::stdout().as_fd(), bytes);
                }
                Err(Errno::INTR) => {}
                _ => return,
            }
        }
    }

    /// What the person types.
    fn pass_keys(&self) {
        let stdin = io::stdin();
        let mut buffer = vec![0; CHUNK];
        while self.is_wanted() {
            let _typing = lock(&self.typing);
            if self.is_aside() || !is_ready(stdin.as_fd(), PollFlags::IN) {
                continue;
            }
            match rustix::io::read(stdin.as_fd(), &mut buffer[..]) {
                Ok(count) if count > 0 => self.type_in(buffer.get(..count).unwrap_or_default()),
                Err(Errno::INTR | Errno::AGAIN) => {}
                _ => return,
            }
        }
    }

    /// Hands keys to the agent, for as long as it may take them.
    fn type_in(&self, mut bytes: &[u8]) {
        while !bytes.is_empty() && !lock(&self.state).ended {
            if !is_ready(self.ours.as_fd(), PollFlags::OUT) {
                continue;
            }
            match rustix::io::write(&self.ours, bytes) {
                Ok(count) => bytes = bytes.get(count..).unwrap_or_default(),
                Err(Errno::INTR | Errno::AGAIN) => {}
                Err(_) => return,
            }
        }
    }
}

/// Looks for a moment whether something can be read, or written.
fn is_ready(fd: BorrowedFd<'_>, wanted: PollFlags) -> bool {
    let mut polled = [PollFd::from_borrowed_fd(fd, wanted)];
    poll(&mut polled, Some(&LOOK)).is_ok_and(|ready| ready > 0)
}

/// Writes everything, if it can be written at all.
fn write_all(to: BorrowedFd<'_>, mut bytes: &[u8]) {
    while !bytes.is_empty() {
        match rustix::io::write(to, bytes) {
            Ok(count) => bytes = bytes.get(count..).unwrap_or_default(),
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => drop(is_ready(to, PollFlags::OUT)),
            Err(_) => return,
        }
    }
}
