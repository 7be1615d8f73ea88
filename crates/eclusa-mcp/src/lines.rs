//! Messages on a pipe, each on a line: of bounded length from an end that nobody vouches for, and
//! to it.

use std::io;

use futures::FutureExt as _;
use serde::Serialize;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader},
    sync::Mutex,
};

/// The longest line that is read, in bytes.
pub(crate) const MAX_LINE_BYTES: usize = 16 << 20;

/// The lines of a pipe.
pub(crate) struct Lines<R> {
    read: BufReader<R>,
    line: Vec<u8>,
    /// The rest of a line that was too long is passed over.
    skipping: bool,
    /// Whether a line that is too long is read to its end, to go on with the next.
    patient: bool,
}

/// What was read.
pub(crate) enum Read {
    Line(Vec<u8>),
    TooLong,
    End,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(crate) fn new(read: R) -> Lines<R> {
        let read = BufReader::with_capacity(64 << 10, read);
        Lines { read, line: Vec::new(), skipping: false, patient: true }
    }

    /// The same for a pipe that is given up when a line is too long.
    pub(crate) fn impatient(read: R) -> Lines<R> {
        Lines { patient: false, ..Lines::new(read) }
    }

    /// Reads to the end of a line. Can be dropped at any await and called again: what was read is
    /// in the buffer. What comes after the last end of a line is no line.
    pub(crate) async fn next(&mut self) -> Read {
        loop {
            let Ok(bytes) = self.read.fill_buf().await else { return Read::End };
            if bytes.is_empty() {
                return Read::End;
            }
            let end = memchr::memchr(b'\n', bytes);
            let taken = end.map_or(bytes.len(), |at| at + 1);
            let fits = self.line.len() + taken <= MAX_LINE_BYTES;
            if fits && !self.skipping {
                self.line.extend_from_slice(bytes.get(..taken).unwrap_or_default());
            }
            self.read.consume(taken);
            let was_skipping = std::mem::replace(&mut self.skipping, false);
            match (end, was_skipping || !fits) {
                (Some(_), false) => return Read::Line(std::mem::take(&mut self.line)),
                (Some(_), true) => {
                    self.line.clear();
                    return Read::TooLong;
                }
                (None, too_long) => {
                    if too_long && !self.patient {
                        return Read::TooLong;
                    }
                    if too_long {
                        // What was kept of it is not needed, and it was long.
                        self.line = Vec::new();
                    }
                    self.skipping = too_long;
                }
            }
        }
    }
}

/// The text of a line, without what some programs put around it.
pub(crate) fn bare(line: &[u8]) -> &[u8] {
    line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line).trim_ascii()
}

/// Writes one message, on a line of its own.
pub(crate) async fn write<W: AsyncWrite + Unpin>(
    to: &Mutex<W>,
    message: &impl Serialize,
) -> io::Result<()> {
    write_line(to, serde_json::to_vec(message)?).await
}

/// Writes one message that is JSON already.
pub(crate) async fn write_line<W: AsyncWrite + Unpin>(
    to: &Mutex<W>,
    mut line: Vec<u8>,
) -> io::Result<()> {
    line.push(b'\n');
    let mut to = to.lock().await;
    to.write_all(&line).await?;
    to.flush().await
}

/// Begins with something before anybody waits for it. rmcp makes a task of each message to send;
/// where the pipe has room, the message is gone before that task has its turn.
pub(crate) fn at_once<T: Send + 'static>(
    work: impl Future<Output = T> + Send + 'static,
) -> impl Future<Output = T> + Send + 'static {
    let mut work = work.boxed();
    let done = (&mut work).now_or_never();
    async move {
        match done {
            Some(done) => done,
            None => work.await,
        }
    }
}
