//! Who answers the system calls of a command that wait for somebody outside.

use std::os::fd::OwnedFd;
use std::path::PathBuf;

use crate::exit::DirRenames;
use crate::notify::{self, OwnSide, Watching};

/// Who answers the calls that wait: nobody until there is one, then a thread. Most commands make none.
pub(super) enum Answering {
    Nobody,
    Waiting(OwnedFd),
    At(Watching<DirRenames>),
}

impl Answering {
    pub(super) fn new(listener: Option<OwnedFd>) -> Answering {
        listener.map_or(Answering::Nobody, Answering::Waiting)
    }

    /// Begins to answer. If no thread can be had, the calls fail, as they would without anybody
    /// who helps them.
    pub(super) fn begin(&mut self, own: &mut Option<OwnSide>, staged: &[PathBuf], group: i32) {
        if let Answering::Waiting(listener) = std::mem::replace(self, Answering::Nobody) {
            let watching = match own.take() {
                Some(own) => own.hold(listener, group),
                None => notify::help_renames(listener, staged.to_vec()),
            };
            *self = watching.map_or(Answering::Nobody, Answering::At);
        }
    }

    /// Stops, and hands over the descriptor on which calls wait.
    pub(super) fn leave(self) -> Option<OwnedFd> {
        match self {
            Answering::Nobody => None,
            Answering::Waiting(listener) => Some(listener),
            Answering::At(watching) => watching.leave().ok().map(|it| it.1),
        }
    }

    pub(super) fn finish(self) -> DirRenames {
        match self {
            Answering::At(watching) => watching.finish().unwrap_or_default(),
            Answering::Nobody | Answering::Waiting(_) => DirRenames::default(),
        }
    }
}
