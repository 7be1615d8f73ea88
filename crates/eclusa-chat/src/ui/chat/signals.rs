//! Signals that a chat listens to.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// What a signal asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Signalled {
    /// The terminal has another size.
    Resized,
    /// Ctrl+C, where keys are lines: interrupt what is under way.
    Interrupted,
    /// Leave.
    Ended,
}

/// The signals of this process, from when it was made.
pub(super) struct ChatSignals {
    resize: Signal,
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
    ended: bool,
}

impl ChatSignals {
    pub(super) fn new() -> io::Result<ChatSignals> {
        Ok(ChatSignals {
            resize: signal(SignalKind::window_change())?,
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
            ended: false,
        })
    }

    /// The next one.
    pub(super) async fn next(&mut self) -> Signalled {
        let next = tokio::select! {
            _ = self.terminate.recv() => Signalled::Ended,
            _ = self.hangup.recv() => Signalled::Ended,
            _ = self.interrupt.recv() => Signalled::Interrupted,
            _ = self.resize.recv() => Signalled::Resized,
        };
        self.ended |= next == Signalled::Ended;
        next
    }

    /// Whether the chat was asked to leave, whoever heard it.
    pub(super) fn has_ended(&self) -> bool {
        self.ended
    }
}
