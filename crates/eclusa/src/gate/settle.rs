//! Fifth gate: are the changes to the workspace to become real? The only file that makes a
//! [`Settled`].

use std::time::Duration;

use crate::{Output, Raw, Validated};

/// A call whose changes to the workspace were judged, and committed or discarded.
///
/// The tools so far change nothing that is staged, so every call passes; the judging and the
/// commit of changes find their place here.
pub struct Settled {
    call: Validated,
    output: Output,
    time: Duration,
}

impl Settled {
    /// Opens it. Visible to the crate, called by `release.rs` alone (tidy holds that).
    pub(crate) fn unseal(self) -> (Validated, Output, Duration) {
        (self.call, self.output, self.time)
    }
}

/// Settles a call that changed nothing.
pub(crate) fn settle(raw: Raw) -> Settled {
    let (call, output, time) = raw.unseal_for_settling();
    Settled { call, output, time }
}
