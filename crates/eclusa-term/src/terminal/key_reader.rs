//! Reading lines that a person types, and nothing that was typed before the question was there.

use std::{
    fs::File,
    io::{self, Read},
    os::fd::OwnedFd,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::ioctl_fionread,
    termios::{QueueSelector, tcflush},
};

use crate::screen::size_of;

/// How often somebody who waits for keys looks whether anybody still waits for the answer.
const POLL: Duration = Duration::from_millis(100);

/// How long a question is on the screen before an answer to it can be typed.
const GUARD: Duration = Duration::from_millis(300);

/// How soon after a line another one belongs to the same paste.
const TOGETHER: Duration = Duration::from_millis(20);

/// What a person types.
pub(super) struct KeyReader {
    tty: File,
    given_up: Arc<AtomicBool>,
    /// The size that whoever asks has written for, where they want to know that it changed.
    size: Option<(usize, usize)>,
}

/// What came.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum TypedLine {
    /// A line, without the spaces around it.
    Line(String),
    /// The end of the input.
    End,
    /// Nobody waits for the answer any more.
    GivenUp,
    /// The terminal has another size now.
    Resized,
}

impl KeyReader {
    pub(super) fn new(tty: OwnedFd, given_up: Arc<AtomicBool>) -> KeyReader {
        KeyReader { tty: File::from(tty), given_up, size: None }
    }

    /// The same, which also tells when the terminal has got another size.
    pub(super) fn watching_size(self) -> KeyReader {
        KeyReader { size: size_of(&self.tty), ..self }
    }

    /// Forgets what was typed before now: it was no answer to a question that was not there.
    pub(super) fn forget(&self) -> io::Result<()> {
        Ok(tcflush(&self.tty, QueueSelector::IFlush)?)
    }

    /// Lets a question that was just shown be seen, and forgets what was typed before that: nobody
    /// reads a question in less time, so it was meant for something else.
    pub(super) fn settle(&self) -> io::Result<()> {
        std::thread::sleep(GUARD);
        self.forget()
    }

    /// The next line.
    pub(super) fn line(&mut self) -> io::Result<TypedLine> {
        let mut line = Vec::new();
        let mut before = self.size;
        loop {
            if self.given_up.load(Ordering::Acquire) {
                return Ok(TypedLine::GivenUp);
            }
            if !self.ready()? {
                // While somebody pulls at the window it changes all the time: it counts once it stays.
                let now = self.size.and(size_of(&self.tty));
                if now != self.size && now == before {
                    self.size = now;
                    return Ok(TypedLine::Resized);
                }
                before = now;
                continue;
            }
            // A terminal hands out one line at a time at most.
            let mut buffer = [0; 4096];
            let count = self.tty.read(&mut buffer)?;
            line.extend_from_slice(buffer.get(..count).unwrap_or_default());
            if count == 0 && line.is_empty() {
                return Ok(TypedLine::End);
            }
            if count == 0 || line.ends_with(b"\n") {
                return Ok(TypedLine::Line(String::from_utf8_lossy(&line).trim().to_owned()));
            }
        }
    }

    /// The next line, if it came alone: a person types one answer, and a paste brings several lines, of which none is
    /// an answer.
    pub(super) fn answer(&mut self) -> io::Result<TypedLine> {
        let line = self.line()?;
        if !matches!(line, TypedLine::Line(_)) {
            return Ok(line);
        }
        // The end of the input is no second line.
        let more = self.ready_within(TOGETHER)? && ioctl_fionread(&self.tty).is_ok_and(|it| it > 0);
        if !more {
            return Ok(line);
        }
        self.settle()?;
        Ok(TypedLine::Line(String::new()))
    }

    fn ready(&self) -> io::Result<bool> {
        self.ready_within(POLL)
    }

    fn ready_within(&self, time: Duration) -> io::Result<bool> {
        let mut fds = [PollFd::new(&self.tty, PollFlags::IN)];
        let limit = Timespec::try_from(time).map_err(io::Error::other)?;
        match poll(&mut fds, Some(&limit)) {
            Ok(count) => Ok(count > 0),
            Err(rustix::io::Errno::INTR) => Ok(false),
            Err(err) => Err(err.into()),
        }
    }
}

#[cfg(test)]
mod tests;
