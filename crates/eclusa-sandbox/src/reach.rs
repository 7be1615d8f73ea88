//! Reaching a command from elsewhere: to end it, to send it a signal, or to talk to it.

use std::fmt;
use std::io;
use std::os::fd::OwnedFd;
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};

use rustix::process::Signal;

/// What one thread waits for and another writes to.
#[cfg(target_os = "linux")]
pub(crate) fn wake_event() -> io::Result<OwnedFd> {
    Ok(rustix::event::eventfd(0, rustix::event::EventfdFlags::CLOEXEC)?)
}

/// There is no such thing here, and no command to wait for.
#[cfg(not(target_os = "linux"))]
pub(crate) fn wake_event() -> io::Result<OwnedFd> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Ends a command from elsewhere, or sends it signals. Clones reach the same command.
#[derive(Debug, Clone)]
pub struct Cancel(Arc<CancelState>);

#[derive(Debug)]
struct CancelState {
    event: OwnedFd,
    wanted: Mutex<Wanted>,
}

/// What somebody wants of a command.
#[derive(Debug, Default)]
pub(crate) struct Wanted {
    pub(crate) end: bool,
    /// It goes on, and is watched by somebody else.
    pub(crate) let_go: bool,
    pub(crate) signals: Vec<Sent>,
}

impl Cancel {
    pub(crate) fn new() -> io::Result<Cancel> {
        let event = wake_event()?;
        rustix::io::ioctl_fionbio(&event, true)?;
        Ok(Cancel(Arc::new(CancelState { event, wanted: Mutex::default() })))
    }

    /// Asks for the end: politely first, for sure after the grace of the plan.
    pub fn cancel(&self) {
        self.want(|it| it.end = true);
    }

    /// Sends a signal to the command and what it started. One that asks for no end (`USR1` and
    /// the like) reaches those processes that handle it, where there are any: it would kill the
    /// shell around them.
    pub fn signal(&self, signal: Sent) {
        self.want(|it| it.signals.push(signal));
    }

    /// Asks for it to be left running.
    #[cfg(enforced)]
    pub(crate) fn let_go(&self) {
        self.want(|it| it.let_go = true);
    }

    fn want(&self, add: impl FnOnce(&mut Wanted)) {
        add(&mut self.0.wanted.lock().unwrap_or_else(PoisonError::into_inner));
        // It can only fail where it has been done so often before that the counter is full.
        let _ = rustix::io::write(&self.0.event, &1u64.to_ne_bytes());
    }

    /// Where it shows that something is wanted.
    pub(crate) fn event(&self) -> &OwnedFd {
        &self.0.event
    }

    /// What is wanted since the last time.
    pub(crate) fn take(&self) -> Wanted {
        let _ = rustix::io::read(&self.0.event, &mut [0; 8]);
        std::mem::take(&mut *self.0.wanted.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A signal that can be sent to a command, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sent {
    name: &'static str,
    pub(crate) signal: Signal,
    /// Whether it is for everybody; otherwise for those who handle it.
    pub(crate) all: bool,
}

/// All of them: those that a terminal sends go to everybody.
const ALL: [(&str, Signal, bool); 16] = [
    ("HUP", Signal::HUP, true),
    ("INT", Signal::INT, true),
    ("QUIT", Signal::QUIT, true),
    ("KILL", Signal::KILL, true),
    ("TERM", Signal::TERM, true),
    ("STOP", Signal::STOP, true),
    ("CONT", Signal::CONT, true),
    ("TSTP", Signal::TSTP, true),
    ("ABRT", Signal::ABORT, true),
    ("USR1", Signal::USR1, false),
    ("USR2", Signal::USR2, false),
    ("ALRM", Signal::ALARM, false),
    ("VTALRM", Signal::VTALARM, false),
    ("PIPE", Signal::PIPE, false),
    ("WINCH", Signal::WINCH, false),
    ("URG", Signal::URG, false),
];

impl Sent {
    /// The names that are known.
    pub fn names() -> impl Iterator<Item = &'static str> {
        ALL.iter().map(|it| it.0)
    }
}

impl FromStr for Sent {
    type Err = String;

    /// Reads a name, in either case, with or without `SIG`.
    fn from_str(word: &str) -> Result<Sent, String> {
        let name = word.to_ascii_uppercase();
        let name = name.strip_prefix("SIG").unwrap_or(&name);
        let found = ALL.iter().find(|it| it.0 == name);
        found.map(|&(name, signal, all)| Sent { name, signal, all }).ok_or_else(|| {
            let all: Vec<&str> = Sent::names().collect();
            format!("`{word}` is not a signal that can be sent; use one of {}", all.join(", "))
        })
    }
}

impl fmt::Display for Sent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// The caller's ends of a command that is talked to. Closing them is how the command learns that
/// nobody talks to it any more.
#[derive(Debug)]
pub struct Pipes {
    /// What is written here, the command reads.
    pub input: OwnedFd,
    /// What the command writes can be read here.
    pub output: OwnedFd,
}
