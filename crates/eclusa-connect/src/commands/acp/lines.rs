//! Lines in and out, on threads that wait for them: nothing stands between reading a line that only
//! passes and writing it.

use std::{
    io::{self, BufRead as _, BufReader, Read},
    os::fd::OwnedFd,
    sync::{Mutex, PoisonError},
};

use rustix::{
    event::{PollFd, PollFlags, poll},
    io::Errno,
};

/// How much is read at once.
const CHUNK: usize = 64 << 10;
/// The longest line that is read.
const MAX_LINE: u64 = 64 << 20;

/// Waits until more can be read or written: whoever started us may have given us pipes that do not
/// wait by themselves.
fn wait(fd: &OwnedFd, wanted: PollFlags) -> io::Result<()> {
    loop {
        match poll(&mut [PollFd::new(fd, wanted)], None) {
            Err(Errno::INTR) => {}
            polled => return polled.map(drop).map_err(io::Error::from),
        }
    }
}

/// Where lines go. Each is written whole, whoever writes at the same time.
pub(super) struct LineWriter(Mutex<OwnedFd>);

impl LineWriter {
    pub(super) fn new(fd: OwnedFd) -> LineWriter {
        LineWriter(Mutex::new(fd))
    }

    /// Writes a line. Where nobody reads any more it goes nowhere, which the reading side tells.
    pub(super) fn send(&self, mut line: &[u8]) {
        let fd = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        while !line.is_empty() {
            match rustix::io::write(&*fd, line) {
                Ok(count) => line = line.get(count..).unwrap_or_default(),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) if wait(&fd, PollFlags::OUT).is_ok() => {}
                Err(_) => return,
            }
        }
    }
}

/// Lines that come in.
pub(super) struct LineReader(BufReader<WaitingReader>);

impl LineReader {
    pub(super) fn new(fd: OwnedFd) -> LineReader {
        LineReader(BufReader::with_capacity(CHUNK, WaitingReader(fd)))
    }

    /// Puts the next line in the place of this one. False: there is none any more.
    pub(super) fn next(&mut self, line: &mut Vec<u8>) -> io::Result<bool> {
        line.clear();
        let read = self.0.by_ref().take(MAX_LINE + 1).read_until(b'\n', line)?;
        match line.len() as u64 > MAX_LINE {
            true => Err(io::Error::other("a message is longer than 64 MiB")),
            false => Ok(read > 0),
        }
    }
}

/// Reads, and waits where there is nothing yet.
struct WaitingReader(OwnedFd);

impl Read for WaitingReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match rustix::io::read(&self.0, &mut *buffer) {
                Err(Errno::AGAIN) => wait(&self.0, PollFlags::IN)?,
                Err(Errno::INTR) => {}
                read => return read.map_err(io::Error::from),
            }
        }
    }
}
