//! A thread that reads the keys of a terminal in raw mode, and ends when it is told to.

use std::{io, os::fd::AsFd, thread::JoinHandle, time::Duration};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::key_decoder::{Key, KeyDecoder};

/// After so long without another byte, an Escape is the key and not the beginning of a sequence.
const ESCAPE_WAIT: Duration = Duration::from_millis(40);

/// Keys, as long as it lives. Dropping it waits until the terminal is no longer read.
pub(crate) struct KeyInput {
    keys: UnboundedReceiver<Key>,
    stop: Option<io::PipeWriter>,
    thread: Option<JoinHandle<()>>,
}

impl KeyInput {
    /// Begins to read stdin.
    pub(crate) fn start() -> io::Result<KeyInput> {
        let (stopped, stop) = io::pipe()?;
        let (sender, keys) = unbounded_channel();
        // An error ends the keys, as the end of the input does.
        let thread = std::thread::Builder::new()
            .name("keys".to_owned())
            .spawn(move || drop(read_keys(&stopped, &sender)))?;
        Ok(KeyInput { keys, stop: Some(stop), thread: Some(thread) })
    }

    /// The next key; `None` when there will be none.
    pub(crate) async fn next(&mut self) -> Option<Key> {
        self.keys.recv().await
    }
}

impl Drop for KeyInput {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

fn read_keys(stopped: &io::PipeReader, keys: &UnboundedSender<Key>) -> io::Result<()> {
    let stdin = io::stdin();
    let mut decoder = KeyDecoder::default();
    let mut buffer = [0; 4096];
    let wait = Timespec::try_from(ESCAPE_WAIT).map_err(io::Error::other)?;
    loop {
        let mut fds = [PollFd::new(&stdin, PollFlags::IN), PollFd::new(stopped, PollFlags::IN)];
        let ready = match poll(&mut fds, decoder.is_waiting().then_some(&wait)) {
            Ok(ready) => ready,
            Err(rustix::io::Errno::INTR) => continue,
            Err(err) => return Err(err.into()),
        };
        let [typed, ended] = fds.map(|it| !it.revents().is_empty());
        if ended {
            return Ok(());
        }
        let pressed = match (ready, typed) {
            (0, _) => decoder.settle(),
            (_, true) => match rustix::io::read(stdin.as_fd(), &mut buffer) {
                Ok(0) => return Ok(()),
                Ok(count) => decoder.feed(buffer.get(..count).unwrap_or_default()),
                Err(rustix::io::Errno::INTR) => continue,
                Err(err) => return Err(err.into()),
            },
            _ => Vec::new(),
        };
        for key in pressed {
            if keys.send(key).is_err() {
                return Ok(());
            }
        }
    }
}
