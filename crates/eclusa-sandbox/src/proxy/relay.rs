//! Carries bytes between a command and a host, counts them, and ends what has fallen silent.

use std::{
    io::{self, Read, Write},
    net::{Shutdown, TcpStream},
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

use super::{head::BodyLength, live::Bytes};

/// A connection with both its ends.
pub(super) struct Pair<'a> {
    pub(super) client: &'a TcpStream,
    pub(super) upstream: &'a TcpStream,
    pub(super) bytes: &'a Bytes,
    pub(super) idle: Duration,
}

impl Pair<'_> {
    /// Carries everything both ways, until both sides are done. What was read already goes first.
    pub(super) fn tunnel(&self, early: &[u8]) {
        self.both(|clock| {
            let mut to = Counted { to: self.upstream, count: &self.bytes.sent };
            to.write_all(early)?;
            clock.copy(self.client, &mut to)
        });
    }

    /// Carries one request with its body, and the answer. What follows the body stays here.
    pub(super) fn request(&self, head: &[u8], body: BodyLength, early: &[u8]) {
        self.both(|clock| {
            let mut to = Counted { to: self.upstream, count: &self.bytes.sent };
            to.write_all(head)?;
            let mut from = early.chain(Patient { from: self.client, clock });
            match body {
                BodyLength::Sized(length) => {
                    let copied = io::copy(&mut (&mut from).take(length), &mut to)?;
                    if copied == length { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
                }
                BodyLength::Chunked => chunks(&mut from, &mut to),
            }
        });
    }

    fn both(&self, send: impl FnOnce(&Clock) -> io::Result<()> + Send) {
        let clock = Clock { start: Instant::now(), last: AtomicU64::new(0), idle: self.idle };
        std::thread::scope(|scope| {
            let sending = scope.spawn(|| match send(&clock) {
                Ok(()) => drop(self.upstream.shutdown(Shutdown::Write)),
                // Half a request must not look like a whole one.
                Err(_) => self.close(),
            });
            let mut to = Counted { to: self.client, count: &self.bytes.received };
            match clock.copy(self.upstream, &mut to) {
                Ok(()) => drop(self.client.shutdown(Shutdown::Write)),
                Err(_) => self.close(),
            }
            let _ = sending.join();
        });
        self.close();
    }

    fn close(&self) {
        let _ = self.client.shutdown(Shutdown::Both);
        let _ = self.upstream.shutdown(Shutdown::Both);
    }
}

/// When something last passed, in either direction.
struct Clock {
    start: Instant,
    last: AtomicU64,
    idle: Duration,
}

impl Clock {
    fn tick(&self) {
        let now = u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.last.fetch_max(now, Ordering::Relaxed);
    }

    fn silent(&self) -> bool {
        let last = Duration::from_millis(self.last.load(Ordering::Relaxed));
        self.start.elapsed().saturating_sub(last) >= self.idle
    }

    fn copy(&self, from: &TcpStream, to: &mut impl Write) -> io::Result<()> {
        io::copy(&mut Patient { from, clock: self }, to).map(drop)
    }
}

/// Reads, and waits as long as the other direction is alive.
struct Patient<'a> {
    from: &'a TcpStream,
    clock: &'a Clock,
}

impl Read for Patient<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match (&*self.from).read(buffer) {
                Err(err) if is_timeout(&err) && !self.clock.silent() => {}
                read => {
                    self.clock.tick();
                    return read;
                }
            }
        }
    }
}

/// True when nothing came in time.
pub(super) fn is_timeout(err: &io::Error) -> bool {
    matches!(err.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

/// Writes, and counts.
struct Counted<'a> {
    to: &'a TcpStream,
    count: &'a AtomicU64,
}

impl Write for Counted<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Counted before it leaves, so that nothing leaves that is not counted when the proxy is
        // stopped in between.
        self.count.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        let written = self.to.write(bytes);
        let left = bytes.len().saturating_sub(*written.as_ref().unwrap_or(&0));
        self.count.fetch_sub(left as u64, Ordering::Relaxed);
        written
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Carries chunks, each written anew, up to the last one. Trailers are not carried.
fn chunks(from: &mut impl Read, to: &mut impl Write) -> io::Result<()> {
    loop {
        let line = line(from)?;
        let size = line.split(|it| *it == b';').next().unwrap_or_default();
        let size = std::str::from_utf8(size).ok().map(|it| it.trim_end_matches([' ', '\t']));
        let hex =
            |it: &&str| (1..=8).contains(&it.len()) && it.bytes().all(|it| it.is_ascii_hexdigit());
        let size = size.filter(hex).and_then(|it| u64::from_str_radix(it, 16).ok());
        let size = size.ok_or(io::ErrorKind::InvalidData)?;
        if size == 0 {
            for _ in 0..64 {
                if self::line(from)?.is_empty() {
                    return to.write_all(b"0\r\n\r\n");
                }
            }
            return Err(io::ErrorKind::InvalidData.into());
        }
        write!(to, "{size:x}\r\n")?;
        if io::copy(&mut from.take(size), to)? != size {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if !self::line(from)?.is_empty() {
            return Err(io::ErrorKind::InvalidData.into());
        }
        to.write_all(b"\r\n")?;
    }
}

/// A short line that ends as lines should, without its end.
fn line(from: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    let mut byte = [0];
    while line.len() < 4096 {
        from.read_exact(&mut byte)?;
        match byte {
            [b'\n'] if line.last() == Some(&b'\r') => {
                line.pop();
                return Ok(line);
            }
            [b'\n'] => break,
            [other] => line.push(other),
        }
    }
    Err(io::ErrorKind::InvalidData.into())
}
